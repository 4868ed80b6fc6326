package layerfile

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
)

// smallFile returns the bytes of a file of three blocks, the second one
// incompressible, and its scores.
func smallFile(t testing.TB) ([]byte, []int8) {
	r := rand.New(rand.NewPCG(3, 4))
	scores := slices.Concat(layerScores(r, 128), noise(r, 128), layerScores(r, 60))
	path := filepath.Join(t.TempDir(), "small.gl")
	writeFile(t, path, testHeader(128, len(scores)), scores)
	return must.Read(t, path), scores
}

// mustBeCorrupt checks that a file with the given bytes can neither be read nor
// pass a check, whether its index is read whole or in parts. Every error must be one of corruption and name the file.
func mustBeCorrupt(t *testing.T, path string, data []byte, what string, args ...any) {
	t.Helper()
	must.Write(t, path, data)
	_, err := readAll(path)
	_, problems := check(path)
	if err == nil || len(problems) == 0 {
		t.Fatalf(what+": not noticed", args...)
	}
	if got, err := readParts(data); got != nil || !errors.Is(err, corrupt.ErrCorrupt) {
		t.Fatalf(what+": read with its index in parts: %v", append(args, err)...)
	}
	for _, err := range append(problems, err) {
		if !errors.Is(err, corrupt.ErrCorrupt) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Fatalf(what+": %v", append(args, err)...)
		}
	}
}

// eachByte gives the numbers of all n bytes of a file, or if there is little time of every third one
// from any on.
func eachByte(n int) iter.Seq[int] {
	first, step := 0, 1
	if !tries.Long() {
		first, step = rand.IntN(3), 3
	}
	return func(yield func(int) bool) {
		for i := first; i < n && yield(i); i += step {
		}
	}
}

// TestLongEveryBitFlip flips each bit of a file, or one of every third byte if there is little time.
func TestLongEveryBitFlip(t *testing.T) {
	step := tries.More(8, 1)
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "flipped.gl")
	for i := range eachByte(len(data)) {
		for bit := i % step; bit < 8; bit += step {
			data[i] ^= 1 << bit
			mustBeCorrupt(t, path, data, "bit %d of byte %d flipped", bit, i)
			data[i] ^= 1 << bit
		}
	}
}

func TestLongEveryTruncation(t *testing.T) {
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "truncated.gl")
	for n := range eachByte(len(data)) {
		mustBeCorrupt(t, path, data[:n], "cut to %d bytes", n)
		if f, err := Open(path); err == nil {
			f.Close()
			t.Fatalf("a file cut to %d of %d bytes can be opened", n, len(data))
		}
	}
}

func TestNothingAfterFooter(t *testing.T) {
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "longer.gl")
	for _, tail := range [][]byte{{0}, {'\n'}, make([]byte, 4096), data[len(data)-footerSize:], data} {
		mustBeCorrupt(t, path, slices.Concat(data, tail), "%d bytes appended", len(tail))
	}
}

// TestLongResealed changes every byte behind valid checksums. The file may still be
// readable, but then the scores are the right ones or the check complains.
func TestLongResealed(t *testing.T) {
	flips, each := []byte{1, 0x80, 0xff}, 1
	if tries.Long() {
		each = len(flips)
	}
	data, scores := smallFile(t)
	path := filepath.Join(t.TempDir(), "resealed.gl")
	for i := range eachByte(len(data)) {
		for k := range each {
			x, forged := flips[(i+k)%len(flips)], slices.Clone(data)
			forged[i] ^= x
			must.Write(t, path, layerfiletest.Reseal(forged))
			got, err := readAll(path)
			_, problems := check(path)
			must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "byte %d: %v", i, err)
			must.Not(t, !slices.Equal(got, scores) && len(problems) == 0, "byte %d: other scores, no problem", i)
		}
	}
}

