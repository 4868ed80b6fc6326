package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
)

func TestBadSearch(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	search, play := "awari search --dir . ", "awari play --dir . "
	refused(t, []badInput{
		{"awari search 1 1 1 1", cli.ExitUsage, `"dir" not set`},
		{search, cli.ExitUsage, "0 arguments|a board|grenier awari search --help"},
		{search + "1 1 1", cli.ExitUsage, "3 pits given|4 are needed"},
		{search + "--time -1s 1 1 1 1", cli.ExitUsage, "--time -1s|10s|0 for no limit"},
		{search + "--time soon 1 1 1 1", cli.ExitUsage, `--time "soon"|a time like 10s`},
		{search + "--depth 121 1 1 1 1", cli.ExitUsage, "--depth 121|1 to 120"},
		{"awari uci --dir . now", cli.ExitUsage, "now"},
		{"awari uci --dir nowhere", cli.ExitFailure, "nowhere"},
		{play + "1 1 1", cli.ExitUsage, "3 pits given|4 are needed"},
		{play + "--side west", cli.ExitUsage, `--side "west"|south and north`},
		{play + "--strength 11", cli.ExitUsage, "--strength|11|0 to 10"},
		{play + "--time 0s", cli.ExitUsage, "--time 0s|above 0"},
		{play + "--time 48h", cli.ExitUsage, "--time 48h|24h"},
		{play + "--memory 0", cli.ExitUsage, `--memory "0"|8GiB`},
	})
}

// TestSearchMemory finds the same in little memory, and refuses too little.
func TestSearchMemory(t *testing.T) {
	t.Chdir(solved(t, "--seeds", "9"))
	board := strings.Fields("0 0 1 0 2 1 1 0 0 0 1 1")
	args := append([]string{"awari", "search", "--progress", "none", "--threads", "1", "--dir", "."}, board...)
	want := mustRun(t, args...)
	if got := mustRun(t, append(args, "--memory", "22MiB")...); got != want {
		t.Errorf("22 MiB:\n%s, want\n%s", got, want)
	}
	r := grenier(t.Context(), "", append(args, "--memory", "600")...)
	if r.status != cli.ExitUsage || !strings.Contains(r.err, "--memory 600: searching needs 21 MiB of memory and 600 B are allowed") {
		t.Errorf("600 bytes: status %d, %s", r.status, r.err)
	}
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
		if err := json.Unmarshal([]byte(r.out), &report); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
		if r.status != cli.ExitInterrupted || report.Search.Reason != "interrupted" || report.Exact {
			t.Fatalf("status %d, %s%s", r.status, r.out, r.err)
		}
		if report.Search.Depth > 0 {
			return
		}
		if patience > time.Minute {
			t.Fatalf("nothing is known after %v", patience)
		}
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
		if status != cli.ExitInterrupted || errs.String() != "grenier: interrupted\n" {
			t.Errorf("%s: status %d, %s", side, status, errs.String())
		}
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
		if r.status != cli.ExitOK || r.err != "" {
			t.Fatalf("status %d, %s", r.status, r.err)
		}
		for line := range strings.Lines(r.out) {
			if strings.HasSuffix(line, "(best)\n") {
				best = strings.TrimSuffix(strings.Fields(line)[1], ":")
			}
		}
		if best == "" {
			if !strings.Contains(r.out, "the program wins; seeds taken: you 4, the program 6\n") {
				t.Errorf("the end:\n%s", r.out)
			}
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
		if pits = append(pits, best); len(pits) > 100 {
			t.Fatalf("no end after %v", pits)
		}
	}
}
