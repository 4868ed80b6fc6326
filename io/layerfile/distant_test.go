package layerfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

type fileReader struct {
	file *os.File
	size int64
}

func (r fileReader) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return r.file.ReadAt(p, off)
}
func (r fileReader) Close() error { return r.file.Close() }
func (r fileReader) Size() int64  { return r.size }

// openDistant opens files by way of a Reader.
func openDistant(wholeIndex int64) func(path string) (*File, error) {
	return func(path string) (*File, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return openReader(context.Background(), path, fileReader{f, info.Size()}, wholeIndex)
	}
}

// span is a call of ReadAt.
type span struct{ offset, length int64 }

// bytesReader is a Reader that records its reads, and fails on demand.
type bytesReader struct {
	data []byte

	mu     sync.Mutex
	asked  []span
	fail   func(offset int64) error // nil for never
	closed bool
}

func (r *bytesReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, span{off, int64(len(p))})
	err := ctx.Err()
	if err == nil && r.fail != nil {
		err = r.fail(off)
	}
	if err != nil {
		return 0, err
	}
	return bytes.NewReader(r.data).ReadAt(p, off)
}

func (r *bytesReader) Size() int64  { return int64(len(r.data)) }
func (r *bytesReader) Close() error { r.closed = true; return nil }

func (r *bytesReader) take() []span {
	asked := r.asked
	r.asked = nil
	return asked
}

func layerBytes(t testing.TB, blockSize int, scores []int8) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer.gl")
	writeFile(t, path, testHeader(blockSize, len(scores)), scores)
	return must.Read(t, path)
}

func openBytes(t *testing.T, r *bytesReader, wholeIndex int64) (*File, *Decoder) {
	t.Helper()
	f := must.Get(openReader(t.Context(), "far/layer.gl", r, wholeIndex))(t)
	return f, f.NewDecoder(family)
}

// TestDistantAsks counts what opening a file and reading blocks asks for. An index that is too long to be kept, and just not, is refused
// by who does not know whether he needs the file.
func TestDistantAsks(t *testing.T) {
	scores := noise(rand.New(rand.NewPCG(21, 22)), 3000) // a block for each, stored as it is
	r := &bytesReader{data: layerBytes(t, 1, scores)}
	start := int64(headerSize + len(testModel))
	index, size := start+3000, r.Size()
	opening := []span{{0, headerSize}, {headerSize, int64(len(testModel))}}

	f, d := openBytes(t, r, WholeIndex)
	should.List(t, r.take(), append(slices.Clone(opening), span{index, size - index}), "opening asks for")
	must.OK(t, must.Err(d.Score(t.Context(), 2999)))
	should.List(t, r.take(), []span{{start + 2999, 1}}, "a block")
	must.OK(t, f.Close())
	should.Hold(t, r.closed, "not closed")

	must.OK(t, must.Get(openUnsure(t.Context(), "far/layer.gl", r, 3000*indexEntrySize))(t).Close())
	r.closed = false
	f, err := openUnsure(t.Context(), "far/layer.gl", r, 3000*indexEntrySize-1)
	should.Hold(t, f == nil && errors.Is(err, ErrLongIndex) && !errors.Is(err, corrupt.ErrCorrupt) && r.closed, "%v, closed %v", err, r.closed)
	r.take()

	_, d = openBytes(t, r, 3000*indexEntrySize-1)
	should.List(t, r.take(), append(slices.Clone(opening), span{size - footerSize, footerSize}), "opening asks for")
	pageBytes := int64(pageEntries * indexEntrySize)
	for _, c := range []struct {
		rank uint64
		want []span
	}{
		{1024, []span{{index + pageBytes, pageBytes}, {start + 1024, 1}}}, {2047, []span{{start + 2047, 1}}},
		{2048, []span{{index + 2*pageBytes, (3000 - 2048) * indexEntrySize}, {start + 2048, 1}}}, {1500, []span{{start + 1500, 1}}},
		{0, []span{{index, pageBytes}, {start, 1}}},
	} {
		should.Equal(t, must.Get(d.Score(t.Context(), c.rank))(t), scores[c.rank], "rank %d", c.rank)
		should.List(t, r.take(), c.want, "rank %d asks for", c.rank)
	}
}

func TestDistantForgetsPages(t *testing.T) {
	defer func(most int) { keptPages = most }(keptPages)
	keptPages = 4
	const entries = 20 * pageEntries
	scores := layerScores(rand.New(rand.NewPCG(23, 24)), entries)
	var blocks []layerfiletest.Block
	for score := range slices.Chunk(scores, 1) {
		blocks = append(blocks, layerfiletest.Plain(score))
	}
	f, d := openBytes(t, &bytesReader{data: (&layerfiletest.File{Blocks: blocks}).Encode()}, 0)
	for range 2 {
		for i := 0; i < entries; i += pageEntries / 2 {
			must.Equal(t, must.Get(d.Score(t.Context(), uint64(i)))(t), scores[i], "rank %d", i)
		}
	}
	should.Not(t, len(f.pages.kept) > keptPages, "%d pages are kept", len(f.pages.kept))
}

// readParts is readAll of a file whose index is read in parts.
func readParts(data []byte) ([]int8, error) {
	return readBlocks(openReader(context.Background(), "far/layer.gl", &bytesReader{data: data}, 0))
}

