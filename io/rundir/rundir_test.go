package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
)

var awari = manifest.Identity{Game: "awari", Rules: "strict", Pits: 12}

// childSteps tells a child process, which is this test again, how many steps to take in the directory given as argument before it is killed.
const childSteps = "RUNDIR_TEST_STEPS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(childSteps)); err == nil {
		child(os.Args[1], n)
	}
	os.Exit(m.Run())
}

// child takes the first n steps of sealing layer 0, says so, and waits.
func child(dir string, n int) {
	l, err := Lock(dir, awari)
	for _, step := range sealSteps(l)[:n] {
		if err == nil {
			err = step()
		}
	}
	fmt.Println("done", err)
	time.Sleep(time.Hour) // not select: with nothing to wake it the runtime would end the process
}

// sealSteps are the steps in which a solver seals layer 0.
func sealSteps(l *Locked) []func() error {
	var s layerfile.Summary
	var w *layerfile.Writer
	return []func() error{
		func() error { return vfs.Write(l.Work(), FoundName, []byte("checkpoint")) },
		func() error { return beginFile(l.Work(), WindowName(0, 0)) },
		func() (err error) { w, err = writeLayer(l, &s); return err },
		func() error { return w.Publish() },
		func() error { return beginFile(l.dir, ManifestName) },
		func() error {
			m := &manifest.Manifest{Identity: awari, Layers: []manifest.Layer{manifest.NewLayer(LayerName(0), s, 1)}}
			return l.SaveManifest(m)
		},
		l.ClearWork,
	}
}

// beginFile writes half of a file under its temporary name.
func beginFile(d vfs.Dir, name string) error {
	p, err := vfs.NewPending(d, name)
	if err != nil {
		return err
	}
	_, err = p.Write([]byte("half of it"))
	return errors.Join(err, p.Close()) // the name stays, as after a crash
}

func writeLayer(l *Locked, s *layerfile.Summary) (*layerfile.Writer, error) {
	h := layerfile.Header{
		Game: awari.Game, Rules: awari.Rules, Pits: awari.Pits,
		Codec: layerfile.LZ4, Transform: layerfile.Ranks, BlockSize: 64, Positions: 1,
	}
	p, err := l.NewLayer(0)
	if err != nil {
		return nil, err
	}
	w, err := layerfile.Create(p, h, cpu.Generic)
	if err != nil {
		return nil, err
	}
	e, err := layerfile.NewEncoder(h, cpu.Generic)
	var b layerfile.Block
	if err == nil {
		err = errors.Join(e.Encode(&b, []int8{0}), w.Append(&b))
	}
	if err == nil {
		*s, err = w.Finish()
	}
	return w, err
}

// startChild runs n steps in a process of its own, which then keeps the lock.
func startChild(t *testing.T, dir string, n int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childSteps, n))
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() { kill(cmd) })
	line, err := bufio.NewReader(out).ReadString('\n')
	must.Hold(t, line == "done <nil>\n", "child: %q, %v", line, err)
	return cmd
}

func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

func mustLock(t *testing.T, dir string) *Locked { t.Helper(); return must.Get(Lock(dir, awari))(t) }

// running locks a new run directory until the test ends.
func running(t *testing.T) (l *Locked, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	l = mustLock(t, dir)
	t.Cleanup(func() { l.Unlock() })
	return l, dir
}

func names(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// TestTwoProcesses looks at a solver that works, and is killed.
func TestTwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := startChild(t, dir, 2)
	checkActivity(t, dir, Activity{State: Running, Holder: Holder{Held: true, PID: cmd.Process.Pid, Alive: true}})
	before := must.Tree(t, dir)
	locked := must.As[*LockedError](t, must.Err(Lock(dir, awari)), "second process")
	should.Equal(t, locked.PID, cmd.Process.Pid)
	should.Has(t, locked.Error(), strconv.Itoa(locked.PID))
	must.Same(t, "the refused process changed something", before, must.Tree(t, dir))
	should.Be(t, must.Err(Open(dir)), nil, "a reader needs no lock")
	if runtime.GOOS == "windows" {
		return // the lock outlives the process
	}
	kill(cmd)
	checkActivity(t, dir, Activity{State: Killed, Holder: Holder{PID: cmd.Process.Pid}})
	l := mustLock(t, dir)
	defer l.Unlock()
	should.Equal(t, must.As[*LockedError](t, must.Err(Lock(dir, awari)), "locked twice").PID, os.Getpid())
	should.Equal(t, names(t, l.Work().Path("")), FoundName, "work/ holds")
}

