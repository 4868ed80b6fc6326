package marks_test

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"testing"

	"golang.org/x/sync/errgroup"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/pipeline/internal/marks"
)

const name = "marks"

func open(t *testing.T) vfs.Dir {
	t.Helper()
	d := must.Get(vfs.OpenDir(t.TempDir()))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func each(t *testing.T, test func(t *testing.T, create func(dir vfs.Dir, positions uint64) *marks.Set)) {
	t.Run("memory", func(t *testing.T) {
		test(t, func(_ vfs.Dir, positions uint64) *marks.Set { return marks.New(positions) })
	})
	t.Run("disk", func(t *testing.T) {
		test(t, func(dir vfs.Dir, positions uint64) *marks.Set { return must.Get(marks.Create(dir, name, positions))(t) })
	})
}

// TestSet adds marks in pieces that share bytes, from several goroutines, and reads them back.
func TestSet(t *testing.T) {
	each(t, func(t *testing.T, create func(vfs.Dir, uint64) *marks.Set) {
		for _, positions := range []uint64{1, 1000, 12<<20 + 3} {
			dir := open(t)
			s := create(dir, positions)
			want := make([]byte, (positions+7)/8)
			check(t, s, want)
			for range 2 {
				add(t, s, want)
				check(t, s, want)
			}
			must.OK(t, s.Close())
			must.Empty(t, dir.Path(""))
		}
	})
}

// add adds random bits in pieces that overlap by a byte.
func add(t *testing.T, s *marks.Set, want []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var g errgroup.Group
	g.SetLimit(4)
	for from := 0; from < len(want); {
		to := min(len(want), from+1+random.IntN(1<<19))
		piece := make([]byte, to-from)
		for i := range piece {
			piece[i] = byte(random.Uint32() & random.Uint32())
			want[from+i] |= piece[i]
		}
		at := int64(from)
		g.Go(func() error { return s.Add(piece, at) })
		if from = to - 1; to == len(want) {
			break
		}
	}
	must.OK(t, g.Wait())
}

func check(t *testing.T, s *marks.Set, want []byte) {
	t.Helper()
	got, marked := make([]byte, len(want)), uint64(0)
	must.OK(t, s.Read(got, 0))
	should.Hold(t, bytes.Equal(got, want), "marks differ")
	end := got[:len(got)/2]
	must.OK(t, s.Read(end, int64(len(got)-len(end))))
	should.Hold(t, bytes.Equal(end, want[len(got)-len(end):]), "the end differs")
	should.Not(t, s.Read(got, 1) == nil, "read beyond the end")
	for _, b := range want {
		marked += uint64(bits.OnesCount8(b))
	}
	should.Equal(t, must.Get(s.Count())(t), marked, "marks")
}

// TestView marks runs of ranks, and reads others, bit by bit the same as bytes have it.
func TestView(t *testing.T) {
	each(t, func(t *testing.T, create func(vfs.Dir, uint64) *marks.Set) {
		random := tries.Rand(t)
		for _, positions := range []int{1, 63, 64, 65, 200, 1000} {
			s := create(open(t), uint64(positions))
			want, v := make([]bool, positions), s.View()
			for range 100 {
				markSome(t, random, v, want)
				start := random.IntN(positions)
				got := make([]uint64, 1+random.IntN(1+(positions-start)/64))
				must.OK(t, v.Bits(got, uint64(start)))
				for i := start; i < min(positions, start+64*len(got)); i++ {
					must.Not(t, got[(i-start)/64]>>((i-start)%64)&1 != 0 != want[i], "%d positions: rank %d from %d", positions, i, start)
				}
			}
			all := make([]byte, (positions+7)/8)
			for i, is := range want {
				if is {
					all[i/8] |= 1 << (i % 8)
				}
			}
			check(t, s, all)
			must.OK(t, s.Close())
		}
	})
}

func markSome(t *testing.T, random *rand.Rand, v *marks.View, want []bool) {
	t.Helper()
	start := random.IntN(len(want))
	words, fresh := make([]uint64, 1+random.IntN(1+(len(want)-start)/64)), 0
	for i := range words {
		words[i] = random.Uint64() & random.Uint64()
	}
	for i := range 64 * len(words) {
		switch at := start + i; {
		case at >= len(want):
			words[i/64] &^= 1 << (i % 64)
		case words[i/64]>>(i%64)&1 != 0 && !want[at]:
			want[at] = true
			fresh++
		}
	}
	must.Equal(t, must.Get(v.Mark(words, uint64(start)))(t), fresh, "new marks from %d", start)
}

// TestCreate fails where there can be no file.
func TestCreate(t *testing.T) {
	dir := open(t)
	must.OK(t, dir.Mkdir(name))
	should.Not(t, must.Err(marks.Create(dir, name, 8)) == nil, "a file in the place of a directory")
}

// TestSave: a copy has the marks of its moment, and stays when the set is gone.
func TestSave(t *testing.T) {
	each(t, func(t *testing.T, create func(vfs.Dir, uint64) *marks.Set) {
		for _, positions := range []uint64{1, 1000, 3<<20 + 5} {
			dir := open(t)
			s := create(dir, positions)
			must.Not(t, s.Load(dir, name, 7) == nil, "loaded without a copy")
			want := make([]byte, (positions+7)/8)
			for range 2 { // the second copy replaces the first
				add(t, s, want)
				must.OK(t, s.Save(dir, name, 7))
			}
			must.OK(t, s.Add([]byte{255}, int64(len(want))-1))
			must.OK(t, s.Close())
			for range 2 {
				s := create(dir, positions)
				must.OK(t, s.Load(dir, name, 7))
				check(t, s, want)
				must.OK(t, s.Close())
			}
			refused(t, create(dir, positions+8), dir, 7)
			refused(t, create(dir, positions), dir, 8)
			copied := must.Read(t, dir.Path(name))
			copied[0] ^= 1
			must.Write(t, dir.Path(name), copied)
			refused(t, create(dir, positions), dir, 7)
			left := must.Get(dir.Entries())(t)
			should.Equal(t, len(left), 1, "left: %v", left)
		}
	})
}

// refused wants a copy to be refused, and nothing to be marked.
func refused(t *testing.T, s *marks.Set, dir vfs.Dir, owner uint32) {
	t.Helper()
	should.Be(t, s.Load(dir, name, owner), corrupt.ErrCorrupt, "owner %d", owner)
	must.Equal(t, must.Get(s.Count())(t), 0, "marks")
	must.OK(t, s.Close())
}
