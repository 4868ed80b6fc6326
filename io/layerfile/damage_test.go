package layerfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// smallFile returns the bytes of a file of three blocks, the second one incompressible, and its scores.
func smallFile(t testing.TB) ([]byte, []int8) {
	r := rand.New(rand.NewPCG(3, 4))
	scores := slices.Concat(layerScores(r, 128), noise(r, 128), layerScores(r, 60))
	path := filepath.Join(t.TempDir(), "small.gl")
	writeFile(t, path, testHeader(128, len(scores)), scores)
	return must.Read(t, path), scores
}

// mustBeCorrupt checks that a file with the given bytes can neither be read nor pass a check, whether its index is read whole or in
// parts, nor a scrub, which decodes nothing. Every error must be one of corruption and name the file.
func mustBeCorrupt(t *testing.T, path string, data []byte, what string, args ...any) {
	t.Helper()
	must.Write(t, path, data)
	_, err := readAll(path)
	_, problems := check(path)
	if found, _ := scrubbed(t, path, 0); err == nil || len(problems) == 0 || len(found) == 0 {
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

// eachByte gives the numbers of all n bytes of a file, or if there is little time of every third one from any on.
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

// TestLongEveryTruncation also has bytes after the footer.
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

	data, _ = smallFile(t)
	footer := data[len(data)-footerSize:]
	footer[fHash]++
	footer[fWin]++
	footer[fLoss]--
	must.Write(t, path, layerfiletest.Reseal(data))
	_, problems := check(path)
	should.Hold(t, len(problems) == 2 && strings.Contains(problems[0].Error(), "hash") && strings.Contains(problems[1].Error(), "wins"),
		"wrong sums: %v", problems)
}

func TestNotAFile(t *testing.T) {
	should.Be(t, must.Err(Open(t.TempDir())), corrupt.ErrForeign, "a directory")
	_, err := Open(filepath.Join(t.TempDir(), "none.gl"))
	should.Not(t, !errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt), "no file: %v", err)
}

// manyBlocks writes a file whose blocks are several parts of the index, and several pieces.
func manyBlocks(t *testing.T) (path string, blocks int) {
	t.Helper()
	const size = 2048
	scores := noise(rand.New(rand.NewPCG(1, 2)), size*(scrubEntries+scrubEntries/2)-100)
	path = filepath.Join(t.TempDir(), "layer.gl")
	h := Header{
		Game: "awari", Rules: "awari", Pits: 12, Seeds: 9, Codec: LZ4, Transform: Ranks,
		BlockSize: size, Positions: uint64(len(scores)),
	}
	writeFile(t, path, h, scores)
	return path, h.Blocks()
}

// scrubbed returns the problems of a file, and how far the scrub came.
func scrubbed(t *testing.T, path string, from int) (problems []string, last Scrubbed) {
	t.Helper()
	f, bad, err := Inspect(path)
	must.OK(t, err)
	defer f.Close()
	for _, p := range bad {
		problems = append(problems, p.Error())
	}
	if len(bad) > 0 {
		return problems, last
	}
	progress := func(p Scrubbed) {
		should.Not(t, p.Block <= last.Block || p.Bytes <= last.Bytes, "progress from %v to %v", last, p)
		last = p
	}
	report := func(err error) {
		should.Be(t, err, corrupt.ErrCorrupt, "is no corruption")
		problems = append(problems, err.Error())
	}
	must.OK(t, f.Scrub(t.Context(), from, f.NumBlocks(), 3, progress, report))
	return problems, last
}

// inspect opens a file in which nothing is wrong.
func inspect(t *testing.T, path string) *File {
	t.Helper()
	f, bad, err := Inspect(path)
	must.OK(t, errors.Join(append(bad, err)...))
	t.Cleanup(func() { f.Close() })
	return f
}

