package stream

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/spill"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// randomLayer lays out a random layer, without memory for scores.
func randomLayer(t testing.TB, rng *rand.Rand) *board.Layer {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	return layOut(t, game.Half(), seeds)
}

func layOut(t testing.TB, q, n int) *board.Layer {
	t.Helper()
	l := board.NewLayer(must.Get(board.NewGeometry(q, n))(t), board.Side)
	must.OK(t, l.ListMoves(t.Context(), 1, board.NewPatterns(awari.Awari)))
	return l
}

// windows returns a layer in windows with the given codes, of which nothing is known yet.
func windows(l *board.Layer, codes *window.Codes) *Windows {
	w := &Windows{Sweeps: &fixpoint.Sweeps{Grid: &fixpoint.Grid{Layer: l}}, sequence: sequence{Codes: codes}}
	w.code.digits = map[bool]window.DigitsFunc{}
	return w
}

// eachPatches calls check for the parts of random layers, with the ranges of ranks that they have.
func eachPatches(t *testing.T, n int, check func(g *board.Layer, p patches, starts []uint64, length uint64)) {
	rng := tries.Rand(t)
	for range tries.Runs(n) {
		g := randomLayer(t, rng)
		positions, size := g.Halves.Board().Size(g.N), SlabSize(g)
		must.Hold(t, size*slabs >= positions && size%board.PieceLength == 0, "slabs of %d of %d positions", size, positions)
		starts, length := awaritest.Sample(rng)(positions)
		for part, p := range partsOf(g, starts, length) {
			if part == SamplePart {
				check(g, p, starts, length)
			} else {
				check(g, p, []uint64{uint64(part) * size}, size)
			}
		}
		check(g, patchesOf(g, starts[:1], length), starts[:1], length)
	}
}

// TestLongPatchesHaveTheirRanks: where a rank of a range is, there is a patch that has it, and all
// patches are in order. None has a row, or a panel of a single row, without a rank of its range.
func TestLongPatchesHaveTheirRanks(t *testing.T) {
	eachPatches(t, 40, func(g *board.Layer, p patches, starts []uint64, length uint64) {
		for _, m := range g.Matrices {
			for class := range board.Classes {
				own := p[placeOf(m, class)]
				for i, q := range own {
					if q.lines() <= 0 || q.rows.end > m.Rows[class] || q.panels.end > m.Panels ||
						i > 0 && (q.rows.begin < own[i-1].rows.begin || q.rows.end < own[i-1].rows.end) {
						t.Fatalf("patch %d of %+v", i, own)
					}
				}
				checkPatches(t, g, m, class, own, starts, length)
			}
		}
	})
}

func checkPatches(t *testing.T, g *board.Layer, m *board.Matrix, class board.RowClass, own []patch, starts []uint64, length uint64) {
	left := own // those in order of the ranges
	for _, begin := range starts {
		var rows span
		var panels [2]span // of the first row and of the last one
		for row, code := range g.Rows[g.N-m.Sum][class] {
			first := g.RowStart(g.N, code)
			from, to := max(first, begin), min(first+uint64(m.Columns), begin+length)
			if from >= to {
				continue
			}
			of := span{int(from-first) / board.Side, int(to-first-1)/board.Side + 1}
			if rows.end == 0 {
				rows.begin, panels[0] = row, of
			}
			rows.end, panels[1] = row+1, of
		}
		if rows.end == 0 {
			continue
		}
		want := span{0, m.Panels}
		if rows.end-rows.begin == 1 {
			want = panels[0]
		}
		must.Hold(t, len(left) != 0 && left[0].rows == rows && left[0].panels == want,
			"rows %v, panels %v of %d seeds have ranks from %d on, of %+v", rows, want, m.Sum, begin, left)
		left = left[1:]
	}
	must.Not(t, len(left) > 0, "%d patches without ranks", len(left))
}

// TestLongLoadedRowsAreFound: a part of a row is found in a patch that has all of it.
func TestLongLoadedRowsAreFound(t *testing.T) {
	rng := tries.Rand(t)
	found, lost := 0, 0
	eachPatches(t, 120, func(g *board.Layer, p patches, _ []uint64, _ uint64) {
		l := loaded{patches: p}
		for range 50 {
			m := g.Matrices[rng.IntN(len(g.Matrices))]
			class := board.RowClass(rng.IntN(int(board.Classes)))
			if m.Rows[class] == 0 {
				continue
			}
			row, skip := rng.IntN(m.Rows[class]), rng.IntN(m.Columns)
			part := board.RowPart{Matrix: m, At: board.Place{Row: uint32(row), Class: class}, Skip: skip, Length: 1 + rng.IntN(m.Columns-skip)}
			has := func(q patch) bool {
				return q.rows.begin <= row && row < q.rows.end && q.panels.begin*board.Side <= skip && skip+part.Length <= q.panels.end*board.Side
			}
			got, want := l.find(part), slices.ContainsFunc(p[placeOf(m, class)], has)
			must.Not(t, want != (got != nil) || want && !has(*got),
				"row %d, %d columns from %d on: %+v of %+v", row, part.Length, skip, got, p[placeOf(m, class)])
			if want {
				found++
			} else {
				lost++
			}
		}
	})
	should.Not(t, found == 0 || lost == 0, "%d found, %d not", found, lost)
	should.Hold(t, (&loaded{}).find(board.RowPart{Length: 1}) == nil, "a row of nothing")
}

