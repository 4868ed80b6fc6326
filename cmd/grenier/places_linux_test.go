package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// TestLostLock removes the lock while commands work in a directory: they end, with one
// clear line, and the next run is none the worse for it.
func TestLostLock(t *testing.T) {
	for name, args := range map[string][]string{
		"solve":  {"awari", "solve", "--seeds", "8"},
		"bfs":    {"swap", "bfs", "--rows", "3", "--cols", "3"},
		"chemin": {"chemin", "solve", "--rows", "3", "--cols", "3"},
		"pegs":   {"solitaire", "solve", "--board", pegBoard(t)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args := append(args, "--dir", dir, "--progress", "none")
			lock := filepath.Join(dir, rundir.LockName)
			var once sync.Once
			reported = func() { once.Do(func() { should.OK(t, os.Remove(lock)) }) }
			r := grenier(t.Context(), "", args...)
			reported = nil
			last := r.err[strings.LastIndex(strings.TrimSuffix(r.err, "\n"), "\n")+1:]
			should.Hold(t, r.status == cli.ExitFailure && strings.Contains(last, "lost the lock of "+dir+": "),
				"status %d, %s", r.status, r.err)
			oneClearLine(t, last)
			should.Be(t, must.Err(os.Stat(lock)), fs.ErrNotExist, "there is a lock again")
			mustRun(t, append(args, "--json")...)
		})
	}
}

// TestRepairFullDisk repairs on a disk that is too small, then on a larger one.
func TestRepairFullDisk(t *testing.T) {
	t.Parallel()
	whole := solved(t, "--pits", "8", "--seeds", "12")
	from := testrun.Copy(t, whole)
	loseLayers(t, from, 9, 11, 10, 12)
	disk := smallDisk(t, usedKiB(t, from)+32)
	dir := filepath.Join(disk, "run")
	must.OK(t, os.CopyFS(dir, os.DirFS(from)))
	r := grenier(t.Context(), "", "awari", "repair", "--dir", dir, "--progress", "none")
	must.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "no space left on device"), "status %d, %s", r.status, r.err)
	oneClearLine(t, r.err)
	must.OK(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=16m"))
	mustRun(t, "awari", "repair", "--dir", dir, "--progress", "none")
	must.Same(t, "repaired", kept(t, whole), kept(t, dir))
	mustRun(t, "awari", "scrub", "--dir", dir, "--progress", "none")
}

// TestUnwritable: a user without rights may look, and a file system that is mounted read-only may be looked at; neither lets
// anybody solve or repair there. What may not be read is told.
func TestUnwritable(t *testing.T) {
	tries.SkipIf(t, os.Getuid() != 0, "only the super-user can become another user")
	base := publicDir(t)
	run, lacking := filepath.Join(base, "run"), filepath.Join(base, "lacking")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "3", "--dir", run)
	must.OK(t, os.CopyFS(lacking, os.DirFS(run)))
	must.OK(t, os.Remove(filepath.Join(lacking, "layer-01.gl")))
	before := must.Tree(t, base)
	check := func(attributes *syscall.SysProcAttr, cause string) {
		t.Helper()
		for _, c := range []struct {
			args   string
			status int
			words  string // of stdout and stderr
		}{
			{"solve --pits 4 --seeds 4 --dir " + run, cli.ExitFailure, run + ": directory cannot be written: " + cause},
			{"solve --pits 4 --seeds 4 --dir " + run + "/new", cli.ExitFailure, "/new: directory cannot be written"},
			{"verify --dir " + run, cli.ExitOK, "in order"},
			{"probe --dir " + run + " 1 1 1 0", cli.ExitOK, "value"},
			{"repair --dir " + lacking, cli.ExitFailure, lacking + ": directory cannot be written: " + cause},
			{"repair --dry-run --dir " + lacking, cli.ExitOK, ""},
			{"scrub --dir " + lacking, cli.ExitCorrupt, "layer  1: missing\n"},
			{"scrub --dir " + lacking, cli.ExitCorrupt, "note: an interrupted scrub will begin anew: "},
		} {
			r := process(t, base, attributes, append([]string{"awari"}, strings.Fields(c.args)...)...)
			should.Hold(t, r.status == c.status && strings.Contains(r.out+r.err, c.words), "%s: status %d, %s%s", c.args, r.status, r.out, r.err)
			if c.status == cli.ExitFailure {
				oneClearLine(t, r.err)
			}
		}
		must.Same(t, "changed", before, must.Tree(t, base))
	}
	check(nobody, "permission denied")
	must.OK(t, os.Chmod(run, 0o700))
	r := process(t, base, nobody, "awari", "verify", "--dir", run)
	oneClearLine(t, r.err)
	should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, run) && strings.Contains(r.err, "permission denied"),
		"unreadable: status %d, %s", r.status, r.err)
	must.OK(t, os.Chmod(run, 0o755))
	mountReadOnly(t, run)
	mountReadOnly(t, lacking)
	check(nil, "read-only file system")
}

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
		disk := smallDisk(t, c.size)
		dir := filepath.Join(disk, "run")
		args := append(strings.Fields(c.args), "--progress", "none", "--dir", dir)
		room := fmt.Sprintf(" on the disk of %s; %d KiB free", dir, c.size)
		r := grenier(t.Context(), "", args...)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, c.needs) && strings.Contains(r.err, room) &&
			strings.HasSuffix(r.err, "; --force starts anyway\n"), "status %d, %s", r.status, r.err)
		left := must.Tree(t, disk)
		should.Hold(t, len(left) == 1, "left behind: %v", left)
		r = grenier(t.Context(), "", append(args, "--force")...)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "no space left") && strings.Contains(r.err, c.full),
			"forced: status %d, %s", r.status, r.err)
	}
	dir := filepath.Join(smallDisk(t, 64), "run")
	plan := mustRun(t, "awari", "plan", "--pits", "8", "--seeds", "16", "--dir", dir, "--calibration", "testdata/machine.json")
	should.Hold(t, strings.Contains(plan, " free: too little\n"), "the plan is\n%s", plan)
}

// mountReadOnly makes a directory one that nobody can write.
func mountReadOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("a directory that nobody can write needs a mount: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(dir, 0)) })
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("a directory that nobody can write needs a mount: %v", err)
	}
}

// nobody is a user without rights.
var nobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

// publicDir returns a new directory that every user can read, with this program in it under the name grenier.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "grenier-test-"))(t)
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	must.OK(t, os.Chmod(dir, 0o755))
	// Were the file open for writing in this process, one that another test starts meanwhile would have it open too, and it could not run.
	out, err := exec.CommandContext(t.Context(), "cp", must.Get(os.Executable())(t), filepath.Join(dir, "grenier")).CombinedOutput()
	must.Hold(t, err == nil, "%v: %s", err, out)
	return dir
}

// process runs the program of publicDir.
func process(t *testing.T, dir string, attributes *syscall.SysProcAttr, args ...string) result {
	t.Helper()
	s := command(t, filepath.Join(dir, "grenier"), args...)
	s.cmd.Dir, s.cmd.SysProcAttr = dir, attributes
	return s.start(t).wait(t)
}

// smallDisk mounts a file system of some KiB, and returns its path.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	path := t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); err != nil {
		t.Skipf("a full disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(path, 0)) })
	return path
}

// usedKiB returns the KiB that the files below dir take.
func usedKiB(t *testing.T, dir string) int {
	t.Helper()
	pages := 0
	for _, text := range must.Tree(t, dir) {
		pages += len(text)/os.Getpagesize() + 1
	}
	return pages * os.Getpagesize() >> 10
}
