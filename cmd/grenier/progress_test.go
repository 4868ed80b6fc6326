package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"grenier/pipeline/batch"
	"grenier/pipeline/verify"
)

// aState is in the middle of a run.
var aState = solving(batch.Progress{Seeds: 16, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000}).state()

// shown returns what a display makes of aState after 10 seconds.
func shown(newDisplay func(out io.Writer) display) string {
	var out strings.Builder
	s := aState
	s.elapsed = 10 * time.Second
	d := newDisplay(&out)
	d.show(s)
	d.clear()
	return out.String()
}

func TestPlainLines(t *testing.T) {
	want := "layer 16, sweep 3: 25.0% of the run, 25 kpos/s, ETA 30s\n"
	got := shown(func(out io.Writer) display { return &plainLines{out: out} })
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJSONLines(t *testing.T) {
	got := shown(func(out io.Writer) display { return &jsonLines{out: out} })
	var line struct {
		Progress, Seconds float64
		Doing             string
		Rate              float64 `json:"positions_per_second"`
		ETA               float64 `json:"eta_seconds"`
		Detail            batch.Progress
	}
	if err := json.Unmarshal([]byte(got), &line); err != nil || strings.Count(got, "\n") != 1 {
		t.Fatalf("%q: %v", got, err)
	}
	if line.Progress != 0.25 || line.Seconds != 10 || line.Rate != 25_000 || line.ETA != 30 ||
		line.Doing != "layer 16, sweep 3" || line.Detail.Sweep != 3 {
		t.Errorf("%+v", line)
	}
}

func TestBar(t *testing.T) {
	got := shown(func(out io.Writer) display { return &bar{out: out} })
	for _, part := range []string{"layer 16, sweep 3 [", "25.00%", "25 kpos/s", "ETA 30s", "\r\x1b[K"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
}

// TestProgressStreams: JSON lines go to stdout if the result is JSON, all else to
// stderr, and nothing is shown before there is something to show.
func TestProgressStreams(t *testing.T) {
	for _, c := range []struct {
		form     string
		asJSON   bool
		out, err int // lines
	}{
		{"none", true, 0, 0}, {"json", true, 1, 0}, {"json", false, 0, 1}, {"plain", true, 0, 1}, {"auto", false, 0, 1},
	} {
		var out, errs strings.Builder
		a := &app{out: &output{w: &out}, err: &errs}
		p, err := a.newProgress(c.form, c.asJSON)
		if err != nil {
			t.Fatal(err)
		}
		if p.display != nil {
			p.show()
			p.update(verifying(verify.Progress{Seeds: 3, Done: 5, Total: 10}))
			p.show()
		}
		p.close()
		if strings.Count(out.String(), "\n") != c.out || strings.Count(errs.String(), "\n") != c.err {
			t.Errorf("%s, JSON %v: stdout %q, stderr %q", c.form, c.asJSON, &out, &errs)
		}
	}
}