// TestCrash kills a solver after each of its steps. What is left is the old state or the new one, and the next solver can resume.
func TestCrash(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "the lock outlives the process")
	for n := range len(sealSteps(nil)) + 1 {
		dir := filepath.Join(t.TempDir(), "runs", "strict")
		kill(startChild(t, dir, n))
		m := must.Get(must.Get(Open(dir))(t).Manifest())(t)
		must.Equal(t, len(m.Layers), map[bool]int{true: 1}[n >= 6], "after step %d: layers", n)
		l := mustLock(t, dir)
		all := names(t, dir) + names(t, l.Work().Path(""))
		should.Not(t, strings.Contains(all, ".tmp"), "after step %d: temporary files remain: %s", n, all)
		for i, step := range sealSteps(l) {
			must.Be(t, step(), nil, "after step %d, step %d again", n, i)
		}
		must.OK(t, l.Unlock())
		l = mustLock(t, dir)
		m = must.Get(l.Manifest())(t)
		f := must.Get(layerfile.Open(l.LayerPath(0)))(t)
		must.OK(t, errors.Join(m.CheckFile(0, f), f.Close()))
		should.Equal(t, names(t, dir)+"; "+names(t, l.Work().Path("")), "layer-00.gl lock manifest.json work; ")
		must.OK(t, l.Unlock())
	}
}

// TestRefused checks that a refused request changes nothing; Admit refuses it beforehand.
func TestRefused(t *testing.T) {
	other := must.Get((&manifest.Manifest{Identity: manifest.Identity{Game: "awari", Rules: "awari", Pits: 12}}).Encode())(t)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  error
		text  string
	}{
		{"foreign", map[string]string{"thesis.tex": "x"}, corrupt.ErrForeign, `: not a run directory: it holds "thesis.tex" but no manifest.json`},
		{"foreign work", map[string]string{"work/thesis.tmp": "x"}, corrupt.ErrForeign, `"work"`},
		{"foreign lock", map[string]string{"lock": "of the door", "work/a.tmp": "x"}, corrupt.ErrForeign, `"lock"`},
		{"foreign log", map[string]string{"solve.log": "of crossword puzzles"}, corrupt.ErrForeign, `"solve.log"`},
		{"layers only", map[string]string{"lock": "", "layer-00.gl": "x"}, corrupt.ErrForeign, `"layer-00.gl"`},
		{"foreign manifest", map[string]string{"manifest.json": `{"name": "web app"}`, "work/a.tmp": "x"}, corrupt.ErrForeign, "manifest"},
		{"damaged manifest", map[string]string{"manifest.json": string(other[:len(other)-9]), "work/a.tmp": "x"}, corrupt.ErrCorrupt, "manifest"},
		{"other run", map[string]string{"manifest.json": string(other), "work/a.tmp": "x"}, ErrOtherRun, " holds another run: game awari, rules awari"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, tt.files)
			before := must.Tree(t, dir)
			should.Be(t, Admit(dir, awari, "", "", 5), tt.want, "beforehand")
			err := must.Err(Lock(dir, awari))
			otherRun := tt.want == ErrOtherRun
			should.Says(t, err, tt.want, tt.text)
			should.Equal(t, errors.Is(err, corrupt.ErrCorrupt), !otherRun, "corrupt")
			must.Same(t, "changed", before, must.Tree(t, dir))
			d, err := Open(dir)
			if err == nil {
				_, err = d.Manifest()
			}
			should.Hold(t, (err == nil) == otherRun, "open for reading: %v", err)
		})
	}
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Write(t, path, []byte(text))
	}
}

func TestRefusedPlaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	fill(t, dir, map[string]string{"file": "x"})
	before := must.Tree(t, dir)
	should.Be(t, must.Err(Lock(file, awari)), ErrNotDir, "lock a file")
	should.Be(t, Admit(file, awari, "", "", 5), ErrNotDir, "lock a file")
	below := filepath.Join(file, "below")
	err := must.Err(Lock(below, awari))
	should.Hold(t, errors.Is(err, ErrNotDir) && err.Error() == below+": not a directory", "lock below a file: %v", err)
	should.Be(t, must.Err(Open(file)), ErrNotDir, "open a file")
	for _, want := range []error{ErrMissing, fs.ErrNotExist} {
		should.Be(t, must.Err(Open(filepath.Join(dir, "none"))), want, "open nothing")
	}
	should.Be(t, must.Err(Open(t.TempDir())), ErrMissing, "open an empty directory")
	should.Be(t, must.Err(Lock(filepath.Join(dir, "none"), manifest.Identity{Game: "No game"})), manifest.ErrInvalid, "lock for a bad name")
	must.Same(t, "changed", before, must.Tree(t, dir))
}

