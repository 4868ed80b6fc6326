package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
)

// TestLongCheminDiskFull gives a search too small a disk, and then a larger one.
func TestLongCheminDiskFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=24k"); err != nil {
		t.Skipf("a small disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	want := cheminResult(t, mustRun(t, cheminArgs(1, 12)...))
	args := cheminArgs(1, 12, "--dir", filepath.Join(disk, "run"))
	r := grenier(t.Context(), "", args...)
	if r.status != cli.ExitFailure || !strings.Contains(r.err, "no space left") || r.out != "" {
		t.Errorf("status %d, %d bytes of output, %s", r.status, len(r.out), r.err)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, cheminResult(t, mustRun(t, args...))); diff != "" {
		t.Errorf("with more room (-in memory +on disk):\n%s", diff)
	}
}
