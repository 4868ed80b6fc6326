package layerfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
	what = fmt.Sprintf(what, args...)
	must.Write(t, path, data)
	_, err := readAll(path)
	_, problems := check(path)
	found, _ := scrubbed(t, path, 0)
	must.Not(t, err == nil || len(problems) == 0 || len(found) == 0, "%s: not noticed", what)
	got, inParts := readParts(data)
	must.Hold(t, got == nil && errors.Is(inParts, corrupt.ErrCorrupt), "%s: read with its index in parts: %v", what, inParts)
	for _, err := range append(problems, err) {
		must.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.HasPrefix(err.Error(), path+": "), "%s: %v", what, err)
	}
}

// eachByte gives the numbers of all n bytes of a file, or if there is little time of every fifth one from any on.
func eachByte(n int) iter.Seq[int] {
	first, step := 0, 1
	if !tries.Long() {
		first, step = rand.IntN(5), 5
	}
	return func(yield func(int) bool) {
		for i := first; i < n && yield(i); i += step {
		}
	}
}

// TestLongEveryByte flips each bit of a file, or one of every fifth byte if there is little time, cuts the file there, and lengthens it.
func TestLongEveryByte(t *testing.T) {
	step := tries.More(8, 1)
	data, _ := smallFile(t)
	path := filepath.Join(t.TempDir(), "damaged.gl")
	for i := range eachByte(len(data)) {
		mustBeCorrupt(t, path, data[:i], "cut to %d bytes", i)
		should.Not(t, must.Err(Open(path)) == nil, "a file cut to %d of %d bytes can be opened", i, len(data))
		for bit := i % step; bit < 8; bit += step {
			data[i] ^= 1 << bit
			mustBeCorrupt(t, path, data, "bit %d of byte %d flipped", bit, i)
			data[i] ^= 1 << bit
		}
	}
	for _, tail := range [][]byte{{0}, {'\n'}, make([]byte, 4096), data[len(data)-footerSize:], data} {
		mustBeCorrupt(t, path, slices.Concat(data, tail), "%d bytes appended", len(tail))
	}
}

// TestLongResealed changes every byte behind valid checksums. The file may still be
// readable, but then the scores are the right ones or the check complains.
func TestLongResealed(t *testing.T) {
	flips := []byte{1, 0x80, 0xff}
	data, scores := smallFile(t)
	path := filepath.Join(t.TempDir(), "resealed.gl")
	for i := range eachByte(len(data)) {
		for k := range tries.More(1, len(flips)) {
			forged := slices.Clone(data)
			forged[i] ^= flips[(i+k)%len(flips)]
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
	set := func(at int, to byte) func([]byte) []byte { return func(b []byte) []byte { b[at] = to; return b } }
	resealed := func(at int, to byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = to; return layerfiletest.Reseal(b) }
	}
	more := func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at]++; return b } }
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		want   error
		part   string
	}{
		"empty":                     {func([]byte) []byte { return nil }, nil, "header: truncated"},
		"text":                      {func([]byte) []byte { return []byte("Dear reader,\n") }, corrupt.ErrForeign, "header: "},
		"magic":                     {set(1, 'X'), corrupt.ErrForeign, "header: "},
		"older":                     {set(hVersion, 1), corrupt.ErrVersion, "version 1"},
		"newer":                     {set(hVersion, 4), corrupt.ErrVersion, "version 4"},
		"newer codec":               {resealed(hCodec, 9), corrupt.ErrVersion, "codec 9"},
		"newer transform":           {resealed(hTransform, 9), corrupt.ErrVersion, "transform 9"},
		"header":                    {set(hPits, 3), nil, "header: checksum"},
		"name":                      {resealed(hGame, 'A'), nil, "header: bad layer header: name of the game"},
		"layers below in version 2": {resealed(hBelow, 1), nil, "header: version 2 names 1 layers below"},
		"none in version 3":         {resealed(hVersion, 3), nil, "header: version 3 names 0 layers below"},
		"too many": {func(b []byte) []byte { b[hVersion], b[hBelow+1] = 3, 4; return layerfiletest.Reseal(b) }, nil,
			"header: version 3 names 1024 layers below"},
		"footer": {more(len(data) - footerSize + fWin), nil, "footer: checksum"},
		"index":  {more(len(data) - footerSize - 1), nil, "index: checksum"},
		"model":  {more(headerSize), nil, "model: checksum"},
		"longer model": {func(b []byte) []byte {
			b[hModelLen+2] = 0x30
			return append(layerfiletest.Reseal(b), make([]byte, maxModel+1<<20)...)
		}, nil, "model: 31"},
		"no model": {func(b []byte) []byte { b[hModelLen], b[hModelLen+1] = 0, 0; return layerfiletest.Reseal(b) }, nil, "index: block 0 begins"},
		"block":    {more(headerSize + len(testModel)), nil, "block 0: checksum of the stored bytes"},
	} {
		mustBeCorrupt(t, path, c.damage(bytes.Clone(data)), "%s", name)
		err := must.Err(readAll(path))
		should.Says(t, err, cmp.Or(c.want, corrupt.ErrCorrupt), c.part)
		should.Not(t, c.want == nil && (errors.Is(err, corrupt.ErrForeign) || errors.Is(err, corrupt.ErrVersion)),
			"%s: %q is taken for foreign or newer", name, err)
	}
}

func TestCheckReportsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.gl")
	reports := func(what string, data []byte, first, second string) {
		t.Helper()
		must.Write(t, path, data)
		_, problems := check(path)
		should.Hold(t, len(problems) == 2 && strings.Contains(problems[0].Error(), first) && strings.Contains(problems[1].Error(), second),
			"%s: %v", what, problems)
	}
	data, _ := smallFile(t)
	index, footer := data[len(data)-footerSize-3*indexEntrySize:], data[len(data)-footerSize:]
	data[parseEntry(index).offset]++
	data[parseEntry(index[2*indexEntrySize:]).offset]++
	reports("two damaged blocks", data, ": block 0: ", ": block 2: ")
	data[hSeeds]++
	footer[0]++
	reports("damaged header and footer", data, ": header: ", ": footer: ")

	data, _ = smallFile(t)
	footer = data[len(data)-footerSize:]
	footer[fHash]++
	footer[fWin]++
	footer[fLoss]--
	reports("wrong sums", layerfiletest.Reseal(data), "hash", "wins")
}

// scrubbed returns the problems of a file, and how far the scrub came.
func scrubbed(t *testing.T, path string, from int) (problems []string, last Scrubbed) {
	t.Helper()
	f, bad, err := Inspect(path)
	must.OK(t, err)
	defer f.Close()
	report := func(err error) {
		should.Be(t, err, corrupt.ErrCorrupt, "is no corruption")
		problems = append(problems, err.Error())
	}
	for _, p := range bad {
		report(p)
	}
	if len(bad) > 0 {
		return problems, last
	}
	progress := func(p Scrubbed) {
		should.Not(t, p.Block <= last.Block || p.Bytes <= last.Bytes, "progress from %v to %v", last, p)
		last = p
	}
	must.OK(t, f.Scrub(t.Context(), from, f.NumBlocks(), 3, progress, report))
	return problems, last
}

// TestScrub reads a file whose blocks are several parts of the index, and several pieces: every damaged block is found, in order; of a
// piece that cannot be read as a whole, the block that cannot be read is named, and no other.
func TestScrub(t *testing.T) {
	const size = 2048
	h := testHeader(size, size*(scrubEntries+scrubEntries/2)-100)
	h.Model = ""
	path, blocks := filepath.Join(t.TempDir(), "layer.gl"), h.Blocks()
	written := writeFile(t, path, h, slices.Repeat(noise(rand.New(rand.NewPCG(1, 2)), 64*size), scrubEntries*3/2/64)[:h.Positions])
	all := written.Footer.Bytes - headerSize - footerSize - int64(blocks)*indexEntrySize
	problems, last := scrubbed(t, path, 0)
	should.Hold(t, len(problems) == 0 && last == (Scrubbed{blocks, all}), "%d blocks of %d bytes: %v, %q", blocks, all, last, problems)

	f, bad, err := Inspect(path)
	must.OK(t, errors.Join(append(bad, err)...))
	whole := f.source
	f.source = spoilt{whole, headerSize + 3*size + 5}
	must.OK(t, f.Scrub(t.Context(), 0, blocks, 3, func(Scrubbed) {}, func(err error) { problems = append(problems, err.Error()) }))
	should.Hold(t, len(problems) == 1 && strings.Contains(problems[0], "block 3: "), "%q", problems)
	f.source = whole
	ctx, cancel := context.WithCancel(t.Context())
	err = f.Scrub(ctx, 0, blocks, 2, func(Scrubbed) { cancel() }, func(error) { t.Error("a problem") })
	should.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)

	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer file.Close()
	for _, block := range []int64{0, 1, 2049, 4095, 4096, int64(blocks) - 1} {
		var b [1]byte
		offset := headerSize + block*size + 7
		must.OK(t, must.Err(file.ReadAt(b[:], offset)))
		b[0] ^= 4
		must.OK(t, must.Err(file.WriteAt(b[:], offset)))
	}
	problems, _ = scrubbed(t, path, 0)
	for i, want := range []string{"block 0:", "block 1:", "block 2049:", "block 4095:", "block 4096:", "block 6143:"} {
		must.Hold(t, len(problems) == 6 && strings.Contains(problems[i], want+" checksum of the stored bytes "), "%q lacks %s", problems, want)
	}
	problems, last = scrubbed(t, path, 4096)
	should.Hold(t, len(problems) == 2 && last.Block == blocks && last.Bytes == all-4096*size, "from block 4096 on: %q, %v", problems, last)
	for end, want := range map[int]int{1: 0, 2: 1, 2049: 1, 2050: 2, 4096: 3, 4097: 4} { // of the damaged blocks, from block 1 on
		found, last := 0, Scrubbed{Block: 1}
		must.OK(t, f.Scrub(t.Context(), 1, end, 2, func(p Scrubbed) { last = p }, func(error) { found++ }))
		should.Hold(t, found == want && last.Block == end && last.Bytes == int64(end-1)*size, "blocks 1 to %d: %d problems, %v", end-1, found, last)
	}

	must.OK(t, os.Truncate(path, headerSize+5*size+100))
	count := 0
	err = f.Scrub(t.Context(), 0, blocks, 1, func(Scrubbed) {}, func(error) { count++ })
	// Either the index was read before, and blocks are missing, or it is missing.
	should.Not(t, !errors.Is(err, corrupt.ErrCorrupt) && (err != nil || count < blocks/3), "%d problems of %d, %v", count, blocks, err)
	must.OK(t, f.Close())
	should.Be(t, f.Scrub(t.Context(), 0, blocks, 2, func(Scrubbed) {}, func(error) {}), os.ErrClosed, "closed")
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