// TestLockFirst: the lock of a new run is on the disk before there is anything else, or the directory would be foreign after a power cut. Without one nothing is there.
func TestLockFirst(t *testing.T) {
	for fails, left := range map[crashfs.Op]string{crashfs.Create: "", crashfs.SyncDir: LockName} {
		dir, disk := t.TempDir(), crashfs.New()
		disk.Fail(func(op crashfs.Op, _ string) error { return map[bool]error{true: syscall.EIO}[op == fails] })
		end := disk.Intercept(dir)
		should.Be(t, must.Err(Lock(dir, awari)), syscall.EIO, "%v", fails)
		should.Equal(t, names(t, dir), left)
		end()
	}
}

// TestNameTaken: a layer, or distances, cannot take the place of what is no file; nothing is overwritten by what is set aside.
func TestNameTaken(t *testing.T) {
	l, dir := running(t)
	for name, begin := range map[string]func(int) (*vfs.Pending, error){LayerName(3): l.NewLayer, DistanceName(3): l.NewDistances} {
		must.OK(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		should.Not(t, must.Err(begin(3)) == nil, "%s, a directory, is replaced", name)
	}
	aside := map[string]string{}
	for _, text := range []string{"a", "b", "c"} {
		fill(t, dir, map[string]string{"layer-00.gl": text})
		aside[must.Get(l.SetAside("layer-00.gl"))(t)] = text
	}
	for name, want := range aside {
		should.Equal(t, string(must.Read(t, filepath.Join(dir, name))), want, "%s", name)
	}
	should.Equal(t, len(aside), 3, "%v", aside)
	should.Be(t, must.Err(l.SetAside("layer-00.gl")), os.ErrNotExist)
}

func TestUnwritable(t *testing.T) {
	denied := &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES}
	for path, want := range map[string]string{
		"x":   "x: directory cannot be written: permission denied",
		"x/y": "x/y: directory cannot be written: mkdir x: permission denied",
	} {
		err := unwritable(path, denied)
		should.Hold(t, errors.Is(err, ErrUnwritable) && errors.Is(err, fs.ErrPermission) && err.Error() == want, "%v, want %s", err, want)
	}
	locked := &LockedError{Path: "x/lock"}
	err := unwritable("x", locked)
	should.Hold(t, err == error(locked) && strings.Contains(err.Error(), "another process"), "%v", err)
	must.OK(t, unwritable("x", nil))

	tries.SkipIf(t, runtime.GOOS == "windows" || os.Getuid() == 0, "this user can write everywhere")
	dir := t.TempDir()
	must.OK(t, os.Chmod(dir, 0o555))
	for _, path := range []string{dir, filepath.Join(dir, "new")} {
		should.Be(t, must.Err(Lock(path, awari)), ErrUnwritable, "%s", path)
	}
	should.Equal(t, names(t, dir), "", "made")
}

// TestPlaces: layers and work go to other directories, of which the run directory stays in charge.
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
	should.Has(t, names(t, fast), FoundName)
	should.Equal(t, names(t, filepath.Join(run, WorkName)), StatusName, "own work")
	should.Equal(t, l.LayersPath(), disk, "layers in")
	must.OK(t, errors.Join(l.ClearWork(), l.Unlock()))
	should.Equal(t, names(t, fast), OwnerName, "work, cleared")
	dir, ok := Damaged(&corrupt.Error{File: filepath.Join(disk, LayerName(0)), Cause: corrupt.ErrCorrupt})
	should.Hold(t, ok && dir == run, "damage in %q, %v", dir, ok)
	t.Chdir(top)
	fill(t, top, map[string]string{"other/" + OwnerName: "run\n"}) // not an absolute path
	dir, _ = Damaged(&corrupt.Error{File: filepath.Join(top, "other", LayerName(0)), Cause: corrupt.ErrCorrupt})
	should.Equal(t, dir, filepath.Join(top, "other"), "damage")
	m := &manifest.Manifest{Identity: awari, Layers: []manifest.Layer{{File: LayerName(0), Directory: disk}}}
	d := must.Get(Open(run))(t)
	find := func(m *manifest.Manifest, path string, more ...string) Found {
		t.Helper()
		found := must.Get(d.Found(m, more...))(t)
		must.Hold(t, len(found) == 1 && found[0].Path == path, "%+v", found)
		return found[0]
	}
	placed := filepath.Join(disk, LayerName(0))
	should.Hold(t, find(m, placed).Begins, "it does not begin like a layer")
	should.Equal(t, find(nil, placed, disk).Directory, disk)
	must.OK(t, os.Rename(placed, d.LayerPath(0))) // moved by hand
	find(m, d.LayerPath(0))
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
	should.Equal(t, string(must.Get(os.ReadFile(path("busy/found")))(t)), "y")
}

