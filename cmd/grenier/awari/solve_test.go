package awari

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// TestStates compares what commands say of their progress.
func TestStates(t *testing.T) {
	for _, c := range []struct{ got, want cli.State }{
		{verifying(verify.Progress{Seeds: 3, Done: 50, Total: 200}).State(10 * time.Second), cli.State{
			Doing: "layer 3", Done: 50, Total: 200, Elapsed: 10 * time.Second, Rate: 5, LayerETA: job.NoLayer, RunETA: 30 * time.Second,
		}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProvingState(t *testing.T) {
	for _, c := range []struct {
		progress prove.Progress
		want     string
	}{
		{prove.Progress{Seeds: 3, Done: 50, Total: 200}, "layer 3"},
		{prove.Progress{Seeds: 3, Level: 2, Pass: 17, Done: 50, Total: 200}, "layer 3, scores of 2, pass 17"},
	} {
		s := proving(c.progress).State(10 * time.Second)
		if s.Doing != c.want || s.Done != 50 || s.Total != 200 || s.Rate != 5 || s.RunETA != 30*time.Second {
			t.Errorf("%+v: %+v", c.progress, s)
		}
	}
}

// streamTable matches the end of the summary.
var streamTable = regexp.MustCompile(`\n\nstreams +read +written +bytes/pos\n((capture|dense|sparse|full|seal) +[0-9.]+ [KMG]?i?B +[0-9.]+ [KMG]?i?B +[0-9]+\.[0-9]{2}\n){5}$`)

// TestSummaryStreams: what layers in windows read and wrote has a line for each stage.
func TestSummaryStreams(t *testing.T) {
	streams := map[string]solve.Streams{"capture": {Read: 3 << 20}, "dense": {Read: 1 << 10, Written: 2 << 10}, "seal": {Read: 100}}
	summary := solveSummary{Layers: []layerTook{{Seeds: 9, Positions: 1000, Windows: 3, Streams: streams}, {Seeds: 8, Positions: 10, Windows: 1}}}
	var text strings.Builder
	a := &app{&cli.App{Out: cli.NewOutput(&text)}}
	a.printSummary(summary)
	if !streamTable.MatchString(text.String()) || !strings.Contains(text.String(), "\ndense         1.0 KiB      2.0 KiB       3.07\n") {
		t.Errorf("summary %s", text.String())
	}
	text.Reset()
	summary.Layers[0].Windows = 1
	if a.printSummary(summary); strings.Contains(text.String(), "streams") {
		t.Errorf("summary without windows %s", text.String())
	}
}
