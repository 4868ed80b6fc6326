package vfs

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"grenier/internal/testkit/must"
)

// TestMove: whatever it is, it is moved as it is, and nothing is replaced.
func TestMove(t *testing.T) {
	d := open(t)
	write(t, d.Path("file"), "text")
	must.OK(t, os.MkdirAll(d.Path("dir/below"), 0o755))
	must.OK(t, os.Symlink("file", d.Path("link")))
	for _, name := range []string{"file", "dir", "link"} {
		before, err := d.Lstat(name)
		must.OK(t, err)
		must.OK(t, Move(d, name, name+"-2"))
		after, err := d.Lstat(name + "-2")
		must.OK(t, err)
		if !os.SameFile(before, after) || before.Mode() != after.Mode() {
			t.Errorf("%s has become %v", name, after.Mode())
		}
	}
	if err := Move(d, "dir-2", "file-2"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a file: %v", err)
	}
	if err := Move(d, "link-2", "dir-2"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a directory: %v", err)
	}
	for _, names := range [][2]string{{"none", "x"}, {"file-2", "../x"}, {"../x", "x"}, {"file-2", "dir-2/x"}, {"file-2", ""}} {
		if err := Move(d, names[0], names[1]); err == nil {
			t.Errorf("%q to %q is possible", names[0], names[1])
		}
	}
	if got := namesOf(t, d); got != "dir-2 file-2 link-2" {
		t.Error(got)
	}
}

func TestRemoveDir(t *testing.T) {
	d := open(t)
	write(t, d.Path("file"), "text")
	must.OK(t, os.MkdirAll(d.Path("full/below"), 0o755))
	must.OK(t, os.Mkdir(d.Path("empty"), 0o755))
	must.OK(t, os.Symlink("empty", d.Path("link")))
	must.OK(t, RemoveDir(d, "empty"))
	for _, name := range []string{"file", "link"} {
		if err := RemoveDir(d, name); !isKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"full", "none", "full/below", ".."} {
		if err := RemoveDir(d, name); err == nil || isKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := namesOf(t, d); got != "file full link" {
		t.Error(got)
	}
}
