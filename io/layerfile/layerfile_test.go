package layerfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/io/corrupt"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/ranks"
)

var update = flag.Bool("update", false, "rewrite golden files")

const family = cpu.Generic

func testHeader(blockSize, positions int) Header {
	return Header{
		Game: "awari", Rules: "strict", Pits: 12, Seeds: 7,
		Codec: LZ4, Transform: Ranks, Model: testModel, BlockSize: blockSize, Positions: uint64(positions),
	}
}

var testModel = modelOf(layerScores(rand.New(rand.NewPCG(15, 16)), 2000), -maxTestScore, maxTestScore)

func modelOf(scores []int8, low, high int8) ranks.Model {
	n, err := ranks.NewCounts(low, high)
	if err != nil {
		panic(err)
	}
	n.Add(scores)
	return n.Model()
}

const maxTestScore = 5

// layerScores returns n scores that resemble a layer: small numbers, runs.
func layerScores(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	s := int8(0)
	for i := range out {
		if r.IntN(4) == 0 {
			s = int8(max(-maxTestScore, min(maxTestScore, r.NormFloat64()*3)))
		}
		out[i] = s
	}
	return out
}

// noise returns n scores that no codec can shrink.
func noise(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = int8(r.Uint32())
	}
	return out
}

func begin(t testing.TB, path string) *vfs.Pending { t.Helper(); return must.Get(vfs.Begin(path))(t) }

func writeFile(t testing.TB, path string, h Header, scores []int8) Summary {
	t.Helper()
	w := must.Get(Create(begin(t, path), h, family))(t)
	defer w.Abort()
	e := must.Get(NewEncoder(h, family))(t)
	var b Block
	for part := range slices.Chunk(scores, h.BlockSize) {
		must.OK(t, errors.Join(e.Encode(&b, part), w.Append(&b)))
	}
	s := must.Get(w.Finish())(t)
	must.OK(t, w.Publish())
	return s
}

// readAll returns the scores of a file, or the first error.
func readAll(path string) ([]int8, error) { return readBlocks(Open(path)) }

