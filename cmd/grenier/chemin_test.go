package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

// TestCheminInterrupt interrupts a search, which prints its result so far.
func TestCheminInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	dir := filepath.Join(t.TempDir(), "run")
	s := launch(t, strings.Fields("chemin solve --progress none --json --rows 4 --cols 5 --memory 48MiB --threads 2 --dir "+dir)...)
	awaitFile(t, filepath.Join(dir, rundir.ManifestName))
	s.signal(t, os.Interrupt)
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == "grenier: interrupted; the same command resumes after the last complete layer\n",
		"status %d, %s", r.status, r.err)
	var got struct {
		Exact        bool
		Lower, Upper uint32
		Solutions    []any
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Exact || got.Lower < 20 || got.Upper <= got.Lower || len(got.Solutions) != 1 {
		t.Errorf("%v: printed %s", err, r.out)
	}
}