// TestSamplesAreNamed: other samples have other names.
func TestSamplesAreNamed(t *testing.T) {
	names := map[string]bool{}
	for _, s := range []struct {
		starts []uint64
		length uint64
	}{{nil, 0}, {[]uint64{0}, 1}, {[]uint64{0}, 2}, {[]uint64{1}, 1}, {[]uint64{0, 0}, 1}, {[]uint64{0, 1 << 40}, 1}, {[]uint64{0, 2 << 40}, 1}} {
		names[whichSample(s.starts, s.length)] = true
	}
	should.Hold(t, len(names) == 7, "%v", names)
}

// TestLongMasksDoNotOverlapBlocks lays thin blocks out over their own masks, in as little memory as the
// bound says, and refuses more scores than fit.
func TestLongMasksDoNotOverlapBlocks(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		w := windows(randomLayer(t, rng), window.Two)
		want := make([]uint64, w.ThinBlocks().Lines)
		searched, share := 0, rng.Float64()
		for i := range want {
			if rng.Float64() < share {
				want[i] = rng.Uint64()
			}
			searched += bits.OnesCount64(want[i])
		}
		layOut := func(size int) error {
			blocks := w.ThinBlocks()
			var err error
			w.memory, err = board.NewRegion((size + 7) / 8 * 8)
			must.Hold(t, err == nil, "%v", err)
			w.scores = w.memory.All()
			masks := asWords(w.scores[len(w.scores)-8*blocks.Lines:])
			copy(masks, want)
			return w.layThin(&blocks, masks)
		}
		blocks := w.ThinBlocks()
		must.Be(t, layOut(max(blocks.Most(searched), blocks.tables+8*blocks.Lines)), nil, "%d scores", searched)
		line := 0
		for _, m := range w.Grid.Matrices {
			for at := range m.Panels * m.Chunks[board.OpenRows] {
				b := window.Thin(m.Lines(at/m.Chunks[board.OpenRows], at%m.Chunks[board.OpenRows]))
				for i := range b.Lines() {
					must.Equal(t, b.Mask(i), want[line], "line %d: mask", line)
					line++
				}
			}
		}
		must.Hold(t, line == len(want), "%d lines, want %d", line, len(want))
		must.OK(t, w.memory.Close())
		if less := blocks.Most(0) - blocks.blocks*14 - window.SlackThin + searched - 8; searched > 8 && less > blocks.tables+8*blocks.Lines {
			must.Be(t, layOut(less), errThin, "%d scores in %d bytes", searched, less)
			must.OK(t, w.memory.Close())
		}
	}
}

// TestWindowsFrom: as many as there are bases.
func TestWindowsFrom(t *testing.T) {
	for _, c := range AllCodes {
		for n := range 49 {
			got, bases := max(1, WindowsFrom(0, n, c)), Bases(n, c)
			should.Hold(t, got == len(bases), "%d seeds, %d bits: %d windows with bases %v", n, c.Bits, got, bases)
		}
	}
}

// TestSeenEnds: masks of what is at an end take the place of the codes.
func TestSeenEnds(t *testing.T) {
	rng := tries.Rand(t)
	for _, c := range AllCodes {
		for _, lines := range []int{1, 100, seenLines, 2*seenLines + 77} {
			drawn, want := make([]int8, lines*c.Line()), make([]uint64, lines)
			for i := range want {
				line := drawn[i*c.Line():][:c.Line()]
				for k := range board.Side {
					code := c.All[rng.IntN(len(c.All))]
					c.Put(line, k, code)
					if score := int(c.Score[code]); score == c.Values || score == -c.Values {
						want[i] |= 1 << k
					}
				}
			}
			for _, more := range []int{0, 8, 100_000} {
				memory := slices.Concat(drawn, make([]int8, more))
				codes := memory[:len(drawn)]
				w, masks := &Windows{Sweeps: &fixpoint.Sweeps{Workers: 3}, sequence: sequence{Codes: c}}, asWords(memory[len(memory)-8*lines:])
				must.OK(t, w.seeEnds(t.Context(), masks, codes))
				should.Hold(t, slices.Equal(masks, want), "%d bits, %d lines, %d bytes more: not the ends", c.Bits, lines, more)
			}
		}
	}
}

