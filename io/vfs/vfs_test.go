package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

func open(t *testing.T) Dir {
	t.Helper()
	d := must.Get(OpenDir(t.TempDir()))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, path, text string)     { t.Helper(); must.Write(t, path, []byte(text)) }
func contents(t *testing.T, path string) string { t.Helper(); return string(must.Read(t, path)) }

func namesOf(t *testing.T, d Dir) string {
	t.Helper()
	var names []string
	for _, e := range must.Get(d.Entries())(t) {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func isKind(err error) bool {
	_, ok := errors.AsType[*KindError](err)
	return ok
}

func TestLife(t *testing.T) {
	d := open(t)
	f := must.Get(d.Create("a"))(t)
	must.OK(t, errors.Join(must.Err(f.Write([]byte("one "))), must.Err(f.Write([]byte("two"))), must.Err(f.WriteAt([]byte("T"), 4))))
	should.Equal(t, must.Get(f.Size())(t), 7)
	must.OK(t, errors.Join(f.Sync(), f.Close()))
	should.Be(t, must.Err(d.Create("a")), fs.ErrExist)
	must.OK(t, d.Rename("a", "b"))
	should.Equal(t, string(must.Get(Read(d, "b", 3))(t)), "one ") // one byte more than allowed
	f = must.Get(d.Edit("b"))(t)
	must.OK(t, errors.Join(f.Truncate(3), f.Close()))
	should.Equal(t, contents(t, d.Path("b")), "one")
	for _, there := range []bool{true, false} {
		should.Equal(t, must.Get(Exists(d, "b"))(t), there)
		must.OK(t, RemoveIfThere(d, "b"))
	}
	for _, err := range []error{d.Remove("b"), d.Rename("b", "c"), must.Err(d.Open("b")), must.Err(d.Edit("b"))} {
		should.Not(t, !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), d.Path("b")) && !strings.Contains(err.Error(), d.Path("c")),
			"%v", err)
	}
	must.OK(t, d.Sync())
}

// TestNames: a name that is not a single element of a path is refused.
func TestNames(t *testing.T) {
	d := open(t)
	must.OK(t, d.Mkdir("sub"))
	write(t, d.Path("sub/a"), "text")
	for _, name := range []string{"", ".", "..", "sub/a", "../" + filepath.Base(d.Path("")), "/", d.Path("sub")} {
		for _, err := range []error{
			must.Err(d.Open(name)), must.Err(d.Edit(name)), must.Err(d.Create(name)), d.Rename(name, "x"), d.Remove(name),
			d.Mkdir(name), must.Err(d.Sub(name)), must.Err(d.Lstat(name)),
		} {
			should.Be(t, err, fs.ErrInvalid, "%q", name)
		}
	}
}

// places makes each entry that is no file under the name "x", in a directory of its own that has a file "canary" beside it, and calls try.
func places(t *testing.T, try func(t *testing.T, d Dir)) {
	for name, place := range map[string]func(d Dir) error{
		"directory":     func(d Dir) error { return os.Mkdir(d.Path("x"), 0o755) },
		"link":          func(d Dir) error { return os.Symlink("canary", d.Path("x")) },
		"link outside":  func(d Dir) error { return os.Symlink("../canary", d.Path("x")) },
		"absolute link": func(d Dir) error { return os.Symlink(d.Path("canary"), d.Path("x")) },
		"link to none":  func(d Dir) error { return os.Symlink("none", d.Path("x")) },
		"loop":          func(d Dir) error { return os.Symlink("x", d.Path("x")) },
		"link to dir":   func(d Dir) error { return os.Symlink("../dir", d.Path("x")) },
		"fifo":          func(d Dir) error { return fifo(d.Path("x")) },
		"socket":        func(d Dir) error { return socket(t, d.Path("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for _, name := range []string{"canary", "dir/canary", "here/canary"} {
				must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755))
				write(t, filepath.Join(top, name), "alive")
			}
			d := must.Get(OpenDir(filepath.Join(top, "here")))(t)
			defer d.Close()
			if err := place(d); err != nil {
				t.Skip(err)
			}
			info, before := must.Get(os.Lstat(d.Path("x")))(t), must.Tree(t, top)
			try(t, d)
			should.Hold(t, os.SameFile(info, must.Get(os.Lstat(d.Path("x")))(t)), "it was replaced")
			must.Same(t, "changed", before, must.Tree(t, top))
		})
	}
}

