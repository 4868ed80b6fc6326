package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// open opens a directory of its own.
func open(t *testing.T) Dir {
	t.Helper()
	d := must.Get(OpenDir(t.TempDir()))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, path, text string) { t.Helper(); must.Write(t, path, []byte(text)) }

func contents(t *testing.T, path string) string {
	t.Helper()
	return string(must.Read(t, path))
}

func namesOf(t *testing.T, d Dir) string {
	t.Helper()
	entries := must.Get(d.Entries())(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func isKind(err error) bool {
	_, ok := errors.AsType[*KindError](err)
	return ok
}

// TestLife does all operations on a file.
func TestLife(t *testing.T) {
	d := open(t)
	f := must.Get(d.Create("a"))(t)
	for _, text := range []string{"one ", "two"} {
		should.OK(t, must.Err(f.Write([]byte(text))))
	}
	should.OK(t, must.Err(f.WriteAt([]byte("T"), 4)))
	size, err := f.Size()
	should.Hold(t, size == 7 && err == nil, "%v %v", size, err)
	must.OK(t, errors.Join(f.Sync(), f.Close()))
	should.Be(t, must.Err(d.Create("a")), fs.ErrExist)
	must.OK(t, d.Rename("a", "b"))
	data, err := Read(d, "b", 3)
	should.Hold(t, string(data) == "one " && err == nil, "%q, %v", data, err) // one byte more than allowed
	f = must.Get(d.Edit("b"))(t)
	must.OK(t, errors.Join(f.Truncate(3), f.Close()))
	should.Equal(t, contents(t, d.Path("b")), "one")
	for _, there := range []bool{true, false} {
		got, err := Exists(d, "b")
		should.Hold(t, got == there && err == nil, "%v %v", got, err)
		must.OK(t, RemoveIfThere(d, "b"))
	}
	for _, err := range []error{d.Remove("b"), d.Rename("b", "c"), second(d.Open("b")), second(d.Edit("b"))} {
		should.Not(t, !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), d.Path("b")) && !strings.Contains(err.Error(), d.Path("c")),
			"%v", err)
	}
	must.OK(t, d.Sync())
}

func second[T any](_ T, err error) error { return err }

// TestNames: a name that is not a single element of a path is refused.
func TestNames(t *testing.T) {
	d := open(t)
	must.OK(t, d.Mkdir("sub"))
	write(t, d.Path("sub/a"), "text")
	for _, name := range []string{"", ".", "..", "sub/a", "../" + filepath.Base(d.Path("")), "/", d.Path("sub")} {
		for _, err := range []error{
			second(d.Open(name)), second(d.Edit(name)), second(d.Create(name)), d.Rename(name, "x"), d.Remove(name),
			d.Mkdir(name), second(d.Sub(name)), second(d.Lstat(name)),
		} {
			should.Be(t, err, fs.ErrInvalid, "%q", name)
		}
	}
}

// places makes each entry that is no file under the name "x", in a directory of its own that has
// a file "canary" beside it, and calls try.
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
			must.OK(t, errors.Join(os.MkdirAll(filepath.Join(top, "here"), 0o755), os.MkdirAll(filepath.Join(top, "dir"), 0o755)))
			canaries := []string{filepath.Join(top, "canary"), filepath.Join(top, "dir", "canary"), filepath.Join(top, "here", "canary")}
			for _, path := range canaries {
				write(t, path, "alive")
			}
			d := must.Get(OpenDir(filepath.Join(top, "here")))(t)
			defer d.Close()
			if err := place(d); err != nil {
				t.Skip(err)
			}
			before := must.Get(os.Lstat(d.Path("x")))(t)
			try(t, d)
			after, err := os.Lstat(d.Path("x"))
			should.Hold(t, err == nil && os.SameFile(before, after), "it was replaced: %v", err)
			for _, path := range canaries {
				should.Equal(t, contents(t, path), "alive", "%s holds", path)
			}
			should.Equal(t, namesOf(t, d), "canary x", "there")
		})
	}
}

