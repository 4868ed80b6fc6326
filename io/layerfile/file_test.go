package layerfile

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/kernels/cpu"
)

// openers are the ways to open a file.
var openers = map[string]func(path string) (*File, error){
	"mapped": Open, "sparing": OpenSparing, "distant": openDistant(WholeIndex), "distant, long index": openDistant(0),
}

// eachOpener tests files opened in each way.
func eachOpener(t *testing.T, test func(t *testing.T, open func(path string) (*File, error))) {
	for name, open := range openers {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// openFile writes scores in blocks of size and opens the file.
func openFile(t *testing.T, size int, scores []int8) (*File, *Decoder) {
	t.Helper()
	return openFileWith(t, Open, size, scores)
}

func openFileWith(t *testing.T, open func(path string) (*File, error), size int, scores []int8) (*File, *Decoder) {
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
	d := f.NewDecoder(family)
	return f, d
}

func TestExpect(t *testing.T) {
	f, _ := openFile(t, 64, make([]int8, 100))
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
		_, d := openFileWith(t, open, 64, scores)
		rapid.Check(t, func(t *rapid.T) {
			from := rapid.IntRange(0, len(scores)).Draw(t, "from")
			n := rapid.IntRange(0, len(scores)-from).Draw(t, "n")
			dst := make([]int8, n)
			must.OK(t, d.Read(t.Context(), dst, uint64(from)))
			must.Hold(t, slices.Equal(dst, scores[from:from+n]), "wrong scores")
		})
		for i, want := range scores {
			got, err := d.Score(t.Context(), uint64(i))
			must.Hold(t, err == nil && got == want, "score %d: %d, %v, want %d", i, got, err, want)
		}
	})
}

func TestOutOfRange(t *testing.T) {
	_, d := openFile(t, 64, make([]int8, 100))
	_, below := d.Block(t.Context(), -1, nil)
	_, above := d.Block(t.Context(), 2, nil)
	_, score := d.Score(t.Context(), 100)
	for i, err := range []error{below, above, score, d.Read(t.Context(), make([]int8, 2), 99), d.Read(t.Context(), nil, 101), d.Read(t.Context(), nil, 1<<63)} {
		should.Not(t, !errors.Is(err, ErrRange) || errors.Is(err, corrupt.ErrCorrupt), "case %d: %v", i, err)
	}
	should.OK(t, d.Read(t.Context(), nil, 100))
}

func TestBlockUsesMemory(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		_, d := openFileWith(t, open, 64, make([]int8, 100))
		dst := make([]int8, 0, 64)
		allocs := testing.AllocsPerRun(100, func() { d.Block(t.Context(), 0, dst) })
		should.Not(t, allocs > 0, "%v allocations for a block", allocs)
		allocs = testing.AllocsPerRun(100, func() { d.Score(t.Context(), 63) })
		should.Not(t, allocs > 0, "%v allocations for a score", allocs)
		got, err := d.Block(t.Context(), 1, dst)
		should.Hold(t, err == nil && len(got) == 36 && &got[0] == &dst[:1][0], "%d scores, %v", len(got), err)
	})
}

// TestTruncatedWhileOpen provokes SIGBUS.
func TestTruncatedWhileOpen(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		tries.SkipIf(t, runtime.GOOS == "windows", "a mapped file cannot be truncated")
		f, d := openFileWith(t, open, MaxBlockSize, noise(rand.New(rand.NewPCG(7, 8)), 3*MaxBlockSize))
		must.OK(t, os.Truncate(f.Path(), 100))
		for i := range 3 {
			_, err := d.Block(t.Context(), i, nil)
			_, one := d.Score(t.Context(), uint64(MaxBlockSize*i+7))
			for _, err := range []error{err, one} {
				should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), "truncated while open"),
					"block %d: %v", i, err)
			}
		}
	})
}

func TestOverwrittenWhileOpen(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		f, d := openFileWith(t, open, 64, make([]int8, 640))
		w := must.Get(os.OpenFile(f.Path(), os.O_WRONLY, 0))(t)
		defer w.Close()
		must.OK(t, must.Err(w.WriteAt(slices.Repeat([]byte{0xee}, int(f.Footer().Bytes)), 0)))
		for i := range f.NumBlocks() {
			should.Be(t, must.Err(d.Block(t.Context(), i, nil)), corrupt.ErrCorrupt, "block %d", i)
			should.Be(t, must.Err(d.Score(t.Context(), uint64(64*i+7))), corrupt.ErrCorrupt, "a score of block %d", i)
		}
	})
}