// TestLayerFile: the manifest says where a file is; who moved it into the run directory finds it there.
func TestLayerFile(t *testing.T) {
	run, disk := t.TempDir(), t.TempDir()
	here, there := filepath.Join(run, "layer-00.gl"), filepath.Join(disk, "layer-00.gl")
	in := func(directory string) string {
		return LayerFile(run, &manifest.Layer{File: "layer-00.gl", Directory: directory})
	}
	should.Equal(t, in(disk), there)
	must.Write(t, here, nil)
	should.Equal(t, in(disk), here)
	must.Write(t, there, nil)
	should.Equal(t, in(disk), there)
	should.Equal(t, in(`elsewhere\awari`), here)
	should.Equal(t, in(""), here)
}

// TestStop: only the solver that is asked stops.
func TestStop(t *testing.T) {
	l, path := running(t)
	d := must.Get(Open(path))(t)
	self := os.Getpid()
	should.Be(t, must.Err(d.AskStop(AtOnce)), ErrBusy, "somebody who does not report")
	must.OK(t, l.SaveStatus(aStatus()))
	for _, how := range []Stop{AfterLayer, AtOnce, NoStop, AtOnce} {
		should.Equal(t, must.Get(d.AskStop(how))(t).PID, self)
		should.Equal(t, l.Asked(self), how)
	}
	should.Equal(t, l.Asked(self+1), NoStop, "another process is asked")
	must.OK(t, l.ClearWork())
	should.Equal(t, l.Asked(self), AtOnce, "work cleared")
	must.OK(t, errors.Join(l.ForgetStop(), l.ForgetStop()))
	should.Equal(t, l.Asked(self), NoStop, "forgotten")
	must.Write(t, l.own.Path(StopName), []byte("{"))
	should.Equal(t, l.Asked(self), NoStop, "damaged")
	must.OK(t, l.Unlock())
	should.Be(t, must.Err(d.AskStop(AtOnce)), ErrNoSolver)
}

// TestAdmit: what the places refuse is refused beforehand with the same errors, and nothing is changed.
func TestAdmit(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	l := mustLock(t, at("run"))
	must.OK(t, errors.Join(os.Mkdir(at("empty"), 0o755), os.Mkdir(at("layers"), 0o755)))
	must.Write(t, at("layers/"+LayerName(3)), []byte("cat"))
	must.Write(t, at("file"), []byte("cat"))
	before := must.Tree(t, root)
	should.Equal(t, must.As[*LockedError](t, Admit(at("run"), awari, "", "", 5), "a run that works").PID, os.Getpid())
	must.Same(t, "changed", before, must.Tree(t, root))
	must.OK(t, l.Unlock())
	before = must.Tree(t, root)
	for _, c := range []struct {
		run, work, layers string
		want              error
	}{
		{"run", "", "", nil}, {"new/below", at("new/work"), at("new/layers"), nil}, {"empty", "", "", nil},
		{"run", at("file"), "", ErrNotDir}, {"run", "", at("layers"), ErrTaken},
	} {
		should.Be(t, Admit(at(c.run), awari, c.work, c.layers, 5), c.want, "%s, %s, %s", c.run, c.work, c.layers)
	}
	must.Same(t, "changed", before, must.Tree(t, root))
}

