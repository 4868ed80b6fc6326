package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestSearchMemory finds the same in little memory, and refuses too little.
func TestSearchMemory(t *testing.T) {
	t.Chdir(solved(t, "--seeds", "9"))
	board := strings.Fields("0 0 1 0 2 1 1 0 0 0 1 1")
	args := append([]string{"awari", "search", "--progress", "none", "--threads", "1", "--dir", "."}, board...)
	want := mustRun(t, args...)
	should.Equal(t, mustRun(t, append(args, "--memory", "22MiB")...), want, "22 MiB")
	r := grenier(t.Context(), "", append(args, "--memory", "600KiB")...)
	should.Hold(t, r.status == cli.ExitUsage && strings.Contains(r.err, "--memory 600KiB: searching needs 21 MiB of memory; the limit is 600 KiB"),
		"600 KiB: status %d, %s", r.status, r.err)
}

// TestInterruptedSearch prints the result so far: something, if there was time for it.
func TestInterruptedSearch(t *testing.T) {
	dir := solved(t, "--seeds", "5")
	search := append([]string{"awari", "search", "--time", "0", "--memory", "32MiB", "--json", "--dir", dir}, strings.Fields(strings.Repeat("4 ", 12))...)
	for patience := 100 * time.Millisecond; ; patience *= 4 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(patience, cancel)
		r := grenier(ctx, "", search...)
		var report foundReport
		err := json.Unmarshal([]byte(r.out), &report)
		must.Hold(t, err == nil, "%v: %s", err, r.out)
		must.Hold(t, r.status == cli.ExitInterrupted && report.Search.Reason == "interrupted" && !report.Exact,
			"status %d, %s%s", r.status, r.out, r.err)
		if report.Search.Depth > 0 {
			return
		}
		must.Not(t, patience > time.Minute, "nothing is known after %v", patience)
	}
}

// TestInterruptedPlay interrupts the program while it waits for a move, and while it
// searches one.
func TestInterruptedPlay(t *testing.T) {
	dir := solved(t, "--seeds", "5")
	for _, side := range []string{"south", "north"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(150*time.Millisecond, cancel)
		in, keyboard := io.Pipe()
		var out, errs strings.Builder
		status := run(ctx, []string{"awari", "play", "--time", "1h", "--memory", "32MiB", "--side", side, "--dir", dir}, in, &out, &errs)
		should.Hold(t, status == cli.ExitInterrupted && errs.String() == "grenier: interrupted\n",
			"%s: status %d, %s", side, status, errs.String())
		keyboard.Close()
	}
}

// TestPlayToTheEnd has the program play against its own hints: the result is the value
// of the board.
func TestPlayToTheEnd(t *testing.T) {
	dir := solved(t, "--seeds", "10")
	board := strings.Fields("0 0 2 0 1 3 1 1 0 0 1 1") // worth -2 to south
	hint := func(pits []string) (best string, over bool) {
		text := "hint\n"
		if len(pits) > 0 {
			text = strings.Join(pits, "\n") + "\nhint\n"
		}
		r := grenier(t.Context(), text, append([]string{"awari", "play", "--memory", "32MiB", "--dir", dir}, board...)...)
		must.Hold(t, r.status == cli.ExitOK && r.err == "", "status %d, %s", r.status, r.err)
		for line := range strings.Lines(r.out) {
			if strings.HasSuffix(line, "(best)\n") {
				best = strings.TrimSuffix(strings.Fields(line)[0], ":")
			}
		}
		if best == "" {
			should.Hold(t, strings.Contains(r.out, "the program wins; seeds taken: you 4, the program 6\n"), "the end:\n%s", r.out)
			return "", true
		}
		return best, false
	}
	var pits []string
	for {
		best, over := hint(pits)
		if over {
			return
		}
		pits = append(pits, best)
		must.Not(t, len(pits) > 100, "no end after %v", pits)
	}
}
