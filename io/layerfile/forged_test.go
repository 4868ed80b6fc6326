package layerfile

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

// forged opens a forged file whose scores are bounded by most, if it can be opened.
func forged(t *testing.T, f layerfiletest.File, most int) (*Decoder, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "forged.gl")
	must.Write(t, path, f.Encode())
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { file.Close() })
	file.Bound(most)
	d := file.NewDecoder(family)
	return d, nil
}

// TestBound: scores that the game does not have are no scores, however they are stored and
// whatever the checksums say.
func TestBound(t *testing.T) {
	for _, most := range []int{0, 3, 48, 127, 128} {
		for _, score := range []int8{0, 3, 4, -4, 49, 127, -127, -128} {
			scores := slices.Repeat([]int8{score}, 100)
			h := testHeader(100, 100)
			h.Model = modelOf(scores, score, score)
			packed := filepath.Join(t.TempDir(), "packed.gl")
			writeFile(t, packed, h, scores)
			plain := filepath.Join(t.TempDir(), "plain.gl")
			h.Model = ""
			writeFile(t, plain, h, scores)
			for _, path := range []string{packed, plain} {
				checkBound(t, path, scores, most)
			}
		}
	}
}

func checkBound(t *testing.T, path string, scores []int8, most int) {
	f := must.Get(Open(path))(t)
	defer f.Close()
	f.Bound(most)
	d := f.NewDecoder(family)
	got, err := d.Block(t.Context(), 0, nil)
	possible := max(int(scores[0]), -int(scores[0])) <= most
	if possible && (err != nil || !slices.Equal(got, scores)) {
		t.Errorf("%s, score %d, bound %d: %v", filepath.Base(path), scores[0], most, err)
	}
	if !possible && (!errors.Is(err, corrupt.ErrCorrupt) || !strings.Contains(err.Error(), "block 0: score 0 of 100 is ")) {
		t.Errorf("%s, score %d, bound %d: error %v", filepath.Base(path), scores[0], most, err)
	}
	one, err := d.Score(t.Context(), 77)
	if possible && (err != nil || one != scores[77]) || !possible && (!errors.Is(err, corrupt.ErrCorrupt) || !strings.Contains(err.Error(), "block 0: score 77 of 100 is ")) {
		t.Errorf("%s, score %d, bound %d: one is %d, %v", filepath.Base(path), scores[0], most, one, err)
	}
}