// TestScrubBlocks: every damaged block is found, in order.
func TestScrubBlocks(t *testing.T) {
	path, blocks := manyBlocks(t)
	problems, last := scrubbed(t, path, 0)
	all := must.Get(os.Stat(path))(t).Size() - headerSize - footerSize - int64(blocks)*indexEntrySize
	should.Hold(t, len(problems) == 0 && last == (Scrubbed{blocks, all}), "%d blocks of %d bytes: %v, %q", blocks, all, last, problems)
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer file.Close()
	for _, block := range []int64{0, 1, 2049, 4095, 4096, int64(blocks) - 1} {
		var b [1]byte
		offset := headerSize + block*2048 + 7
		must.OK(t, must.Err(file.ReadAt(b[:], offset)))
		b[0] ^= 4
		must.OK(t, must.Err(file.WriteAt(b[:], offset)))
	}
	problems, _ = scrubbed(t, path, 0)
	for i, want := range []string{"block 0:", "block 1:", "block 2049:", "block 4095:", "block 4096:", "block 6143:"} {
		must.Hold(t, len(problems) == 6 && strings.Contains(problems[i], want+" checksum of the stored bytes "),
			"%q lacks %s", problems, want)
	}
	problems, last = scrubbed(t, path, 4096)
	should.Hold(t, len(problems) == 2 && last.Block == blocks && last.Bytes == all-4096*2048, "from block 4096 on: %q, %v", problems, last)
	f := inspect(t, path)
	for end, want := range map[int]int{1: 0, 2: 1, 2049: 1, 2050: 2, 4096: 3, 4097: 4} { // of the damaged blocks, from block 1 on
		found, last := 0, Scrubbed{Block: 1}
		must.OK(t, f.Scrub(t.Context(), 1, end, 2, func(p Scrubbed) { last = p }, func(error) { found++ }))
		should.Hold(t, found == want && last.Block == end && last.Bytes == int64(end-1)*2048,
			"blocks 1 to %d: %d problems, %v", end-1, found, last)
	}
}

// spoilt is a source of which one byte cannot be read.
type spoilt struct {
	source
	at int64
}

func (s spoilt) read(ctx context.Context, dst []byte, offset int64) error {
	if offset <= s.at && s.at < offset+int64(len(dst)) {
		return syscall.EIO
	}
	return s.source.read(ctx, dst, offset)
}

// TestScrubUnreadable: of a piece that cannot be read as a whole, the block that cannot be read is named, and no other.
func TestScrubUnreadable(t *testing.T) {
	path, _ := manyBlocks(t)
	f := inspect(t, path)
	f.source = spoilt{f.source, headerSize + 3*2048 + 5}
	var problems []string
	must.OK(t, f.Scrub(t.Context(), 0, f.NumBlocks(), 3, func(Scrubbed) {}, func(err error) { problems = append(problems, err.Error()) }))
	should.Hold(t, len(problems) == 1 && strings.Contains(problems[0], "block 3: "), "%q", problems)
}

// TestScrubTruncated cuts a file that is open.
func TestScrubTruncated(t *testing.T) {
	path, blocks := manyBlocks(t)
	f := inspect(t, path)
	must.OK(t, os.Truncate(path, headerSize+5*2048+100))
	count := 0
	err := f.Scrub(t.Context(), 0, f.NumBlocks(), 1, func(Scrubbed) {}, func(error) { count++ })
	// Either the index was read before, and blocks are missing, or it is missing.
	should.Not(t, !errors.Is(err, corrupt.ErrCorrupt) && (err != nil || count < blocks/3), "%d problems of %d, %v", count, blocks, err)
}

func TestScrubEnds(t *testing.T) {
	path, _ := manyBlocks(t)
	f := inspect(t, path)
	none := func(error) { t.Error("a problem") }
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Scrub(ctx, 0, f.NumBlocks(), 2, func(Scrubbed) { cancel() }, none)
	should.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	must.OK(t, f.Close())
	should.Be(t, f.Scrub(t.Context(), 0, f.NumBlocks(), 2, func(Scrubbed) {}, none), os.ErrClosed, "closed")
}

