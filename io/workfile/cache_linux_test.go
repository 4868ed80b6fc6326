package workfile

import (
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestPageCache writes and reads 64 MiB and looks how much of that the kernel keeps meanwhile.
func TestPageCache(t *testing.T) {
	tries.SkipIf(t, testing.Short(), "writes 64 MiB")
	d := open(t, cachetest.Dir(t))
	f := create(t, d, tilesName)
	defer f.Close()
	held := cachetest.Watch(t, d.Path(tilesName))
	check := func(doing string) {
		t.Helper()
		bytes, _ := held()
		should.Not(t, bytes > 32<<20, "%s: %d bytes in the page cache", doing, bytes)
	}
	data := content(1, 1<<20)
	extents := make([]Extent, 64)
	for i := range extents {
		extents[i] = put(t, f, data)
		check("Put")
	}
	get := func(doing string) {
		t.Helper()
		for _, e := range extents {
			must.OK(t, must.Err(f.Get(e, data)))
			check(doing)
		}
	}
	get("Get")
	must.OK(t, f.Sync())
	bytes, _ := held()
	should.Not(t, bytes > 1<<20, "after Sync: %d bytes in the page cache", bytes)
	get("Get after Sync")
}
