package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"first", "second, and longer", ""} {
		must.OK(t, WriteFile(path, []byte(text)))
		should.Equal(t, contents(t, path), text)
		must.OK(t, CheckFile(path))
	}
	left, err := os.ReadDir(filepath.Dir(path))
	should.Hold(t, err == nil && len(left) == 1, "left behind: %v, %v", left, err)
}

func TestMissingDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a")
	for _, err := range []error{WriteFile(path, nil), CheckFile(path), second(ReadFile(path, 1)), second(Begin(path)), second(OpenFile(path))} {
		should.Hold(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), path), "%v", err)
	}
	for _, path := range []string{".", "..", "/", filepath.Join(t.TempDir(), "..")} {
		err := WriteFile(path, nil)
		should.Hold(t, isKind(err), "%s: %v", path, err)
	}
}

// TestPending: the old file is there until the new one is.
func TestPending(t *testing.T) {
	d := open(t)
	for _, n := range []int{300, 250} {
		if p, err := NewPending(d, strings.Repeat("a", n)); err == nil {
			t.Errorf("%d letters, a name, or a temporary one, that is too long: %v", n, p)
		}
	}
	must.OK(t, Write(d, "a", []byte("old")))
	for end, want := range map[string]string{"abort": "old", "close": "old", "publish": "new", "replace": "new"} {
		p := must.Get(NewPending(d, "a"))(t)
		should.OK(t, must.Err(p.Write([]byte("new"))))
		got := contents(t, d.Path("a"))
		should.Hold(t, got == "old", "%s: %q before the end", end, got)
		must.OK(t, map[string]func() error{"abort": p.Abort, "close": p.Close, "publish": p.Publish, "replace": p.Replace}[end]())
		should.Equal(t, contents(t, d.Path("a")), want, "%s", end)
		must.OK(t, errors.Join(p.Abort(), p.Abort()))
		should.Equal(t, namesOf(t, d), "a", "%s: left behind", end)
		must.OK(t, Write(d, "a", []byte("old")))
	}
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

// TestPublishOrder: the contents are on disk before the name is given, and the name before Publish returns.
func TestPublishOrder(t *testing.T) {
	for end, want := range map[string][]string{"publish": {"sync file", "rename", "sync directory"}, "replace": {"rename"}} {
		var did []string
		p := must.Get(NewPending(noting{open(t), &did}, "a"))(t)
		must.OK(t, map[string]func() error{"publish": p.Publish, "replace": p.Replace}[end]())
		should.List(t, did, want, "%s", end)
	}
}

// TestPublishFails: a file that came in between is in the way, and stays.
func TestPublishFails(t *testing.T) {
	d := open(t)
	p, err := NewPending(d, "a")
	must.OK(t, err)
	must.OK(t, d.Mkdir("a"))
	err = p.Publish()
	should.Hold(t, isKind(err) && strings.HasPrefix(err.Error(), "publishing "+d.Path("a")), "%v", err)
	should.Equal(t, namesOf(t, d), "a", "left behind")
}

func TestTempFor(t *testing.T) {
	for name, want := range map[string]string{
		"a.0123456789abcdef.tmp": "a", "layer-07.gl.ffffffffffffffff.tmp": "layer-07.gl",
		"a.tmp": "", "a.0123456789abcde.tmp": "", "a.0123456789abcdeF.tmp": "", "a.0123456789abcdef": "",
		".0123456789abcdef.tmp": "", "a-0123456789abcdef.tmp": "", "": "", ".tmp": "", "a.00123456789abcdef.tmp": "",
	} {
		got, ok := TempFor(name)
		should.Hold(t, got == want && ok == (want != ""), "%q: %q, %v", name, got, ok)
	}
	a, b := tempOf("x"), tempOf("x")
	final, ok := TempFor(a)
	should.Hold(t, ok && final == "x" && a != b, "%q, %q", a, b)
}

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
	must.OK(t, RemoveStale(d, func(final string) bool { return final == "a" }))
	want := "a a.0000000000000000.tmp a.0000000000000001.tmp a.tmp b.0123456789abcdef.tmp"
	f := must.Get(d.Open("a"))(t)
	defer f.Close()
	if errors.Is(TryLock(f, true), errors.ErrUnsupported) {
		return // the one being written is gone too
	}
	if got := strings.Replace(namesOf(t, d), " "+writing.temp, "", 1); got != want || !strings.Contains(namesOf(t, d), writing.temp) {
		t.Errorf("%s is left, want %s and %s", namesOf(t, d), want, writing.temp)
	}
}

func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	path, remove, err := TempDir(parent, "x-")
	must.OK(t, err)
	canary := filepath.Join(parent, "canary")
	write(t, canary, "alive")
	must.OK(t, os.Symlink(canary, filepath.Join(path, "link")))
	must.OK(t, os.Symlink(parent, filepath.Join(path, "up")))
	must.OK(t, remove())
	should.Equal(t, contents(t, canary), "alive")
	left, err := os.ReadDir(parent)
	should.Hold(t, err == nil && len(left) == 1, "%v, %v", left, err)
}

func TestMakeDir(t *testing.T) {
	top := t.TempDir()
	path := filepath.Join(top, "a", "b")
	for range 2 {
		must.OK(t, must.Get(MakeDir(path))(t).Close())
	}
	write(t, filepath.Join(path, "file"), "text")
	should.Not(t, must.Err(MakeDir(filepath.Join(path, "file", "below"))) == nil, "below a file")
}
