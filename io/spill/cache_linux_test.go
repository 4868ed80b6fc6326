package spill

import (
	"crypto/rand"
	"io"
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/io/vfs"
)

// TestCache: the page cache holds little of a stream while it is written, and while it is read, however long it is.
func TestCache(t *testing.T) {
	const long, most = 40 << 20, 32 << 20
	d := must.Get(vfs.OpenDir(cachetest.Dir(t)))(t)
	defer d.Close()
	b := make([]byte, 1<<20)
	rand.Read(b) // nothing becomes shorter
	for _, p := range []Packing{LZ4, Direct} {
		w := must.Get(Create(d, "a", aHeader, p, 2))(t)
		defer w.Abort()
		held := cachetest.Watch(t, vfs.System(w.pending.File).Name())
		each := func(do func() (int, error)) {
			for range long / len(b) {
				must.OK(t, must.Err(do()))
				bytes, _ := held()
				must.Not(t, bytes > most, "%d bytes in the page cache", bytes)
			}
		}
		each(func() (int, error) { return w.Write(b) })
		must.OK(t, w.Publish())
		r := must.Get(Open(d, "a", aHeader, 2))(t)
		defer r.Close()
		each(func() (int, error) { return io.ReadFull(r, b) })
	}
}