// TestKinds tries all that opens, changes or removes files on entries that are not files. Reading follows links, and waits for nothing;
// work is done in directories only, however a link is called.
func TestKinds(t *testing.T) {
	places(t, func(t *testing.T, d Dir) {
		for what, err := range map[string]error{
			"Open": must.Err(d.Open("x")), "Edit": must.Err(d.Edit("x")), "Remove": d.Remove("x"), "Renew": must.Err(Renew(d, "x")),
			"Rename": d.Rename("canary", "x"), "Rename from": d.Rename("x", "y"), "Write": Write(d, "x", []byte("dead")),
			"NewPending": must.Err(NewPending(d, "x")), "WriteFile": WriteFile(d.Path("x"), []byte("dead")),
			"CheckFile": CheckFile(d.Path("x")), "Begin": must.Err(Begin(d.Path("x"))), "ReadFile": must.Err(ReadFile(d.Path("x"), 10)),
		} {
			should.Hold(t, isKind(err), "%s: %v", what, err)
		}
		should.Be(t, must.Err(d.Create("x")), fs.ErrExist, "Create")

		f, err := OpenFile(d.Path("x"))
		if target, _ := os.Stat(d.Path("x")); target != nil && target.Mode().IsRegular() {
			must.OK(t, err)
			f.Close()
		} else {
			should.Hold(t, isKind(err) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "too many"), "OpenFile: %v", err)
		}

		sub, err := d.Sub("x")
		info := must.Get(d.Lstat("x"))(t)
		want := "not a directory"
		if info.Mode()&fs.ModeSymlink != 0 {
			want = d.Path("x") + " is a symbolic link, not a directory; links may lead to " + d.Path("") + ", but not on from there"
		}
		if info.IsDir() {
			must.OK(t, err)
			sub.Close()
		} else {
			should.Hold(t, isKind(err) && strings.HasSuffix(err.Error(), want), "Sub: %v", err)
		}
		if made, err := MakeSub(d, "x"); err == nil {
			made.Close()
		}
	})
}

// TestReplacedWhenOpened: what takes the place of a file after the first look is refused too.
func TestReplacedWhenOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, "alive")
	f, err := openIf(path, func(m fs.FileMode) bool {
		if m.IsRegular() {
			must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
		}
		return m.IsRegular()
	})
	should.Hold(t, f == nil && isKind(err), "opened %v, %v", f, err)
}

// TestHardLink: a file with two names is read, but not changed; it is replaced.
func TestHardLink(t *testing.T) {
	d := open(t)
	write(t, d.Path("canary"), "alive")
	if err := os.Link(d.Path("canary"), d.Path("x")); err != nil {
		t.Skip(err)
	}
	_, err := d.Edit("x")
	should.Hold(t, isKind(err) && strings.Contains(err.Error(), "hard links"), "%v", err)
	should.Equal(t, string(must.Get(Read(d, "x", 100))(t)), "alive")
	must.OK(t, Write(d, "x", []byte("new")))
	must.OK(t, must.Get(Renew(d, "x"))(t).Close())
	should.Equal(t, contents(t, d.Path("canary")), "alive")
}

// TestOpenDir: links may lead to the directory that is meant; nothing is waited for, be it a FIFO to which nobody writes.
func TestOpenDir(t *testing.T) {
	d := open(t)
	must.OK(t, d.Mkdir("dir"))
	write(t, d.Path("file"), "text")
	must.OK(t, os.Symlink("dir", d.Path("link")))
	for _, name := range []string{"dir", "link"} {
		must.OK(t, must.Get(OpenDir(d.Path(name)))(t).Close())
	}
	should.Has(t, must.As[*KindError](t, must.Err(OpenDir(d.Path("file")))).Error(), "is a file, not a directory")
	should.Be(t, must.Err(OpenDir(d.Path("none"))), fs.ErrNotExist)
	must.As[*KindError](t, must.Err(OpenStream(d.Path("dir"))))
	if err := fifo(d.Path("fifo")); err != nil {
		t.Skip(err)
	}
	must.As[*KindError](t, must.Err(OpenDir(d.Path("fifo"))))
	f := must.Get(OpenStream(d.Path("fifo")))(t)
	defer f.Close()
	n, err := f.Read(make([]byte, 1))
	should.Hold(t, n == 0, "%v %v", n, err)
}

