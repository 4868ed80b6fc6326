package bfs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/bfs"
)

func onDisk(dir string) bfs.Options { return bfs.Options{Job: job.Job{Workers: 2}, Dir: dir} }

// memories returns what a search of a grid on disk may be given: the least, so
// much that some blocks are held, and enough for all.
func memories(t *testing.T, g *swap.Grid, workers int) []uint64 {
	t.Helper()
	least := memoryNeeded(t, g, workers, t.TempDir())
	states := perm.Factorial(g.Cells()) / 60 * 9
	return []uint64{least, least + states/10, least + states/2, math.MaxUint64}
}

// TestLongDisk compares searches on disk with searches in memory: of grids with one
// tile, with as many as cells, and with cells that no edge joins.
func TestLongDisk(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {5, 2}} {
		want := search(t, size[0], size[1], 2).Depths
		g := mustGrid(t, size[0], size[1])
		amounts := memories(t, g, 2)
		if g.Cells() == 10 && !tries.Long() {
			amounts = amounts[:2]
		}
		for _, memory := range amounts {
			o := onDisk(t.TempDir())
			for range 2 { // the second time all is there already
				o.Memory = memory
				got, err := bfs.Search(t.Context(), g, o)
				should.Hold(t, err == nil && slices.Equal(got.Depths, want), "%v, %d bytes: %v, %v, want %v", size, memory, got, err, want)
			}
		}
	}
}

// TestLongDiskTwelve is TestLongDisk for 12 cells, where upper cells have edges of all kinds.
func TestLongDiskTwelve(t *testing.T) {
	tries.NeedsLong(t, "slow")
	want := search(t, 3, 4, 2).Depths
	g := mustGrid(t, 3, 4)
	amounts := memories(t, g, 2)
	if !tries.Full() {
		amounts = amounts[1:2]
	}
	for _, memory := range amounts {
		o := onDisk(t.TempDir())
		o.Memory = memory
		got, err := bfs.Search(t.Context(), g, o)
		should.Hold(t, err == nil && slices.Equal(got.Depths, want), "%d bytes: %v, %v, want %v", memory, got, err, want)
	}
}

// TestResume interrupts a search in every depth and resumes it, each time with another number of blocks in memory.
func TestResume(t *testing.T) {
	g := mustGrid(t, 2, 5)
	want := search(t, 2, 5, 2).Depths
	memories := memories(t, g, 1)
	dir := t.TempDir()
	for depth := 1; depth <= len(want); depth++ {
		ctx, cancel := context.WithCancel(t.Context())
		o, first := onDisk(dir), 0
		o.Progress = func(s job.Step) {
			if s.Doing == fmt.Sprintf("depth %d", depth) {
				cancel()
			}
			if first == 0 {
				first, _ = strconv.Atoi(strings.TrimPrefix(s.Doing, "depth "))
			}
		}
		o.Workers, o.Memory = 1, memories[depth%len(memories)]
		_, err := bfs.Search(ctx, g, o)
		cancel()
		// The last report of a depth comes when nothing is left to be stopped.
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
		should.Not(t, first > depth || depth > 2 && first < depth-1, "interrupted in depth %d, which begins with %d", depth, first)
	}
	got, err := bfs.Search(t.Context(), g, onDisk(dir))
	should.Hold(t, err == nil && slices.Equal(got.Depths, want), "%v, %v, want %v", got, err, want)
}

// interrupt ends a search at a depth.
func interrupt(t *testing.T, g *swap.Grid, o bfs.Options, depth int) {
	t.Helper()
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Doing == fmt.Sprint("depth ", depth) }, func(ctx context.Context) error {
		_, err := bfs.Search(ctx, g, o)
		return err
	})
}

// interrupted leaves a search that is half done and returns its directory.
func interrupted(t *testing.T) string {
	t.Helper()
	o := onDisk(t.TempDir())
	interrupt(t, mustGrid(t, 2, 4), o, 9)
	return o.Dir
}

// TestDamage damages the files of an interrupted search.
func TestDamage(t *testing.T) {
	runstest.Damages(t, interrupted(t), func(dir string) ([]uint64, error) {
		r, err := bfs.Search(t.Context(), mustGrid(t, 2, 4), onDisk(dir))
		if err != nil {
			return nil, err
		}
		return r.Depths, nil
	}, search(t, 2, 4, 1).Depths)
}

// TestForged has checkpoints under right checksums whose counts may be of a search, but
// not of the states in the blocks.
func TestForged(t *testing.T) {
	for name, forge := range map[string]func(b []byte){
		"a newest state more":   func(b []byte) { b[3+8*(int(b[2])-1)]++ },
		"an earlier one less":   func(b []byte) { b[3+8*4]-- },
		"no depth but the goal": func(b []byte) { b[3] = 2 },
	} {
		dir := interrupted(t)
		payload := runstest.Checkpoint(t, dir, "swap-bfs", 2)
		forge(payload)
		runstest.SetCheckpoint(t, dir, "swap-bfs", 2, payload)
		r, err := bfs.Search(t.Context(), mustGrid(t, 2, 4), onDisk(dir))
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "%s: %v, error %v", name, r, err)
	}
}

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
