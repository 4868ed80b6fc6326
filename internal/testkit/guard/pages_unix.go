//go:build linux || darwin || freebsd || netbsd || openbsd

package guard

import (
	"testing"

	"golang.org/x/sys/unix"
)

// pages maps at least n bytes between two pages without access rights.
func pages(tb testing.TB, n int) []byte {
	page := unix.Getpagesize()
	n = (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, page+n+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		tb.Fatalf("guard: mapping %d bytes: %v", n, err)
	}
	tb.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			tb.Errorf("guard: unmapping: %v", err)
		}
	})
	for _, fence := range [][]byte{m[:page], m[page+n:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			tb.Fatalf("guard: protecting a page: %v", err)
		}
	}
	return m[page : page+n : page+n]
}
