package pagecache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/pagecache"
)

// TestLongBound writes and reads 40 MiB and looks how much of that the kernel keeps meanwhile: 16 MiB that are being written, and what
// was read, 8 MiB, and as much again if one of several readers waits for a processor when it is about to drop them.
func TestLongBound(t *testing.T) {
	tries.SkipIf(t, testing.Short(), "writes 40 MiB")
	for length, workers := range tries.More(map[int64]int64{100_001: 2}, map[int64]int64{100_001: 2, 1<<20 - 1234: 4, 1 << 20: 1}) {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			path := filepath.Join(cachetest.Dir(t), "big")
			f, bound := must.Get(os.Create(path))(t), new(pagecache.Bound)
			defer f.Close()
			bound.Open(f)
			defer func() { must.OK(t, bound.Close()) }()
			held := cachetest.Watch(t, path)
			each := func(doing string, do func(buffer []byte, offset int64) (int, error), did func(offset, length int64)) {
				var wg sync.WaitGroup
				var mu sync.Mutex
				var peak, dirtyPeak int64
				for w := range workers {
					wg.Go(func() {
						buffer := make([]byte, length)
						for offset := w * length; offset < 40<<20; offset += workers * length {
							should.OK(t, must.Err(do(buffer, offset)))
							did(offset, length)
							now, dirty := held()
							mu.Lock()
							peak, dirtyPeak = max(peak, now), max(dirtyPeak, dirty)
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				checkHeld(t, doing, peak, dirtyPeak, workers)
			}
			each("writing", f.WriteAt, bound.Wrote)
			read := func(_, length int64) { bound.Read(length) }
			each("reading", f.ReadAt, read)
			must.OK(t, f.Sync())
			bound.Synced()
			now, dirty := held()
			checkHeld(t, "after Synced", now, dirty, workers)
			each("reading after Synced", f.ReadAt, read)
		})
	}
}

func checkHeld(t *testing.T, doing string, bytes, dirty, workers int64) {
	t.Helper()
	t.Logf("%s: at most %.1f MiB in the page cache, %.1f MiB of it dirty", doing, float64(bytes)/(1<<20), float64(dirty)/(1<<20))
	should.Not(t, bytes > (20+8*min(workers, 2))<<20, "%s: %d bytes in the page cache", doing, bytes)
}
