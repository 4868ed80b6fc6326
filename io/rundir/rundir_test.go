package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

// childSteps tells a child process, which is this test again, how many steps to
// take in the directory given as argument before it is killed.
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
	if err != nil {
		return nil, err
	}
	var b layerfile.Block
	if err := e.Encode(&b, []int8{0}); err != nil {
		return nil, err
	}
	if err := w.Append(&b); err != nil {
		return nil, err
	}
	*s, err = w.Finish()
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

func names(t *testing.T, dir string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestNewRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "strict")
	l := mustLock(t, dir)
	should.Equal(t, names(t, dir), "lock manifest.json work")
	for i, step := range sealSteps(l) {
		must.Be(t, step(), nil, "step %d", i)
	}
	must.OK(t, l.Unlock())
	d := must.Get(Open(dir))(t)
	m, err := d.Manifest()
	must.Hold(t, err == nil && len(m.Layers) == 1, "%v %v", m, err)
	f := must.Get(layerfile.Open(d.LayerPath(0)))(t)
	defer f.Close()
	must.OK(t, m.CheckFile(0, f))
	again := mustLock(t, dir)
	m, err = again.Manifest()
	should.Hold(t, err == nil && len(m.Layers) == 1, "%v %v", m, err)
	if got := names(t, dir); got != "layer-00.gl lock manifest.json work" || names(t, again.Work().Path("")) != "" {
		t.Error(got, names(t, again.Work().Path("")))
	}
	must.OK(t, again.Unlock())
}

func TestTwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := startChild(t, dir, 2)
	before := must.Tree(t, dir)
	_, err := Lock(dir, awari)
	var locked *LockedError
	should.Hold(t, errors.As(err, &locked) && locked.PID == cmd.Process.Pid && strings.Contains(err.Error(), strconv.Itoa(locked.PID)),
		"second process: %v, want process %d", err, cmd.Process.Pid)
	must.Same(t, "the refused process changed something", before, must.Tree(t, dir))
	should.Be(t, must.Err(Open(dir)), nil, "a reader needs no lock")
	if runtime.GOOS == "windows" {
		return // the lock outlives the process
	}
	kill(cmd)
	l := mustLock(t, dir)
	defer l.Unlock()
	got := names(t, l.Work().Path(""))
	should.Hold(t, got == FoundName, "work/ holds %q, want the checkpoint only", got)
}

func TestTwoLocksInOneProcess(t *testing.T) {
	dir := t.TempDir()
	l := mustLock(t, dir)
	_, err := Lock(dir, awari)
	var locked *LockedError
	should.Hold(t, errors.As(err, &locked) && locked.PID == os.Getpid(), "%v", err)
	must.OK(t, l.Unlock())
	l = mustLock(t, dir)
	must.OK(t, l.Unlock())
}

// TestCrash kills a solver after each of its steps. What is left is the old
// state or the new one, and the next solver can resume.
func TestCrash(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "the lock outlives the process")
	for n := range len(sealSteps(nil)) + 1 {
		dir := filepath.Join(t.TempDir(), "run")
		kill(startChild(t, dir, n))
		d, err := Open(dir)
		must.Hold(t, err == nil, "after step %d: %v", n, err)
		want := 0
		if n >= 6 {
			want = 1
		}
		m, err := d.Manifest()
		must.Hold(t, err == nil && len(m.Layers) == want, "after step %d: %v, %v", n, m, err)
		l := mustLock(t, dir)
		all := names(t, dir) + names(t, l.Work().Path(""))
		should.Not(t, strings.Contains(all, ".tmp"), "after step %d: temporary files remain: %s", n, all)
		for i, step := range sealSteps(l) {
			must.Be(t, step(), nil, "after step %d, step %d again", n, i)
		}
		must.OK(t, l.Unlock())
	}
}

// TestRefused checks that a refused request changes nothing.
func TestRefused(t *testing.T) {
	other := must.Get((&manifest.Manifest{Identity: manifest.Identity{Game: "awari", Rules: "awari", Pits: 12}}).Encode())(t)
	tests := []struct {
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, tt.files)
			before := must.Tree(t, dir)
			_, err := Lock(dir, awari)
			otherRun := tt.want == ErrOtherRun
			should.Hold(t, errors.Is(err, tt.want) && errors.Is(err, corrupt.ErrCorrupt) != otherRun && strings.Contains(err.Error(), tt.text),
				"%v, want %v and %s", err, tt.want, tt.text)
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
	below := filepath.Join(file, "below")
	_, err := Lock(below, awari)
	should.Hold(t, errors.Is(err, ErrNotDir) && err.Error() == below+": not a directory", "lock below a file: %v", err)
	should.Be(t, must.Err(Open(file)), ErrNotDir, "open a file")
	_, err = Open(filepath.Join(dir, "none"))
	should.Hold(t, errors.Is(err, ErrMissing) && errors.Is(err, fs.ErrNotExist), "open nothing: %v", err)
	should.Be(t, must.Err(Open(t.TempDir())), ErrMissing, "open an empty directory")
	should.Be(t, must.Err(Lock(filepath.Join(dir, "none"), manifest.Identity{Game: "No game"})), manifest.ErrInvalid, "lock for a bad name")
	must.Same(t, "changed", before, must.Tree(t, dir))
}

// noting notes which directories of a directory are made, and when its names reach the disk.
type noting struct {
	vfs.Dir
	did *[]string
}

func (d noting) Mkdir(name string) error {
	*d.did = append(*d.did, "mkdir "+name)
	return d.Dir.Mkdir(name)
}

func (d noting) Sync() error {
	*d.did = append(*d.did, "sync")
	return d.Dir.Sync()
}

// TestLockFirst: the lock of a new run is on the disk before there is anything else, or the directory would be foreign after a power cut.
func TestLockFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, os.Mkdir(dir, 0o755))
	var did []string
	restore := vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if d.Path("") == dir {
			return noting{d, &did}
		}
		return d
	})
	l := mustLock(t, dir)
	restore()
	must.OK(t, l.Unlock())
	should.Hold(t, len(did) >= 2 && did[0] == "sync" && did[1] == "mkdir work", "%q", did)
}

// TestNameTaken: a layer, or distances, cannot take the place of what is no file.
func TestNameTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := mustLock(t, dir)
	defer func() { must.OK(t, l.Unlock()) }()
	for name, begin := range map[string]func(int) (*vfs.Pending, error){LayerName(3): l.NewLayer, DistanceName(3): l.NewDistances} {
		must.OK(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		should.Not(t, must.Err(begin(3)) == nil, "%s, a directory, is replaced", name)
	}
}

func TestUnwritable(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows" || os.Getuid() == 0, "this user can write everywhere")
	dir := t.TempDir()
	must.OK(t, os.Chmod(dir, 0o555))
	for _, path := range []string{dir, filepath.Join(dir, "new")} {
		should.Be(t, must.Err(Lock(path, awari)), ErrUnwritable, "%s", path)
	}
	should.Equal(t, names(t, dir), "", "made")
}

// TestUnwritableErrors covers what TestUnwritable cannot provoke as root.
func TestUnwritableErrors(t *testing.T) {
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
}