// TestRoom: files in work/ may be replaced. The system may not know what is free, or asking may fail. An error says what is missing.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	free := func(err error) func(string) (uint64, error) { return func(string) (uint64, error) { return 7, err } }
	check := func(free func(string) (uint64, error), want uint64, wantErr error) {
		t.Helper()
		room, known, err := Room(dir, free)
		should.Not(t, known != (want > 0) || known && room != want || !errors.Is(err, wantErr), "%d bytes, %v, error %v", room, known, err)
	}
	check(free(nil), 7, nil)
	fill(t, dir, map[string]string{"work/again/tiles": "whose size does not count", "work/tiles": strings.Repeat("x", 100)})
	check(free(nil), 107, nil)
	check(free(errors.ErrUnsupported), 0, nil)
	check(free(os.ErrPermission), 0, os.ErrPermission)
	check(nil, 0, nil)
	dir = t.TempDir()
	fill(t, dir, map[string]string{WorkName: "a file"})
	must.As[*vfs.KindError](t, must.Err(Room(dir, free(nil))))
	must.As[*vfs.KindError](t, must.Err(WorkBytes(dir)))
	must.OK(t, must.Err(WorkBytes(filepath.Join(dir, "none"))))
	should.Not(t, must.Err(SameDisk(dir, "\x00")) == nil, "what cannot be is on the same disk")

	e := &RoomError{What: "the search", Path: "dir", Need: 3 << 20, Free: 1000}
	should.Equal(t, e.Error(), "the search needs up to 3.0 MiB on the disk of dir; 1000 B free")
	e.Estimated, e.Enough = true, "enough up to layer 3"
	should.Equal(t, e.Error(), "the search needs about 3.0 MiB on the disk of dir; 1000 B free (enough up to layer 3)")

	for _, path := range []string{dir, filepath.Join(dir, "not", "yet")} {
		free, err := FreeBytes(path)
		should.Hold(t, err == nil && free > 0 || errors.Is(err, errors.ErrUnsupported), "%s: %d bytes, %v", path, free, err)
	}
}

// TestSteps: a plan has a directory of its own; who still works there when it is cleared changes nothing of the next one. What is not ours
// stays, and so does a file that is being written; the plan is gone in any case.
func TestSteps(t *testing.T) {
	l, dir := running(t)
	work := filepath.Join(dir, WorkName)
	should.Be(t, must.Err(l.Plan(100)), fs.ErrNotExist, "no plan")
	should.Be(t, must.Err(l.Steps(7)), fs.ErrNotExist, "no steps")
	must.OK(t, l.SavePlan(7, []byte("seven")))
	seven := must.Get(l.Steps(7))(t)
	defer seven.Close()
	must.OK(t, vfs.Write(seven, PieceName(3), []byte("a piece")))
	must.OK(t, l.ClearWork()) // leaves them
	should.Equal(t, string(must.Get(l.Plan(100))(t)), "seven", "plan")
	must.OK(t, errors.Join(l.ClearSteps(), l.SavePlan(8, []byte("eight"))))
	should.Equal(t, names(t, work), "plan.json steps-00000008", "names")
	should.Be(t, vfs.Write(seven, PieceName(3), []byte("late")), fs.ErrNotExist, "a late piece")

	must.OK(t, errors.Join(l.SavePlan(1, nil), l.SavePlan(2, nil), l.SavePlan(0xabcdef01, nil)))
	two := must.Get(l.Steps(2))(t)
	defer two.Close()
	late := must.Get(vfs.NewPending(two, WindowName(0, 1)))(t)
	fill(t, filepath.Join(work, "steps-00000001"), map[string]string{
		"captures-0001-open": "", "window-00-3": "", "found-04": "", "piece-00": "", "piece-63.0123456789abcdef.tmp": "", "piece-100": "", "thesis.tex": "",
	})
	must.OK(t, errors.Join(os.Mkdir(filepath.Join(work, "steps-2"), 0o755), l.ClearSteps()))
	should.Equal(t, names(t, work), "steps-00000001 steps-00000002 steps-2", "names")
	should.Equal(t, names(t, filepath.Join(work, "steps-00000001")), "piece-100 thesis.tex", "names")
	must.OK(t, errors.Join(late.Publish(), l.ClearSteps()))
	should.Equal(t, names(t, work), "steps-00000001 steps-2", "names")

	book := must.Get(l.Notebook())(t)
	defer book.Close()
	for _, of := range []int{9, 10, 9} {
		must.OK(t, book.SaveNote(PartName(VerifyName, 1, of), nil))
	}
	should.List(t, must.Get(book.PartCounts(VerifyName))(t), []int{9, 10}, "in the order of numbers, not of names")
	none := must.Get(must.Get(At(t.TempDir()))(t).Notebook())(t)
	defer none.Close()
	should.Be(t, none.SaveNote(VerifyName, nil), fs.ErrNotExist, "no work/")
	l.own = shut{l.own}
	should.Be(t, l.ClearSteps(), syscall.EIO, "steps that cannot be opened")
}

// shut is a directory below which none can be opened.
type shut struct{ vfs.Dir }

