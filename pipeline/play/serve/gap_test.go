package serve

import (
	"net/http"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/manifest"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// TestLeftOut: the layer below the last one is left out: it is in no list, what looks through it says so, and all else is answered.
func TestLeftOut(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	_, dir := openRun(t, game)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		below := manifest.Manifest{Identity: m.Identity, Layers: m.Layers[:seeds-1]}
		*m = *below.With(m.Layers[seeds])
	})
	tab := must.Get(tables.Open(t.Context(), dir, tables.Kernel(cpu.Generic)))(t)
	defer tab.Close()
	r := start(t, Options{Tables: tab, Dir: dir})
	var listed struct{ Layers []struct{ Seeds int } }
	r.ask("/api/layers", &listed)
	should.Hold(t, len(listed.Layers) == seeds && listed.Layers[seeds-1].Seeds == seeds, "layers %+v", listed.Layers)
	for target, want := range map[string]int{
		"/api/probe?pits=1,1,1,1,0,0,0,0,0,0,0,0":  http.StatusOK,
		"/api/charts/scores?seeds=4":               http.StatusBadRequest,
		"/api/find?seeds=3..5":                     http.StatusBadRequest,
		"/api/hardest?seeds=4":                     http.StatusBadRequest,
		"/api/puzzles?seeds=0..5&count=1":          http.StatusOK,
		"/api/charts":                              http.StatusOK,
		"/api/charts/scores?seeds=5":               http.StatusOK,
		"/api/find?seeds=5":                        http.StatusOK,
		"/api/find?seeds=0..3":                     http.StatusOK,
		"/api/probe?pits=1,1,1,1,1,0,0,0,0,0,0,0":  http.StatusOK,
		"/api/line?pits=1,1,1,1,1,0,0,0,0,0,0,0":   http.StatusOK,
		"/api/search?pits=1,1,1,1,0,0,0,0,0,0,0,0": http.StatusOK,
	} {
		got := r.get(target)
		should.Not(t, got.status != want || want != http.StatusOK && !strings.Contains(got.body, "layer 4 is left out in"),
			"%s: status %d, %s; want %d", target, got.status, got.body, want)
	}
}
