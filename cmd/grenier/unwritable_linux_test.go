package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestReadOnlyDirectory mounts a run read-only: the super-user, too, cannot
// write there.
func TestReadOnlyDirectory(t *testing.T) {
	dir := solved(t, "--pits", "4", "--seeds", "3")
	mountReadOnly(t, dir)
	t.Chdir(filepath.Dir(dir))
	refused(t, []badInput{
		{"awari solve --pits 4 --seeds 4 --dir run", cli.ExitFailure, "run|cannot be written|read-only"},
		{"awari solve --pits 4 --seeds 4 --dir run/new", cli.ExitFailure, "run/new|cannot be written|read-only"},
	})
	mustRun(t, "awari", "probe", "--dir", "run", "1", "1", "1", "0")
	mustRun(t, "awari", "verify", "--dir", "run", "--progress", "none")
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

// TestUnwritableDirectory runs as a user without rights.
func TestUnwritableDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the super-user can become another user")
	}
	base := publicDir(t)
	run := filepath.Join(base, "run")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "3", "--dir", run)
	before := must.Tree(t, base)
	for _, dir := range []string{run, filepath.Join(base, "new")} {
		r := process(t, base, nobody, "awari", "solve", "--pits", "4", "--seeds", "4", "--dir", dir)
		oneClearLine(t, r.err)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, dir+": directory cannot be written"),
			"%s: status %d, %s", dir, r.status, r.err)
	}
	if r := process(t, base, nobody, "awari", "verify", "--dir", run); r.status != cli.ExitOK {
		t.Errorf("verify: status %d, %s", r.status, r.err)
	}
	must.OK(t, os.Chmod(run, 0o700))
	r := process(t, base, nobody, "awari", "verify", "--dir", run)
	oneClearLine(t, r.err)
	should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, run) && strings.Contains(r.err, "permission denied"),
		"unreadable: status %d, %s", r.status, r.err)
	must.Same(t, "changed", before, must.Tree(t, base))
}

// publicDir returns a new directory that every user can read, with this program
// in it under the name grenier.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "grenier-test-"))(t)
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	must.OK(t, os.Chmod(dir, 0o755))
	copyProgram(t, filepath.Join(dir, "grenier"))
	return dir
}

// copyProgram copies this program in another process: were the file open for writing in this
// one, a process that another test starts meanwhile would have it open too, and it could not run.
func copyProgram(t *testing.T, path string) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	out, err := exec.CommandContext(t.Context(), "cp", self, path).CombinedOutput()
	must.Hold(t, err == nil, "%v: %s", err, out)
}

// process runs the program of publicDir.
func process(t *testing.T, dir string, attributes *syscall.SysProcAttr, args ...string) result {
	t.Helper()
	s := command(t, filepath.Join(dir, "grenier"), args...)
	s.cmd.Dir, s.cmd.SysProcAttr = dir, attributes
	return s.start(t).wait(t)
}
