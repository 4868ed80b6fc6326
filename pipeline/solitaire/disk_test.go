package solitaire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// diskGame is a problem that is solved on disk.
func diskGame(t testing.TB) Problem {
	p := game(t, "oooo\noooo\noooo", 1)
	p.Ends = 1 << 1
	return p
}

// crashGame is the problem of tests that search again and again.
func crashGame(t testing.TB) Problem { return game(t, "oooo\noooo\n-oo-", 1) }

// onDisk returns options for a directory, with one worker, whose files are the same in each run.
func onDisk(dir string) Options {
	return Options{Job: job.Job{Memory: runs.LeastMemory(1), Workers: 1}, Dir: dir}
}

// doing returns the text of the steps of a layer.
func doing(backward bool, pegs int) string {
	if backward {
		return fmt.Sprintf("%d pegs, backward", pegs)
	}
	return fmt.Sprintf("%d pegs", pegs)
}

// stopAt runs a search and stops it in a layer.
func stopAt(t testing.TB, p Problem, dir string, backward bool, pegs int) {
	o := onDisk(dir)
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Doing == doing(backward, pegs) }, func(ctx context.Context) error {
		_, err := Solve(ctx, p, o)
		return err
	})
}

// TestGolden compares the files of two searches with those in testdata, and resumes from these (package runs tests that
// a search is stopped and resumed in each layer). If the compression library has changed, -update is right; otherwise
// the format has, and checkpointVersion must grow.
func TestGolden(t *testing.T) {
	p := diskGame(t)
	want := solve(t, p, options())
	for name, stop := range map[string]struct {
		backward bool
		pegs     int
	}{"forward": {false, 7}, "backward": {true, 5}} {
		dir, made := t.TempDir(), filepath.Join("testdata", name)
		stopAt(t, p, dir, stop.backward, stop.pegs)
		runstest.Golden(t, dir, made)
		other := t.TempDir()
		runstest.Copy(t, made, other)
		o, first := options(), ""
		o.Dir = other
		o.Progress = func(s job.Step) {
			if first == "" {
				first = s.Doing
			}
		}
		must.Same(t, name, want, solve(t, p, o))
		should.Equal(t, first, doing(stop.backward, stop.pegs), "%s: it began with", name)
	}
}

// TestShared: what Count leaves in a directory, Solve goes on with; other ends with the same
// symmetries use the layers too, and other games are refused.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	p := game(t, "ooo\nooo\nooo\nooo", 4)
	must.OK(t, must.Err(Count(t.Context(), p, onDisk(dir))))
	for _, p.Ends = range []uint64{0, p.Board.Full(), 1<<4 | 1<<7 | 1<<1 | 1<<10, 0} {
		o, forward := onDisk(dir), false
		o.Progress = func(s job.Step) { forward = forward || !strings.Contains(s.Doing, "backward") }
		must.Same(t, fmt.Sprintf("ends %#x", p.Ends), solve(t, p, options()), solve(t, p, o))
		should.Not(t, forward, "ends %#x: layers are counted again", p.Ends)
	}
	for name, other := range map[string]Problem{
		"another start": game(t, "ooo\nooo\nooo\nooo", 3), "another board": game(t, "ooo\nooo\nooo\noo", 4),
		"another end": {Board: p.Board, Start: p.Start, Ends: 1},
	} {
		should.Be(t, must.Err(Count(t.Context(), other, onDisk(dir))), rundir.ErrOtherRun, "%s", name)
	}
}

// on runs a search whose work files are in a file system of a test.
func on(t *testing.T, p Problem, dir string, fs *crashfs.FS) (a answer, err error) {
	t.Helper()
	table, err := Solve(t.Context(), p, Options{Job: job.Job{Memory: runs.LeastMemory(2), Workers: 2}, Dir: dir, work: fs.Dir("work")})
	if err != nil {
		return a, err
	}
	a = solved(t, table)
	return a, table.Close()
}

