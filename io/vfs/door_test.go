package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// canaries makes a directory with a file that has to stay alone.
func canaries(t *testing.T, top string) (path string, check func()) {
	t.Helper()
	path = filepath.Join(top, "canaries")
	must.OK(t, os.Mkdir(path, 0o755))
	write(t, filepath.Join(path, "file"), "alive")
	return path, func() {
		t.Helper()
		entries, err := os.ReadDir(path)
		should.Hold(t, err == nil && len(entries) == 1 && contents(t, filepath.Join(path, "file")) == "alive",
			"canaries: %v, %v", entries, err)
	}
}

// TestSwapped opens a directory, writes and removes there, while a link to another one takes its
// place again and again.
func TestSwapped(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open directories stay in their places")
	d := open(t)
	away, alive := canaries(t, t.TempDir())
	must.OK(t, d.Mkdir("x"))
	must.OK(t, os.Symlink(away, d.Path("link")))
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !stop.Load() {
			err = errors.Join(
				os.Rename(d.Path("x"), d.Path("y")), os.Rename(d.Path("link"), d.Path("x")),
				os.Rename(d.Path("x"), d.Path("link")), os.Rename(d.Path("y"), d.Path("x")),
			)
		}
		done <- err
	}()
	opened, refused := 0, 0
	for range 3000 {
		sub, err := d.Sub("x")
		switch {
		case err == nil:
			opened++
			must.OK(t, errors.Join(Write(sub, "file", []byte("mine")), sub.Remove("file"), sub.Close()))
		case isKind(err) || errors.Is(err, ErrReplaced) || errors.Is(err, fs.ErrNotExist):
			refused++
		default:
			t.Error(err)
		}
	}
	stop.Store(true)
	must.OK(t, <-done)
	alive()
	t.Logf("opened %d times, refused %d times", opened, refused)
	should.Not(t, opened == 0 || refused == 0, "nothing was tried")
}

// TestTempSwapped: what takes the place of a directory of TempDir is neither written nor removed,
// be it a link or a directory.
func TestTempSwapped(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open directories stay in their places")
	for name, swap := range map[string]func(away, path string) error{"link": os.Symlink, "directory": os.Rename} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			away, alive := canaries(t, top)
			path, remove, err := TempDir(top, "temp-")
			must.OK(t, err)
			moved := filepath.Join(top, "moved")
			must.OK(t, os.Rename(path, moved))
			must.OK(t, swap(away, path))
			must.OK(t, WriteFile(filepath.Join(path, "file"), []byte("mine")))
			sub := must.Get(MakeDir(filepath.Join(path, "a", "b")))(t)
			must.OK(t, errors.Join(Write(sub, "c", nil), sub.Close()))
			sub = must.Get(OpenDir(filepath.Join(path, "a")))(t)
			must.OK(t, sub.Close())
			should.Be(t, must.Err(OpenDir(filepath.Join(path, "none"))), fs.ErrNotExist)
			should.Equal(t, contents(t, filepath.Join(moved, "file")), "mine")
			must.OK(t, remove())
			must.Empty(t, moved)
			if name == "directory" {
				must.OK(t, os.Rename(path, away))
			}
			alive()
			_, err = OpenDir(path)
			should.Not(t, name == "directory" && !errors.Is(err, fs.ErrNotExist), "%v", err)
		})
	}
}
