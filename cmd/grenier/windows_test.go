package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// windowSeeds is a layer that is solved window by window with windowMemory.
const windowSeeds = 15

var windowMemory = leastMemory(windowSeeds)

// leastMemory returns the least memory with which two workers solve a layer.
func leastMemory(seeds int) string {
	game, err := awari.New(awari.MaxPits, awari.Awari)
	if err != nil {
		panic(err)
	}
	short, _ := errors.AsType[*memory.Error]((&solve.Options{Seeds: seeds, Job: job.Job{Workers: 2, Memory: 1}}).Check(game))
	return fmt.Sprintf("%dKiB", short.Need>>10+1)
}

// sameFiles compares without printing what is in the files.
func sameFiles(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range got {
		_, ok := want[name]
		should.Hold(t, ok, "%s is left", name)
	}
	for name := range want {
		should.Hold(t, got[name] == want[name], "%s differs from that of a run in memory", name)
	}
}

// TestLongWindowsReport solves a small layer window by window and looks at what is told. What interruptions, full disks and damage do to such
// layers is tested by TestLongSiegeKill, TestLongInterruptAnytime and TestLongSiegeDamage, and in packages solve and halfboard.
func TestLongWindowsReport(t *testing.T) {
	tries.NeedsLong(t, "solves 14 seeds")
	const seeds = 14
	dir := solved(t, "--seeds", strconv.Itoa(seeds-1))
	out := mustRun(t, "awari", "solve", "--progress", "json", "--json", "--dir", dir, "--seeds", strconv.Itoa(seeds),
		"--memory", leastMemory(seeds), "--threads", "2")
	s := summaryOf(t, out)
	must.Hold(t, len(s.Layers) == 1 && s.Layers[0].Windows >= 2 && s.Layers[0].Bits < 8, "layers %+v", s.Layers)
	streams := s.Layers[0].Streams
	should.Not(t, streams["seal"].Read == 0 || streams["seal"].Written > 0 || streams["capture"].Written == 0 || streams["dense"].Read == 0, "streams %+v", streams)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	told, window := false, 0
	for _, line := range lines[:len(lines)-1] {
		var l struct {
			Type   string
			Detail solve.Progress
		}
		must.OK(t, json.Unmarshal([]byte(line), &l))
		if l.Type == "layer" {
			continue
		}
		told = true
		if !slices.Contains([]string{"check", "capture", "seal"}, l.Detail.Stage) {
			should.Hold(t, l.Detail.Window >= window && strings.Contains(line, `"streams":{`), "after window %d: %s", window, line)
			window = l.Detail.Window
		}
	}
	should.Not(t, !told && s.Seconds > 5, "no progress in %v s", s.Seconds)
}

// summaryOf returns the last line of what solve prints.
func summaryOf(t *testing.T, out string) (s solveSummary) {
	t.Helper()
	must.OK(t, json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &s))
	return s
}

// sameLayer compares the files of a layer in two run directories.
func sameLayer(t *testing.T, want, got string, n int) {
	t.Helper()
	name := rundir.LayerName(n)
	should.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))), "%s differs", name)
}
