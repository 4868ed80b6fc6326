package patternfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/patternfile"
)

var header = patternfile.Header{Kind: patternfile.Static, Cost: 1, Rows: 2, Cols: 3, Size: 3, Tiles: 0b1011, Entries: 120}

// sample writes a file of some values and returns its name, contents and values.
func sample(t testing.TB, h patternfile.Header) (path string, data []byte, values []uint8) {
	t.Helper()
	values = make([]uint8, h.Entries)
	for i := range values {
		values[i] = uint8(i * i % 7)
	}
	path = filepath.Join(t.TempDir(), "sample.gp")
	data = must.Get(patternfile.Encode(h, values))(t)
	must.Write(t, path, data)
	return path, data, values
}

func TestRoundTrip(t *testing.T) {
	large := header
	large.Entries = 2<<20 + 1
	for _, h := range []patternfile.Header{header, large, {Kind: patternfile.Dynamic, Cost: 2, Rows: 4, Cols: 4, Size: 2, Entries: 1 << 20}} {
		path, _, values := sample(t, h)
		got, read, err := patternfile.Read(path, nil)
		should.Hold(t, err == nil && got == h && bytes.Equal(read, values), "%+v: %+v, %v", h, got, err)
	}
}

// TestDamage changes every byte and cuts everywhere. Other headers, and what is no file, are refused too.
func TestDamage(t *testing.T) {
	path, data, _ := sample(t, header)
	check := func(what string, at int, changed []byte) {
		t.Helper()
		must.Write(t, path, changed)
		should.Be(t, must.Err(patternfile.Read(path, nil)), corrupt.ErrCorrupt, "%s %d", what, at)
	}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 0x10
		check("byte", i, changed)
		check("length", i, data[:i])
	}
	check("longer", len(data), append(bytes.Clone(data), 0))
	for at, want := range map[int]error{0: corrupt.ErrForeign, 8: corrupt.ErrVersion} {
		changed := bytes.Clone(data)
		changed[at] ^= 0x10
		must.Write(t, path, changed)
		should.Be(t, must.Err(patternfile.Read(path, nil)), want, "byte %d", at)
	}
	path, _, _ = sample(t, header)
	no := errors.New("no")
	should.Be(t, must.Err(patternfile.Read(path, func(patternfile.Header) error { return no })), no)
	should.Be(t, must.Err(patternfile.Read(path+"x", nil)), os.ErrNotExist)
	should.Be(t, must.Err(patternfile.Read(t.TempDir(), nil)), corrupt.ErrForeign)
}

func TestBadHeader(t *testing.T) {
	for i, change := range []func(h *patternfile.Header){
		func(h *patternfile.Header) { h.Kind = 3 }, func(h *patternfile.Header) { h.Cost = 0 },
		func(h *patternfile.Header) { h.Rows = 0 }, func(h *patternfile.Header) { h.Cols = 20 },
		func(h *patternfile.Header) { h.Size = 0 }, func(h *patternfile.Header) { h.Size = 2 },
		func(h *patternfile.Header) { h.Tiles = 1<<6 | 3 }, func(h *patternfile.Header) { h.Kind = patternfile.Dynamic },
		func(h *patternfile.Header) { h.Entries = 0 }, func(h *patternfile.Header) { h.Entries = 119 },
	} {
		h := header
		change(&h)
		should.Be(t, must.Err(patternfile.Encode(h, make([]uint8, 120))), patternfile.ErrHeader, "change %d", i)
	}
}

// FuzzRead feeds whole files, once as they are and once with the checksums of header, index and stored blocks made to fit.
func FuzzRead(f *testing.F) {
	_, data, _ := sample(f, header)
	f.Add(data)
	f.Add(data[:50])
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x")
		accept := func(h patternfile.Header) error {
			if h.Entries > 1<<20 {
				return corrupt.ErrCorrupt
			}
			return nil
		}
		for range 2 {
			must.Write(t, path, data)
			_, _, err := patternfile.Read(path, accept)
			should.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
			data = reseal(slices.Clone(data))
		}
	})
}

// reseal makes checksums fit the bytes, as far as these are where a header says.
func reseal(data []byte) []byte {
	const header, entry = 48, 12
	if len(data) < header {
		return data
	}
	le := binary.LittleEndian
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	le.PutUint32(data[44:], sum(data[:44]))
	end := header + entry*int(le.Uint32(data[32:]))
	if end+4 > len(data) {
		return data
	}
	blocks := data[end+4:]
	for e := data[header:end]; len(e) > 0; e = e[entry:] {
		n := int(le.Uint32(e))
		if n > len(blocks) {
			break
		}
		le.PutUint32(e[4:], sum(blocks[:n]))
		blocks = blocks[n:]
	}
	le.PutUint32(data[end:], sum(data[header:end]))
	return data
}