// meanwhile does something again and again until stop, or an error.
func meanwhile(do func() error) (stop func() error) {
	var stopped atomic.Bool
	done := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !stopped.Load() {
			err = do()
		}
		done <- err
	}()
	return func() error { stopped.Store(true); return <-done }
}

// TestReplaced opens a file while others take its place: the opened file is right, or the error says what happened.
func TestReplaced(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open files stay in their places")
	d := open(t)
	stop := meanwhile(func() error {
		return errors.Join(os.WriteFile(d.Path("y"), nil, 0o600), os.Rename(d.Path("y"), d.Path("x")))
	})
	replaced := 0
	for range 5000 {
		f, err := d.Edit("x")
		switch {
		case err == nil:
			must.OK(t, f.Close())
		case errors.Is(err, ErrReplaced):
			replaced++
			should.Hold(t, strings.HasPrefix(err.Error(), "open "+d.Path("x")+": something else took its place"), "%v", err)
		case !errors.Is(err, fs.ErrNotExist):
			t.Error(err)
		}
	}
	must.OK(t, stop())
	t.Logf("replaced %d times", replaced)
}

// TestEntriesVanish lists a directory while files go: whatever stays is listed each time.
func TestEntriesVanish(t *testing.T) {
	d := open(t)
	write(t, d.Path("stays"), "")
	for range 5 {
		for i := range 200 {
			write(t, d.Path(fmt.Sprint("goes-", i)), "")
		}
		gone := make(chan error)
		go func() {
			var errs []error
			for i := range 200 {
				errs = append(errs, os.Remove(d.Path(fmt.Sprint("goes-", i))))
			}
			gone <- errors.Join(errs...)
		}()
		for names := "first"; names != "stays"; {
			names = namesOf(t, d)
			must.Hold(t, strings.HasSuffix(names, "stays"), "%s: without the one that stays", names)
		}
		must.OK(t, <-gone)
	}
}

// TestMove: whatever it is, it is moved as it is, and nothing is replaced. Only empty directories are removed by RemoveDir.
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
	must.OK(t, errors.Join(d.Mkdir("empty"), RemoveDir(d, "empty")))
	for name, kind := range map[string]bool{"file-2": true, "link-2": true, "dir-2": false, "none": false, "dir-2/below": false, "..": false} {
		err := RemoveDir(d, name)
		should.Hold(t, err != nil && isKind(err) == kind, "%s: %v", name, err)
	}
	should.Equal(t, namesOf(t, d), "dir-2 file-2 link-2")
}

// canaries makes a directory with a file that has to stay alone.
func canaries(t *testing.T, top string) (path string, check func()) {
	t.Helper()
	path = filepath.Join(top, "canaries")
	must.OK(t, os.Mkdir(path, 0o755))
	write(t, filepath.Join(path, "file"), "alive")
	before := must.Tree(t, path)
	return path, func() { t.Helper(); must.Same(t, "canaries", before, must.Tree(t, path)) }
}

// TestSwapped opens a directory, writes and removes there, while a link to another one takes its place again and again.
func TestSwapped(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open directories stay in their places")
	d := open(t)
	away, alive := canaries(t, t.TempDir())
	must.OK(t, d.Mkdir("x"))
	must.OK(t, os.Symlink(away, d.Path("link")))
	stop := meanwhile(func() error {
		return errors.Join(os.Rename(d.Path("x"), d.Path("y")), os.Rename(d.Path("link"), d.Path("x")),
			os.Rename(d.Path("x"), d.Path("link")), os.Rename(d.Path("y"), d.Path("x")))
	})
	opened, refused := 0, 0
	for i := 0; i < 3000 || i < 3_000_000 && (opened == 0 || refused == 0); i++ { // the other may have to wait
		sub, err := d.Sub("x")
		if err == nil {
			opened++
			must.OK(t, errors.Join(Write(sub, "file", []byte("mine")), sub.Remove("file"), sub.Close()))
		} else {
			refused++
			runtime.Gosched()
			should.Hold(t, isKind(err) || errors.Is(err, ErrReplaced) || errors.Is(err, fs.ErrNotExist), "%v", err)
		}
	}
	must.OK(t, stop())
	alive()
	t.Logf("opened %d times, refused %d times", opened, refused)
	should.Not(t, opened == 0 || refused == 0, "nothing was tried")
}