// TestInspect distinguishes foreign entries from damaged ones.
func TestInspect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer.gl")
	text := golden(t, "lz4")
	newer := slices.Clone(text)
	newer[8] = Version + 1
	for _, c := range []struct {
		name           string
		text           []byte
		known, strange bool
	}{
		{"empty", nil, false, false},
		{"foreign", []byte("Dear diary"), false, true},
		{"newer", newer, false, true},
		{"short", text[:50], false, false},
		{"cut", text[:len(text)-1], true, false},
	} {
		must.Write(t, path, c.text)
		f, problems, err := Inspect(path)
		must.OK(t, err)
		if h := f.Header(); len(problems) == 0 || h.Known() != c.known || Strange(problems) != c.strange {
			t.Errorf("%s: known %v, strange %v, %v", c.name, h.Known(), Strange(problems), problems)
		}
		f.Close()
	}
	should.Be(t, must.Err(Inspect(t.TempDir())), corrupt.ErrForeign, "a directory")
	should.Be(t, must.Err(CheckSparing(t.Context(), path, cpu.Generic, 3, nil, func(error) {})), corrupt.ErrCorrupt, "CheckSparing")
}

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
	return file.NewDecoder(family), nil
}

// TestBound: scores that the game does not have are no scores, however they are stored and whatever the checksums say.
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
			possible := max(int(score), -int(score)) <= most
			right := func(err error, equal bool, text string) bool {
				return possible && err == nil && equal || !possible && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), text)
			}
			for _, path := range []string{packed, plain} {
				f := must.Get(Open(path))(t)
				f.Bound(most)
				d := f.NewDecoder(family)
				got, err := d.Block(t.Context(), 0, nil)
				should.Hold(t, right(err, slices.Equal(got, scores), "block 0: score 0 of 100 is "), "%s, score %d, bound %d: %v", path, score, most, err)
				one, err := d.Score(t.Context(), 77)
				should.Hold(t, right(err, one == score, "block 0: score 77 of 100 is "), "%s, bound %d: score %d is %d, %v", path, most, score, one, err)
				f.Close()
			}
		}
	}
}

// TestForged has headers, indexes and footers of all kinds under right checksums: each is an error that says what is wrong, at once.
func TestForged(t *testing.T) {
	two := []layerfiletest.Block{layerfiletest.Plain(make([]int8, 64)), layerfiletest.Plain(make([]int8, 6))}
	type file = layerfiletest.File
	header := func(set func(*layerfiletest.Header)) file { return file{Blocks: two, Header: set} }
	entry := func(set func(i int, e *layerfiletest.Entry)) file { return file{Blocks: two, Entry: set} }
	footer := func(set func(*layerfiletest.Footer)) file { return file{Blocks: two, Footer: set} }
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
	must.Write(t, path, data[:layerfiletest.HeaderSize])
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	_, err := file.WriteAt(data[layerfiletest.HeaderSize:], int64(length)-int64(len(data)-layerfiletest.HeaderSize))
	if err = errors.Join(err, file.Close()); err != nil {
		t.Skip(err) // no such files here
	}
	_, err = Open(path)
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), "index: block 0 begins at 0"), "error %v", err)
}

// FuzzFile feeds whole files, mapped and from afar, once as they are, once with the checksums of
// header, index and footer made to fit, and once with those of the blocks as well.
func FuzzFile(f *testing.F) {
	data, _ := smallFile(f)
	f.Add(data)
	path := filepath.Join(f.TempDir(), "fuzzed.gl")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, next := range []func([]byte) []byte{layerfiletest.Reseal, layerfiletest.ResealBlocks, bytes.Clone} {
			must.Write(t, path, data)
			scores, err := readAll(path)
			s, problems := check(path)
			for _, err := range problems {
				must.Be(t, err, corrupt.ErrCorrupt)
			}
			must.Not(t, len(problems) == 0 && (err != nil || s.Footer.Hash != tally.NewHash(family).Add(scores).Sum()),
				"checked, but cannot be read: %v", err)
			parts, partsErr := readParts(data)
			must.Not(t, partsErr != nil && !errors.Is(partsErr, corrupt.ErrCorrupt) || err == nil && !slices.Equal(parts, scores),
				"read in parts: %v", partsErr)
			if len(data) < headerSize+footerSize {
				return
			}
			data = next(bytes.Clone(data))
		}
	})
}

