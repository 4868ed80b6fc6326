package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
)

// TestLongSwapNoRoom: swap bfs refuses what has no room on the disk, unless it is forced
// to begin.
func TestLongSwapNoRoom(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("a small disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "run")
	search := []string{"swap", "bfs", "--progress", "none", "--rows", "2", "--cols", "5", "--dir", dir}
	r := grenier(t.Context(), "", search...)
	if r.status != cli.ExitFailure || !strings.Contains(r.err, "the search needs up to 897 KiB on the disk of "+dir+" and there is room for 300 KiB; --force starts anyway") {
		t.Errorf("status %d, %s", r.status, r.err)
	}
	if left := contents(t, disk); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	r = grenier(t.Context(), "", append(search, "--force")...)
	if r.status != cli.ExitFailure || !strings.Contains(r.err, "no space left") {
		t.Errorf("forced: status %d, %s", r.status, r.err)
	}
}