// TestTempSwapped: what takes the place of a directory of TempDir is neither written nor removed, be it a link or a directory.
func TestTempSwapped(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open directories stay in their places")
	for name, swap := range map[string]func(away, path string) error{"link": os.Symlink, "directory": os.Rename} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			away, alive := canaries(t, top)
			path, remove, err := TempDir(top, "temp-")
			moved := filepath.Join(top, "moved")
			must.OK(t, errors.Join(err, os.Rename(path, moved), swap(away, path), WriteFile(filepath.Join(path, "file"), []byte("mine"))))
			sub := must.Get(MakeDir(filepath.Join(path, "a", "b")))(t)
			must.OK(t, errors.Join(Write(sub, "c", nil), sub.Close(), must.Get(OpenDir(filepath.Join(path, "a")))(t).Close()))
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

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"first", "second, and longer", ""} {
		must.OK(t, WriteFile(path, []byte(text)))
		should.Equal(t, contents(t, path), text)
		must.OK(t, CheckFile(path))
	}
	should.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)), 1, "left behind")

	path = filepath.Join(t.TempDir(), "none", "a")
	for _, err := range []error{WriteFile(path, nil), CheckFile(path), must.Err(ReadFile(path, 1)), must.Err(Begin(path)), must.Err(OpenFile(path))} {
		should.Hold(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), path), "%v", err)
	}
	for _, path := range []string{".", "..", "/", filepath.Join(t.TempDir(), "..")} {
		should.Hold(t, isKind(WriteFile(path, nil)), "%s", path)
	}
}

// TestPending: the old file is there until the new one is; the contents of that are on disk before the name is given, and the name before
// Publish returns. What came in between is in the way, and stays.
func TestPending(t *testing.T) {
	d := open(t)
	for _, n := range []int{300, 250} {
		should.Not(t, must.Err(NewPending(d, strings.Repeat("a", n))) == nil, "%d letters, a name, or a temporary one, that is too long", n)
	}
	for end, c := range map[string]struct {
		contents string
		did      []string
	}{
		"abort": {"old", nil}, "close": {"old", nil}, "publish": {"new", []string{"sync file", "rename", "sync directory"}}, "replace": {"new", []string{"rename"}},
	} {
		must.OK(t, Write(d, "a", []byte("old")))
		var did []string
		p := must.Get(NewPending(noting{d, &did}, "a"))(t)
		must.OK(t, must.Err(p.Write([]byte("new"))))
		should.Equal(t, contents(t, d.Path("a")), "old", "%s", end)
		must.OK(t, map[string]func() error{"abort": p.Abort, "close": p.Close, "publish": p.Publish, "replace": p.Replace}[end]())
		should.Equal(t, contents(t, d.Path("a")), c.contents, "%s", end)
		should.List(t, did, c.did, "%s", end)
		must.OK(t, errors.Join(p.Abort(), p.Abort()))
		should.Be(t, p.File.Close(), fs.ErrClosed, "%s: left open", end)
		should.Equal(t, namesOf(t, d), "a", "%s: left behind", end)
	}
	p := must.Get(NewPending(d, "b"))(t)
	must.OK(t, d.Mkdir("b"))
	err := p.Publish()
	should.Hold(t, isKind(err) && strings.HasPrefix(err.Error(), "publishing "+d.Path("b")), "%v", err)
	should.Equal(t, namesOf(t, d), "a b", "left behind")
}

// noting notes what is done with a directory, and with files that it creates.
type noting struct {
	Dir
	did *[]string
}

type notingFile struct {
	File
	did *[]string
}

func (d noting) Create(name string) (File, error) {
	f, err := d.Dir.Create(name)
	return notingFile{f, d.did}, err
}

func (d noting) Rename(from, to string) error {
	*d.did = append(*d.did, "rename")
	return d.Dir.Rename(from, to)
}

