package solve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestFullDisk solves until the disk is full, makes room little by little, and continues.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir() // a file system of 256 KiB
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a full disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(disk, 0)) })
	ballast, dir := filepath.Join(disk, "ballast"), filepath.Join(disk, "run")
	s := newStepper(t)
	game, want, o := s.game, s.dir, options(stepSeeds-1)
	failures := 0
	for size := 256 << 10; ; size -= 16 << 10 {
		must.Not(t, size < 0, "never enough room")
		err := os.WriteFile(ballast, make([]byte, size), 0o644) // or fewer bytes when they do not fit
		must.Not(t, err != nil && !errors.Is(err, syscall.ENOSPC), "%v", err)
		if err = must.Err(solve.Solve(t.Context(), dir, game, o)); err == nil {
			break
		}
		failures++
		should.Hold(t, errors.Is(err, syscall.ENOSPC) && !errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), dir), "error %v", err)
		if _, err := os.Stat(filepath.Join(dir, rundir.ManifestName)); err != nil {
			continue // not even room for that
		}
		layers := len(testrun.Manifest(t, dir).Layers)
		if _, err := os.Stat(filepath.Join(dir, rundir.LayerName(layers))); err == nil {
			layers++ // published when there was no room left for the manifest
		}
		tidy(t, dir, layers) // what was sealed is intact
	}
	should.Not(t, failures < 5, "the disk was full %d times only", failures)
	t.Logf("the disk was full %d times", failures)
	sameRun(t, want, dir)
}

// TestLostLock removes the lock in the midst of a layer and lets a second solver finish:
// the first one ends without touching what the second one makes.
func TestLostLock(t *testing.T) {
	game, dir, whole := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "whole")
	mustSolve(t, whole, game, options(8))
	o, stolen := options(8), false
	o.Progress = progress(func(p solve.Progress) {
		if stolen || p.Seeds != 6 {
			return
		}
		stolen = true
		should.OK(t, os.Remove(filepath.Join(dir, rundir.LockName)))
		mustSolve(t, dir, game, options(7))
	})
	reports, err := solve.Solve(t.Context(), dir, game, o)
	must.Hold(t, must.As[*rundir.LostError](t, err).Path == dir && len(reports) == 6, "%d layers, error %v", len(reports), err)
	mustSolve(t, dir, game, options(8))
	sameRun(t, whole, dir)
}
