package memory

import "golang.org/x/sys/unix"

// Huge asks for huge pages where a chunk of memory, which begins a page, is not in use yet:
// for data that is read in an order that misses the translation cache otherwise. Advice
// only, so a refusal is no error.
func Huge(chunk []byte) { _ = unix.Madvise(chunk, unix.MADV_HUGEPAGE) }