func TestReplacedWhileOpen(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		tries.SkipIf(t, runtime.GOOS == "windows", "a mapped file cannot be replaced")
		old := layerScores(rand.New(rand.NewPCG(9, 10)), 300)
		f, d := openFileWith(t, open, 64, old)
		other := f.Path() + ".new"
		writeFile(t, other, testHeader(64, 300), make([]int8, 300))
		must.OK(t, os.Rename(other, f.Path()))
		got := make([]int8, 300)
		err := d.Read(t.Context(), got, 0)
		should.Hold(t, err == nil && slices.Equal(got, old), "the old file is gone: %v", err)
	})
}

func TestClose(t *testing.T) {
	eachOpener(t, func(t *testing.T, open func(path string) (*File, error)) {
		f, d := openFileWith(t, open, 64, make([]int8, 6400))
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
		_, err := d.Block(t.Context(), 0, nil)
		should.Not(t, !errors.Is(err, os.ErrClosed) || errors.Is(err, corrupt.ErrCorrupt), "block of a closed file: %v", err)
		_, err = d.Score(t.Context(), 7)
		should.Not(t, !errors.Is(err, os.ErrClosed) || errors.Is(err, corrupt.ErrCorrupt), "score of a closed file: %v", err)
		should.Be(t, f.Close(), os.ErrClosed, "second Close")
	})
}

func TestCheckCancelled(t *testing.T) {
	f, _ := openFile(t, 64, make([]int8, 100))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	report := func(err error) { t.Errorf("reported: %v", err) }
	should.Be(t, must.Err(Check(ctx, f.Path(), family, report)), context.Canceled)
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
	appendBlock := func(n int) error {
		must.OK(t, e.Encode(&b, make([]int8, n)))
		return w.Append(&b)
	}
	should.Be(t, appendBlock(36), ErrOrder, "the last block first")
	should.OK(t, appendBlock(64))
	should.Be(t, must.Err(w.Finish()), ErrOrder, "half a file")
	should.Be(t, w.Publish(), ErrOrder, "half a file")
	should.OK(t, appendBlock(36))
	should.Be(t, appendBlock(36), ErrOrder, "a block too many")
	should.OK(t, errors.Join(w.Abort(), w.Abort()))
	should.Be(t, must.Err(w.Finish()), os.ErrClosed, "Finish after Abort")
	should.Be(t, appendBlock(64), os.ErrClosed, "Append after Abort")
	left, err := os.ReadDir(dir)
	should.Hold(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
}

// TestWriteFailureNamesTheFileOnce lets writing fail like on a full disk.
func TestWriteFailureNamesTheFileOnce(t *testing.T) {
	h := testHeader(64, 0)
	path := filepath.Join(t.TempDir(), "a")
	w, err := Create(begin(t, path), h, family)
	must.OK(t, err)
	defer w.Abort()
	w.file.Close()
	_, err = w.Finish()
	should.Hold(t, errors.Is(err, os.ErrClosed) && strings.Count(err.Error(), path) == 1, "the failure is reported as %v", err)
	err = w.named(io.ErrShortWrite)
	should.Hold(t, errors.Is(err, io.ErrShortWrite) && strings.Count(err.Error(), path) == 1, "a short write is reported as %v", err)
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
	left, err := os.ReadDir(dir)
	should.Hold(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
}

func TestCodecNames(t *testing.T) {
	for _, c := range []Codec{LZ4, Zstd} {
		var back Codec
		text, err := c.MarshalText()
		should.Hold(t, err == nil && back.UnmarshalText(text) == nil && back == c, "%v: %s, %v, %v", c, text, back, err)
	}
	for _, name := range []string{"", "LZ4", "gzip"} {
		if err := new(Codec).UnmarshalText([]byte(name)); !errors.Is(err, ErrCodec) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, c := range []Codec{0, Zstd + 1} {
		if text, err := c.MarshalText(); !errors.Is(err, ErrCodec) {
			t.Errorf("%d: %s, %v", c, text, err)
		}
	}
}
