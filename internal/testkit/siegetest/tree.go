// Package siegetest attacks files, for tests that show that a program keeps its hands
// off files that are not its own and believes nothing that is damaged.
//
//	tree := siegetest.New(t)          // a directory of its own; nothing outside is ever touched
//	canary := tree.Canary("canary")   // files that nobody may change
//	whole := tree.Save("run")
//	siegetest.Random(rng, tree, target) // damages a file below run
//	... run the program ...
//	canary.Check(t)
//	whole.Restore(t)
//
// Every operation goes through an os.Root of the tree: a link that leads out of it is
// not followed, a name outside is refused, whatever a test asks for.
package siegetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/vfs"
)

// Tree is a directory in which hostile tests work. Names in it are relative and have
// slashes.
type Tree struct {
	*os.Root
	t testing.TB
}

// New makes a tree in a temporary directory of the test.
func New(t testing.TB) *Tree {
	t.Helper()
	return At(t, t.TempDir())
}

// At makes a tree of an empty directory. It fails the test if there is something in it:
// a tree holds files that a test made, nothing else.
func At(t testing.TB, dir string) *Tree {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Hold(t, err == nil && len(entries) <= 0, "%s is no empty directory: %d entries, %v", dir, len(entries), err)
	root := must.Get(os.OpenRoot(dir))(t)
	t.Cleanup(func() { root.Close() })
	return &Tree{Root: root, t: t}
}

// Path returns the path of a name in the tree for other programs. It fails the test if
// the name leads out of the tree.
func (tr *Tree) Path(name string) string {
	tr.t.Helper()
	must.Hold(tr.t, filepath.IsLocal(filepath.FromSlash(name)), "%s is not in the tree", name)
	return filepath.Join(tr.Name(), filepath.FromSlash(name))
}

// Write makes a file with its directories, replacing an entry of its name.
func (tr *Tree) Write(name string, data []byte) {
	tr.t.Helper()
	err := tr.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = tr.RemoveAll(name)
	}
	if err == nil {
		err = tr.WriteFile(name, data, 0o644)
	}
	must.OK(tr.t, err)
}

// Give makes a user the owner of everything below a name.
func (tr *Tree) Give(name string, uid int) {
	tr.t.Helper()
	must.OK(tr.t, fs.WalkDir(tr.FS(), name, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return tr.Lchown(path, uid, uid)
	}))
}

// Look describes all that is below a name: kinds, modes, times of the last change, contents,
// where links lead. A file that cannot be read is described without its contents.
func (tr *Tree) Look(name string) map[string]string {
	tr.t.Helper()
	seen := map[string]string{}
	must.OK(tr.t, fs.WalkDir(tr.FS(), name, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			seen[path], err = tr.describe(path)
		}
		return err
	}))
	return seen
}

func (tr *Tree) describe(name string) (string, error) {
	info, err := tr.Lstat(name)
	if err != nil {
		return "", err
	}
	about := fmt.Sprint(info.Mode(), " ", info.ModTime().Format(time.RFC3339Nano))
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := tr.Readlink(name)
		return about + " to " + target, err
	case info.Mode().IsRegular() && info.Size() < 1<<26:
		data, err := tr.ReadFile(name)
		return fmt.Sprintf("%s %d bytes %x", about, len(data), sha256.Sum256(data)), err
	}
	return fmt.Sprint(about, " ", info.Size()), nil
}

// Watched is a part of a tree that has to stay as it is.
type Watched struct {
	tree *Tree
	name string
	was  map[string]string
}

// Watch remembers all that is below a name.
func (tr *Tree) Watch(name string) *Watched {
	tr.t.Helper()
	return &Watched{tr, name, tr.Look(name)}
}

// Canary makes files, directories and links of several kinds below a name, and watches
// them.
func (tr *Tree) Canary(name string) *Watched {
	tr.t.Helper()
	for file, text := range map[string]string{
		"diary.txt": "Dear diary", "empty": "", "photos/cat.jpg": "cat", "photos/2024/dog.tmp": "dog",
		"layer-00.gl": "not a layer", "manifest.json.tmp": "not a manifest", "work/status.json": "{}",
	} {
		tr.Write(name+"/"+file, []byte(text))
	}
	err := tr.Symlink("diary.txt", name+"/link")
	if err == nil {
		err = tr.Chmod(name+"/photos/cat.jpg", 0o400)
	}
	must.OK(tr.t, err)
	return tr.Watch(name)
}

