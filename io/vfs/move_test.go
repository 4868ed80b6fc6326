package vfs

import (
	"io/fs"
	"os"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestMove: whatever it is, it is moved as it is, and nothing is replaced.
func TestMove(t *testing.T) {
	d := open(t)
	write(t, d.Path("file"), "text")
	must.OK(t, os.MkdirAll(d.Path("dir/below"), 0o755))
	must.OK(t, os.Symlink("file", d.Path("link")))
	for _, name := range []string{"file", "dir", "link"} {
		before := must.Get(d.Lstat(name))(t)
		must.OK(t, Move(d, name, name+"-2"))
		after := must.Get(d.Lstat(name + "-2"))(t)
		should.Hold(t, os.SameFile(before, after) && before.Mode() == after.Mode(), "%s has become %v", name, after.Mode())
	}
	should.Be(t, Move(d, "dir-2", "file-2"), fs.ErrExist, "onto a file")
	should.Be(t, Move(d, "link-2", "dir-2"), fs.ErrExist, "onto a directory")
	for _, names := range [][2]string{{"none", "x"}, {"file-2", "../x"}, {"../x", "x"}, {"file-2", "dir-2/x"}, {"file-2", ""}} {
		should.Not(t, Move(d, names[0], names[1]) == nil, "%q to %q is possible", names[0], names[1])
	}
	should.Equal(t, namesOf(t, d), "dir-2 file-2 link-2")
}

func TestRemoveDir(t *testing.T) {
	d := open(t)
	write(t, d.Path("file"), "text")
	must.OK(t, os.MkdirAll(d.Path("full/below"), 0o755))
	must.OK(t, os.Mkdir(d.Path("empty"), 0o755))
	must.OK(t, os.Symlink("empty", d.Path("link")))
	must.OK(t, RemoveDir(d, "empty"))
	for _, name := range []string{"file", "link"} {
		err := RemoveDir(d, name)
		should.Hold(t, isKind(err), "%s: %v", name, err)
	}
	for _, name := range []string{"full", "none", "full/below", ".."} {
		err := RemoveDir(d, name)
		should.Not(t, err == nil || isKind(err), "%s: %v", name, err)
	}
	should.Equal(t, namesOf(t, d), "file full link")
}
