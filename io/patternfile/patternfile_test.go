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
	data, err := patternfile.Encode(h, values)
	must.OK(t, err)
	must.OK(t, os.WriteFile(path, data, 0o600))
	return path, data, values
}

func TestRoundTrip(t *testing.T) {
	large := header
	large.Entries = 2<<20 + 1
	for _, h := range []patternfile.Header{header, large, {Kind: patternfile.Dynamic, Cost: 2, Rows: 4, Cols: 4, Size: 2, Entries: 1 << 20}} {
		path, _, values := sample(t, h)
		got, read, err := patternfile.Read(path, nil)
		if err != nil || got != h || !bytes.Equal(read, values) {
			t.Errorf("%+v: %+v, %v", h, got, err)
		}
	}
}

// TestDamage changes every byte and cuts everywhere.
func TestDamage(t *testing.T) {
	path, data, _ := sample(t, header)
	check := func(what string, at int, changed []byte) {
		t.Helper()
		must.Write(t, path, changed)
		if _, _, err := patternfile.Read(path, nil); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s %d: %v", what, at, err)
		}
	}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 0x10
		check("byte", i, changed)
		check("length", i, data[:i])
	}
	check("longer", len(data), append(bytes.Clone(data), 0))
	for what, target := range map[int]error{0: corrupt.ErrForeign, 8: corrupt.ErrVersion} {
		changed := bytes.Clone(data)
		changed[what] ^= 0x10
		check("byte", what, changed)
		if _, _, err := patternfile.Read(path, nil); !errors.Is(err, target) {
			t.Errorf("byte %d: %v", what, err)
		}
	}
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
		if _, err := patternfile.Encode(h, make([]uint8, 120)); !errors.Is(err, patternfile.ErrHeader) {
			t.Errorf("change %d: %v", i, err)
		}
	}
}

func TestRefused(t *testing.T) {
	path, _, _ := sample(t, header)
	no := errors.New("no")
	if _, _, err := patternfile.Read(path, func(patternfile.Header) error { return no }); !errors.Is(err, no) {
		t.Error(err)
	}
	if _, _, err := patternfile.Read(path+"x", nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := patternfile.Read(t.TempDir(), nil); !errors.Is(err, corrupt.ErrForeign) {
		t.Error(err)
	}
}

// FuzzRead feeds whole files, once as they are and once with the checksums of header, index
// and stored blocks made to fit.
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
			if _, _, err := patternfile.Read(path, accept); err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
				t.Error(err)
			}
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
