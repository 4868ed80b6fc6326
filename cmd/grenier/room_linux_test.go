package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
)

// TestLongNoRoom: solve refuses what has no room on the disk, unless it is forced to begin.
func TestLongNoRoom(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "run")
	solve := []string{"awari", "solve", "--progress", "none", "--pits", "8", "--dir", dir, "--seeds"}
	r := grenier(t.Context(), "", append(solve, "16")...)
	if r.status != cli.ExitFailure || !strings.Contains(r.err, "needs about") || !strings.Contains(r.err, "--force starts anyway") {
		t.Errorf("status %d, %s", r.status, r.err)
	}
	if left := contents(t, disk); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	r = grenier(t.Context(), "", append(solve, "16", "--force")...)
	if r.status != cli.ExitFailure || !strings.Contains(r.err, "no space left") {
		t.Errorf("forced: status %d, %s", r.status, r.err)
	}
	plan := mustRun(t, "awari", "plan", "--pits", "8", "--seeds", "16", "--dir", dir, "--calibration", "testdata/machine.json")
	if !strings.Contains(plan, " are free: too little\n") {
		t.Errorf("the plan is\n%s", plan)
	}
}
