package chemin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/io/corrupt"
	"grenier/layers/chemin"
)

// sweepAll runs a sweep without bounds to the end and returns the states of each layer.
func sweepAll(t *testing.T, s *sweep) (states []int, runs int) {
	t.Helper()
	layer := s.root()
	for layer.filled < s.board.Cells() && layer.n > 0 {
		next, err := s.advance(context.Background(), layer)
		if err != nil {
			t.Fatal(err)
		}
		if err := layer.remove(); err != nil {
			t.Fatal(err)
		}
		states = append(states, next.n)
		layer = next
	}
	if err := layer.remove(); err != nil {
		t.Fatal(err)
	}
	return states, s.runs
}

func newTestSweep(b *chemin.Board, memory int64, dir string, target uint32) *sweep {
	s := &sweep{board: b, bounds: &bounds{board: b}, best: &incumbent{}, threads: 2, memory: memory, dir: dir, name: maxName, abreast: 3}
	if target > 0 {
		s.counting, s.target, s.name = true, target, countName
	}
	return s
}

// TestSpill runs sweeps that keep next to nothing in memory.
func TestSpill(t *testing.T) {
	b := board(t, 3, 3)
	for _, tt := range []struct {
		target  uint32
		optimal uint64
	}{{0, 0}, {57, 32}} {
		dir := t.TempDir()
		large := newTestSweep(b, 1<<30, "", tt.target)
		small := newTestSweep(b, 1<<11, dir, tt.target)
		want, _ := sweepAll(t, large)
		got, files := sweepAll(t, small)
		if files < 3*b.Cells() {
			t.Errorf("only %d files were made", files)
		}
		if tt.target == 0 {
			// Fewer comparisons leave more states, never less.
			for i := range want {
				if got[i] < want[i] {
					t.Errorf("layer %d: %d states, %d in memory", i+1, got[i], want[i])
				}
			}
			if large.best.score.Load() != 57 || small.best.score.Load() != 57 {
				t.Errorf("found %d, in memory %d", small.best.score.Load(), large.best.score.Load())
			}
		} else if !slices.Equal(got, want) || small.optimal.Load() != tt.optimal || large.optimal.Load() != tt.optimal {
			t.Errorf("states %v, %d orders; in memory %v, %d; want %d orders", got, small.optimal.Load(), want, large.optimal.Load(), tt.optimal)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestCountingStates compares the states of a sweep that drops none with those found by filling
// boards.
func TestCountingStates(t *testing.T) {
	b := board(t, 2, 3)
	got, _ := sweepAll(t, newTestSweep(b, 1<<30, "", 1000)) // never reached
	layer := map[chemin.State]bool{{}: true}
	for k := range b.Cells() - 1 {
		next := map[chemin.State]bool{}
		for s := range layer {
			for cell := range b.Cells() {
				if s.Filled>>cell&1 == 0 {
					to, _ := b.Fill(&s, cell)
					to, _ = b.Canonical(&to)
					next[to] = true
				}
			}
		}
		if layer = next; got[k] != len(layer) {
			t.Errorf("layer %d: %d states, want %d", k+1, got[k], len(layer))
		}
	}
}

func TestMemoryTooSmall(t *testing.T) {
	s := newTestSweep(board(t, 3, 4), 1<<12, "", 0)
	layer := s.root()
	var err error
	for err == nil && layer.n > 0 {
		layer, err = s.advance(context.Background(), layer)
	}
	if !errors.Is(err, errMemory) {
		t.Errorf("%v, want errMemory", err)
	}
}

// interrupt solves a board on disk and stops when so many reports of the sweeps have come.
func interrupt(t *testing.T, b *chemin.Board, dir string, reports int) (*Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return Solve(ctx, b, Options{Method: Layers, Memory: minMemory, Threads: 2, Dir: dir, Progress: func(p Progress) {
		if p.Doing == "layers" || p.Doing == "counting" {
			if reports--; reports == 0 {
				cancel()
			}
		}
	}})
}

// TestResume interrupts a search after each layer, and goes on until it is done.
func TestResume(t *testing.T) {
	b := board(t, 3, 4)
	want := solve(t, 3, 4, Options{Method: Layers})
	dir := filepath.Join(t.TempDir(), "new")
	stops := 0
	for ; ; stops++ {
		r, err := interrupt(t, b, dir, 2)
		if err == nil {
			if r.Lower != 300 || !r.Exact() || !slices.Equal(fields(r.Orders), fields(want.Orders)) || !slices.Equal(fields(r.Orientations), fields(want.Orientations)) {
				t.Errorf("%d %v %v, want %d %v %v", r.Lower, fields(r.Orders), fields(r.Orientations), want.Lower, fields(want.Orders), fields(want.Orientations))
			}
			break
		}
		if !errors.Is(err, context.Canceled) || r.Lower > 300 || r.Upper < 300 {
			t.Fatalf("%+v, %v", r, err)
		}
		if stops > 2*b.Cells() {
			t.Fatal("the search does not go on")
		}
	}
	if stops < 5 {
		t.Errorf("only %d interruptions", stops)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestBadDirectory damages what an interrupted search left.
func TestBadDirectory(t *testing.T) {
	b := board(t, 3, 4)
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		board  *chemin.Board
		want   error
	}{
		"none":        {func(*testing.T, string) {}, b, nil},
		"other board": {func(*testing.T, string) {}, board(t, 3, 3), corrupt.ErrMismatch},
		"layer":       {func(t *testing.T, dir string) { flip(t, dir, maxName) }, b, corrupt.ErrCorrupt},
		"checkpoint":  {func(t *testing.T, dir string) { flip(t, dir, checkpointName) }, b, corrupt.ErrCorrupt},
		"foreign": {func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, checkpointName), filepath.Join(dir, "letter.txt")); err != nil {
				t.Fatal(err)
			}
		}, b, corrupt.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := interrupt(t, b, dir, 4); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			tt.damage(t, dir)
			before, _ := os.ReadDir(dir)
			_, err := Solve(context.Background(), tt.board, Options{Method: Layers, Memory: minMemory, Threads: 2, Dir: dir})
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if after, _ := os.ReadDir(dir); errors.Is(tt.want, corrupt.ErrForeign) && len(after) != len(before) {
				t.Errorf("files of others changed: %v, before %v", after, before)
			}
		})
	}
}

// flip changes a byte in the middle of the file whose name begins so.
func flip(t *testing.T, dir, prefix string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			path := filepath.Join(dir, e.Name())
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 0x40
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no file %s", prefix)
}