func (shut) Sub(string) (vfs.Dir, error) { return nil, syscall.EIO }

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
	var got []string
	for _, f := range must.Get(must.Get(At(dir))(t).Found(nil))(t) {
		got = append(got, fmt.Sprint(f.Seeds, f.Regular, map[bool]int64{true: f.Stamp.Bytes}[f.Regular]))
	}
	should.List(t, got, []string{"0 true 1", "3 false 0", "4 true 2", "5 false 0", "12 true 2", "100 true 0"}, "seeds, regular, bytes")
	should.Be(t, must.Err(At(filepath.Join(dir, "layer-00.gl"))), ErrNotDir)
	should.Be(t, must.Err(At(filepath.Join(dir, "none"))), ErrMissing)

	// Of two layers that are listed in other directories the second is found, if the first is gone.
	other := t.TempDir()
	fill(t, other, map[string]string{"layer-01.gl": "xyz"})
	d := must.Get(At(t.TempDir()))(t)
	m := &manifest.Manifest{Layers: []manifest.Layer{{File: "layer-00.gl", Directory: other}, {Seeds: 1, File: "layer-01.gl", Directory: other}}}
	all := must.Get(d.Found(m))(t)
	should.Hold(t, len(all) == 1 && all[0].Seeds == 1 && all[0].Stamp.Bytes == 3 && all[0].Directory == other, "%+v", all)
	gone := t.TempDir()
	t.Chdir(gone)
	if os.Remove(gone) == nil { // a working directory may stay
		should.Be(t, must.Err(d.Found(nil, "more")), fs.ErrNotExist, "below a working directory that is gone")
	}
}

// TestLockDamaged: the manifest is neither read nor made.
func TestLockDamaged(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"layer-00.gl": "x", "a.tmp": "x", "work/again/tiles": "x", "work/again/tiles.checkpoint": "x", "work/again/found": "x",
		"work/again/offers": "x", "work/tiles": "x"})
	l := must.Get(LockDamaged(dir))(t)
	must.As[*LockedError](t, l.IsLocked(), "not locked")
	must.As[*LockedError](t, must.Err(LockDamaged(dir)), "two locks")
	work := must.Get(l.Again())(t)
	should.Equal(t, names(t, filepath.Join(dir, "work", "again")), "found offers tiles tiles.checkpoint")
	must.OK(t, errors.Join(work.Close(), l.ClearAgain(), l.ClearAgain(), l.Unlock()))
	must.OK(t, l.IsLocked())
	should.Be(t, (&Dir{path: filepath.Join(dir, "none")}).IsLocked(), fs.ErrNotExist, "no directory")
	should.Equal(t, names(t, dir)+"; "+names(t, filepath.Join(dir, WorkName)), "a.tmp layer-00.gl lock work; tiles")
	fill(t, dir, map[string]string{LockName: "of the door"})
	before := must.Tree(t, dir)
	should.Not(t, must.Err(LockDamaged(dir)) == nil, "a foreign lock is taken")
	must.Same(t, "another result", before, must.Tree(t, dir))
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

// aStatus is of a solver in the middle of a run.
func aStatus() *Status {
	started := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return &Status{
		PID: os.Getpid(), State: Running, Started: started, Reported: started.Add(time.Minute),
		Last: 24, Threads: 2, Kernel: "generic",
		Seeds: 20, Positions: 84672315, Stage: "dense", Sweep: 3, Share: 0.25, Changed: 12345,
		RunDone: 1e8, RunTotal: 1e9, Rate: 5e7, RSS: 1 << 28, PeakRSS: 1 << 29,
	}
}

func encoded(t testing.TB, s *Status) string {
	t.Helper()
	return string(must.Get(s.Encode())(t))
}

func TestStatusRoundTrip(t *testing.T) {
	l, _ := running(t)
	for _, want := range []*Status{
		aStatus(), {PID: 1, State: Running, Started: time.Unix(1, 0).UTC(), Reported: time.Unix(2, 0).UTC(), Calls: new(0)},
		{PID: 1, State: Failed, Error: "disk full", Started: time.Unix(1, 0).UTC(), Reported: time.Unix(2, 0).UTC()},
	} {
		must.OK(t, l.SaveStatus(want))
		must.Same(t, "another result", want, must.Get(l.Status())(t))
	}
	should.Equal(t, names(t, l.Work().Path("")), StatusName, "work/ holds")
	must.OK(t, l.ClearWork())
	should.Equal(t, names(t, l.Work().Path("")), StatusName, "work/ holds")
	s := aStatus()
	s.PID = 4242
	golden.Check(t, "testdata/status-v1.json", []byte(encoded(t, s)))
}