// TestLongCrashOtherEnds crashes a search that takes over the layers of one with other ends: that one
// can still be asked.
func TestLongCrashOtherEnds(t *testing.T) {
	p := crashGame(t)
	q := p
	q.Ends = p.Board.Full()
	for _, p.Ends = range []uint64{1<<0 | 1<<3, 1<<1 | 1<<2, 1<<4 | 1<<7, 1<<5 | 1<<6, 1<<8 | 1<<9} {
		if solve(t, p, options()).Solvable {
			break
		}
	}
	want := []answer{solve(t, p, options()), solve(t, q, options())}
	dir := t.TempDir()
	k, step := 1, 1
	if !tries.Long() {
		k, step = 1+rand.IntN(5), 5
	}
	for ; ; k += step {
		fs := crashfs.New()
		_, err := on(t, p, dir, fs)
		must.OK(t, err)
		fs = fs.Kill()
		fs.CrashAt(k)
		_, err = on(t, q, dir, fs)
		must.Not(t, err != nil && !errors.Is(err, crashfs.ErrCrashed), "crash %d: %v", k, err)
		for i, problem := range []Problem{p, q} {
			got, failed := on(t, problem, dir, fs.Kill())
			must.Hold(t, failed == nil, "after crash %d: %v", k, failed)
			must.Same(t, fmt.Sprint("after crash ", k), want[i], got)
		}
		if err == nil {
			t.Logf("less than %d changes", k)
			if k < 10 || !want[0].Solvable {
				t.Errorf("too few changes for %v and %v", want[0], want[1])
			}
			return
		}
	}
}

// TestCheckpointContradicts opens checkpoints with one impossible field.
func TestCheckpointContradicts(t *testing.T) {
	p := diskGame(t)
	for name, change := range map[string]func(c *checkpoint){
		"another picture":   func(c *checkpoint) { c.Picture = "ooo\n" },
		"symmetries":        func(c *checkpoint) { c.Symmetries++ },
		"no layers":         func(c *checkpoint) { c.Layers = nil },
		"too many layers":   func(c *checkpoint) { c.Layers = append(c.Layers, c.Layers...) },
		"not done":          func(c *checkpoint) { c.Done = false },
		"many winning":      func(c *checkpoint) { c.Winning = append(c.Winning, c.Winning...) },
		"words":             func(c *checkpoint) { c.Layers[1].Words++ },
		"winning words":     func(c *checkpoint) { c.Winning[1].Words = countAt },
		"many words":        func(c *checkpoint) { c.Winning[1].Words = 1 << 40 },
		"empty layer":       func(c *checkpoint) { c.Layers[3].Blocks = nil },
		"empty winning":     func(c *checkpoint) { c.Winning[1].Blocks = nil },
		"two starts":        func(c *checkpoint) { c.Layers[0].Blocks[0].Records++ },
		"no records":        func(c *checkpoint) { c.Layers[2].Blocks[0].Records = 0 },
		"another number":    func(c *checkpoint) { c.Layers[2].Blocks[0].Records++ },
		"winning number":    func(c *checkpoint) { c.Winning[2].Blocks[0].Records++ },
		"no place":          func(c *checkpoint) { c.Winning[2].Blocks[0].Extent = workfile.Extent{} },
		"one block twice":   func(c *checkpoint) { c.Layers[5] = c.Layers[4] },
		"layers exchanged":  func(c *checkpoint) { c.Layers[4], c.Layers[5] = c.Layers[5], c.Layers[4] },
		"winning exchanged": func(c *checkpoint) { c.Winning[2], c.Winning[3] = c.Winning[3], c.Winning[2] },
	} {
		dir := t.TempDir()
		runstest.Copy(t, "testdata/backward", dir)
		runstest.ChangeCheckpoint(t, dir, checkpointKind, checkpointVersion, change)
		table, err := Solve(t.Context(), p, onDisk(dir))
		if err == nil {
			_, _, _, err = table.Shortest(t.Context())
			err = errors.Join(err, table.Close())
		}
		should.Be(t, err, corrupt.ErrCorrupt, "%s", name)
	}
}

// FuzzCheckpoint loads checkpoints of any contents.
func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(`{"picture":"o.oo\noooo\noooo\n","symmetries":1,"ends":2,"done":true,"layers":[{"words":2,"blocks":[{"offset":0,"length":8,"crc32c":1,"records":1}]}],"winning":[]}`))
	f.Add([]byte(`{"layers":[{"words":-1}]}`))
	p := diskGame(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := must.Get(newSearch(p, onDisk(""), false))(t)
		c := &checkpoint{}
		if json.Unmarshal(payload, c) != nil || s.load(c) != nil {
			return
		}
		should.Not(t, len(s.layers) == 0 || len(s.layers) > s.first || s.layers[0].N != 1 || len(s.winning) > 0 && len(s.layers) != s.first,
			"%d layers, %d winning", len(s.layers), len(s.winning))
	})
}
