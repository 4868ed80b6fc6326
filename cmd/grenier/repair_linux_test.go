package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
)

// TestRepairFullDisk repairs on a disk that is too small, then on a larger one.
func TestRepairFullDisk(t *testing.T) {
	t.Parallel()
	whole := solved(t, "--pits", "8", "--seeds", "12")
	from := testrun.Copy(t, whole)
	loseLayers(t, from, 9, 11, 10, 12)
	disk := newSmallDisk(t, usedKiB(t, from)+32)
	dir := filepath.Join(disk.path, "run")
	must.OK(t, os.CopyFS(dir, os.DirFS(from)))
	r := grenier(t.Context(), "", "awari", "repair", "--dir", dir, "--progress", "none")
	must.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "no space left on device"), "status %d, %s", r.status, r.err)
	oneClearLine(t, r.err)
	disk.grow(t, 16<<10)
	mustRun(t, "awari", "repair", "--dir", dir, "--progress", "none")
	must.Same(t, "repaired", kept(t, whole), kept(t, dir))
	mustRun(t, "awari", "scrub", "--dir", dir, "--progress", "none")
}

// TestRepairUnwritable: a user without rights may look, and a file system that is mounted
// read-only may be looked at; neither lets anybody repair.
func TestRepairUnwritable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the super-user can become another user")
	}
	base := publicDir(t)
	run := filepath.Join(base, "run")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "3", "--dir", run)
	must.OK(t, os.Remove(filepath.Join(run, "layer-01.gl")))
	before := must.Tree(t, base)
	check := func(attributes *syscall.SysProcAttr, cause string) {
		r := process(t, base, attributes, "awari", "repair", "--dir", run)
		oneClearLine(t, r.err)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, run+": directory cannot be written: "+cause),
			"repair: status %d, %s", r.status, r.err)
		r = process(t, base, attributes, "awari", "repair", "--dry-run", "--dir", run)
		should.Hold(t, r.status == cli.ExitOK && r.err == "", "dry run: status %d, %s", r.status, r.err)
		if r := process(t, base, attributes, "awari", "scrub", "--dir", run); r.status != cli.ExitCorrupt ||
			!strings.Contains(r.err, "note: an interrupted scrub will begin anew: ") || !strings.Contains(r.out, "layer  1: missing\n") {
			t.Errorf("scrub: status %d, %s%s", r.status, r.out, r.err)
		}
		must.Same(t, "changed", before, must.Tree(t, base))
	}
	check(nobody, "permission denied")
	mountReadOnly(t, run)
	check(nil, "read-only file system")
}
