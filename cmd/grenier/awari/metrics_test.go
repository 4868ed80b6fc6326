package awari

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve"
)

// TestMetrics: Prometheus is told over HTTP and in the file the figures that the run tells.
func TestMetrics(t *testing.T) {
	var errs strings.Builder
	a := &app{&cli.App{Err: &errs}}
	shown := must.Get(a.NewProgress("none", false))(t)
	w := newWatch(a, solveFlags{dir: t.TempDir()}, cpu.Generic)
	w.start, w.flags.rules, w.flags.pits, w.flags.seeds = time.Unix(1000, 0), "strict", 8, 24
	file := filepath.Join(t.TempDir(), "run.prom")
	m := newMetrics(w, file)
	w.readers = []func(solve.Event) error{(&terminal{app: a, shown: shown, quiet: true}).take, m.take}
	w.tell(solve.Locked{Manifest: &manifest.Manifest{Layers: []manifest.Layer{{File: "layer-00.gl", Positions: 10, Bytes: 100}}}})
	w.tell(solve.Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000, LayerLeft: 10, RunLeft: 30,
		Streams: map[string]solve.Streams{"capture": {Read: 7}},
	}.Step())
	w.tell(solve.Sealed{Report: solve.Report{Layer: manifest.Layer{Seeds: 1, File: "layer-01.gl", Positions: 20, Bytes: 200}}})
	address, stop, err := m.serve(t.Context(), "127.0.0.1:0")
	must.OK(t, err)
	r := must.Get(http.Get("http://" + address + "/metrics"))(t)
	served, err := io.ReadAll(r.Body)
	r.Body.Close()
	must.OK(t, err)
	written := must.Read(t, file)
	for name, text := range map[string]string{"HTTP": string(served), "file": string(written)} {
		for _, line := range []string{
			`grenier_run_state{state="running"} 1`, `grenier_run_state{state="failed"} 0`, `grenier_run_start_time_seconds 1000`,
			`grenier_run_last_layer 24`, `grenier_run_positions 1e+06`, `grenier_run_positions_done 250000`, `grenier_run_positions_per_second 25000`,
			`grenier_run_remaining_seconds 30`, `grenier_layer_seeds 16`, `grenier_layer_positions 500000`, `grenier_layer_share 0.5`,
			`grenier_layer_stage{stage="dense"} 1`, `grenier_layer_stage{stage="seal"} 0`, `grenier_layer_sweeps 3`,
			`grenier_layer_remaining_seconds 10`, `grenier_layer_streams_read_bytes{stage="capture"} 7`, `grenier_sealed_layers 2`,
			`grenier_sealed_positions 30`, `grenier_sealed_bytes 300`,
		} {
			should.Hold(t, strings.Contains(text, "\n"+line+"\n"), "%s lacks %s", name, line)
		}
		should.Hold(t, strings.Contains(text, `rules="strict"`) && strings.Contains(text, "\ngo_goroutines "), "%s: %s", name, text)
	}
	stop()
	w.tell(solve.Ended{Err: errors.New("disk full")})
	written, err = os.ReadFile(file)
	should.Hold(t, err == nil && strings.Contains(string(written), "\ngrenier_run_state{state=\"failed\"} 1\n") && !strings.Contains(string(written), "grenier_layer_seeds"),
		"at the end: %v, %s", err, written)
	m.file = filepath.Join(t.TempDir(), "none", "run.prom")
	w.tell(tick(1))
	should.Not(t, errs.Len() > 0, "told: %s", errs.String())
	w.tell(tick(metricsCadence))
	w.tell(tick(2 * metricsCadence))
	should.Hold(t, strings.Count(errs.String(), "grenier: warning: the metrics cannot be written: ") == 1, "told: %s", errs.String())
}