// FuzzHeader checks that a header that is accepted has no other encoding, but for the layers below and its model.
func FuzzHeader(f *testing.F) {
	h := testHeader(64, 70)
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == headerSize {
			b = bytes.Clone(b)
			copy(b, headerMagic+string([]byte{2 + b[hVersion]&1, 0, 0, 0}))
			binary.LittleEndian.PutUint32(b[hChecksum:], crc32c.Of(b[:hChecksum]))
		}
		got, err := parseHeader("f", b)
		if err != nil {
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		again := got.encode()
		copy(again[hVersion:hPits], b[hVersion:])
		copy(again[hBelow:hBlockSize], b[hBelow:])
		must.Hold(t, bytes.Equal(again[:hModelLen], b[:hModelLen]) && got.Blocks() >= 0, "%x becomes %x", b, got.encode())
	})
}

// FuzzForged feeds a model and a block that go under right checksums, those of the scores
// included: what is decoded is what the definition gives, and in bounds.
func FuzzForged(f *testing.F) {
	f.Add([]byte(testModel), []byte{1, 2, 3, 4}, uint16(9), int8(3))
	e := must.Get(NewEncoder(testHeader(512, 512), family))(f)
	var b Block
	must.OK(f, e.Encode(&b, layerScores(rand.New(rand.NewPCG(13, 14)), 512)))
	f.Add([]byte(testModel), b.stored, uint16(512), int8(20))
	longer := []byte{0x1f, 0, 1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0x00} // zeros of lz4, more than a block
	for _, none := range [][]byte{{0xff, 0xff, 0xff, 0xff, 0xff}, longer, {0}, {0x40, 0xff, 0xff, 0xff, 0xff}} {
		f.Add([]byte(testModel), none, uint16(64), int8(48))
	}
	f.Fuzz(func(t *testing.T, model, stored []byte, n uint16, most int8) {
		if n < 1 || len(stored) < 1 || len(stored) >= int(n) || most < 0 {
			return
		}
		scores := make([]int8, n)
		usable := ranks.Model(model).Check() == nil
		if usable {
			if want := expandBy(ranks.Model(model), int(n), stored); want != nil {
				scores = want
			}
		}
		forged := layerfiletest.File{Model: model, Blocks: []layerfiletest.Block{{Stored: stored, Scores: scores}}}
		data := forged.Encode()
		file := newFile("forged", &mapping{open: true, data: data})
		problems := file.load(t.Context(), int64(len(data)))
		must.Not(t, usable != (len(problems) == 0) && len(model) > 0, "model %q: %v", model, problems)
		if len(problems) > 0 {
			return
		}
		file.Bound(int(most))
		d := file.NewDecoder(family)
		got, err := d.Block(t.Context(), 0, nil)
		must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt) || err == nil && within(got, int(most)) != nil, "%v: %v", got, err)
		decodes := usable && expandBy(ranks.Model(model), int(n), stored) != nil
		must.Not(t, decodes && within(scores, int(most)) == nil && !slices.Equal(got, scores), "%v: %v, want %v", err, got, scores)
		for i := range min(int(n), 100) {
			score, one := d.Score(t.Context(), uint64(i))
			must.Not(t, one != nil && !errors.Is(one, corrupt.ErrCorrupt) || one == nil && int(max(score, -score)) > int(most) || err == nil && (one != nil || score != got[i]),
				"score %d: %d, %v; the block: %v, %v", i, score, one, got, err)
		}
	})
}

// expandBy returns the scores of a block under a model, nil if it cannot be decoded.
func expandBy(model ranks.Model, n int, stored []byte) []int8 {
	var z lz4Codec
	code, err := z.decompress(make([]byte, n), stored)
	if err != nil {
		return nil
	}
	scores := make([]int8, n)
	if rice.For(family).Join(tally.Bytes(scores), code) != nil {
		return nil
	}
	ranks.For(family).Scores(ranks.NewDecoding(model), tally.Bytes(scores))
	return scores
}
