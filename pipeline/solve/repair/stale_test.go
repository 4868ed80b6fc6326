//go:build unix

package repair_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/frame"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/exchange"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
	"grenier/pipeline/tables"
)

// over is a run whose last layer is computed over a wrong one.
type over struct {
	t     *testing.T
	game  awari.Game
	seeds int    // of the layer in progress; the layer two below it is the wrong one
	right string // the whole run
	dir   string
	bits  int
}

func (o *over) options(seeds int) solve.Options {
	s := solveOptions(seeds)
	s.Interval = 1
	if seeds == o.seeds {
		s.Bits = o.bits
	}
	return s
}

func (o *over) solve(seeds int) {
	o.t.Helper()
	if err := o.try(o.t.Context(), o.options(seeds)); err != nil {
		o.t.Fatal(err)
	}
}

// try solves until the few positions that are checked of the wrong layer do not give it away.
func (o *over) try(ctx context.Context, s solve.Options) error {
	for {
		_, err := solve.Solve(ctx, o.dir, o.game, s)
		found, ok := errors.AsType[*corrupt.Error](err)
		if !ok || filepath.Base(found.File) != rundir.LayerName(o.seeds-2) {
			return err
		}
	}
}

// importWrong adds the layer two below the last one with a few wrong scores.
func (o *over) importWrong() {
	o.t.Helper()
	n := o.seeds - 2
	t, err := tables.Open(o.right, tables.Options{})
	if err != nil {
		o.t.Fatal(err)
	}
	defer t.Close()
	scores := make([]int8, t.Layers()[n].Positions)
	if err := t.Read(n, 0, scores); err != nil {
		o.t.Fatal(err)
	}
	data := make([]byte, len(scores))
	for i, s := range scores {
		if i%(len(scores)/4) == 7 {
			s = cmp.Or(-s, 1)
		}
		data[i] = byte(s)
	}
	_, err = exchange.Import(o.t.Context(), o.dir, "colex", o.game, exchange.Options{Seeds: n, Format: exchange.Colex, Codec: frame.None, From: bytes.NewReader(data)})
	if err != nil {
		o.t.Fatal(err)
	}
}

// stopInside stops inside the last layer, of which something is kept.
func (o *over) stopInside() {
	o.t.Helper()
	for calls := 1; ; calls++ {
		ctx, cancel := context.WithCancel(o.t.Context())
		s, left := o.options(o.seeds), calls
		s.Progress = func(step job.Step) {
			p := step.Detail.(solve.Progress)
			if p.Stage == "sparse" || p.Stage == "full" || p.Window > 0 {
				if left--; left == 0 {
					cancel()
				}
			}
		}
		err := o.try(ctx, s)
		cancel()
		if !errors.Is(err, context.Canceled) {
			o.t.Fatal("not stopped:", err)
		}
		kept, err := filepath.Glob(filepath.Join(o.dir, rundir.WorkName, "[fow]*"))
		if err != nil {
			o.t.Fatal(err)
		}
		if slices.ContainsFunc(kept, func(name string) bool {
			return filepath.Base(name) == rundir.FoundName || strings.Contains(name, "window")
		}) {
			return
		}
	}
}

// TestLongSealedOverWrong: a layer is stopped over a wrong one that was imported. When that is right again, by repair or as a file of
// another run, nothing of the layer in progress is used, and it says so; nor is anything if it was sealed.
func TestLongSealedOverWrong(t *testing.T) {
	const seeds = 12
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	right := solved(t, 12, awari.Awari, seeds)
	for _, bits := range []int{8, 4} {
		for _, repaired := range []bool{true, false} {
			if !tries.Long() && repaired != (bits == 8) {
				continue
			}
			o := &over{t: t, game: game, seeds: seeds, right: right, dir: filepath.Join(t.TempDir(), "run"), bits: bits}
			o.solve(seeds - 3)
			o.importWrong()
			o.solve(seeds - 1)
			o.stopInside()
			sealed := filepath.Join(t.TempDir(), "sealed")
			if err := os.CopyFS(sealed, os.DirFS(o.dir)); err != nil {
				t.Fatal(err)
			}
			o.replaceWrong(repaired)
			var notes []string
			s := o.options(seeds)
			s.Note = func(text string) { notes = append(notes, text) }
			if _, err := solve.Solve(t.Context(), o.dir, game, s); err != nil {
				t.Fatal(err)
			}
			sameLayers(t, right, o.dir)
			if len(notes) != 1 || !strings.Contains(notes[0], "layer 12 is computed from the beginning") {
				t.Errorf("notes %q", notes)
			}
			o.dir = sealed
			o.sealedStale()
		}
	}
}

// replaceWrong brings the right layer back.
func (o *over) replaceWrong(repaired bool) {
	o.t.Helper()
	name := rundir.LayerName(o.seeds - 2)
	if repaired {
		remove(o.t, o.dir, name, rundir.ManifestName)
		if _, err := repair.Run(o.t.Context(), o.dir, options()); err != nil {
			o.t.Fatal(err)
		}
		return
	}
	m, err := manifest.Load(filepath.Join(o.right, rundir.ManifestName))
	if err != nil {
		o.t.Fatal(err)
	}
	listed, err := manifest.Load(filepath.Join(o.dir, rundir.ManifestName))
	if err != nil {
		o.t.Fatal(err)
	}
	m.Layers = m.Layers[:len(listed.Layers)]
	copy(m.Layers[o.seeds-1:], listed.Layers[o.seeds-1:])
	replace(o.t, o.dir, name, read(o.t, o.right, name))
	testrun.SaveManifest(o.t, o.dir, m)
}

// sealedStale seals the layer over the wrong one and brings that back: solve and repair say so, and repair
// solves the layer again if it is told to.
func (o *over) sealedStale() {
	t := o.t
	t.Helper()
	o.solve(o.seeds)
	name := rundir.LayerName(o.seeds)
	if read(t, o.dir, name) == read(t, o.right, name) {
		t.Fatal("the wrong layer changes nothing")
	}
	remove(t, o.dir, rundir.LayerName(o.seeds-2), rundir.ManifestName)
	r := mustRepair(t, o.dir)
	var stale *manifest.StaleError
	want := []int{o.seeds - 2}
	if err := r.Err(); r.OK || !errors.As(err, &stale) || !errors.Is(err, corrupt.ErrCorrupt) || stale.Seeds != o.seeds || !reflect.DeepEqual(stale.From, want) {
		t.Fatalf("%v, %+v", err, r)
	}
	if _, err := solve.Solve(t.Context(), o.dir, o.game, o.options(o.seeds)); !errors.As(err, &stale) || stale.Seeds != o.seeds {
		t.Fatal(err)
	}
	again := options()
	again.SetAside = true
	for _, dry := range []bool{true, false} {
		again.DryRun = dry
		r, err := repair.Run(t.Context(), o.dir, again)
		if err != nil || r.Err() != nil || !reflect.DeepEqual(r.Layers[o.seeds].MadeFrom, want) || r.Layers[o.seeds].Action != repair.Solve {
			t.Fatalf("%v, %+v", err, r)
		}
	}
	sameLayers(t, o.right, o.dir)
	if aside, err := filepath.Glob(filepath.Join(o.dir, name+".damaged-*")); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %q, %v", aside, err)
	}
	o.solve(o.seeds) // nothing is wrong any more
}