// readBlocks returns the scores of a file, unless it could not be opened, and closes it.
func readBlocks(f *File, err error) ([]int8, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := f.NewDecoder(family)
	var all, part []int8
	for i := range f.NumBlocks() {
		if part, err = d.Block(context.Background(), i, part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

func check(path string) (Summary, []error) {
	var problems []error
	s, err := Check(context.Background(), path, family, func(err error) { problems = append(problems, err) })
	if err != nil && len(problems) == 0 {
		problems = append(problems, err)
	}
	return s, problems
}

func TestLongRoundTrip(t *testing.T) {
	const size = 1000
	r := tries.Rand(t)
	for _, n := range []int{0, 1, 2, 7, 8, 9, size - 1, size, size + 1, 3 * size, 5*size + 13} {
		for name, make := range map[string]func(*rand.Rand, int) []int8{"layer": layerScores, "noise": noise} {
			t.Run(fmt.Sprintf("%d/%s", n, name), func(t *testing.T) { roundTrip(t, testHeader(size, n), make(r, n)) })
		}
	}
	every := make([]int8, 256)
	for i := range every {
		every[i] = int8(i - 128)
	}
	roundTrip(t, testHeader(2048, 8*256), slices.Repeat(every, 8))
	for _, n := range []int{MaxBlockSize - 1, MaxBlockSize, MaxBlockSize + 1} {
		for _, scores := range [][]int8{layerScores(r, n), noise(r, n), make([]int8, n)} {
			roundTrip(t, testHeader(MaxBlockSize, n), scores)
		}
	}
}

func roundTrip(t *testing.T, h Header, scores []int8) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer.gl")
	written := writeFile(t, path, h, scores)
	must.Hold(t, slices.Equal(must.Get(readAll(path))(t), scores), "other scores than those written")
	checked, problems := check(path)
	must.Not(t, len(problems) > 0, "%v", problems)
	should.Equal(t, cmp.Diff(written, checked, cmp.AllowUnexported(Footer{})), "", "summary written and read")
	should.Hold(t, written.Footer.Hash == tally.NewHash(cpu.Generic).Add(scores).Sum() && written.Histogram.Total() == uint64(len(scores)),
		"wrong sums")
	should.Equal(t, must.Get(os.Stat(path))(t).Size(), written.Footer.Bytes, "bytes")
	for _, family := range cpu.Available() { // single scores: those at the ends of blocks and lanes, and some between
		_, d := openDecoder(t, Open, path, family)
		for i := 0; i < len(scores); i += 1 + i%(1+len(scores)/tries.More(50, 200)) {
			must.Equal(t, must.Get(d.Score(t.Context(), uint64(i)))(t), scores[i], "%v: score %d is", family, i)
		}
		should.Be(t, must.Err(d.Score(t.Context(), uint64(len(scores)))), ErrRange, "score %d of %d", len(scores), len(scores))
	}
}

// TestRealBlock encodes and decodes a block of a solved layer with all families: they agree on every byte, and the block shrinks as it should.
func TestRealBlock(t *testing.T) {
	scores := realBlock(t)
	h := testHeader(len(scores), len(scores))
	h.Model = modelOf(scores, -20, 20)
	var want []byte
	for _, f := range cpu.Available() {
		var b Block
		must.OK(t, must.Get(NewEncoder(h, f))(t).Encode(&b, scores))
		if want == nil {
			want = slices.Clone(b.stored)
		}
		should.Not(t, !slices.Equal(b.stored, want) || float64(len(want)) > 0.44*float64(len(scores)), "%v: %d bytes", f, len(b.stored))
		d := must.Get(forged(t, layerfiletest.File{Model: []byte(h.Model), Blocks: []layerfiletest.Block{{Stored: b.stored, Scores: scores}}}, 48))(t)
		should.List(t, must.Get(d.Block(t.Context(), 0, nil))(t), scores, "%v", f)
		for i := 0; i < len(scores); i += 97 {
			must.Equal(t, must.Get(d.Score(t.Context(), uint64(i)))(t), scores[i], "%v: score %d is", f, i)
		}
	}
}

func eachOpener(t *testing.T, test func(t *testing.T, open func(path string) (*File, error))) {
	for name, open := range map[string]func(path string) (*File, error){
		"mapped": Open, "sparing": OpenSparing, "distant": openDistant(WholeIndex), "distant, long index": openDistant(0),
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func openFile(t *testing.T, open func(path string) (*File, error), size int, scores []int8) (*File, *Decoder) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer.gl")
	writeFile(t, path, testHeader(size, len(scores)), scores)
	return openDecoder(t, open, path, family)
}

// openDecoder opens a file, with a decoder, until the test ends.
func openDecoder(t testing.TB, open func(path string) (*File, error), path string, family cpu.Family) (*File, *Decoder) {
	t.Helper()
	f := must.Get(open(path))(t)
	t.Cleanup(func() { f.Close() })
	return f, f.NewDecoder(family)
}

func TestExpect(t *testing.T) {
	f, _ := openFile(t, Open, 64, make([]int8, 100))
	want := f.Header()
	want.BlockSize = 1
	should.OK(t, f.Expect(want))
	for name, change := range map[string]func(h *Header){
		"game awari does not match the expected chess":              func(h *Header) { h.Game = "chess" },
		"rules strict does not match the expected awari":            func(h *Header) { h.Rules = "awari" },
		"number of pits 12 does not match the expected 10":          func(h *Header) { h.Pits = 10 },
		"number of seeds 7 does not match the expected 8":           func(h *Header) { h.Seeds = 8 },
		"number of positions 100 does not match the expected 31824": func(h *Header) { h.Positions = 31824 },
	} {
		want := f.Header()
		change(&want)
		err := f.Expect(want)
		should.Hold(t, errors.Is(err, corrupt.ErrMismatch) && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), name),
			"%v, want %q", err, name)
	}
}

func TestReadRanges(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		scores := layerScores(rand.New(rand.NewPCG(5, 6)), 1000)
		_, d := openFile(t, open, 64, scores)
		rapid.Check(t, func(t *rapid.T) {
			from := rapid.IntRange(0, len(scores)).Draw(t, "from")
			n := rapid.IntRange(0, len(scores)-from).Draw(t, "n")
			dst := make([]int8, n)
			must.OK(t, d.Read(t.Context(), dst, uint64(from)))
			must.List(t, dst, scores[from:from+n])
		})
		for i, want := range scores {
			must.Equal(t, must.Get(d.Score(t.Context(), uint64(i)))(t), want, "score %d", i)
		}
		read := func(n int, rank uint64) error { return d.Read(t.Context(), make([]int8, n), rank) }
		should.OK(t, read(0, 1000))
		for i, err := range []error{
			must.Err(d.Block(t.Context(), -1, nil)), must.Err(d.Block(t.Context(), 16, nil)), must.Err(d.Score(t.Context(), 1000)),
			read(2, 999), read(0, 1001), read(0, 1<<63),
		} {
			should.Not(t, !errors.Is(err, ErrRange) || errors.Is(err, corrupt.ErrCorrupt), "out of range, case %d: %v", i, err)
		}
		dst := make([]int8, 0, 64)
		should.Equal(t, testing.AllocsPerRun(100, func() { d.Block(t.Context(), 0, dst) }), 0, "allocations for a block")
		should.Equal(t, testing.AllocsPerRun(100, func() { d.Score(t.Context(), 63) }), 0, "allocations for a score")
		got := must.Get(d.Block(t.Context(), 15, dst))(t)
		should.Hold(t, len(got) == 40 && &got[0] == &dst[:1][0], "%d scores", len(got))
	})
}

