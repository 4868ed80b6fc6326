package marks_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"golang.org/x/sync/errgroup"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/pipeline/internal/marks"
)

// name names the file of marks.
const name = "marks"

// open opens a directory of its own.
func open(t *testing.T) vfs.Dir {
	t.Helper()
	d := must.Get(vfs.OpenDir(t.TempDir()))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestSet adds marks in pieces that share bytes, from several goroutines, and reads them back. Some sizes
// fit into the page cache, some do not.
func TestSet(t *testing.T) {
	for _, positions := range []uint64{1, 1000, 40<<20 + 3} {
		dir := open(t)
		s := must.Get(marks.Create(dir, name, positions))(t)
		want := make([]byte, (positions+7)/8)
		check(t, s, want, make([]byte, len(want)))
		add(t, s, want)
		kept := bytes.Clone(want)
		check(t, s, want, make([]byte, len(want)))
		must.OK(t, s.Keep())
		add(t, s, want)
		check(t, s, want, kept)
		must.OK(t, s.Close())
		left, err := dir.Entries()
		should.Hold(t, err == nil && len(left) == 0, "left: %v, %v", left, err)
	}
}

// add adds random bits in pieces that overlap by a byte.
func add(t *testing.T, s *marks.Set, want []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var g errgroup.Group
	g.SetLimit(4)
	for from := 0; from < len(want); {
		to := min(len(want), from+1+random.IntN(1<<20))
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

func check(t *testing.T, s *marks.Set, now, kept []byte) {
	t.Helper()
	got := make([]byte, len(now))
	err := s.Read(got, 0)
	should.Hold(t, err == nil && bytes.Equal(got, now), "marks differ, %v", err)
	err = s.ReadKept(got, 0)
	should.Hold(t, err == nil && bytes.Equal(got, kept), "marks that were kept differ, %v", err)
	should.Not(t, s.Read(got, 1) == nil, "read beyond the end")
}

// TestCreate fails where there can be no file.
func TestCreate(t *testing.T) {
	dir := open(t)
	must.OK(t, dir.Mkdir(name))
	should.Not(t, must.Err(marks.Create(dir, name, 8)) == nil, "a file in the place of a directory")
}

// TestSave: a copy has the marks of its moment, and stays when the set is gone.
func TestSave(t *testing.T) {
	for _, positions := range []uint64{1, 1000, 3<<20 + 5} {
		dir := open(t)
		must.Not(t, must.Err(marks.Load(dir, name, positions, 7)) == nil, "loaded without a copy")
		s := must.Get(marks.Create(dir, name, positions))(t)
		want := make([]byte, (positions+7)/8)
		for range 2 { // the second copy replaces the first
			add(t, s, want)
			must.OK(t, s.Save(7))
		}
		must.OK(t, s.Add([]byte{255}, int64(len(want))-1))
		must.OK(t, s.Close())
		for range 2 {
			s := must.Get(marks.Load(dir, name, positions, 7))(t)
			check(t, s, want, make([]byte, len(want)))
			must.OK(t, s.Close())
		}
		for _, other := range []struct {
			positions uint64
			owner     uint32
		}{{positions + 8, 7}, {positions, 8}} {
			should.Be(t, must.Err(marks.Load(dir, name, other.positions, other.owner)), corrupt.ErrCorrupt,
				"%d positions, owner %d", other.positions, other.owner)
		}
		left, err := dir.Entries()
		should.Hold(t, err == nil && len(left) == 1, "left: %v, %v", left, err)
	}
}
