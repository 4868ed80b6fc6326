//go:build unix

package repair_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

// TestZstd: a run with a layer in zstd, which earlier versions wrote, is not damaged: repair and solve say what it is, and change nothing.
func TestZstd(t *testing.T) {
	game := must.Get(awari.New(6, awari.Awari))(t)
	for name, change := range map[string]func(dir string){
		"as it was":            func(string) {},
		"manifest lost":        func(dir string) { remove(t, dir, rundir.ManifestName) },
		"not listed":           func(dir string) { shorten(t, dir, 7) },
		"another damaged":      func(dir string) { replace(t, dir, rundir.LayerName(3), "Dear diary") },
		"manifest not of ours": func(dir string) { replace(t, dir, rundir.ManifestName, `{"name": "web app"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := small(t)
			layerfiletest.MarkZstd(t, filepath.Join(dir, rundir.LayerName(7)))
			change(dir)
			before := files(t, dir)
			for _, dry := range []bool{true, false} {
				o := options()
				o.DryRun, o.SetAside = dry, true
				_, err := repair.Run(t.Context(), dir, o)
				should.Hold(t, errors.Is(err, layerfile.ErrZstd) && errors.Is(err, corrupt.ErrCorrupt), "repair: %v", err)
			}
			if name == "as it was" {
				should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, solveOptions(8))), layerfile.ErrZstd, "solve")
			}
			after := files(t, dir)
			should.Hold(t, maps.Equal(before, after), "files changed")
		})
	}
}