// TestDistantShiftedIndex has a server give out another page than the one asked
// for. Each of its entries fits a block; its neighbours give it away.
func TestDistantShiftedIndex(t *testing.T) {
	scores := noise(rand.New(rand.NewPCG(25, 26)), 5*pageEntries)
	data := layerBytes(t, 1, scores)
	index := len(data) - footerSize - len(scores)*indexEntrySize
	page := func(k int) []byte { return data[index+k*pageEntries*indexEntrySize:][:pageEntries*indexEntrySize] }
	for name, c := range map[string]struct {
		shifted, from int
		read          []int // pages; the last one must be refused
	}{
		"first page":    {0, 1, []int{0}},
		"last page":     {4, 3, []int{4}},
		"next is known": {2, 1, []int{3, 2}},
		"last is known": {2, 3, []int{1, 2}},
		"seen later":    {2, 3, []int{2, 3}},
	} {
		bad := slices.Clone(data)
		copy(bad[index+c.shifted*pageEntries*indexEntrySize:], page(c.from))
		_, d := openBytes(t, &bytesReader{data: bad}, 0)
		for i, k := range c.read {
			_, err := d.Block(t.Context(), k*pageEntries+3, nil)
			should.Equal(t, i == len(c.read)-1, errors.Is(err, corrupt.ErrCorrupt), "%s: page %d: %v", name, k, err)
		}
	}
	// Read as a whole, there is no doubt.
	copy(page(2), page(1))
	should.Be(t, must.Err(OpenReader(t.Context(), "far/layer.gl", &bytesReader{data: data})), corrupt.ErrCorrupt, "whole index")
}

// TestDistantFailures: a server that does not answer is not a damaged file.
func TestDistantFailures(t *testing.T) {
	gone := errors.New("no answer")
	scores := layerScores(rand.New(rand.NewPCG(27, 28)), 1000)
	r := &bytesReader{data: layerBytes(t, 64, scores)}
	check := func(err error, part string) {
		t.Helper()
		should.Hold(t, errors.Is(err, gone) && !errors.Is(err, corrupt.ErrCorrupt) && err.Error() == "far/layer.gl: "+part+": no answer", "%v", err)
	}
	for silent, part := range map[int64]string{0: "header", headerSize: "model"} {
		r.closed = false
		r.fail = func(offset int64) error { return map[bool]error{true: gone}[offset == silent] }
		check(must.Err(OpenReader(t.Context(), "far/layer.gl", r)), part)
		should.Hold(t, r.closed, "not closed")
	}
	for _, wholeIndex := range []int64{WholeIndex, 0} {
		r.fail = nil
		_, d := openBytes(t, r, wholeIndex)
		r.fail = func(int64) error { return gone }
		check(must.Err(d.Block(t.Context(), 3, nil)), "block 3")
		r.fail = nil
		should.List(t, must.Get(d.Block(t.Context(), 3, nil))(t), scores[192:256], "the failure is remembered")
		r.fail = func(int64) error { return io.EOF }
		should.Be(t, must.Err(d.Block(t.Context(), 4, nil)), corrupt.ErrCorrupt, "the file became shorter")
	}
}

// TestDistantConcurrent asks for each page once, however many need it.
func TestDistantConcurrent(t *testing.T) {
	scores := layerScores(rand.New(rand.NewPCG(29, 30)), 4*pageEntries)
	r := &bytesReader{data: layerBytes(t, 1, scores)}
	f, _ := openBytes(t, r, 0)
	r.take()
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			d := f.NewDecoder(family)
			for _, i := range rand.New(rand.NewPCG(31, uint64(k))).Perm(len(scores)) {
				got, err := d.Score(t.Context(), uint64(i))
				should.Hold(t, err == nil && got == scores[i], "rank %d: %d, %v", i, got, err)
			}
		})
	}
	group.Wait()
	pages := make(map[span]int)
	for _, s := range r.take() {
		if s.length > 1 {
			pages[s]++
		}
	}
	should.List(t, slices.Collect(maps.Values(pages)), []int{1, 1, 1, 1}, "pages asked for: %v", pages)
}

// TestContext: a context that has ended ends a call, near and far, and says nothing about the file; the next call works.
func TestContext(t *testing.T) {
	scores := layerScores(rand.New(rand.NewPCG(33, 34)), 1000)
	ended := must.Ended(t)
	r := &bytesReader{data: layerBytes(t, 64, scores)}
	_, err := OpenReader(ended, "far/layer.gl", r)
	should.Hold(t, errors.Is(err, context.Canceled) && !errors.Is(err, corrupt.ErrCorrupt) && r.closed, "opening: %v", err)
	near, _ := openFile(t, Open, 64, scores)
	should.Be(t, must.Err(Check(ended, near.Path(), family, func(err error) { t.Errorf("reported: %v", err) })), context.Canceled)
	whole, _ := openBytes(t, r, WholeIndex)
	parts, _ := openBytes(t, r, 0)
	for _, f := range []*File{near, whole, parts} {
		d := f.NewDecoder(family)
		for _, err := range []error{must.Err(d.Block(ended, 3, nil)), must.Err(d.Score(ended, 200)), d.Read(ended, make([]int8, 1000), 0)} {
			should.Not(t, !errors.Is(err, context.Canceled) || errors.Is(err, corrupt.ErrCorrupt), "%s: %v", f.Path(), err)
		}
		should.Equal(t, must.Get(d.Score(t.Context(), 200))(t), scores[200], "%s afterwards", f.Path())
	}
}
