//go:build !(amd64 || arm64) || purego

package prefetch

import "unsafe"

// Line does nothing.
func Line(unsafe.Pointer) {}
