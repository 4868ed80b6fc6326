package spill

import (
	"io"
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/io/vfs"
)

// TestCache: the page cache holds little of a stream while it is read, however long it is.
func TestCache(t *testing.T) {
	const long, most = 40 << 20, 32 << 20
	d := must.Get(vfs.OpenDir(cachetest.Dir(t)))(t)
	defer d.Close()
	w := must.Get(Create(d, "a", aHeader, Direct, 2))(t)
	must.OK(t, must.Err(w.Write(make([]byte, long))))
	must.OK(t, w.Publish())
	r := must.Get(Open(d, "a", aHeader, 2))(t)
	defer r.Close()
	held := cachetest.Watch(t, d.Path("a"))
	b := make([]byte, 1<<20)
	for range long / len(b) {
		must.OK(t, must.Err(io.ReadFull(r, b)))
		bytes, _ := held()
		must.Not(t, bytes > most, "%d bytes in the page cache", bytes)
	}
}
