package main

import (
	"os"
	"strings"
	"testing"

	"grenier/io/rundir"
)

// TestWatchTerminal: an output that is not a terminal gets no control characters.
func TestWatchTerminal(t *testing.T) {
	dir := solved(t, "--pits", "4", "--seeds", "2")
	if text := mustRun(t, "awari", "status", "--dir", dir, "--watch"); strings.Contains(text, "\x1b") || strings.HasPrefix(text, "\n") {
		t.Errorf("%q", text)
	}
	log, err := os.ReadFile(dir + "/" + rundir.LogName)
	if err != nil || strings.Count(string(log), "\n") != 5 {
		t.Errorf("%v, log:\n%s", err, log)
	}
}
