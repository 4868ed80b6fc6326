package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/manifest"
)

func TestFound(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"layer-00.gl": "x", "layer-12.gl": "yy", "layer-100.gl": "", "layer-5.gl": "", "layer-007.gl": "", "layer--5.gl": "",
		"layer-01.gl.tmp": "", "layer-02.glx": "", "layer-1024.gl": "", "thesis.tex": "",
	})
	must.OK(t, os.Mkdir(filepath.Join(dir, "layer-03.gl"), 0o755))
	for name, target := range map[string]string{"layer-04.gl": "layer-12.gl", "layer-05.gl": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	d := must.Get(At(dir))(t)
	all := must.Get(d.Found(nil))(t)
	type short struct {
		Seeds   int
		Regular bool
		Bytes   int64
	}
	var got []short
	for _, f := range all {
		if !f.Regular {
			f.Stamp.Bytes = 0
		}
		got = append(got, short{f.Seeds, f.Regular, f.Stamp.Bytes})
	}
	want := []short{{0, true, 1}, {3, false, 0}, {4, true, 2}, {5, false, 0}, {12, true, 2}, {100, true, 0}}
	must.Same(t, "another result", want, got)
	should.Be(t, must.Err(At(filepath.Join(dir, "layer-00.gl"))), ErrNotDir)
	should.Be(t, must.Err(At(filepath.Join(dir, "none"))), ErrMissing)
}

// TestFoundElsewhere: of two layers that are listed in other directories the second is found, if the first is gone.
func TestFoundElsewhere(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	fill(t, other, map[string]string{"layer-01.gl": "xyz"})
	d := must.Get(At(dir))(t)
	all, err := d.Found(&manifest.Manifest{Layers: []manifest.Layer{{File: "layer-00.gl", Directory: other}, {Seeds: 1, File: "layer-01.gl", Directory: other}}})
	if err != nil || len(all) != 1 || all[0].Seeds != 1 || all[0].Stamp.Bytes != 3 || all[0].Directory != other {
		t.Errorf("%+v, %v", all, err)
	}
	gone := t.TempDir()
	t.Chdir(gone)
	if os.Remove(gone) != nil {
		return // a working directory stays there
	}
	if all, err := d.Found(nil, "more"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a working directory that is gone: %+v, %v", all, err)
	}
}

// TestSetAside: nothing is overwritten.
func TestSetAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := mustLock(t, dir)
	defer l.Unlock()
	names := map[string]string{}
	for _, text := range []string{"a", "b", "c"} {
		fill(t, dir, map[string]string{"layer-00.gl": text})
		name := must.Get(l.SetAside("layer-00.gl"))(t)
		names[filepath.Join(dir, name)] = text
	}
	for path, want := range names {
		text, err := os.ReadFile(path)
		should.Hold(t, err == nil && string(text) == want, "%s: %q, %v", path, text, err)
	}
	should.Hold(t, len(names) == 3, "%v", names)
	should.Be(t, must.Err(l.SetAside("layer-00.gl")), os.ErrNotExist)
}

// TestLockDamaged: the manifest is neither read nor made.
func TestLockDamaged(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"layer-00.gl": "x", "a.tmp": "x", "work/again/tiles": "x", "work/again/tiles.checkpoint": "x", "work/again/found": "x",
		"work/again/offers": "x", "work/tiles": "x"})
	l, err := LockDamaged(dir)
	must.OK(t, err)
	err = l.IsLocked()
	should.Hold(t, isLocked(err), "not locked: %v", err)
	_, err = LockDamaged(dir)
	should.Hold(t, isLocked(err), "two locks: %v", err)
	work := must.Get(l.Again())(t)
	should.Equal(t, names(t, filepath.Join(dir, "work", "again")), "found offers tiles tiles.checkpoint")
	must.OK(t, errors.Join(work.Close(), l.ClearAgain(), l.ClearAgain(), l.Unlock()))
	must.OK(t, l.IsLocked())
	if err := (&Dir{path: filepath.Join(dir, "none")}).IsLocked(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if got := names(t, dir) + "; " + names(t, filepath.Join(dir, WorkName)); got != "a.tmp layer-00.gl lock work; tiles" {
		t.Error(got)
	}
	fill(t, dir, map[string]string{LockName: "of the door"})
	before := must.Tree(t, dir)
	should.Not(t, must.Err(LockDamaged(dir)) == nil, "a foreign lock is taken")
	must.Same(t, "another result", before, must.Tree(t, dir))
}

func isLocked(err error) bool {
	_, ok := errors.AsType[*LockedError](err)
	return ok
}

func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	fill(t, dir, map[string]string{"run/layer-00.gl": "x", "empty/x": ""})
	run := filepath.Join(dir, "run")
	for _, c := range []struct {
		file  string
		cause error
		dir   string // "" for none
	}{
		{"run/layer-05.gl", corrupt.ErrMismatch, "run"},
		{"layer-05.gl", corrupt.ErrForeign, "."},
		{"run/manifest.json", corrupt.ErrVersion, "run"},
		{"http://localhost/layer-05.gl", corrupt.ErrCorrupt, ""},
		{"run/distance-05.gd", corrupt.ErrMismatch, "run"},
		{"run/distance-05.gd", corrupt.ErrForeign, ""},
		{"run/other.json", corrupt.ErrCorrupt, ""},
		{"layer-5.gl", corrupt.ErrCorrupt, ""},
		{filepath.Join(run, "manifest.json"), corrupt.ErrForeign, run},
		{filepath.Join(empty, "manifest.json"), corrupt.ErrForeign, ""},
		{run, corrupt.ErrForeign, run},
		{empty, corrupt.ErrForeign, ""},
	} {
		got, ok := Damaged(&corrupt.Error{File: c.file, Cause: c.cause})
		should.Not(t, ok != (c.dir != "") || ok && got != c.dir, "%s, %v: %s, %v", c.file, c.cause, got, ok)
	}
}
