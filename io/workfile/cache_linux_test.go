package workfile

import (
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestPageCache writes and reads 40 MiB and looks how much of that the kernel keeps meanwhile.
func TestPageCache(t *testing.T) {
	tries.SkipIf(t, testing.Short(), "writes 40 MiB")
	d := open(t, cachetest.Dir(t))
	f := create(t, d, tilesName)
	defer f.Close()
	held := cachetest.Watch(t, d.Path(tilesName))
	check := func(doing string, most int64) {
		t.Helper()
		bytes, _ := held()
		should.Not(t, bytes > most, "%s: %d bytes in the page cache", doing, bytes)
	}
	data := content(1, 1<<20)
	extents := make([]Extent, 40)
	for i := range extents {
		extents[i] = put(t, f, data)
		check("Put", 32<<20)
	}
	get := func(doing string) {
		t.Helper()
		for _, e := range extents {
			must.OK(t, must.Err(f.Get(e, data)))
			check(doing, 32<<20)
		}
	}
	get("Get")
	must.OK(t, f.Sync())
	check("Sync", 1<<20)
	get("Get after Sync")
}