// TestDamagedWhileOpen overwrites an open file, and then provokes SIGBUS.
func TestDamagedWhileOpen(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		tries.SkipIf(t, runtime.GOOS == "windows", "a mapped file cannot be truncated")
		f, d := openFile(t, open, MaxBlockSize, noise(rand.New(rand.NewPCG(7, 8)), 3*MaxBlockSize))
		check := func(text string) {
			t.Helper()
			for i := range f.NumBlocks() {
				should.Says(t, must.Err(d.Block(t.Context(), i, nil)), corrupt.ErrCorrupt, text)
				should.Says(t, must.Err(d.Score(t.Context(), uint64(MaxBlockSize*i+7))), corrupt.ErrCorrupt, text)
			}
		}
		must.Write(t, f.Path(), bytes.Repeat([]byte{0xee}, int(f.Footer().Bytes)))
		check("")
		must.OK(t, os.Truncate(f.Path(), 100))
		check("truncated while open")
	})
}

// TestClose: an open file is read though another took its place, until it is closed, by whoever reads it then.
func TestClose(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		tries.SkipIf(t, runtime.GOOS == "windows", "a mapped file cannot be replaced")
		old := layerScores(rand.New(rand.NewPCG(9, 10)), 6400)
		f, d := openFile(t, open, 64, old)
		other := f.Path() + ".new"
		writeFile(t, other, testHeader(64, 300), make([]int8, 300))
		must.OK(t, os.Rename(other, f.Path()))
		got := make([]int8, len(old))
		must.OK(t, d.Read(t.Context(), got, 0))
		should.Hold(t, slices.Equal(got, old), "the old file is gone")
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				d := f.NewDecoder(family)
				var err error
				for i := 0; err == nil; i++ {
					_, err = d.Block(t.Context(), i%f.NumBlocks(), nil)
				}
				should.Be(t, err, os.ErrClosed)
			})
		}
		must.OK(t, f.Close())
		readers.Wait()
		for _, err := range []error{must.Err(d.Block(t.Context(), 0, nil)), must.Err(d.Score(t.Context(), 7))} {
			should.Not(t, !errors.Is(err, os.ErrClosed) || errors.Is(err, corrupt.ErrCorrupt), "a closed file: %v", err)
		}
		should.Be(t, f.Close(), os.ErrClosed, "second Close")
	})
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	h := testHeader(64, 100)
	w := must.Get(Create(begin(t, filepath.Join(dir, "a")), h, family))(t)
	e := must.Get(NewEncoder(h, family))(t)
	var b Block
	for _, n := range []int{0, 65} {
		should.Not(t, e.Encode(&b, make([]int8, n)) == nil, "a block of %d scores was encoded", n)
	}
	appendBlock := func(n int) error { return errors.Join(e.Encode(&b, make([]int8, n)), w.Append(&b)) }
	should.Be(t, appendBlock(36), ErrOrder, "the last block first")
	should.OK(t, appendBlock(64))
	should.Be(t, must.Err(w.Finish()), ErrOrder, "half a file")
	should.Be(t, w.Publish(), ErrOrder, "half a file")
	should.OK(t, appendBlock(36))
	should.Be(t, appendBlock(36), ErrOrder, "a block too many")
	should.OK(t, errors.Join(w.Abort(), w.Abort()))
	should.Be(t, must.Err(w.Finish()), os.ErrClosed, "Finish after Abort")
	should.Be(t, appendBlock(64), os.ErrClosed, "Append after Abort")

	// A failure of writing, as on a full disk, names the file once.
	path := filepath.Join(dir, "b")
	w = must.Get(Create(begin(t, path), testHeader(64, 0), family))(t)
	w.file.Close()
	for want, err := range map[error]error{os.ErrClosed: must.Err(w.Finish()), io.ErrShortWrite: w.named(io.ErrShortWrite)} {
		should.Hold(t, errors.Is(err, want) && strings.Count(err.Error(), path) == 1, "%v is reported as %v", want, err)
	}
	w.Abort()
	should.Equal(t, len(must.Get(os.ReadDir(dir))(t)), 0, "left behind")
}

