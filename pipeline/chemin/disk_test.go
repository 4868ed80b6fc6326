package chemin

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// inDir returns the options of a search in a directory that calls progress, if not nil.
func inDir(dir string, workers int, progress func(phase string, done int)) Options {
	j := job.Job{Memory: runs.LeastMemory(workers), Workers: workers, Progress: func(s job.Step) {
		if phase, _, _ := strings.Cut(s.Doing, ","); progress != nil {
			progress(phase, int(s.Done))
		}
	}}
	return Options{Job: j, Method: Layers, Dir: dir}
}

// stopAt runs a search in a directory with one worker and stops it when a sweep has come to a layer,
// which is then in the checkpoint. With "" it goes to the end.
func stopAt(t testing.TB, b *chemin.Board, dir, doing string, filled int) *Result {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := Solve(ctx, b, inDir(dir, 1, func(phase string, done int) {
		if phase == doing && done == filled {
			cancel()
		}
	}))
	must.Not(t, doing != "" && !errors.Is(err, context.Canceled) || doing == "" && err != nil, "%v", err)
	return r
}

// known are the numbers of a result that do not depend on how a search was run.
func known(r *Result) []any {
	var orders [][]int
	for _, s := range r.Solutions {
		orders = append(orders, s.Order)
	}
	return []any{r.Lower, r.Upper, r.Cut, fields(r.Orders), ending(r), fields(r.Orientations), fields(r.Grids), orders}
}

// TestGolden compares the files of two searches with those in testdata, and resumes from these (package runs tests that
// a search is stopped and resumed in each layer). If the compression library has changed, -update is right; otherwise
// the format has, and checkpointVersion must grow.
func TestGolden(t *testing.T) {
	b := board(t, 3, 3)
	want := known(solve(t, 3, 3, Options{Method: Layers}))
	for _, doing := range []string{"layers", "counting"} {
		t.Run(doing, func(t *testing.T) {
			dir, made := t.TempDir(), filepath.Join("testdata", doing)
			r := stopAt(t, b, dir, doing, 2)
			should.Not(t, r.Lower > 57 || r.Upper < 57, "stopped: %d to %d", r.Lower, r.Upper)
			runstest.Golden(t, dir, made)
			other := t.TempDir()
			runstest.Copy(t, made, other)
			first := ""
			r, err := Solve(t.Context(), b, inDir(other, 2, func(phase string, done int) {
				if first == "" && (phase == "layers" || phase == "counting") {
					first = phase + " " + strconv.Itoa(done)
				}
			}))
			must.Hold(t, err == nil && first == doing+" 2", "it began with %q: %v", first, err)
			must.Same(t, "another result", want, known(r))
			must.Empty(t, filepath.Join(other, rundir.WorkName))
		})
	}
}

// TestCheckpointContradicts parses checkpoints with one impossible field.
func TestCheckpointContradicts(t *testing.T) {
	b := board(t, 3, 3)
	for name, change := range map[string]func(c *checkpoint){
		"order too short":   func(c *checkpoint) { c.Order = c.Order[1:] },
		"order with a twin": func(c *checkpoint) { c.Order[0] = c.Order[1] },
		"cell out of range": func(c *checkpoint) { c.Order[0] = 9 },
		"filled":            func(c *checkpoint) { c.Filled = 9 },
		"negative filled":   func(c *checkpoint) { c.Filled = -1 },
		"another layer":     func(c *checkpoint) { c.Filled++ },
		"no blocks":         func(c *checkpoint) { c.Blocks = nil },
		"one block twice":   func(c *checkpoint) { c.Blocks = append(c.Blocks, c.Blocks[0]) },
		"records":           func(c *checkpoint) { c.Blocks[0].Records++ },
		"no records":        func(c *checkpoint) { c.Blocks[0].Records = 0 },
		"states":            func(c *checkpoint) { c.States[c.Filled]++ },
		"another beginning": func(c *checkpoint) { c.States[0] = 2 },
		"too many states":   func(c *checkpoint) { c.States[1] = 10 },
		"no states":         func(c *checkpoint) { c.States = nil },
		"counting":          func(c *checkpoint) { c.Counting = true },
		"counted: optimal":  func(c *checkpoint) { c.Optimal = math.MaxUint64 },
	} {
		dir, from := t.TempDir(), "testdata/layers"
		if strings.HasPrefix(name, "counted: ") {
			from = "testdata/counting"
		}
		runstest.Copy(t, from, dir)
		runstest.ChangeCheckpoint(t, dir, checkpointKind, checkpointVersion, change)
		r, err := Solve(t.Context(), b, inDir(dir, 1, nil))
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "%s: %v, %v", name, r, err)
	}
}

