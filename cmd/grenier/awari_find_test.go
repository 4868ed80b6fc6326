package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// TestFindAgreesWithProbe asks probe about all boards of a layer: find prints exactly those with
// one move that wins and others that all lose, and the same values.
func TestFindAgreesWithProbe(t *testing.T) {
	const seeds = 7
	dir := solved(t, "--seeds", strconv.Itoa(seeds))
	out := mustRun(t, "awari", "find", "--progress", "none", "--dir", dir, "--layer", strconv.Itoa(seeds), "--where", "only-win", "--count", "100000")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	found := lines[:len(lines)-1]

	game := awaritest.Game(t, 12, awari.Awari)
	space := testrun.Space(t, game, seeds)
	var boards []string
	for rank := range space.Size(seeds) {
		boards = append(boards, space.Text(space.Unrank(seeds, rank)))
	}
	r := grenier(t.Context(), strings.Join(boards, "\n")+"\n", "awari", "probe", "--dir", dir, "-")
	must.Hold(t, r.status == cli.ExitOK, "probe: status %d, %s", r.status, r.err)
	var want []string
	for i, answer := range strings.Split(strings.TrimSpace(r.out), "\n") {
		_, values, _ := strings.Cut(answer, "moves")
		wins, losses, others := 0, 0, 0
		for _, v := range strings.Fields(values) {
			x, err := strconv.Atoi(v)
			switch {
			case err != nil: // a dot
			case x > 0:
				wins++
			case x < 0:
				losses++
			default:
				others++
			}
		}
		if wins == 1 && losses > 0 && others == 0 {
			want = append(want, boards[i]+": "+answer)
		}
	}
	should.Hold(t, len(want) >= 100 && slices.Equal(found, want), "%d boards are found, probe knows %d", len(found), len(want))
	size := cli.Comma(space.Size(seeds))
	if end := lines[len(lines)-1]; !strings.HasPrefix(end, fmt.Sprintf("%s of %s positions ", cli.Comma(uint64(len(want))), size)) {
		t.Errorf("the last line is %q", end)
	}
}

// TestFindInterrupted interrupts a search again and again: in the end it prints what it would
// have printed at once.
func TestFindInterrupted(t *testing.T) {
	dir := solved(t, "--seeds", "8")
	args := []string{"awari", "find", "--progress", "none", "--dir", dir, "--layer", "6..8", "--where", "sacrifice", "--random", "--count", "5"}
	boards := func(out string) string { return out[:strings.LastIndex(out, " (")] }
	want := boards(mustRun(t, args...))
	state := filepath.Join(t.TempDir(), "state")
	args = append(args, "--state", state)
	for interrupts := 0; ; interrupts++ {
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0
		reported = func() {
			if reports++; reports > interrupts {
				cancel()
			}
		}
		r := grenier(ctx, "", args...)
		reported = nil
		cancel()
		if r.status == cli.ExitOK {
			if interrupts < 2 || boards(r.out) != want || exists(state) {
				t.Errorf("after %d interrupts: %s, want %s; there is a state: %v", interrupts, r.out, want, exists(state))
			}
			return
		}
		if r.status != cli.ExitInterrupted || r.err != "grenier: interrupted; the same command resumes\n" || !exists(state) {
			t.Fatalf("status %d, %q; there is a state: %v", r.status, r.err, exists(state))
		}
	}
}
