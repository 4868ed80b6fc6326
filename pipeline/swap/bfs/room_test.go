package bfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/layers/swap"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/bfs"
)

// free returns a function that says how much is free on any disk.
func free(bytes uint64) func(path string) (uint64, error) {
	return func(string) (uint64, error) { return bytes, nil }
}

// roomNeeded returns the bytes that a search on disk is said to need when it is refused.
func roomNeeded(t *testing.T, g *swap.Grid) uint64 {
	t.Helper()
	o := onDisk(t.TempDir())
	o.Free = free(0)
	_, err := bfs.Search(t.Context(), g, o)
	refused, ok := errors.AsType[*rundir.RoomError](err)
	must.Hold(t, ok, "without room: %v", err)
	return refused.Need
}

// TestMost: a search never has more on disk than what it asked for.
func TestMost(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 3}, {2, 5}} {
		g := mustGrid(t, size[0], size[1])
		o, most := onDisk(t.TempDir()), int64(0)
		o.Workers = 1
		o.Progress = func(job.Step) { most = max(most, bytesIn(t, o.Dir)) }
		must.OK(t, must.Err(bfs.Search(t.Context(), g, o)))
		most = max(most, bytesIn(t, o.Dir))
		should.Not(t, uint64(most) > roomNeeded(t, g), "%v: %d bytes on disk, at most %d were asked for", size, most, roomNeeded(t, g))
	}
	// The largest files of searches that take longer, in bytes, as they were counted.
	for size, counted := range map[[2]int]uint64{{3, 4}: 93.3e6, {2, 6}: 78.2e6, {1, 11}: 5.8e6, {1, 12}: 63.3e6} {
		asked := roomNeeded(t, mustGrid(t, size[0], size[1]))
		should.Not(t, asked < counted, "%v: %d bytes on disk, %d were asked for", size, counted, asked)
	}
}

// bytesIn returns the bytes of the files in the work directory of a run.
func bytesIn(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(dir, "work")))(t)
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it was renamed meanwhile
			bytes += info.Size()
		}
	}
	return bytes
}

// TestRoom: a search for which there is too little room is refused and leaves
// nothing behind; what an interrupted one has left counts as room.
func TestRoom(t *testing.T) {
	g := mustGrid(t, 2, 4)
	need := roomNeeded(t, g)
	o := onDisk(filepath.Join(t.TempDir(), "run"))
	o.Free = free(need - 1)
	_, err := bfs.Search(t.Context(), g, o)
	refused, ok := errors.AsType[*rundir.RoomError](err)
	should.Hold(t, ok && refused.Need == need && refused.Free == need-1 && refused.Path == o.Dir, "a byte less: %v", err)
	should.Be(t, must.Err(os.Stat(o.Dir)), os.ErrNotExist, "left behind")
	o.Free = free(need)
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "as much as needed")
	o.Dir = interrupted(t)
	o.Free = free(need - uint64(bytesIn(t, o.Dir)))
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "with what is there already")
	o.Dir, o.Free = interrupted(t), free(0)
	should.Not(t, must.Err(bfs.Search(t.Context(), g, o)) == nil, "searches without room")
	o.Free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	should.Be(t, must.Err(bfs.Search(t.Context(), g, o)), nil, "where free space is not known")
}
