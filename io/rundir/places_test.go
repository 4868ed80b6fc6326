package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/manifest"
)

// TestPlaces: layers and work go to other directories, of which the run directory stays in
// charge.
func TestPlaces(t *testing.T) {
	top := t.TempDir()
	run, disk, fast := filepath.Join(top, "run"), filepath.Join(top, "disk", "a"), filepath.Join(top, "fast")
	l := mustLock(t, run)
	must.OK(t, errors.Join(l.PlaceLayers(disk), l.PlaceWork(fast), l.PlaceLayers(disk)))
	for _, step := range sealSteps(l) {
		must.OK(t, step())
	}
	must.OK(t, beginFile(l.Work(), FoundName))
	must.OK(t, l.SaveStatus(aStatus()))
	should.Equal(t, names(t, disk), "grenier-run layer-00.gl", "layers")
	got := names(t, fast)
	should.Hold(t, strings.Contains(got, FoundName), "work: %s", got)
	should.Equal(t, names(t, filepath.Join(run, WorkName)), StatusName, "own work")
	should.Equal(t, l.LayersPath(), disk, "layers in")
	must.OK(t, errors.Join(l.ClearWork(), l.Unlock()))
	should.Equal(t, names(t, fast), OwnerName, "work, cleared")
	dir, ok := Damaged(&corrupt.Error{File: filepath.Join(disk, LayerName(0)), Cause: corrupt.ErrCorrupt})
	should.Hold(t, ok && dir == run, "damage in %q, %v", dir, ok)
	m := &manifest.Manifest{Identity: awari, Layers: []manifest.Layer{{File: LayerName(0), Directory: disk}}}
	d := must.Get(Open(run))(t)
	found, err := d.Found(m)
	should.Hold(t, err == nil && len(found) == 1 && found[0].Begins && found[0].Path == filepath.Join(disk, LayerName(0)),
		"%+v, %v", found, err)
	found, err = d.Found(nil, disk)
	should.Hold(t, err == nil && len(found) == 1 && found[0].Directory == disk, "%+v, %v", found, err)
	must.OK(t, os.Rename(filepath.Join(disk, LayerName(0)), d.LayerPath(0))) // moved by hand
	found, err = d.Found(m)
	should.Hold(t, err == nil && len(found) == 1 && found[0].Path == d.LayerPath(0), "%+v, %v", found, err)
}

// TestTaken: a directory serves one run, and nothing that is in it is lost.
func TestTaken(t *testing.T) {
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	one, two := mustLock(t, path("one")), mustLock(t, path("two"))
	defer one.Unlock()
	defer two.Unlock()
	must.OK(t, one.PlaceLayers(path("disk")))
	for _, name := range []string{"strange", "busy"} {
		must.OK(t, os.Mkdir(path(name), 0o755))
	}
	for name, text := range map[string]string{"strange/layer-00.gl": "x", "busy/found": "y", "file": "z"} {
		must.Write(t, path(name), []byte(text))
	}
	for _, c := range []struct {
		place func(string) error
		dir   string
		want  error
	}{
		{two.PlaceLayers, "disk", ErrTaken}, {two.PlaceWork, "disk", ErrTaken}, {two.PlaceLayers, "one", ErrTaken}, {two.PlaceWork, "one", ErrTaken},
		{two.PlaceWork, "one/work", ErrTaken},
		{two.PlaceLayers, "strange", ErrTaken}, {two.PlaceWork, "busy", ErrTaken}, {two.PlaceLayers, "file", ErrNotDir},
		{two.PlaceLayers, "two", nil}, {two.PlaceWork, "two", nil}, {two.PlaceLayers, "busy", nil}, {two.PlaceWork, "two/work", nil},
	} {
		should.Be(t, c.place(path(c.dir)), c.want, "%s", c.dir)
	}
	text, err := os.ReadFile(path("busy/found"))
	should.Hold(t, err == nil && string(text) == "y", "%q, %v", text, err)
}