// TestRecords reads layers with records that cannot be.
func TestRecords(t *testing.T) {
	b := board(t, 3, 3)
	first := []uint32{1, 1, 0, 0, 0, 0, 0} // a corner
	edge := []uint32{2, 1, 1, 0, 0, 0, 0}
	for _, tt := range []struct {
		name     string
		counting bool
		optimal  uint64
		rows     [][]uint32
		ok       bool
	}{
		{"right", false, 0, [][]uint32{first, edge}, true},
		{"out of order", false, 0, [][]uint32{edge, first}, false},
		{"twice", false, 0, [][]uint32{first, first}, false},
		{"two cells filled", false, 0, [][]uint32{{3, 1, 0, 0, 0, 0, 0}}, false},
		{"cell out of range", false, 0, [][]uint32{{1 << 9, 1, 9, 0, 0, 0, 0}}, false},
		{"another corner", false, 0, [][]uint32{{4, 1, 2, 0, 0, 0, 0}}, false},
		{"another value", false, 0, [][]uint32{{1, 2, 0, 0, 0, 0, 0}}, false},
		{"no value", false, 0, [][]uint32{{1, 0, 0, 0, 0, 0, 0}}, false},
		{"another order", false, 0, [][]uint32{{1, 1, 4, 0, 0, 0, 0}}, false},
		{"order of cells out of range", false, 0, [][]uint32{{1, 1, 31, 0, 0, 0, 0}}, false},
		{"a longer order", false, 0, [][]uint32{{1, 1, 1 << 5, 0, 0, 0, 0}}, false},
		{"counted", true, 1, [][]uint32{{1, 1, 4, 0}, {2, 1, 4, 0}}, true},
		{"none counted", true, 0, [][]uint32{{1, 1, 0, 0}}, false},
		{"more than all", true, 0, [][]uint32{{1, 1, 10, 0}}, false},
		{"overflow", true, 0, [][]uint32{{1, 1, math.MaxUint32, math.MaxUint32}}, false},
		{"more than all together", true, 0, [][]uint32{{1, 1, 5, 0}, {2, 1, 5, 0}}, false},
		{"more than all with those before", true, 2 * 40320, [][]uint32{{1, 1, 4, 0}, {2, 1, 4, 0}}, false},
		{"value out of range", true, 0, [][]uint32{{1, math.MaxUint32, 4, 0}}, false},
	} {
		c := &checkpoint{Counting: tt.counting, Filled: 1, Optimal: tt.optimal}
		s := &runs.Store{Most: 1 << 20}
		w := runs.NewWriter(s, c.layout().stride())
		for _, row := range tt.rows {
			must.OK(t, w.Add(row))
		}
		r, err := w.Finish()
		must.OK(t, err)
		c.Blocks = r.Blocks
		err = verify(s, b, c, growth(b))
		should.Not(t, tt.ok && err != nil || !tt.ok && !errors.Is(err, corrupt.ErrCorrupt), "%s: %v", tt.name, err)
	}
}

// FuzzCheckpoint resumes from any sealed checkpoint: it is refused, or the search ends.
func FuzzCheckpoint(f *testing.F) {
	for _, dir := range []string{"testdata/layers", "testdata/counting"} {
		f.Add(runstest.Checkpoint(f, dir, checkpointKind, checkpointVersion))
	}
	b := board(f, 3, 3)
	f.Fuzz(func(t *testing.T, payload []byte) {
		dir := t.TempDir()
		runstest.Copy(t, "testdata/layers", dir)
		runstest.SetCheckpoint(t, dir, checkpointKind, checkpointVersion, payload)
		_, err := Solve(t.Context(), b, inDir(dir, 1, nil))
		should.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	})
}

// FuzzRecords resumes from layers of any records: they are refused, or the sweep ends.
func FuzzRecords(f *testing.F) {
	f.Add(false, uint8(1), []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(true, uint8(1), []byte{1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0})
	f.Add(true, uint8(2), []byte{3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255})
	b := board(f, 2, 3)
	limits := growth(b)
	f.Fuzz(func(t *testing.T, counting bool, filled uint8, raw []byte) {
		c := &checkpoint{Counting: counting, Filled: int(filled) % b.Cells()}
		s := newTestSweep(b, 1<<20, 0)
		s.counting, s.target = counting, 12
		w := runs.NewWriter(s.store, c.layout().stride())
		row := make([]uint32, c.layout().stride())
		for range 100 {
			if len(raw) == 0 {
				break
			}
			for i := range row {
				var word [4]byte
				raw = raw[copy(word[:], raw):]
				row[i] = binary.LittleEndian.Uint32(word[:])
			}
			must.OK(t, w.Add(row))
		}
		layer := must.Get(w.Finish())(t)
		c.Blocks = layer.Blocks
		if err := verify(s.store, b, c, limits); err != nil {
			should.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		s.layer = &run{c.layout(), layer}
		if layer.N == 0 {
			return
		}
		must.OK(t, s.run(t.Context(), func() {}, nil))
	})
}
