package awari

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/solve"
)

// TestMetrics: what Prometheus is told over HTTP and in the file is what the run tells.
func TestMetrics(t *testing.T) {
	var errs strings.Builder
	a := &app{&cli.App{Err: &errs}}
	shown, err := a.NewProgress("none", false)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{app: a, errs: &errs, shown: shown, start: time.Unix(1000, 0), flags: solveFlags{dir: t.TempDir()}}
	j.flags.rules, j.flags.pits, j.flags.seeds = "strict", 8, 24
	file := filepath.Join(t.TempDir(), "run.prom")
	m := newMetrics(j, file)
	m.begin([]manifest.Layer{{Positions: 10, Bytes: 100}})
	j.update(solve.Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000,
		Streams: map[string]solve.Streams{"capture": {Read: 7}},
	})
	m.sealed(manifest.Layer{Seeds: 1, Positions: 20, Bytes: 200})
	address, stop, err := m.serve(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	served, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"HTTP": string(served), "file": string(written)} {
		for _, line := range []string{
			`grenier_run_state{state="running"} 1`, `grenier_run_state{state="failed"} 0`, `grenier_run_start_time_seconds 1000`,
			`grenier_run_last_layer 24`, `grenier_run_positions 1e+06`, `grenier_run_positions_done 250000`, `grenier_run_positions_per_second 25000`,
			`grenier_run_remaining_seconds 30`, `grenier_layer_seeds 16`, `grenier_layer_positions 500000`, `grenier_layer_share 0.5`,
			`grenier_layer_stage{stage="dense"} 1`, `grenier_layer_stage{stage="seal"} 0`, `grenier_layer_sweeps 3`,
			`grenier_layer_remaining_seconds 10`, `grenier_layer_streams_read_bytes{stage="capture"} 7`, `grenier_sealed_layers 2`,
			`grenier_sealed_positions 30`, `grenier_sealed_bytes 300`,
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s lacks %s", name, line)
			}
		}
		if !strings.Contains(text, `rules="strict"`) || !strings.Contains(text, "\ngo_goroutines ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	stop()
	m.end(rundir.Failed)
	written, err = os.ReadFile(file)
	if err != nil || !strings.Contains(string(written), "\ngrenier_run_state{state=\"failed\"} 1\n") || strings.Contains(string(written), "grenier_layer_seeds") {
		t.Errorf("at the end: %v, %s", err, written)
	}
	m.file = filepath.Join(t.TempDir(), "none", "run.prom")
	m.write()
	m.write()
	if strings.Count(errs.String(), "grenier: warning: the metrics cannot be written: ") != 1 {
		t.Errorf("told: %s", errs.String())
	}
}