// TestStatusText: whatever an error says, the status can be read and printed. Earlier versions had another word for done.
func TestStatusText(t *testing.T) {
	s := aStatus()
	s.State, s.Error = Failed, "a\x1b[2J\nb\xff"+strings.Repeat("é", 2*maxStatusText)
	got := must.Get(parseStatus([]byte(encoded(t, s))))(t)
	should.Hold(t, strings.HasPrefix(got.Error, "a?[2J?b?éé") && len([]rune(got.Error)) == maxStatusText, "%q", got.Error)
	s.State = "finished"
	should.Equal(t, must.Get(parseStatus([]byte(encoded(t, s))))(t).State, Done, "state")
}

func TestStatusDamaged(t *testing.T) {
	good := encoded(t, aStatus())
	replaced := func(old, by string) string {
		must.Hold(t, strings.Contains(good, old), "no %s in %s", old, good)
		return strings.Replace(good, old, by, 1)
	}
	for text, why := range map[string]string{
		"": "damaged", "null": "damaged", "[1]": "damaged", good[:len(good)/2]: "damaged",
		replaced(statusFormat, "other"):                                         "damaged",
		replaced(`"share": 0.25`, `"share": 1.25`):                              "damaged",
		replaced(`"running"`, `"dancing"`):                                      "damaged",
		replaced(`"dense"`, `"\u001b[2J"`):                                      "damaged",
		replaced(`"sweep": 3`, `"sweep": -3`):                                   "damaged",
		replaced(`"sweep": 3`, `"sweep": 3, "called_layers": -1`):               "damaged",
		replaced(`"sweep": 3`, `"sweep": 3, "called_layers": 100000`):           "damaged",
		replaced(`"run_done": 1`, `"run_done": 11`):                             "damaged",
		replaced(`"seeds": `, `"seeds": 900000`):                                "damaged",
		replaced(`"positions": `, `"positions": 900000000000000000`):            "damaged",
		replaced(`"run_total": `, `"run_total": 1e300, "x": `):                  "damaged",
		replaced(`"rss_bytes": `, `"rss_bytes": 18446744073709551615, "x": `):   "damaged",
		replaced(`"reported": "`, `"reported": "9999-12-31T23:59:59Z", "x": "`): "damaged",
		replaced(`"started": "`, `"started": "0001-12-31T23:59:59Z", "x": "`):   "damaged",
		replaced(`"version": 1`, `"version": 2`):                                "version 2",
		good + strings.Repeat(" ", maxStatusBytes):                              "more than",
	} {
		s, err := parseStatus([]byte(text))
		should.Not(t, s != nil, "%.400s: %v", text, s)
		should.Says(t, err, ErrNoReport, why)
	}
	should.OK(t, must.Err(parseStatus([]byte(replaced(`"pid"`, `"later": [1], "pid"`)))))
}

