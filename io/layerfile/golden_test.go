package layerfile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

// goldenScores are the 70 scores of the golden files, in blocks of 64: the first block shrinks, the second one does not.
func goldenScores() []int8 {
	scores := make([]int8, 70)
	copy(scores, []int8{1, -1, 2, -2, 3})
	scores[63] = -2
	copy(scores[64:], []int8{0, 1, -1, 2, 127, -128})
	return scores
}

// goldenHeader returns the header of the golden file of that name: of version 2, or of version 3.
func goldenHeader(name string) Header {
	h := testHeader(64, 70)
	h.Model = modelOf(goldenScores()[5:64], -2, 3)
	if name == "below" {
		h.Below = Below("").With(4, 0x0123456789abcdef).With(5, 1)
	}
	return h
}

var goldens = []string{"lz4", "below"}

// goldenDump returns the path of a golden file as annotate shows it.
func goldenDump(name string) string { return filepath.Join("testdata", name+".dump") }

// golden returns the bytes of a golden file.
func golden(t *testing.T, name string) (data []byte) {
	t.Helper()
	dump := must.Read(t, goldenDump(name))
	for line := range strings.Lines(string(dump)) {
		part, err := hex.DecodeString(strings.ReplaceAll(line[6:min(6+dumpWidth, len(line)-1)], " ", ""))
		must.Hold(t, err == nil, "%s: %q: %v", goldenDump(name), line, err)
		data = append(data, part...)
	}
	return data
}

// TestGolden encodes the golden files again and compares bytes. If only the version of a codec's library changed, -update is right;
// otherwise the format changed and needs a new version number.
func TestGolden(t *testing.T) {
	for _, name := range goldens {
		path := filepath.Join(t.TempDir(), "golden.gl")
		writeFile(t, path, goldenHeader(name), goldenScores())
		got := must.Read(t, path)
		if *update {
			must.Write(t, goldenDump(name), []byte(annotate(got)))
		}
		want := golden(t, name)
		should.Hold(t, bytes.Equal(got, want), "%v: another file than the golden one:\n%s", name, annotate(got))
		should.List(t, must.Get(readAll(path))(t), goldenScores(), "%v", name)
	}
}

// TestZstd reads a file of an earlier version: the error says what it is and what to do, and it is not damage.
func TestZstd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer-07.gl")
	must.Write(t, path, golden(t, "zstd"))
	f, problems, err := Inspect(path)
	must.Hold(t, err == nil && len(problems) == 1, "%v, %v", problems, err)
	f.Close()
	_, openErr := Open(path)
	for _, err := range []error{openErr, problems[0]} {
		should.Hold(t, errors.Is(err, ErrZstd) && errors.Is(err, corrupt.ErrVersion) && errors.Is(err, corrupt.ErrCorrupt), "%v", err)
		want := path + ": header: this layer is compressed with zstd, which this version does not read: " +
			"solve it again, or export it with a version up to eda0409 and import that (docs/export.md)"
		should.Hold(t, err.Error() == want, "%v, want %s", err, want)
	}
}

// TestDumpInDocument compares the annotated dump in docs/format/layer-file.md with the golden file for lz4.
func TestDumpInDocument(t *testing.T) {
	_, dump, _ := strings.Cut(string(must.Read(t, "../../docs/format/layer-file.md")), "```dump\n")
	dump, _, _ = strings.Cut(dump, "```\n")
	want := must.Read(t, goldenDump("lz4"))
	should.Hold(t, dump == string(want), "the dump should be\n%s", want)
}

// dumpWidth is the width of the bytes in a line of a dump.
const dumpWidth = 16*3 - 1

// annotate returns a dump of a file of two blocks, a line for each field.
func annotate(data []byte) string {
	le := binary.LittleEndian
	index := int(le.Uint64(data[len(data)-footerSize:]))
	first := int(le.Uint64(data[index:]))
	second := int(le.Uint64(data[index+indexEntrySize:]))
	type field struct {
		n       int
		comment string
	}
	below := make([]field, 2*int(le.Uint16(data[hBelow:])))
	for i := range below {
		below[i] = []field{{2, "below: seeds"}, {8, "FNV-1a-64 of its scores"}}[i%2]
	}
	fields := slices.Concat([]field{
		{8, "header: magic"}, {4, "format version"}, {2, "pits"}, {2, "seeds"},
		{16, "game"}, {16, "rules"}, {1, "codec"}, {1, "transform"}, {2, "layers below"},
		{4, "scores in a block"}, {8, "positions"}, {8, "blocks"}, {4, "length of the model"}, {4, "CRC-32C of layers below and model"}, {4, "CRC-32C of bytes 0 to 79"},
	}, below, []field{
		{1, "model: lowest score"}, {1, "symbols"}, {6, "usual list"}, {first - headerSize - 5*len(below) - 8, "lists of the contexts"},
		{second - first, "block 0: ranks, compressed"}, {index - second, "block 1: plain scores"},
		{8, "index, block 0: offset"}, {4, "length"}, {4, "flags"}, {4, "CRC-32C of the stored bytes"}, {4, "CRC-32C of the scores"},
		{8, "index, block 1: offset"}, {4, "length"}, {4, "flags: plain"}, {4, "CRC-32C of the stored bytes"}, {4, "CRC-32C of the scores"},
		{8, "footer: offset of the index"}, {8, "length of the index"}, {4, "CRC-32C of the index"}, {4, "CRC-32C of the header, its last field"},
		{8, "FNV-1a-64 of the scores"}, {8, "wins"}, {8, "draws"}, {8, "losses"}, {8, "length of the file"},
		{4, "CRC-32C of bytes 0 to 63 of the footer"}, {8, "magic"},
	})
	var out strings.Builder
	at := 0
	for _, f := range fields {
		for i := 0; i < f.n; i += 16 {
			part := data[at+i : at+min(i+16, f.n)]
			line := fmt.Sprintf("%4d  %-*s", at+i, dumpWidth, fmt.Sprintf("% x", part))
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
