package halfboard

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// newPagedRegion reserves addresses for size bytes, any number of them: memory is
// taken when pages are used and returned by release.
func newPagedRegion(size int) (*region, error) {
	mapping, err := unix.Mmap(-1, 0, max(size, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes of addresses: %w", size, err)
	}
	_ = unix.Madvise(mapping, unix.MADV_NOHUGEPAGE) // items are smaller
	r := &region{mapping: mapping}
	r.reset()
	return r, nil
}

// release gives whole pages back to the system; they are 0 when they are used again.
func release(runs [][]int8) {
	for _, r := range runs {
		if err := unix.Madvise(asBytes(r), unix.MADV_DONTNEED); err != nil {
			panic(err) // the pages are ours and whole
		}
	}
}