// Changes lists what changed since; it is empty if nothing did.
func (w *Watched) Changes() string { return cmp.Diff(w.was, w.tree.Look(w.name)) }

// Check fails the test if anything changed.
func (w *Watched) Check(t testing.TB) {
	t.Helper()
	should.Equal(t, w.Changes(), "", "%s changed (-before +after)", w.name)
}

// Copy has the regular files and directories that were below a name.
type Copy struct {
	Files map[string][]byte // by name in the tree
	tree  *Tree
	name  string
	dirs  []string // parents first
}

// Save copies all that is below a name.
func (tr *Tree) Save(name string) *Copy {
	tr.t.Helper()
	c := &Copy{Files: map[string][]byte{}, tree: tr, name: name}
	must.OK(tr.t, fs.WalkDir(tr.FS(), name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			c.dirs = append(c.dirs, path)
		case d.Type().IsRegular():
			c.Files[path], err = tr.ReadFile(path)
		default:
			err = fmt.Errorf("%s is not a regular file", path)
		}
		return err
	}))
	return c
}

// Restore removes all that is below the name and brings the copy back.
func (c *Copy) Restore(t testing.TB) {
	t.Helper()
	err := c.tree.RemoveAll(c.name)
	for _, dir := range c.dirs {
		if err == nil {
			err = c.tree.MkdirAll(dir, 0o755)
		}
	}
	for name, data := range c.Files {
		if err == nil {
			err = c.tree.WriteFile(name, data, 0o644)
		}
	}
	must.OK(t, err)
}

// Moment does something once, before an operation on directories of package vfs.
type Moment struct {
	count atomic.Int64
	at    int64
	do    func()
}

// NewMoment returns the moment before operation k, from 1 on, on the directories that Watch returns.
func NewMoment(k int, do func()) *Moment { return &Moment{at: int64(k), do: do} }

// Operations returns how many there were.
func (m *Moment) Operations() int { return int(m.count.Load()) }

func (m *Moment) pass() {
	if m.count.Add(1) == m.at {
		m.do()
	}
}

// Watch returns a directory that behaves as d does; operations on it, and on the directories in it,
// count.
func (m *Moment) Watch(d vfs.Dir) vfs.Dir { return watchedDir{d, m} }

type watchedDir struct {
	vfs.Dir
	moment *Moment
}

func (w watchedDir) Open(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Open(name)
}

func (w watchedDir) Edit(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Edit(name)
}

func (w watchedDir) Create(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Create(name)
}

func (w watchedDir) Rename(from, to string) error {
	w.moment.pass()
	return w.Dir.Rename(from, to)
}

func (w watchedDir) Remove(name string) error {
	w.moment.pass()
	return w.Dir.Remove(name)
}

func (w watchedDir) RemoveDir(name string) error {
	w.moment.pass()
	return vfs.RemoveDir(w.Dir, name)
}

func (w watchedDir) Lstat(name string) (fs.FileInfo, error) {
	w.moment.pass()
	return w.Dir.Lstat(name)
}

func (w watchedDir) Entries() ([]fs.FileInfo, error) {
	w.moment.pass()
	return w.Dir.Entries()
}

func (w watchedDir) Mkdir(name string) error {
	w.moment.pass()
	return w.Dir.Mkdir(name)
}

func (w watchedDir) Sync() error {
	w.moment.pass()
	return w.Dir.Sync()
}

func (w watchedDir) Close() error {
	w.moment.pass()
	return w.Dir.Close()
}

func (w watchedDir) Sub(name string) (vfs.Dir, error) {
	w.moment.pass()
	d, err := w.Dir.Sub(name)
	if err != nil {
		return nil, err
	}
	return w.moment.Watch(d), nil
}