func TestBadHeaders(t *testing.T) {
	dir := t.TempDir()
	for name, change := range map[string]func(h *Header){
		"no game":        func(h *Header) { h.Game = "" },
		"long rules":     func(h *Header) { h.Rules = strings.Repeat("a", MaxName+1) },
		"upper case":     func(h *Header) { h.Game = "Awari" },
		"zero byte":      func(h *Header) { h.Game = "a\x00b" },
		"negative pits":  func(h *Header) { h.Pits = -1 },
		"many seeds":     func(h *Header) { h.Seeds = 1 << 16 },
		"no codec":       func(h *Header) { h.Codec = 0 },
		"zstd":           func(h *Header) { h.Codec = Zstd },
		"no transform":   func(h *Header) { h.Transform = 0 },
		"no block size":  func(h *Header) { h.BlockSize = 0 },
		"long blocks":    func(h *Header) { h.BlockSize = MaxBlockSize + 1 },
		"many positions": func(h *Header) { h.Positions = MaxPositions + 1 },
	} {
		h := testHeader(64, 100)
		change(&h)
		should.Be(t, must.Err(Create(begin(t, filepath.Join(dir, "a")), h, family)), ErrHeader, "%s: Create", name)
		should.Be(t, must.Err(NewEncoder(h, family)), ErrHeader, "%s: NewEncoder", name)
	}
	should.Equal(t, len(must.Get(os.ReadDir(dir))(t)), 0, "left behind")
}

func TestCodecNames(t *testing.T) {
	for _, c := range []Codec{LZ4, Zstd} {
		var back Codec
		text, err := c.MarshalText()
		should.Hold(t, err == nil && back.UnmarshalText(text) == nil && back == c, "%v: %s, %v, %v", c, text, back, err)
	}
	for _, name := range []string{"", "LZ4", "gzip"} {
		should.Be(t, new(Codec).UnmarshalText([]byte(name)), ErrCodec, "%q", name)
	}
	for _, c := range []Codec{0, Zstd + 1} {
		should.Be(t, must.Err(c.MarshalText()), ErrCodec, "%d", c)
	}
}

// TestBelow: a reader gets the layers that the writer named; layers that cannot be below are refused.
func TestBelow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below.gl")
	writeFile(t, path, goldenHeader("below"), goldenScores())
	f, _ := openDecoder(t, Open, path, family)
	got := maps.Collect(f.Header().Below.All())
	should.Hold(t, maps.Equal(got, map[int]tally.Hash{4: 0x0123456789abcdef, 5: 1}), "%v", got)
	for name, below := range map[string]Below{
		"twice": Below("").With(4, 1) + Below("").With(4, 1), "falling": Below("").With(5, 1) + Below("").With(4, 1),
		"not below": Below("").With(8, 1), "cut": Below("").With(4, 1)[1:],
	} {
		h := goldenHeader("below")
		h.Below = below
		should.Not(t, h.Validate() == nil, "%s: accepted", name)
		if len(below)%belowSize == 0 {
			data := (&layerfiletest.File{Below: []byte(below), Header: func(h *layerfiletest.Header) { h.Seeds = 7 }}).Encode()
			mustBeCorrupt(t, filepath.Join(t.TempDir(), name), data, name)
		}
	}
}

