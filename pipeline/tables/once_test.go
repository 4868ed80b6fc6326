package tables

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/layers/awari"
)

type counting struct {
	*bytes.Reader
	mu    sync.Mutex
	reads map[int64]int // by offset
}

func (c *counting) Close() error { return nil }

func (c *counting) ReadAt(_ context.Context, dst []byte, offset int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads[offset]++
	return c.Reader.ReadAt(dst, offset)
}

// TestOnce looks up boards in random order in a layer of many blocks, with a
// cache for one of them, and wants no part of the file to be read twice.
func TestOnce(t *testing.T) {
	_, layers, dir := testrun.Run(t, 8, awari.Awari, 7, 64)
	tab := must.Get(Open(t.Context(), dir, CacheBytes(1)))(t)
	defer tab.Close()
	c := &counting{reads: map[int64]int{}}
	tab.openFile = func(ctx context.Context, l *manifest.Layer) (*layerfile.File, error) {
		c.Reader = bytes.NewReader(must.Read(t, tab.path(l)))
		return layerfile.OpenReader(ctx, tab.path(l), c)
	}
	must.OK(t, must.Err(tab.open(t.Context(), 7)))
	clear(c.reads) // header and index
	random := rand.New(rand.NewPCG(8, 9))
	boards := make([]awari.Board, 4000)
	for i := range boards {
		boards[i] = tab.space.Unrank(7, random.Uint64N(tab.space.Size(7)))
	}
	must.OK(t, tab.Scores(t.Context(), boards, make([]int8, len(boards))))
	for offset, n := range c.reads {
		should.Hold(t, n == 1, "offset %d was read %d times", offset, n)
	}
	blocks := len(layers[7])/64 + 1
	should.Not(t, len(c.reads) < blocks/2 || len(c.reads) > blocks, "%d blocks of %d were read", len(c.reads), blocks)
}