// TestForged has headers, indexes and footers of all kinds under right checksums: each is
// an error that says what is wrong, at once.
func TestForged(t *testing.T) {
	two := []layerfiletest.Block{layerfiletest.Plain(make([]int8, 64)), layerfiletest.Plain(make([]int8, 6))}
	header := func(set func(*layerfiletest.Header)) layerfiletest.File {
		return layerfiletest.File{Blocks: two, Header: set}
	}
	entry := func(set func(i int, e *layerfiletest.Entry)) layerfiletest.File {
		return layerfiletest.File{Blocks: two, Entry: set}
	}
	footer := func(set func(*layerfiletest.Footer)) layerfiletest.File {
		return layerfiletest.File{Blocks: two, Footer: set}
	}
	for name, c := range map[string]struct {
		file layerfiletest.File
		text string
	}{
		"positions 2^63": {header(func(h *layerfiletest.Header) { h.Positions = 1 << 63 }), "header: bad layer header: 9223372036854775808 positions"},
		"positions 2^48": {header(func(h *layerfiletest.Header) { h.Positions, h.Blocks, h.BlockSize = 1<<48, 1<<48, 1 }), "footer: index of 48 bytes: expected 6755399441055744"},
		"no positions":   {header(func(h *layerfiletest.Header) { h.Positions, h.Blocks = 0, 0 }), "footer: index of 48 bytes: expected 0"},
		"blocks":         {header(func(h *layerfiletest.Header) { h.Blocks = math.MaxUint64 }), "blocks instead of 2"},
		"block size 0":   {header(func(h *layerfiletest.Header) { h.BlockSize = 0 }), "header: bad layer header: blocks of 0"},
		"block size":     {header(func(h *layerfiletest.Header) { h.BlockSize = math.MaxUint32 }), "header: bad layer header: blocks of 4294967295"},
		"model length":   {header(func(h *layerfiletest.Header) { h.ModelLength = math.MaxUint32 }), "model: truncated"},
		"model":          {layerfiletest.File{Blocks: two, Model: []byte("\x00\x81")}, "model: bad layer header: bad model"},
		"model of 200":   {layerfiletest.File{Blocks: two, Model: []byte("\x80\xc8" + strings.Repeat("\x00", 1<<16))}, "model: bad layer header: bad model"},
		"overlap":        {entry(func(i int, e *layerfiletest.Entry) { e.Offset -= uint64(i) }), "index: block 1 begins at 147 instead of 148"},
		"backwards":      {entry(func(i int, e *layerfiletest.Entry) { e.Offset += uint64(64 * (1 - i)) }), "index: block 0 begins at 148"},
		"far":            {entry(func(i int, e *layerfiletest.Entry) { e.Offset += uint64(i) << 62 }), "index: block 1 begins at"},
		"long":           {entry(func(i int, e *layerfiletest.Entry) { e.Length = math.MaxUint32 }), "index: block 0: 64 scores are stored as they are in 4294967295"},
		"longer":         {entry(func(i int, e *layerfiletest.Entry) { e.Length, e.Flags = 64, 0 }), "index: block 0: 64 scores are compressed to 64"},
		"empty":          {entry(func(i int, e *layerfiletest.Entry) { e.Length, e.Flags = 0, 0 }), "index: block 0: 64 scores are compressed to 0"},
		"flags":          {entry(func(i int, e *layerfiletest.Entry) { e.Flags = 2 }), "index: block 0: unknown flags"},
		"index offset":   {footer(func(f *layerfiletest.Footer) { f.IndexOffset = math.MaxUint64 }), "footer: index at -1"},
		"index length":   {footer(func(f *layerfiletest.Footer) { f.IndexLength = math.MaxUint64 - 23 }), "footer: index of"},
		"wins":           {footer(func(f *layerfiletest.Footer) { f.Win, f.Draw = math.MaxUint64, 71 }), "footer: wins, draws and losses"},
		"file length":    {footer(func(f *layerfiletest.Footer) { f.FileLength = 1 << 63 }), "footer: written for a file of 9223372036854775808"},
	} {
		_, err := forged(t, c.file, 48)
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), c.text),
			"%s: error %v, want %q", name, err, c.text)
	}
}

// TestForgedBlocks has stored bytes that are no code of so many scores.
func TestForgedBlocks(t *testing.T) {
	lz4Zeros := []byte{0x1f, 0, 1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0x00}
	for name, stored := range map[string][]byte{
		"noise":              {0xff, 0xff, 0xff, 0xff, 0xff},
		"more than a block":  lz4Zeros,
		"nothing":            {0},
		"a code of no ranks": {0x40, 0xff, 0xff, 0xff, 0xff},
	} {
		d, err := forged(t, layerfiletest.File{
			Model:  []byte(testModel),
			Blocks: []layerfiletest.Block{{Stored: stored, Scores: make([]int8, 64)}},
		}, 48)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := d.Block(t.Context(), 0, nil)
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && got == nil, "%s: %v, %v", name, got, err)
	}
}

// TestSparse: a file that claims to be as long as a file can be is not read to its end.
func TestSparse(t *testing.T) {
	const blocks = 1 << 32
	f := layerfiletest.File{Header: func(h *layerfiletest.Header) { h.Positions, h.Blocks, h.BlockSize = blocks, blocks, 1 }}
	length := uint64(layerfiletest.HeaderSize + blocks + blocks*layerfiletest.EntrySize + layerfiletest.FooterSize)
	f.Footer = func(f *layerfiletest.Footer) {
		f.FileLength, f.IndexLength = length, blocks*layerfiletest.EntrySize
		f.IndexOffset, f.Draw = layerfiletest.HeaderSize+blocks, blocks
	}
	data := f.Encode()
	path := filepath.Join(t.TempDir(), "sparse.gl")
	if err := sparse(path, int64(length), data[:layerfiletest.HeaderSize], data[layerfiletest.HeaderSize:]); err != nil {
		t.Skip(err) // no such files here
	}
	_, err := Open(path)
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), "index: block 0 begins at 0"), "error %v", err)
}

// sparse makes a file of a length that has bytes at its beginning and its end only.
func sparse(path string, length int64, head, tail []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, first := f.WriteAt(head, 0)
	_, last := f.WriteAt(tail, length-int64(len(tail)))
	return errors.Join(first, last, f.Close())
}