// TestCopy: a file made of the blocks of others, plain ones among them, is the one that is made of all scores.
func TestCopy(t *testing.T) {
	const size = 64
	scores := layerScores(tries.Rand(t), 1000)
	scores[600] = maxTestScore + 1 // which the model lacks
	h := testHeader(size, len(scores))
	path := filepath.Join(t.TempDir(), "layer.gl")
	w := must.Get(Create(begin(t, path), h, family))(t)
	var b Block
	dst := make([]int8, size)
	take := func(scores []int8) (*File, *Decoder) {
		f, d := openFile(t, Open, size, scores)
		for i := range f.NumBlocks() {
			must.OK(t, d.Copy(t.Context(), &b, i, dst))
			must.OK(t, w.Append(&b))
		}
		return f, d
	}
	take(scores[:5*size])
	f, d := take(scores[5*size:])
	must.OK(t, must.Err(w.Finish()))
	must.OK(t, w.Publish())
	should.Hold(t, bytes.Equal(must.Read(t, path), layerBytes(t, size, scores)), "another file")
	should.Be(t, d.Copy(t.Context(), &b, f.NumBlocks(), dst), ErrRange, "a block too many")
	f.Bound(maxTestScore)
	should.Be(t, f.NewDecoder(family).Copy(t.Context(), &b, 600/size-5, dst), corrupt.ErrCorrupt, "an impossible score")
}

// TestEntryBounds: a block lies between the model and the index.
func TestEntryBounds(t *testing.T) {
	const scores, start, end = 64, 100, 1000
	for e, right := range map[entry]bool{
		{offset: start, length: 10}: true, {offset: start - 1, length: 10}: false, {offset: end - 10, length: 10}: true, {offset: end - 9, length: 10}: false,
		{offset: end, length: 1}: false, {offset: end + 1, length: 10}: false, {offset: math.MaxUint64, length: 10}: false,
		{offset: math.MaxUint64 - 5, length: 10}: false, {length: 10}: false,
	} {
		err := e.check(scores, start, end)
		should.Hold(t, (err == nil) == right, "%d bytes at %d: %v", e.length, e.offset, err)
	}
}

// TestMappingBounds: what lies beyond the end of a mapped file is not read, not even in part.
func TestMappingBounds(t *testing.T) {
	m := &mapping{open: true, data: make([]byte, 100)}
	for s, want := range map[span]error{
		{0, 100}: nil, {0, 101}: io.ErrUnexpectedEOF, {90, 10}: nil, {90, 11}: io.ErrUnexpectedEOF, {100, 0}: nil, {100, 1}: io.ErrUnexpectedEOF,
		{101, 0}: io.ErrUnexpectedEOF, {-1, 1}: io.ErrUnexpectedEOF, {math.MaxInt64, 1}: io.ErrUnexpectedEOF,
	} {
		should.Be(t, m.read(t.Context(), make([]byte, s.length), s.offset), want, "%v", s)
	}
}

// TestDecoders reads two files of other block sizes and models, in turn and from several goroutines.
func TestDecoders(t *testing.T) {
	var files []*File
	var want [][]int8
	for i, size := range []int{64, 100} {
		scores := make([]int8, 1000*(i+1))
		for k := range scores {
			scores[k] = int8(k * (7 + i) % 11)
		}
		f, _ := openFile(t, Open, size, scores)
		files, want = append(files, f), append(want, scores)
	}
	lent := NewDecoders(family)
	d := lent.Take(files[0])
	other := lent.Take(files[0])
	must.Not(t, d == other, "one decoder is lent twice")
	lent.Put(other)
	lent.Put(d)
	should.Hold(t, lent.Take(files[1]) == other, "a decoder that is free is not lent for another file") // the one put back first
	lent.Put(other)
	should.Hold(t, lent.Take(files[0]) == d, "a decoder of the file is free, and another is lent")
	runtime.GC()
	runtime.GC() // empties a sync.Pool
	should.Hold(t, lent.Take(files[1]) == other, "decoders that are free are garbage")
	lent.Put(d)
	lent.Put(other)
	var readers sync.WaitGroup
	for g := range 8 {
		readers.Go(func() {
			for k := range 200 {
				i := (k*g + k/3) % 2
				d := lent.Take(files[i])
				got := make([]int8, len(want[i]))
				err := d.Read(t.Context(), got, 0)
				should.Hold(t, err == nil && slices.Equal(got, want[i]), "file %d: wrong scores, %v", i, err)
				lent.Put(d)
			}
		})
	}
	readers.Wait()
	most := 2 * runtime.GOMAXPROCS(0)
	should.Not(t, len(lent.idle) > most, "%d decoders are kept, at most %d are promised", len(lent.idle), most)
}

