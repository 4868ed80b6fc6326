package bfs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/layers/swap"
)

// TestLongLayouts checks that every grid, of up to 16 cells in long tests, can be divided, and that each edge is in one list with places in range.
func TestLongLayouts(t *testing.T) {
	for rows := 1; rows <= swap.MaxCells; rows++ {
		for cols := 1; rows*cols <= swap.MaxCells; cols++ {
			if rows*cols > 12 && !tries.Long() {
				continue
			}
			g := must.Get(swap.NewGrid(rows, cols))(t)
			l, err := newLayout(g)
			if err != nil {
				t.Error(err)
				continue
			}
			checkLayout(t, g, l)
		}
	}
}

func checkLayout(t *testing.T, g *swap.Grid, l *layout) {
	should.Hold(t, l.upper+l.lower+tail == l.cells && l.cells >= g.Cells() && l.lower <= middle, "%d x %d: %+v", g.Rows(), g.Cols(), l)
	edges := 0
	for _, list := range []struct {
		edges    []edge
		from, to int
	}{{l.uu, l.upper, l.upper}, {l.ul, l.upper, l.lower}, {l.ll, l.lower, l.lower}, {l.ls, l.lower, tail}, {l.ss, tail, tail}} {
		edges += len(list.edges)
		for _, e := range list.edges {
			should.Not(t, e.from < 0 || e.from >= list.from || e.to < 0 || e.to >= list.to, "%d x %d: edge %v is outside", g.Rows(), g.Cols(), e)
		}
	}
	should.Hold(t, edges == len(g.Swaps()), "%d x %d: %d edges, want %d", g.Rows(), g.Cols(), edges, len(g.Swaps()))
}

// smallDisk is a store of one block of six words, without files, and the flags of that block.
func smallDisk(t testing.TB) (*store, *[2]flags) {
	g := must.Get(swap.NewGrid(2, 3))(t)
	d := &store{words: 6, size: 1, grid: g}
	var sides [2]flags
	for p := range sides {
		d.extents[p] = make([]workfile.Extent, 1)
		sides[p] = flags{busy: make([]uint8, 1), full: make([]uint8, 1)}
	}
	return d, &sides
}

// FuzzCheckpoint feeds any contents of a checkpoint: what is accepted is written again unchanged, all else is corrupt.
func FuzzCheckpoint(f *testing.F) {
	d, sides := smallDisk(f)
	f.Add(d.encode([]uint64{1, 7}, sides))
	sides[0].busy[0] = 1
	d.extents[0][0] = workfile.Extent{Offset: 12, Length: 51, Sum: 99}
	d.extents[1][0] = workfile.Extent{Length: 3}
	f.Add(d.encode([]uint64{1, 7, 31}, sides))
	sides[1].full[0] = 1
	f.Add(d.encode(nil, sides))
	f.Fuzz(func(t *testing.T, contents []byte) {
		d, sides := smallDisk(t)
		depths, err := d.decode("checkpoint", contents, sides)
		if err != nil {
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		again := d.encode(depths, sides)
		must.Hold(t, bytes.Equal(again, contents), "%x becomes %x", contents, again)
	})
}

// TestCheckpoint checks which flags and pieces go together.
func TestCheckpoint(t *testing.T) {
	for _, c := range []struct {
		busy, full uint8
		length     uint32
		ok         bool
	}{
		{0, 0, 0, true}, {0, 1, 0, true}, {0, 0, 3, true}, {0, 0, 9, true}, {1, 0, 57, true}, {1, 1, 51, true},
		{1, 0, 0, false}, {0, 1, 9, false}, {0, 0, 2, false}, {1, 0, 58, false}, {2, 0, 51, false}, {0, 2, 0, false},
	} {
		d, sides := smallDisk(t)
		sides[1].busy[0], sides[1].full[0] = c.busy, c.full
		d.extents[1][0].Length = c.length
		_, err := d.decode("checkpoint", d.encode([]uint64{1}, sides), sides)
		should.Hold(t, (err == nil) == c.ok, "%+v: %v", c, err)
	}
}

func unpacked(t *testing.T, b []byte, words int) states {
	t.Helper()
	p := must.Get(divide(b, words))(t)
	s := newStates(words)
	for w := range words { // what was there before does not matter
		s.newest[w], s.seen[w] = ^uint64(0), 99
	}
	p.unpackNewest(s.newest)
	p.unpackSeen(s.seen)
	return s
}

func (s states) equal(t states) bool {
	return slices.Equal(s.newest, t.newest) && slices.Equal(s.seen, t.seen)
}

// TestPack packs states of few and of many words, and unpacks them.
func TestPack(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, words := range []int{1, 6, 8, 42, 336, 3024} {
		for _, busy := range []float64{0, 0.1, 0.9, 1} {
			for _, open := range []float64{0, 0.5, 1} {
				s := newStates(words)
				for w := range words {
					s.seen[w] = uint8(rng.IntN(2)) * tailBits
					if rng.Float64() < open {
						s.seen[w] = 1 + uint8(rng.IntN(tailBits-1))
					}
					if rng.Float64() < busy {
						s.newest[w] = 1 + rng.Uint64N(1<<tailBits-1)
					}
				}
				b := pack([]byte("before"), s)
				should.Hold(t, string(b[:6]) == "before", "%d words: what was there before is %q", words, b[:6])
				b = b[6:]
				should.Not(t, len(b) < leastPiece(words) || len(b) > mostPiece(words), "%d words: a piece of %d bytes", words, len(b))
				should.Hold(t, unpacked(t, b, words).equal(s), "seed %d, %d words, %g with newest ones, %g open: others", seed, words, busy, open)
				should.Be(t, must.Err(divide(b[:len(b)-1], words)), errPiece, "%d words, a byte less", words)
			}
		}
	}
}

// FuzzPiece feeds any bytes: what is accepted becomes a piece of the same states.
func FuzzPiece(f *testing.F) {
	const words = 42
	s := newStates(words)
	f.Add(pack(nil, s))
	s.newest[0], s.seen[0], s.seen[41] = 1, 1, tailBits
	f.Add(pack(nil, s))
	f.Add([]byte{1, 2, 3})
	f.Add([]byte(" \x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00A00000000")) // a count of 65
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := divide(b, words); err != nil {
			must.Be(t, err, errPiece)
			return
		}
		s := unpacked(t, b, words)
		again := pack(nil, s)
		must.Hold(t, unpacked(t, again, words).equal(s), "%x becomes %x", b, again)
	})
}
