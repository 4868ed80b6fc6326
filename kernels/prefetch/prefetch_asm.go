//go:build (amd64 || arm64) && !purego

package prefetch

import "unsafe"

// Line asks for the cache line with an address. Advice only: any address will do, none is followed.
//
//go:noescape
func Line(p unsafe.Pointer)