// realBlock returns block 646 of layer 20 of awari, 12 pits, from the middle of 1,292.
func realBlock(tb testing.TB) []int8 {
	z := must.Get(zstd.NewReader(nil))(tb)
	defer z.Close()
	raw := must.Get(z.DecodeAll(must.Read(tb, filepath.Join("testdata", "layer-20-block-646.zst")), nil))(tb)
	scores := make([]int8, MaxBlockSize)
	must.Equal(tb, copy(tally.Bytes(scores), raw), len(scores), "scores")
	return scores
}

// Benchmark measures what is made of a file of the real block, under a model of its own, and of its scores, which are small enough to stay
// in the cache, as a solver's blocks do. It says nothing about the size of a layer, whose model fits each block less well.
func Benchmark(b *testing.B) {
	scores := realBlock(b)
	path := filepath.Join(b.TempDir(), "bench.gl")
	h := testHeader(MaxBlockSize, len(scores))
	h.Model = modelOf(scores, -20, 20)
	writeFile(b, path, h, scores)
	b.Run("encode", func(b *testing.B) {
		twins.Measure(b, int64(len(scores)), func(f cpu.Family) func() {
			e, block := must.Get(NewEncoder(h, f))(b), new(Block)
			return func() { must.OK(b, e.Encode(block, scores)) }
		})
	})
	b.Run("decode", func(b *testing.B) {
		twins.Measure(b, int64(len(scores)), func(f cpu.Family) func() {
			_, d := openDecoder(b, Open, path, f)
			return func() { must.OK(b, d.Read(b.Context(), scores, 0)) }
		})
	})
	b.Run("score", func(b *testing.B) { // from all places of the block
		rank := 0
		twins.Measure(b, 1, func(f cpu.Family) func() {
			_, d := openDecoder(b, Open, path, f)
			return func() {
				must.OK(b, must.Err(d.Score(b.Context(), uint64(rank))))
				rank = (rank + 40503) % len(scores)
			}
		})
	})
}

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

func goldenDump(name string) string { return filepath.Join("testdata", name+".dump") }

func golden(t *testing.T, name string) (data []byte) {
	t.Helper()
	for line := range strings.Lines(string(must.Read(t, goldenDump(name)))) {
		data = append(data, must.Get(hex.DecodeString(strings.ReplaceAll(line[6:min(6+dumpWidth, len(line)-1)], " ", "")))(t)...)
	}
	return data
}

// TestGolden encodes the golden files again and compares bytes. If only the version of a codec's library changed, -update is right;
// otherwise the format changed and needs a new version number. docs/format/layer-file.md has the annotated dump for lz4.
func TestGolden(t *testing.T) {
	for _, name := range []string{"lz4", "below"} {
		path := filepath.Join(t.TempDir(), "golden.gl")
		writeFile(t, path, goldenHeader(name), goldenScores())
		got := must.Read(t, path)
		if *update {
			must.Write(t, goldenDump(name), []byte(annotate(got)))
		}
		should.Hold(t, bytes.Equal(got, golden(t, name)), "%v: another file than the golden one:\n%s", name, annotate(got))
		should.List(t, must.Get(readAll(path))(t), goldenScores(), "%v", name)
	}
	_, dump, _ := strings.Cut(string(must.Read(t, "../../docs/format/layer-file.md")), "```dump\n")
	dump, _, _ = strings.Cut(dump, "```\n")
	should.Equal(t, dump, string(must.Read(t, goldenDump("lz4"))), "the dump in the document")
}

// TestZstd reads a file of an earlier version: the error says what it is and what to do, and it is not damage.
func TestZstd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer-07.gl")
	must.Write(t, path, golden(t, "zstd"))
	f, problems, err := Inspect(path)
	must.Hold(t, err == nil && len(problems) == 1, "%v, %v", problems, err)
	f.Close()
	for _, err := range []error{must.Err(Open(path)), problems[0]} {
		should.Hold(t, errors.Is(err, ErrZstd) && errors.Is(err, corrupt.ErrVersion) && errors.Is(err, corrupt.ErrCorrupt), "%v", err)
		should.Equal(t, err.Error(), path+": header: this layer is compressed with zstd, which this version does not read: "+
			"solve it again, or export it with a version up to eda0409 and import that (docs/export.md)")
	}
}

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
