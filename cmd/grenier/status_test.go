package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

// TestWatchTerminal: an output that is not a terminal gets no control characters.
func TestWatchTerminal(t *testing.T) {
	dir := solved(t, "--pits", "4", "--seeds", "2")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &firstWrite{do: stop}
	var errs strings.Builder
	status := run(ctx, []string{"awari", "status", "--dir", dir, "--watch"}, strings.NewReader(""), out, &errs)
	text := out.String()
	should.Not(t, status != cli.ExitInterrupted || strings.Contains(text, "\x1b") || strings.HasPrefix(text, "\n") ||
		!strings.HasSuffix(text, ": waiting for a run to begin; Ctrl-C stops\n"), "status %d: %q, %s", status, text, errs.String())
	log, err := os.ReadFile(dir + "/" + rundir.LogName)
	should.Hold(t, err == nil && strings.Count(string(log), "\n") == 5, "%v, log:\n%s", err, log)
}

// firstWrite keeps what is written, and does something after the first time.
type firstWrite struct {
	strings.Builder
	do func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		defer w.do()
	}
	return w.Builder.Write(p)
}
