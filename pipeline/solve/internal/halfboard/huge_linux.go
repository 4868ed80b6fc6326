package halfboard

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages: rows are read in an order that misses the
// translation cache otherwise. Advice only, so a refusal is no error.
func adviseHuge(chunk []byte) { _ = unix.Madvise(chunk, unix.MADV_HUGEPAGE) }