// TestKinds tries all that opens, changes or removes files on entries that are not files.
func TestKinds(t *testing.T) {
	places(t, func(t *testing.T, d Dir) {
		for what, err := range map[string]error{
			"Open": second(d.Open("x")), "Edit": second(d.Edit("x")), "Remove": d.Remove("x"), "Renew": second(Renew(d, "x")),
			"Rename": d.Rename("canary", "x"), "Rename from": d.Rename("x", "y"), "Write": Write(d, "x", []byte("dead")),
			"NewPending": second(NewPending(d, "x")), "WriteFile": WriteFile(d.Path("x"), []byte("dead")),
			"CheckFile": CheckFile(d.Path("x")), "Begin": second(Begin(d.Path("x"))), "ReadFile": second(ReadFile(d.Path("x"), 10)),
		} {
			should.Hold(t, isKind(err), "%s: %v", what, err)
		}
		should.Be(t, must.Err(d.Create("x")), fs.ErrExist, "Create")
	})
}

// TestOpenFile follows links, for reading, and waits for nothing.
func TestOpenFile(t *testing.T) {
	places(t, func(t *testing.T, d Dir) {
		f, err := OpenFile(d.Path("x"))
		if target, _ := os.Stat(d.Path("x")); target != nil && target.Mode().IsRegular() {
			must.OK(t, err)
			f.Close()
		} else if !isKind(err) && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "too many") {
			t.Error(err)
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
	if f != nil || !isKind(err) {
		t.Errorf("opened %v, %v", f, err)
	}
}

// TestOpenStream reads a FIFO to which nobody writes.
func TestOpenStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := fifo(path); err != nil {
		t.Skip(err)
	}
	f := must.Get(OpenStream(path))(t)
	defer f.Close()
	n, err := f.Read(make([]byte, 1))
	should.Hold(t, n == 0, "%v %v", n, err)
	_, err = OpenStream(filepath.Dir(path))
	should.Hold(t, isKind(err), "%v", err)
}

// TestSub: work is done in directories only, however a link is called.
func TestSub(t *testing.T) {
	places(t, func(t *testing.T, d Dir) {
		sub, err := d.Sub("x")
		info := must.Get(d.Lstat("x"))(t)
		want := "not a directory"
		if info.Mode()&fs.ModeSymlink != 0 {
			want = d.Path("x") + " is a symbolic link, not a directory; links may lead to " + d.Path("") + ", but not on from there"
		}
		if info.IsDir() {
			must.OK(t, err)
			sub.Close()
		} else if !isKind(err) || !strings.HasSuffix(err.Error(), want) {
			t.Error(err)
		}
		made, err := MakeSub(d, "x")
		if err == nil {
			made.Close()
		}
	})
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
	data, err := Read(d, "x", 100)
	should.Hold(t, string(data) == "alive" && err == nil, "%v %v", data, err)
	must.OK(t, Write(d, "x", []byte("new")))
	must.OK(t, must.Get(Renew(d, "x"))(t).Close())
	should.Equal(t, contents(t, d.Path("canary")), "alive")
}

// TestOpenDir: links may lead to the directory that is meant; nothing is waited for.
func TestOpenDir(t *testing.T) {
	d := open(t)
	must.OK(t, d.Mkdir("dir"))
	write(t, d.Path("file"), "text")
	must.OK(t, os.Symlink("dir", d.Path("link")))
	for name, want := range map[string]string{"dir": "", "link": "", "file": "is a file, not a directory", "none": "no such"} {
		o, err := OpenDir(d.Path(name))
		if err == nil {
			o.Close()
		}
		should.Not(t, (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want), "%s: %v", name, err)
	}
	if err := fifo(d.Path("fifo")); err == nil {
		_, err := OpenDir(d.Path("fifo"))
		should.Hold(t, isKind(err), "%v", err)
	}
}

// TestReplaced opens a file while others take its place: the opened file
// is right, or the error says what happened.
func TestReplaced(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "open files stay in their places")
	d := open(t)
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := errors.Join(os.WriteFile(d.Path("y"), nil, 0o600), os.Rename(d.Path("y"), d.Path("x"))); err != nil {
				done <- err
				return
			}
		}
	}()
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
	close(stop)
	must.OK(t, <-done)
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
		for listed := 2; listed > 1; {
			names := strings.Fields(namesOf(t, d))
			listed = len(names)
			must.Not(t, listed == 0 || names[listed-1] != "stays", "%d files, without the one that stays", listed)
		}
		must.OK(t, <-gone)
	}
}
