//go:build linux || darwin || freebsd || netbsd || openbsd

package guard

import (
	"testing"

	"golang.org/x/sys/unix"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// pages maps at least n bytes between two pages without access rights.
func pages(tb testing.TB, n int) []byte {
	page := unix.Getpagesize()
	n = (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, page+n+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	must.Hold(tb, err == nil, "guard: mapping %d bytes: %v", n, err)
	tb.Cleanup(func() {
		should.Be(tb, unix.Munmap(m), nil, "guard: unmapping")
	})
	for _, fence := range [][]byte{m[:page], m[page+n:]} {
		must.Be(tb, unix.Mprotect(fence, unix.PROT_NONE), nil, "guard: protecting a page")
	}
	return m[page : page+n : page+n]
}
