package workfile_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/io/workfile"
)

// cached returns how many bytes of the file are in the page cache, and how many
// of them are not on disk.
func cached(t *testing.T, f *os.File) (bytes, dirty int64) {
	t.Helper()
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
		t.Skip(err) // Linux before 6.5, or a sandbox
	}
	page := uint64(os.Getpagesize())
	return int64(stat.Cache * page), int64((stat.Dirty + stat.Writeback) * page)
}

// TestPageCache writes and reads 256 MiB and looks how much of that the kernel
// keeps meanwhile.
func TestPageCache(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 256 MiB")
	}
	const atMost = 32 << 20
	for _, c := range []struct {
		name    string
		length  int
		workers int
	}{
		{"1 MiB", 1 << 20, 1},
		{"1 MiB, 4 workers", 1 << 20, 4},
		{"odd lengths", 1<<20 - 1234, 2},
		{"short", 50_001, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tiles")
			f := create(t, workfile.OS, path)
			defer f.Close()
			watch, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Close()
			var s unix.Statfs_t
			if err := unix.Fstatfs(int(watch.Fd()), &s); err != nil || s.Type == unix.TMPFS_MAGIC {
				t.Skip("the file is nowhere but in the page cache")
			}
			cached(t, watch)
			data := content(1, c.length)
			count := 256 << 20 / c.length
			extents := make([]workfile.Extent, count)
			each := func(do func(i int, buffer []byte) error) (peak, dirtyPeak int64) {
				var wg sync.WaitGroup
				peaks := make([][2]int64, c.workers)
				for w := range c.workers {
					wg.Go(func() {
						buffer := make([]byte, c.length)
						for i := w; i < count; i += c.workers {
							if err := do(i, buffer); err != nil {
								t.Error(err)
								return
							}
							now, dirty := cached(t, watch)
							peaks[w] = [2]int64{max(peaks[w][0], now), max(peaks[w][1], dirty)}
						}
					})
				}
				wg.Wait()
				for _, p := range peaks {
					peak, dirtyPeak = max(peak, p[0]), max(dirtyPeak, p[1])
				}
				return peak, dirtyPeak
			}
			report := func(doing string, peak, dirty int64) {
				t.Logf("%s: at most %.1f MiB in the page cache, %.1f MiB of it dirty",
					doing, float64(peak)/(1<<20), float64(dirty)/(1<<20))
				if peak > atMost {
					t.Errorf("%s: %d bytes in the page cache", doing, peak)
				}
			}
			put := func(i int, _ []byte) (err error) {
				extents[i], err = f.Put(data)
				return err
			}
			get := func(i int, buffer []byte) error {
				_, err := f.Get(extents[i], buffer)
				return err
			}
			peak, dirty := each(put)
			report("Put", peak, dirty)
			peak, dirty = each(get)
			report("Get", peak, dirty)
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
			now, dirty := cached(t, watch)
			report("after Sync", now, dirty)
			peak, dirty = each(get)
			report("Get after Sync", peak, dirty)
			now, dirty = cached(t, watch)
			report("at the end", now, dirty)
		})
	}
}