// FuzzParseStatus: an accepted status can be printed and written again.
func FuzzParseStatus(f *testing.F) {
	good := encoded(f, aStatus())
	f.Add([]byte(good))
	f.Add([]byte(good[:100]))
	f.Add([]byte(strings.Replace(good, "dense", `\ud800`, 1)))
	f.Add([]byte(strings.Replace(good, "2026", "9999", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStatus(data)
		if err != nil {
			should.Not(t, !errors.Is(err, ErrNoReport) || strings.Contains(err.Error(), "\n"), "%v", err)
			return
		}
		should.Not(t, math.IsInf(s.RunTotal, 0) || s.Share < 0 || s.Share > 1 || printable(s.Stage+s.Kernel) != s.Stage+s.Kernel, "accepted: %+v", s)
		again, err := parseStatus([]byte(encoded(t, s)))
		should.Hold(t, err == nil && again.Reported.Equal(s.Reported), "%v, %+v", err, s)
	})
}

func TestActivityStates(t *testing.T) {
	now := aStatus().Reported.Add(time.Second)
	self, missing := os.Getpid(), noReport("missing")
	held, ended, gone := Holder{Held: true, PID: self}, Holder{}, Holder{PID: self}
	for _, c := range []struct {
		name   string
		h      Holder
		change func(s *Status) // nil for no status
		want   State
		why    string // there is no report
	}{
		{"running", held, func(*Status) {}, Running, ""},
		{"silent", held, func(s *Status) { s.Reported = now.Add(-5 * time.Minute) }, Running, "5m0s old"},
		{"clock set back", held, func(s *Status) { s.Reported = now.Add(time.Hour) }, Running, ""},
		{"just started", held, func(s *Status) { s.PID++ }, Running, "of process"},
		{"same id again", held, func(s *Status) { s.State = Done }, Running, "a run that ended"},
		{"no file", held, nil, Running, "missing"},
		{"done", ended, func(s *Status) { s.State = Done }, Done, ""},
		{"done long ago", ended, func(s *Status) { s.State, s.Reported = Done, now.AddDate(-1, 0, 0) }, Done, ""},
		{"interrupted", ended, func(s *Status) { s.State = Interrupted }, Interrupted, ""},
		{"failed", ended, func(s *Status) { s.State = Failed }, Failed, ""},
		{"killed", gone, func(*Status) {}, Killed, ""},
		{"killed, lock removed", ended, func(*Status) {}, Killed, ""},
		{"killed before a report", gone, func(s *Status) { s.PID++ }, Killed, "of process"},
		{"killed, no file", gone, nil, Killed, "missing"},
		{"nothing known", ended, nil, None, "missing"},
	} {
		s, err := aStatus(), error(nil)
		if c.change == nil {
			s, err = nil, missing
		} else {
			c.change(s)
		}
		a := activity(c.h, s, err, now)
		should.Hold(t, a.State == c.want && (a.Report == nil) == (c.why != "") && (a.NoReport != nil) == (c.why != "") &&
			strings.Contains(fmt.Sprint(a.NoReport), c.why), "%s: %+v, want %q", c.name, a, c.why)
	}
}

func checkActivity(t *testing.T, dir string, want Activity) {
	t.Helper()
	got, err := must.Get(Open(dir))(t).Activity(time.Now())
	should.Hold(t, err == nil && got.State == want.State && got.Holder == want.Holder, "%+v, %v, want %+v", got, err, want)
}

// TestActivity: looking never keeps a solver from starting.
func TestActivity(t *testing.T) {
	l, dir := running(t)
	must.OK(t, l.Unlock())
	d := must.Get(Open(dir))(t)
	var stopped atomic.Bool
	var looking sync.WaitGroup
	looking.Go(func() {
		for !stopped.Load() {
			d.holder()
			time.Sleep(100 * time.Microsecond)
		}
	})
	for range 50 {
		must.OK(t, mustLock(t, dir).Unlock())
	}
	stopped.Store(true)
	looking.Wait()
	checkActivity(t, dir, Activity{State: None})
}

func TestLog(t *testing.T) {
	l, dir := running(t)
	path := filepath.Join(dir, LogName)
	for _, text := range []string{"one\n", "two, cut sh", "three\n"} {
		f := must.Get(l.OpenLog())(t)
		must.OK(t, errors.Join(must.Err(io.WriteString(f, text)), f.Close()))
	}
	should.Equal(t, string(must.Get(os.ReadFile(path))(t)), "one\ntwo, cut sh\nthree\n")
	should.Equal(t, string(must.Get(l.Log())(t)), "one\ntwo, cut sh\nthree\n", "read")
	// A directory with a log and no manifest is a run that did not get far.
	must.OK(t, errors.Join(os.Remove(l.ManifestPath()), l.Unlock()))
	l = mustLock(t, dir)
	defer l.Unlock()
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
	err := must.Err(l.OpenLog())
	should.Not(t, err == nil || !strings.HasSuffix(err.Error(), "solve.log is a directory, not a file"), "%v", err)
	should.Be(t, (&log{file: fullLog{}}).start(), syscall.ENOSPC, "a line that cannot be ended is not gone on with")
	should.Be(t, (&log{file: unreadable{}}).start(), syscall.EIO, "nor one whose end is not known")
}

// TestSolverComes: a lock without a process is looked at again, for a solver that has just come.
func TestSolverComes(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "who has the lock is alone with its file")
	l, dir := running(t)
	lock := filepath.Join(dir, LockName)
	must.Write(t, lock, nil)
	opened := 0
	defer vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if opened++; opened == 4 { // after the lock, the report, and the lock
			must.Write(t, lock, fmt.Appendln(nil, os.Getpid()))
		}
		return d
	})()
	a, err := l.Activity(time.Now())
	should.Hold(t, err == nil && a.PID == os.Getpid() && a.Held, "%+v, %v", a, err)
}

// fullLog is a log whose last line is cut short, on a full disk.
type fullLog struct{ vfs.File }

func (fullLog) Size() (int64, error)                   { return 3, nil }
func (fullLog) ReadAt(p []byte, _ int64) (int, error)  { return copy(p, "x"), nil }
func (fullLog) WriteAt(_ []byte, _ int64) (int, error) { return 0, syscall.ENOSPC }

// unreadable is a log whose end cannot be read.
type unreadable struct{ fullLog }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, syscall.EIO }
