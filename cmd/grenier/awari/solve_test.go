package awari

import (
	"regexp"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/pipeline/solve"
)

// streamTable matches the end of the summary.
var streamTable = regexp.MustCompile(`\n\nstreams +read +written +bytes/pos\n((capture|dense|sparse|full|seal) +[0-9.]+ [KMG]?i?B +[0-9.]+ [KMG]?i?B +[0-9]+\.[0-9]{2}\n){5}$`)

// TestSummaryStreams: the bytes that layers in windows read and wrote have a line for each stage.
func TestSummaryStreams(t *testing.T) {
	streams := map[string]solve.Streams{"capture": {Read: 3 << 20}, "dense": {Read: 1 << 10, Written: 2 << 10}, "seal": {Read: 100}}
	summary := solveSummary{Layers: []layerTook{{Seeds: 9, Positions: 1000, Windows: 3, Streams: streams}, {Seeds: 8, Positions: 10, Windows: 1}}}
	var text strings.Builder
	a := &app{&cli.App{Out: cli.NewOutput(&text)}}
	a.printSummary(summary)
	should.Hold(t, streamTable.MatchString(text.String()) && strings.Contains(text.String(), "\ndense         1.0 KiB      2.0 KiB       3.07\n"),
		"summary %s", text.String())
	text.Reset()
	summary.Layers[0].Windows = 1
	a.printSummary(summary)
	should.Not(t, strings.Contains(text.String(), "streams"), "summary without windows %s", text.String())
}