func (d noting) Sync() error {
	*d.did = append(*d.did, "sync directory")
	return d.Dir.Sync()
}

func (f notingFile) Sync() error {
	*f.did = append(*f.did, "sync file")
	return f.File.Sync()
}

// TestMakeSub: a directory that is made is on disk, and its mode is the usual one.
func TestMakeSub(t *testing.T) {
	d, did := open(t), []string{}
	must.OK(t, must.Get(MakeSub(noting{d, &did}, "sub"))(t).Close())
	should.List(t, did, []string{"sync directory"})
	must.OK(t, errors.Join(os.Mkdir(d.Path("usual"), 0o755), must.Get(MakeDir(d.Path("made/all")))(t).Close()))
	usual := must.Get(os.Stat(d.Path("usual")))(t).Mode()
	for _, made := range []string{"sub", "made", "made/all"} {
		should.Equal(t, must.Get(os.Stat(d.Path(made)))(t).Mode(), usual, "%s", made)
	}
}

func TestTempFor(t *testing.T) {
	for name, want := range map[string]string{
		"a.0123456789abcdef.tmp": "a", "layer-07.gl.ffffffffffffffff.tmp": "layer-07.gl",
		"a.tmp": "", "a.0123456789abcde.tmp": "", "a.0123456789abcdeF.tmp": "", "a.g123456789abcdef.tmp": "", "a.0123456789abcdef": "",
		".0123456789abcdef.tmp": "", "a-0123456789abcdef.tmp": "", "": "", ".tmp": "", "a.00123456789abcdef.tmp": "",
	} {
		got, ok := TempFor(name)
		should.Hold(t, got == want && ok == (want != ""), "%q: %q, %v", name, got, ok)
	}
	a, b := tempOf("x"), tempOf("x")
	final, ok := TempFor(a)
	should.Hold(t, ok && final == "x" && a != b, "%q, %q", a, b)
}

// unreadable has files that cannot be opened.
type unreadable struct{ Dir }

func (unreadable) Open(string) (File, error) { return nil, syscall.EIO }

// TestRemoveStale removes the remains of our files after crashes, and nothing else.
func TestRemoveStale(t *testing.T) {
	d := open(t)
	for _, name := range []string{"a.0123456789abcdef.tmp", "b.0123456789abcdef.tmp", "a.tmp", "a"} {
		write(t, d.Path(name), "text")
	}
	must.OK(t, d.Mkdir("a.0000000000000000.tmp"))
	must.OK(t, os.Symlink("a", d.Path("a.0000000000000001.tmp")))
	writing := must.Get(NewPending(d, "a"))(t)
	defer writing.Abort()
	should.Be(t, must.Err(BeginIn(unreadable{d}, "a")), syscall.EIO)
	must.OK(t, os.Link(d.Path("a.0123456789abcdef.tmp"), d.Path("link")))
	must.OK(t, must.Get(BeginIn(d, "a"))(t).Abort())
	want := "a a.0000000000000000.tmp a.0000000000000001.tmp a.tmp b.0123456789abcdef.tmp link"
	f := must.Get(d.Open("link"))(t)
	defer f.Close()
	if errors.Is(TryLock(f, true), errors.ErrUnsupported) {
		return // the one being written is gone too
	}
	should.OK(t, TryLock(f, false)) // what was removed is closed
	should.Has(t, namesOf(t, d), writing.temp)
	should.Equal(t, strings.Replace(namesOf(t, d), " "+writing.temp, "", 1), want, "left")
}

func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	path, remove, err := TempDir(parent, "x-")
	must.OK(t, err)
	canary, alive := canaries(t, parent)
	must.OK(t, errors.Join(os.Symlink(canary, filepath.Join(path, "link")), os.Symlink(parent, filepath.Join(path, "up")), remove()))
	alive()
	should.Equal(t, len(must.Get(os.ReadDir(parent))(t)), 1)

	path = filepath.Join(parent, "a", "b")
	for range 2 {
		must.OK(t, must.Get(MakeDir(path))(t).Close())
	}
	write(t, filepath.Join(path, "file"), "text")
	should.Not(t, must.Err(MakeDir(filepath.Join(path, "file", "below"))) == nil, "below a file")
}
