package layerfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// goldenScores are the 70 scores of the golden files, in blocks of 64: the
// first block shrinks, the second one does not.
func goldenScores() []int8 {
	scores := make([]int8, 70)
	copy(scores, []int8{1, -1, 2, -2, 3})
	scores[63] = -7
	copy(scores[64:], []int8{0, 1, -1, 2, 127, -128})
	return scores
}

func goldenPath(c Codec) string { return filepath.Join("testdata", c.String()+".gl") }

// TestGolden writes the golden files anew and compares bytes. If only the
// version of a codec's library changed, -update is right; otherwise the format
// changed and needs a new version number.
func TestGolden(t *testing.T) {
	for _, codec := range codecs {
		path := filepath.Join(t.TempDir(), "golden.gl")
		writeFile(t, path, testHeader(codec, 64, 70), goldenScores())
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			write(t, goldenPath(codec), got)
		}
		want, err := os.ReadFile(goldenPath(codec))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v: another file than the golden one:\n%s", codec, hex.Dump(got))
		}
		if scores, err := readAll(goldenPath(codec)); err != nil || !slices.Equal(scores, goldenScores()) {
			t.Errorf("%v: %v, %v", codec, scores, err)
		}
	}
}

// TestByDocument reads the golden files in the way that docs/format/layer-file.md
// describes, without using anything of this package.
func TestByDocument(t *testing.T) {
	for _, codec := range codecs {
		data, err := os.ReadFile(goldenPath(codec))
		if err != nil {
			t.Fatal(err)
		}
		if got := readByDocument(t, data); !slices.Equal(got, goldenScores()) {
			t.Errorf("%v: %v", codec, got)
		}
	}
}

func readByDocument(t *testing.T, data []byte) (scores []int8) {
	le := binary.LittleEndian
	size, positions := int(le.Uint32(data[52:])), int(le.Uint64(data[56:]))
	index := data[le.Uint64(data[len(data)-76:]):]
	for i := range int(le.Uint64(data[64:])) {
		e := index[24*i:]
		stored := data[le.Uint64(e):][:le.Uint32(e[8:])]
		n := min(size, positions-i*size)
		if le.Uint32(e[12:]) == 1 {
			for _, b := range stored {
				scores = append(scores, int8(b))
			}
			continue
		}
		split := make([]byte, 8*((n+7)/8))
		decompressByDocument(t, data[48], split, stored)
		for j := range n {
			z := 0
			for p := range 8 {
				z |= int(split[p*((n+7)/8)+j/8]>>(j%8)&1) << p
			}
			scores = append(scores, int8(z>>1^-(z&1)))
		}
	}
	return scores
}

func decompressByDocument(t *testing.T, codec byte, dst, src []byte) {
	if codec == 1 {
		if _, err := lz4.UncompressBlock(src, dst); err != nil {
			t.Fatal(err)
		}
		return
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.DecodeAll(src, dst[:0]); err != nil {
		t.Fatal(err)
	}
}

// TestDumpInDocument compares the annotated dump in docs/format/layer-file.md
// with the golden file for lz4.
func TestDumpInDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/layer-file.md")
	if err != nil {
		t.Fatal(err)
	}
	_, dump, _ := strings.Cut(string(page), "```dump\n")
	dump, _, _ = strings.Cut(dump, "```\n")
	data, err := os.ReadFile(goldenPath(LZ4))
	if err != nil {
		t.Fatal(err)
	}
	if want := annotate(data); dump != want {
		t.Errorf("the dump should be\n%s", want)
	}
}

// annotate returns a dump of a file of two blocks, one line for each field.
func annotate(data []byte) string {
	le := binary.LittleEndian
	footer := data[len(data)-footerSize:]
	index := int(le.Uint64(footer))
	second := int(le.Uint64(data[index+indexEntrySize:]))
	fields := []struct {
		n       int
		comment string
	}{
		{8, "header: magic"}, {4, "format version"}, {2, "pits"}, {2, "seeds"},
		{16, "game"}, {16, "rules"}, {1, "codec"}, {1, "transform"}, {2, "0"},
		{4, "scores in a block"}, {8, "positions"}, {8, "blocks"}, {4, "0"}, {4, "CRC-32C of bytes 0 to 75"},
		{second - headerSize, "block 0: planes, compressed"}, {index - second, "block 1: plain scores"},
		{8, "index, block 0: offset"}, {4, "length"}, {4, "flags"}, {4, "CRC-32C of the stored bytes"}, {4, "CRC-32C of the scores"},
		{8, "index, block 1: offset"}, {4, "length"}, {4, "flags: plain"}, {4, "CRC-32C of the stored bytes"}, {4, "CRC-32C of the scores"},
		{8, "footer: offset of the index"}, {8, "length of the index"}, {4, "CRC-32C of the index"}, {4, "CRC-32C of the header, its last field"},
		{8, "FNV-1a-64 of the scores"}, {8, "wins"}, {8, "draws"}, {8, "losses"}, {8, "length of the file"},
		{4, "CRC-32C of bytes 0 to 63 of the footer"}, {8, "magic"},
	}
	var out strings.Builder
	at := 0
	for _, f := range fields {
		for i := 0; i < f.n; i += 16 {
			part := data[at+i : at+min(i+16, f.n)]
			line := fmt.Sprintf("%4d  %-47s", at+i, fmt.Sprintf("% x", part))
			if i == 0 {
				line += "  " + f.comment
			}
			fmt.Fprintln(&out, strings.TrimRight(line, " "))
		}
		at += f.n
	}
	if at != len(data) {
		return fmt.Sprintf("the fields are %d bytes, the file %d", at, len(data))
	}
	return out.String()
}
