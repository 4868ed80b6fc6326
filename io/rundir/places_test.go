package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
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
	if got := names(t, disk); got != "grenier-run layer-00.gl" {
		t.Errorf("layers: %s", got)
	}
	if got := names(t, fast); !strings.Contains(got, FoundName) {
		t.Errorf("work: %s", got)
	}
	if got := names(t, filepath.Join(run, WorkName)); got != StatusName {
		t.Errorf("own work: %s", got)
	}
	if l.LayersPath() != disk {
		t.Errorf("layers in %q", l.LayersPath())
	}
	must.OK(t, errors.Join(l.ClearWork(), l.Unlock()))
	if got := names(t, fast); got != OwnerName {
		t.Errorf("work, cleared: %s", got)
	}
	if dir, ok := Damaged(&corrupt.Error{File: filepath.Join(disk, LayerName(0)), Cause: corrupt.ErrCorrupt}); !ok || dir != run {
		t.Errorf("damage in %q, %v", dir, ok)
	}
	m := &manifest.Manifest{Identity: awari, Layers: []manifest.Layer{{File: LayerName(0), Directory: disk}}}
	d, err := Open(run)
	must.OK(t, err)
	found, err := d.Found(m)
	if err != nil || len(found) != 1 || !found[0].Begins || found[0].Path != filepath.Join(disk, LayerName(0)) {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := d.Found(nil, disk); err != nil || len(found) != 1 || found[0].Directory != disk {
		t.Errorf("%+v, %v", found, err)
	}
	if err := os.Rename(filepath.Join(disk, LayerName(0)), d.LayerPath(0)); err != nil { // moved by hand
		t.Fatal(err)
	}
	if found, err := d.Found(m); err != nil || len(found) != 1 || found[0].Path != d.LayerPath(0) {
		t.Errorf("%+v, %v", found, err)
	}
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
		if err := c.place(path(c.dir)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.dir, err, c.want)
		}
	}
	if text, err := os.ReadFile(path("busy/found")); err != nil || string(text) != "y" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLayerFile: the manifest says where a file is; who moved it into the run directory finds
// it there.
func TestLayerFile(t *testing.T) {
	run, disk := t.TempDir(), t.TempDir()
	here, there := filepath.Join(run, "layer-00.gl"), filepath.Join(disk, "layer-00.gl")
	l := manifest.Layer{File: "layer-00.gl", Directory: disk}
	check := func(want string) {
		t.Helper()
		if got := LayerFile(run, &l); got != want {
			t.Errorf("%s, want %s", got, want)
		}
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
	if _, err := d.AskStop(AtOnce); !errors.Is(err, ErrBusy) {
		t.Errorf("somebody who does not report: %v", err)
	}
	must.OK(t, l.SaveStatus(aStatus()))
	for _, how := range []Stop{AfterLayer, AtOnce, NoStop, AtOnce} {
		if h, err := d.AskStop(how); err != nil || h.PID != self {
			t.Fatalf("%+v, %v", h, err)
		}
		if got := l.Asked(self); got != how {
			t.Errorf("%q instead of %q", got, how)
		}
	}
	if got := l.Asked(self + 1); got != NoStop {
		t.Errorf("another process is asked: %q", got)
	}
	if err := l.ClearWork(); err != nil || l.Asked(self) != AtOnce {
		t.Errorf("the request is gone: %v", err)
	}
	if err := errors.Join(l.ForgetStop(), l.ForgetStop()); err != nil || l.Asked(self) != NoStop {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(l.own.Path(StopName), []byte("{"), 0o644); err != nil || l.Asked(self) != NoStop {
		t.Errorf("damage asks: %v", err)
	}
	must.OK(t, l.Unlock())
	if _, err := d.AskStop(AtOnce); !errors.Is(err, ErrNoSolver) {
		t.Error(err)
	}
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
	if err := Admit(at("run"), id, "", "", 5); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a run that works: %v", err)
	}
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
		if err := Admit(at(c.run), c.id, c.work, c.layers, 5); !errors.Is(err, c.want) {
			t.Errorf("%s, %s, %s: %v, want %v", c.run, c.work, c.layers, err, c.want)
		}
	}
	must.Same(t, "changed", before, must.Tree(t, root))
}
