package workfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/workfile"
)

// content returns n bytes that depend on seed.
func content(seed uint64, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	b := make([]byte, n)
	rng.Read(b)
	return b
}

func create(t testing.TB, fs workfile.FS, path string) *workfile.File {
	t.Helper()
	f, err := workfile.Create(fs, path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t testing.TB, f *workfile.File, data []byte) workfile.Extent {
	t.Helper()
	e, err := f.Put(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// expect reads an extent.
func expect(t testing.TB, f *workfile.File, e workfile.Extent, want []byte) {
	t.Helper()
	got, err := f.Get(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%+v: other bytes", e)
	}
}

func commit(t testing.TB, f *workfile.File, path string, data []byte) {
	t.Helper()
	if err := f.Commit(path, data); err != nil {
		t.Fatal(err)
	}
}

func TestLife(t *testing.T) {
	dir := t.TempDir()
	path, checkpoint := filepath.Join(dir, "tiles"), filepath.Join(dir, "checkpoint")
	f := create(t, workfile.OS, path)
	a, b := content(1, 1000), content(2, 700)
	ea, eb := put(t, f, a), put(t, f, b)
	commit(t, f, checkpoint, []byte("a, b"))
	f.Drop(ea)
	expect(t, f, ea, a)
	if e := put(t, f, content(3, 500)); e.Offset < 1700 {
		t.Errorf("put at %d, which the checkpoint refers to", e.Offset)
	}
	if f.Size() != 2200 || f.Used() != 2200 {
		t.Errorf("size %d, used %d", f.Size(), f.Used())
	}
	commit(t, f, checkpoint, []byte("b"))
	if f.Used() != 1200 {
		t.Errorf("used %d", f.Used())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Put(a); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}

	if data, err := workfile.ReadFile(workfile.OS, checkpoint); err != nil || string(data) != "b" {
		t.Errorf("%q, %v", data, err)
	}
	f, err := workfile.Open(workfile.OS, path, []workfile.Extent{{}, eb})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expect(t, f, eb, b)
	if e := put(t, f, a); e.Offset != 0 {
		t.Errorf("put at %d", e.Offset)
	}
	expect(t, f, eb, b)
	if f.Size() != 2200 || f.Used() != 1700 {
		t.Errorf("size %d, used %d", f.Size(), f.Used())
	}
}

func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiles")
	f := create(t, workfile.OS, path)
	defer f.Close()
	put(t, f, content(1, 1000))
	e := put(t, f, content(2, 1000))
	damaged := func(change func(h *os.File)) {
		t.Helper()
		h, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		change(h)
		h.Close()
		_, err = f.Get(e, nil)
		typed, ok := errors.AsType[*corrupt.Error](err)
		if !ok || typed.File != path || typed.Part != "extent at 1000" {
			t.Error(err)
		}
	}
	damaged(func(h *os.File) { h.WriteAt([]byte{^content(2, 1000)[500]}, 1500) })
	damaged(func(h *os.File) { h.Truncate(1900) })
	damaged(func(h *os.File) { h.Truncate(900) })
}

func TestMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "tiles")
	if _, err := workfile.Create(workfile.OS, path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := workfile.Open(workfile.OS, path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := workfile.ReadFile(workfile.OS, path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