func TestOrderOfChecks(t *testing.T) {
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "other.gl")
	tests := []struct {
		name   string
		damage func(b []byte) []byte
		want   error
		part   string
	}{
		{"empty", func(b []byte) []byte { return nil }, nil, "header: truncated"},
		{"text", func(b []byte) []byte { return []byte("Dear reader,\n") }, corrupt.ErrForeign, "header: "},
		{"magic", func(b []byte) []byte { b[1] = 'X'; return b }, corrupt.ErrForeign, "header: "},
		{"older", func(b []byte) []byte { b[hVersion] = 1; return b }, corrupt.ErrVersion, "version 1"},
		{"newer", func(b []byte) []byte { b[hVersion] = 4; return b }, corrupt.ErrVersion, "version 4"},
		{"newer codec", func(b []byte) []byte { b[hCodec] = 9; return layerfiletest.Reseal(b) }, corrupt.ErrVersion, "codec 9"},
		{"newer transform", func(b []byte) []byte { b[hTransform] = 9; return layerfiletest.Reseal(b) }, corrupt.ErrVersion, "transform 9"},
		{"header", func(b []byte) []byte { b[hPits] = 3; return b }, nil, "header: checksum"},
		{"name", func(b []byte) []byte { b[hGame] = 'A'; return layerfiletest.Reseal(b) }, nil, "header: bad layer header: name of the game"},
		{"layers below in version 2", func(b []byte) []byte { b[hBelow] = 1; return layerfiletest.Reseal(b) }, nil, "header: version 2 names 1 layers below"},
		{"none in version 3", func(b []byte) []byte { b[hVersion] = 3; return layerfiletest.Reseal(b) }, nil, "header: version 3 names 0 layers below"},
		{"too many", func(b []byte) []byte { b[hVersion], b[hBelow+1] = 3, 4; return layerfiletest.Reseal(b) }, nil, "header: version 3 names 1024 layers below"},
		{"footer", func(b []byte) []byte { b[len(b)-footerSize+fWin]++; return b }, nil, "footer: checksum"},
		{"index", func(b []byte) []byte { b[len(b)-footerSize-1]++; return b }, nil, "index: checksum"},
		{"model", func(b []byte) []byte { b[headerSize]++; return b }, nil, "model: checksum"},
		{"longer model", func(b []byte) []byte {
			b[hModelLen+2] = 0x30
			return append(layerfiletest.Reseal(b), make([]byte, maxModel+1<<20)...)
		}, nil, "model: 31"},
		{"no model", func(b []byte) []byte { b[hModelLen], b[hModelLen+1] = 0, 0; return layerfiletest.Reseal(b) }, nil, "index: block 0 begins"},
		{"block", func(b []byte) []byte { b[headerSize+len(testModel)]++; return b }, nil, "block 0: checksum of the stored bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mustBeCorrupt(t, path, tt.damage(bytes.Clone(data)), "damaged")
			_, err := readAll(path)
			should.Not(t, tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.part),
				"got %q, want %v and %q", err, tt.want, tt.part)
			should.Not(t, tt.want == nil && (errors.Is(err, corrupt.ErrForeign) || errors.Is(err, corrupt.ErrVersion)),
				"%q is taken for foreign or newer", err)
		})
	}
}

func TestCheckReportsEverything(t *testing.T) {
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "damaged.gl")
	first := parseEntry(data[len(data)-footerSize-3*indexEntrySize:])
	last := parseEntry(data[len(data)-footerSize-indexEntrySize:])
	data[first.offset]++
	data[last.offset]++
	must.Write(t, path, data)
	if _, problems := check(path); len(problems) != 2 ||
		!strings.Contains(problems[0].Error(), ": block 0: ") || !strings.Contains(problems[1].Error(), ": block 2: ") {
		t.Errorf("two damaged blocks: %v", problems)
	}
	data[hSeeds]++
	data[len(data)-footerSize]++
	must.Write(t, path, data)
	if _, problems := check(path); len(problems) != 2 ||
		!strings.Contains(problems[0].Error(), ": header: ") || !strings.Contains(problems[1].Error(), ": footer: ") {
		t.Errorf("damaged header and footer: %v", problems)
	}
}

func TestCheckNoticesWrongSums(t *testing.T) {
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "sums.gl")
	footer := data[len(data)-footerSize:]
	footer[fHash]++
	footer[fWin]++
	footer[fLoss]--
	must.Write(t, path, layerfiletest.Reseal(data))
	_, problems := check(path)
	should.Hold(t, len(problems) == 2 && strings.Contains(problems[0].Error(), "hash") && strings.Contains(problems[1].Error(), "wins"),
		"%v", problems)
}

func TestNotAFile(t *testing.T) {
	should.Be(t, must.Err(Open(t.TempDir())), corrupt.ErrForeign, "a directory")
	_, err := Open(filepath.Join(t.TempDir(), "none.gl"))
	should.Not(t, !errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt), "no file: %v", err)
}