// TestLayerFile: the manifest says where a file is; who moved it into the run directory finds
// it there.
func TestLayerFile(t *testing.T) {
	run, disk := t.TempDir(), t.TempDir()
	here, there := filepath.Join(run, "layer-00.gl"), filepath.Join(disk, "layer-00.gl")
	l := manifest.Layer{File: "layer-00.gl", Directory: disk}
	check := func(want string) {
		t.Helper()
		should.Equal(t, LayerFile(run, &l), want)
	}
	check(there)
	must.Write(t, here, nil)
	check(here)
	must.Write(t, there, nil)
	check(there)
	l.Directory = `elsewhere\awari`
	check(here)
	l.Directory = ""
	check(here)
}

// TestStop: only the solver that is asked stops.
func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	l := mustLock(t, path)
	d, err := Open(path)
	must.OK(t, err)
	self := os.Getpid()
	should.Be(t, must.Err(d.AskStop(AtOnce)), ErrBusy, "somebody who does not report")
	must.OK(t, l.SaveStatus(aStatus()))
	for _, how := range []Stop{AfterLayer, AtOnce, NoStop, AtOnce} {
		h, err := d.AskStop(how)
		must.Hold(t, err == nil && h.PID == self, "%+v, %v", h, err)
		should.Equal(t, l.Asked(self), how)
	}
	should.Equal(t, l.Asked(self+1), NoStop, "another process is asked")
	err = l.ClearWork()
	should.Hold(t, err == nil && l.Asked(self) == AtOnce, "the request is gone: %v", err)
	err = errors.Join(l.ForgetStop(), l.ForgetStop())
	should.Hold(t, err == nil && l.Asked(self) == NoStop, "%v", err)
	err = os.WriteFile(l.own.Path(StopName), []byte("{"), 0o644)
	should.Hold(t, err == nil && l.Asked(self) == NoStop, "damage asks: %v", err)
	must.OK(t, l.Unlock())
	should.Be(t, must.Err(d.AskStop(AtOnce)), ErrNoSolver)
}

// TestAdmit: what Lock and the places refuse is refused beforehand with the same errors, and nothing is changed.
func TestAdmit(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	l := mustLock(t, at("run"))
	id := awari
	must.OK(t, errors.Join(os.Mkdir(at("photos"), 0o755), os.Mkdir(at("empty"), 0o755), os.Mkdir(at("layers"), 0o755)))
	must.Write(t, at("photos/cat.jpg"), []byte("cat"))
	must.Write(t, at("layers/"+LayerName(3)), []byte("cat"))
	must.Write(t, at("file"), []byte("cat"))
	other := id
	other.Rules = "others"
	before := must.Tree(t, root)
	var locked *LockedError
	err := Admit(at("run"), id, "", "", 5)
	should.Hold(t, errors.As(err, &locked) && locked.PID == os.Getpid(), "a run that works: %v", err)
	must.Same(t, "changed", before, must.Tree(t, root))
	must.OK(t, l.Unlock())
	before = must.Tree(t, root)
	for _, c := range []struct {
		run          string
		id           manifest.Identity
		work, layers string
		want         error
	}{
		{"run", id, "", "", nil},
		{"new/below", id, at("new/work"), at("new/layers"), nil},
		{"empty", id, "", "", nil},
		{"run", other, "", "", ErrOtherRun},
		{"photos", id, "", "", corrupt.ErrForeign},
		{"file", id, "", "", ErrNotDir},
		{"run", id, at("file"), "", ErrNotDir},
		{"run", id, "", at("layers"), ErrTaken},
		{"layers", id, "", "", corrupt.ErrForeign},
	} {
		should.Be(t, Admit(at(c.run), c.id, c.work, c.layers, 5), c.want, "%s, %s, %s", c.run, c.work, c.layers)
	}
	must.Same(t, "changed", before, must.Tree(t, root))
}
