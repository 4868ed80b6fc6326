//go:build !(amd64 || arm64) || purego

package compress

import "grenier/kernels/cpu"

// FetchFor returns the generic kernel for scores of the given width in bits: this build
// has no other. It panics if the width is not 2, 3, 4, 6 or 8.
func FetchFor(_ cpu.Family, width int) FetchFunc {
	lineBytes(width) // panics
	return fetchGeneric
}
