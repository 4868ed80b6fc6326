package bfs_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"grenier/io/rundir"
	"grenier/pipeline/swap/bfs"
)

// TestPredict compares predictions with what was counted in searches of 10 to 13
// cells: visits and bytes of pieces written over all depths, and the largest size
// of the file.
func TestPredict(t *testing.T) {
	for _, c := range []struct {
		rows, cols            int
		visits, written, disk float64
	}{
		{2, 5, 14.62 * 30240, 1.8e6, 0.7e6},
		{3, 4, 13.37 * 3991680, 234e6, 93.3e6},
		{2, 6, 14.97 * 3991680, 239e6, 78.2e6},
		{1, 11, 27.59 * 332640, 37e6, 5.8e6},
		{1, 12, 27.60 * 3991680, 443e6, 63.3e6},
	} {
		a, err := bfs.Predict(mustGrid(t, c.rows, c.cols), bfs.Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name      string
			got       uint64
			want, off float64
		}{{"visits", a.Visits, c.visits, 0.1}, {"bytes written", a.Written, c.written, 0.1}, {"bytes on disk", a.Disk, c.disk, 0.2}} {
			if math.Abs(float64(x.got)-x.want) > x.off*x.want {
				t.Errorf("%d x %d: %d %s, counted %.0f", c.rows, c.cols, x.got, x.name, x.want)
			}
		}
		if float64(a.Most) < c.disk {
			t.Errorf("%d x %d: at most %d bytes on disk, counted %.0f", c.rows, c.cols, a.Most, c.disk)
		}
	}
}

// TestPredictMemory: more memory holds more and reads less; nothing else changes.
func TestPredictMemory(t *testing.T) {
	g := mustGrid(t, 2, 7)
	var before *bfs.Amounts
	for memory := uint64(1 << 29); memory < 1<<34; memory += 1 << 29 {
		a, err := bfs.Predict(g, bfs.Options{Workers: 2, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && (a.Held < before.Held || a.Read > before.Read || a.Written != before.Written || a.Most != before.Most) {
			t.Errorf("%d bytes: %+v, with less %+v", memory, a, before)
		}
		before = a
	}
	if before.Held != 1 || before.Read != 0 {
		t.Errorf("16 GiB: %+v", before)
	}
}

// TestMost: a search never has more on disk than what it asked for.
func TestMost(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 3}, {2, 5}} {
		g := mustGrid(t, size[0], size[1])
		a, err := bfs.Predict(g, bfs.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		o, most := onDisk(t.TempDir()), int64(0)
		o.Workers = 1
		o.Progress = func(bfs.Progress) { most = max(most, bytesIn(t, o.Dir)) }
		if _, err := bfs.Search(t.Context(), g, o); err != nil {
			t.Fatal(err)
		}
		if most = max(most, bytesIn(t, o.Dir)); uint64(most) > a.Most {
			t.Errorf("%v: %d bytes on disk, at most %d were expected", size, most, a.Most)
		}
	}
}

// bytesIn returns the bytes of the files in the work directory of a run.
func bytesIn(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
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
	a, err := bfs.Predict(g, bfs.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	room := func(bytes uint64) func(string) (uint64, error) {
		return func(string) (uint64, error) { return bytes, nil }
	}
	o := onDisk(filepath.Join(t.TempDir(), "run"))
	o.Free = room(a.Most - 1)
	_, err = bfs.Search(t.Context(), g, o)
	refused, ok := errors.AsType[*rundir.RoomError](err)
	if !ok || refused.Need != a.Most || refused.Free != a.Most-1 || refused.Path != o.Dir {
		t.Errorf("a byte less: %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	o.Free = room(a.Most)
	if _, err := bfs.Search(t.Context(), g, o); err != nil {
		t.Errorf("as much as needed: %v", err)
	}
	o.Dir = interrupted(t)
	o.Free = room(a.Most - uint64(bytesIn(t, o.Dir)))
	if _, err := bfs.Search(t.Context(), g, o); err != nil {
		t.Errorf("with what is there already: %v", err)
	}
	o.Dir, o.Free = interrupted(t), room(0)
	if _, err := bfs.Search(t.Context(), g, o); err == nil {
		t.Error("searches without room")
	}
	o.Free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	if _, err := bfs.Search(t.Context(), g, o); err != nil {
		t.Errorf("where free space is not known: %v", err)
	}
}

// TestSample: costs are measured for grids with and without upper cells, and an
// interrupt ends that.
func TestSample(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 4}, {2, 5}} {
		c, err := bfs.Sample(t.Context(), mustGrid(t, size[0], size[1]), 2, 20*time.Millisecond)
		if err != nil || !(c.Visit > 0 && c.Pack > 0 && c.Unpack > 0) {
			t.Errorf("%v: %+v, %v", size, c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bfs.Sample(ctx, mustGrid(t, 2, 5), 2, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