type counted struct{ begun int }

func (c *counted) ready() error { return nil }

func (c *counted) begin() (store func() error, err error) {
	c.begun++
	return func() error { return nil }, nil
}

// keeper returns the keeper of a layer, which began at a given time.
func keeper(interval time.Duration, began time.Time) (*Keeper, *counted) {
	c := &counted{}
	return newKeeper(&Streams{Account: &fixpoint.Account{Began: began}, Work: crashfs.New().Dir("work")}, interval, c, 0), c
}

// due reports whether a layer begins a checkpoint now, and waits for its end.
func due(t *testing.T, k *Keeper, c *counted) bool {
	t.Helper()
	before := c.begun
	must.OK(t, errors.Join(k.Due(), k.Settled()))
	return c.begun > before
}

// TestSlowCheckpointsAreFew: one comes so early that it is on disk when the interval has passed, but
// the interval grows with what it takes, and the disk has as much time for others.
func TestSlowCheckpointsAreFew(t *testing.T) {
	for _, c := range []struct {
		interval, ago, took time.Duration
		want                bool
	}{
		{time.Minute, 30 * time.Second, 0, false}, {time.Minute, 61 * time.Second, 0, true},
		{time.Minute, 30 * time.Second, time.Second, false}, {time.Minute, 59 * time.Second, time.Second, true},
		{time.Minute, 90 * time.Second, 4 * time.Second, false}, {time.Minute, 116 * time.Second, 4 * time.Second, true},
		{time.Second, 60 * time.Second, time.Minute, false}, {time.Second, 2 * time.Minute, time.Minute, true},
	} {
		k, counted := keeper(c.interval, time.Now())
		k.last = time.Now().Add(-c.ago)
		k.lastTook.Store(int64(c.took))
		should.Equal(t, due(t, k, counted), c.want, "%+v: made", c)
	}
	// A stored window is a checkpoint: none is made before as much time has passed since.
	for _, ago := range []time.Duration{30 * time.Second, 61 * time.Second} {
		k, counted := keeper(time.Minute, time.Now().Add(-time.Hour))
		k.last = k.Began.Add(time.Minute)
		k.window.Store(int64(time.Hour - ago))
		should.Equal(t, due(t, k, counted), ago > time.Minute, "%v after a window: made", ago)
	}
}

// TestCheckpointsWait: one of the next window is not begun before the window before, whose checkpoint it replaces, is on disk.
func TestCheckpointsWait(t *testing.T) {
	w := windows(layOut(t, 2, 1), window.Two)
	w.publishing.begin(func() error { return syscall.EIO })
	should.Be(t, w.ready(), syscall.EIO)
}

// TestLookTells: who looks at a stream tells how much of it is left.
func TestLookTells(t *testing.T) {
	const size = 2*codesPiece + board.Side
	disk, h := crashfs.New().Dir("work"), spill.Header{Kind: "lines", Version: 1, Identity: []byte{1}}
	s := must.Get(spill.Create(disk, "a", h, spill.LZ4, 1))(t)
	must.OK(t, errors.Join(must.Err(s.Write(make([]byte, size))), s.Publish()))
	r := must.Get(spill.Open(disk, "a", h, 1))(t)
	defer r.Close()
	w, left := windows(layOut(t, 2, 1), window.Two), []int{}
	w.Workers = 1
	must.OK(t, w.lookAtLines(t.Context(), r, size, w.Codes.Valid, func(n int) { left = append(left, n) }))
	should.List(t, left, []int{size, size - codesPiece, board.Side}, "bytes left")
}

// TestNoMemory: a window for which the system has no memory is not found.
func TestNoMemory(t *testing.T) {
	l := layOut(t, 2, 2)
	codes := *window.Two
	codes.Bits = math.MaxInt / board.LayoutOf(2, 2).Scores
	should.Says(t, windows(l, &codes).FindAlone(t.Context(), 0), syscall.ENOMEM, "taking ")
}

// TestWorthThin: where memory allows, as few windows follow the first one as if the next were thin, and as many of them as that allows
// are not: those search all of fewer scores. There are no thin windows that save too few.
func TestWorthThin(t *testing.T) {
	for f, least := range saved {
		for _, c := range AllCodes {
			for n := c.Values + 1; n <= awari.MaxSeeds; n++ {
				all := WindowsFrom(0, n, c)
				total := func(first int) int { return first + WindowsFrom(first*c.Values, n, window.Eight) }
				begins := 1
				for begins < all && !WorthThin(f, c, begins*c.Values, n) {
					begins++
				}
				want := all
				if total(1)+least <= all {
					for want = 1; total(want+1) == total(1); want++ {
					}
				}
				should.Hold(t, begins == want, "%s, %d bits, %d seeds: %d windows before a thin one, want %d of %d", f, c.Bits, n, begins, want, all)
			}
		}
	}
}
