//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/vfs"
)

// elsewhere is a directory whose work/ is on another disk.
type elsewhere struct{ vfs.Dir }

func (d elsewhere) Lstat(name string) (fs.FileInfo, error) {
	info, err := d.Dir.Lstat(name)
	if name == WorkName && err == nil {
		info = onAnother{info}
	}
	return info, err
}

type onAnother struct{ fs.FileInfo }

func (onAnother) Sys() any { return &syscall.Stat_t{Dev: 1 << 30} }

// TestOtherDisk: work/ on another disk than the lock is refused.
func TestOtherDisk(t *testing.T) {
	dir := t.TempDir()
	defer vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if d.Path("") == dir {
			return elsewhere{d}
		}
		return d
	})()
	should.Be(t, must.Err(Lock(dir, awari)), ErrOtherDisk)
}

// TestLostLock: whoever has lost the lock publishes and removes nothing, not even the lock of somebody else.
func TestLostLock(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { must.OK(t, os.Remove(filepath.Join(dir, LockName))) },
		"taken by another": func(t *testing.T, dir string) {
			must.OK(t, os.Remove(filepath.Join(dir, LockName)))
			second := mustLock(t, dir)
			t.Cleanup(func() { must.OK(t, errors.Join(second.SaveStatus(aStatus()), second.Unlock())) })
		},
		"replaced": func(t *testing.T, dir string) {
			must.Write(t, filepath.Join(dir, "another"), nil)
			must.OK(t, os.Rename(filepath.Join(dir, "another"), filepath.Join(dir, LockName)))
		},
		"a link to the old one": func(t *testing.T, dir string) {
			must.OK(t, os.Rename(filepath.Join(dir, LockName), filepath.Join(dir, "moved")))
			if err := os.Symlink("moved", filepath.Join(dir, LockName)); err != nil {
				t.Skip(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			l := mustLock(t, dir)
			must.Write(t, filepath.Join(dir, WorkName, FoundName), nil)
			lose(t, dir)
			before := must.Tree(t, filepath.Dir(dir))
			for what, do := range map[string]func() error{
				"checkpoint":   func() error { return vfs.Write(l.Work(), FoundName, nil) },
				"SaveManifest": func() error { return l.SaveManifest(&manifest.Manifest{Identity: awari}) },
				"SaveStatus":   func() error { return l.SaveStatus(aStatus()) },
				"ClearWork":    l.ClearWork,
				"SetAside":     func() error { _, err := l.SetAside(ManifestName); return err },
			} {
				lost := must.As[*LostError](t, do(), "%s", what)
				should.Equal(t, lost.Path, dir, "%s", what)
				should.Has(t, lost.Error(), "lost the lock of "+dir+": ")
			}
			must.Same(t, "something was changed", before, must.Tree(t, filepath.Dir(dir)))
			must.OK(t, l.Unlock())
			after := must.Tree(t, filepath.Dir(dir))
			delete(after, "run/moved") // its own lock, which it empties
			delete(before, "run/moved")
			must.Same(t, "something was changed by Unlock", before, after)
		})
	}
}
