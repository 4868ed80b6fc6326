package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestNoRoom: a run that has no room on the disk is refused, unless it is forced to begin.
func TestNoRoom(t *testing.T) {
	for _, c := range []struct {
		size        int
		args, needs string
		full        string // said of a disk that is full
	}{
		{64, "awari solve --pits 8 --seeds 16", "needs about", "more needed on the disk of "},
		{300, "swap bfs --rows 2 --cols 5", "the search needs up to 897 KiB", "no space left"},
	} {
		disk := newSmallDisk(t, c.size)
		dir := filepath.Join(disk.path, "run")
		args := append(strings.Fields(c.args), "--progress", "none", "--dir", dir)
		room := fmt.Sprintf(" on the disk of %s; %d KiB free", dir, c.size)
		r := grenier(t.Context(), "", args...)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, c.needs) && strings.Contains(r.err, room) &&
			strings.HasSuffix(r.err, "; --force starts anyway\n"), "status %d, %s", r.status, r.err)
		left := must.Tree(t, disk.path)
		should.Hold(t, len(left) == 1, "left behind: %v", left)
		if r := grenier(t.Context(), "", append(args, "--force")...); r.status != cli.ExitFailure || !strings.Contains(r.err, "no space left") || !strings.Contains(r.err, c.full) {
			t.Errorf("forced: status %d, %s", r.status, r.err)
		}
	}
	dir := filepath.Join(newSmallDisk(t, 64).path, "run")
	plan := mustRun(t, "awari", "plan", "--pits", "8", "--seeds", "16", "--dir", dir, "--calibration", "testdata/machine.json")
	should.Hold(t, strings.Contains(plan, " free: too little\n"), "the plan is\n%s", plan)
}
