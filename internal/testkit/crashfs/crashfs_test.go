package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/vfs"
)

func create(t *testing.T, f *FS, path, text string) vfs.File {
	t.Helper()
	h := must.Get(f.create(path))(t)
	writeAt(t, h, text, 0)
	return h
}

func writeAt(t *testing.T, h vfs.File, text string, offset int64) {
	t.Helper()
	must.OK(t, must.Err(h.WriteAt([]byte(text), offset)))
}

// contents returns the contents of a file, "-" if there is none.
func contents(t *testing.T, f *FS, path string) string {
	t.Helper()
	data, err := vfs.Read(f.Dir(filepath.Dir(path)), filepath.Base(path), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must.OK(t, err)
	return string(data)
}

// synced makes a file that survives a power cut.
func synced(t *testing.T, f *FS, path, text string) vfs.File {
	t.Helper()
	h := create(t, f, path, text)
	must.OK(t, errors.Join(h.Sync(), f.syncDir(filepath.Dir(path))))
	return h
}

// outcomes returns the descriptions by describe after each of many power cuts.
func outcomes(f *FS, describe func(*FS) string) []string {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		seen[describe(f.PowerCut(rand.New(rand.NewPCG(seed, 0))))] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	should.List(t, got, want)
}

func TestNames(t *testing.T) {
	f := New()
	see := func(f *FS) string { return contents(t, f, "d/a") + contents(t, f, "d/b") }
	must.OK(t, create(t, f, "d/a", "A").Sync())
	expect(t, outcomes(f.Kill(), see), "--", "A-")

	f = f.Kill()
	must.OK(t, f.syncDir("d"))
	expect(t, outcomes(f, see), "A-")

	f = f.PowerCut(rand.New(rand.NewPCG(0, 0)))
	synced(t, f, "d/b", "B")
	must.OK(t, f.rename("d/b", "d/a"))
	should.Equal(t, see(f), "B-")
	expect(t, outcomes(f, see), "AB", "B-")

	f = f.Kill()
	must.OK(t, errors.Join(f.remove("d/a"), f.syncDir("other")))
	expect(t, outcomes(f, see), "--", "-B", "AB", "B-")
	f = f.Kill()
	must.OK(t, f.syncDir("d"))
	expect(t, outcomes(f, see), "--")
	should.List(t, f.Names(), nil)

	// The mistake that the recipe avoids is to rename before Sync.
	f = New()
	must.OK(t, create(t, f, "d/a", "old").Sync())
	create(t, f, "d/b", "new")
	must.OK(t, errors.Join(f.rename("d/b", "d/a"), f.syncDir("d")))
	expect(t, outcomes(f, see), "-", "\x00\x00\x00-", "new-")
}

func TestSectors(t *testing.T) {
	const sectors = 3
	f := New()
	synced(t, f, "a", strings.Repeat("0", sectors*Sector))
	see := func(f *FS) string { // the first and the last byte of each sector
		text := contents(t, f, "a")
		var out []byte
		for i := range sectors {
			out = append(out, text[i*Sector], text[(i+1)*Sector-1])
		}
		return string(out)
	}
	expect(t, outcomes(f.Kill(), see), "000000")
	f = f.Kill()
	writeAt(t, must.Get(f.open("a"))(t), strings.Repeat("1", Sector), Sector/2) // the middle of 0 to the middle of 1
	expect(t, outcomes(f.Kill(), see), "000000", "010000", "001000", "011000")
	f = f.Kill()
	writeAt(t, must.Get(f.open("a"))(t), strings.Repeat("2", Sector), Sector) // after a write that may be lost
	expect(t, outcomes(f.Kill(), see), "000000", "010000", "001000", "011000", "002200", "012200")
	f = f.Kill()
	must.OK(t, must.Get(f.open("a"))(t).Sync())
	expect(t, outcomes(f, see), "012200")
}

func TestLength(t *testing.T) {
	f := New()
	h := synced(t, f, "a", "old")
	writeAt(t, h, "er", 3)
	expect(t, outcomes(f.Kill(), func(f *FS) string { return contents(t, f, "a") }), "old", "older", "old\x00\x00")

	f = f.PowerCut(rand.New(rand.NewPCG(0, 0)))
	h = must.Get(f.open("a"))(t)
	must.OK(t, errors.Join(h.Truncate(0), h.Sync()))
	writeAt(t, h, "x", 2)
	should.Equal(t, contents(t, f, "a"), "\x00\x00x")
	b := make([]byte, 2)
	n, err := h.ReadAt(b, 2)
	should.Hold(t, n == 1 && err == io.EOF && b[0] == 'x', "%d bytes, %v", n, err)
	n, err = h.ReadAt(b, 9)
	should.Hold(t, n == 0 && err == io.EOF, "%d bytes, %v", n, err)

	f = New()
	h = synced(t, f, "a", "12345678")
	must.OK(t, errors.Join(h.Truncate(3), h.Truncate(5)))
	should.Equal(t, contents(t, f, "a"), "123\x00\x00")
	expect(t, outcomes(f.Kill(), func(f *FS) string { return contents(t, f, "a") }),
		"12345678", "123\x00\x00\x00\x00\x00", "123", "123\x00\x00", "12345")
}

// TestCrashAt crashes in each operation of a program.
func TestCrashAt(t *testing.T) {
	program := func(f *FS) error {
		h, err := f.create("a.tmp")
		if err != nil {
			return err
		}
		return errors.Join(must.Err(h.WriteAt([]byte("text"), 0)), h.Sync(), h.Close(), f.rename("a.tmp", "a"), f.syncDir("."))
	}
	f := New()
	must.OK(t, program(f))
	must.Equal(t, f.Ops(), 5)
	expect(t, outcomes(f, func(f *FS) string { return contents(t, f, "a") }), "text")
	for k, want := range []string{"--", "-te", "-text", "text-", "text-"} {
		f := New()
		f.CrashAt(k + 1)
		should.Be(t, program(f), ErrCrashed)
		should.Be(t, program(f), ErrCrashed, "after the crash")
		f = f.Kill()
		got := contents(t, f, "a") + contents(t, f, "a.tmp")
		should.Not(t, got != want && k != 0, "killed in operation %d: %q, want %q", k+1, got, want)
		for _, got := range outcomes(f, func(f *FS) string { return contents(t, f, "a") }) {
			should.Not(t, got != "-" && got != "text", "power cut in operation %d: %q", k+1, got)
		}
	}
}

func TestErrors(t *testing.T) {
	f := New()
	h := create(t, f, "a", "1234")
	f.Limit(6)
	n, err := h.WriteAt([]byte("5678"), 4)
	should.Hold(t, n == 2 && errors.Is(err, syscall.ENOSPC) && contents(t, f, "a") == "123456", "%d bytes, %v", n, err)
	n, err = h.WriteAt([]byte("abcd"), 0)
	should.Hold(t, n == 4 && err == nil, "%d bytes, %v", n, err)
	f.Limit(-1)
	writeAt(t, h, "5678", 4)

	bad := errors.New("bad")
	f.Fail(func(op Op, path string) error { return map[bool]error{true: bad}[op == Sync && path == "a"] })
	should.Be(t, h.Sync(), bad)
	writeAt(t, h, "x", 0)

	for _, err := range []error{f.rename("none", "a"), f.remove("none")} {
		should.Be(t, err, fs.ErrNotExist)
	}
	should.Be(t, must.Err(f.create("a")), fs.ErrExist)
	must.OK(t, h.Close())
	should.Be(t, h.Close(), fs.ErrClosed)
	should.Be(t, must.Err(h.WriteAt(nil, 0)), fs.ErrClosed)
	should.Equal(t, contents(t, f.Kill(), "a"), "xbcd5678", "after failures")
}