// TestInspect distinguishes foreign entries from damaged ones.
func TestInspect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer.gl")
	should.Be(t, must.Err(Open(t.TempDir())), corrupt.ErrForeign, "a directory")
	should.Be(t, must.Err(Inspect(t.TempDir())), corrupt.ErrForeign, "a directory")
	err := must.Err(Open(path))
	should.Not(t, !errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt), "no file: %v", err)
	text := golden(t, "lz4")
	newer := slices.Clone(text)
	newer[8] = Version + 1
	for name, c := range map[string]struct {
		text           []byte
		known, strange bool
	}{
		"empty": {nil, false, false}, "foreign": {[]byte("Dear diary"), false, true}, "newer": {newer, false, true}, "short": {text[:50], false, false},
		"cut": {text[:len(text)-1], true, false},
	} {
		must.Write(t, path, c.text)
		f, problems, err := Inspect(path)
		must.OK(t, err)
		h := f.Header()
		should.Not(t, len(problems) == 0 || h.Known() != c.known || Strange(problems) != c.strange,
			"%s: known %v, strange %v, %v", name, h.Known(), Strange(problems), problems)
		f.Close()
	}
	must.Write(t, path, text[:len(text)-1])
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
	for _, score := range []int8{0, 3, 4, -4, 49, 127, -127, -128} {
		scores := slices.Repeat([]int8{score}, 100)
		for _, model := range []ranks.Model{modelOf(scores, score, score), ""} {
			h := testHeader(100, 100)
			h.Model = model
			path := filepath.Join(t.TempDir(), "layer.gl")
			writeFile(t, path, h, scores)
			for _, most := range []int{0, 3, 48, 127, 128} {
				f := must.Get(Open(path))(t)
				f.Bound(most)
				d := f.NewDecoder(family)
				got, err := d.Block(t.Context(), 0, nil)
				one, oneErr := d.Score(t.Context(), 77)
				if max(int(score), -int(score)) <= most {
					should.Hold(t, errors.Join(err, oneErr) == nil && slices.Equal(got, scores) && one == score,
						"score %d, bound %d: %v, %d; %v, %v", score, most, got, one, err, oneErr)
				} else {
					should.Says(t, err, corrupt.ErrCorrupt, "block 0: score 0 of 100 is ")
					should.Says(t, oneErr, corrupt.ErrCorrupt, "block 0: score 77 of 100 is ")
				}
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
		t.Run(name, func(t *testing.T) { should.Says(t, must.Err(forged(t, c.file, 48)), corrupt.ErrCorrupt, c.text) })
	}

	// A file that claims to be as long as a file can be is not read to its end.
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
	sparse := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	_, err := sparse.WriteAt(data[layerfiletest.HeaderSize:], int64(length)-int64(len(data)-layerfiletest.HeaderSize))
	if err = errors.Join(err, sparse.Close()); err != nil {
		t.Skip(err) // no such files here
	}
	should.Says(t, must.Err(Open(path)), corrupt.ErrCorrupt, "index: block 0 begins at 0")
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
		var want []int8 // nil if it cannot be decoded
		usable := ranks.Model(model).Check() == nil
		if usable {
			want = expandBy(ranks.Model(model), int(n), stored)
		}
		scores := make([]int8, n)
		copy(scores, want)
		data := (&layerfiletest.File{Model: model, Blocks: []layerfiletest.Block{{Stored: stored, Scores: scores}}}).Encode()
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
		must.Not(t, want != nil && within(scores, int(most)) == nil && !slices.Equal(got, scores), "%v: %v, want %v", err, got, scores)
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
