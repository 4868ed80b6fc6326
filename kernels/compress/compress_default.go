//go:build !(amd64 || arm64) || purego

package compress

import "grenier/kernels/cpu"

// For returns the generic kernel for scores of the given width in bits: this build has no
// other. It panics if the width is not 2, 3, 4, 6 or 8.
func For(_ cpu.Family, width int) LeastFunc {
	return leastGeneric(width)
}

// kept is nothing: kernels find all out again.
type kept struct{}
