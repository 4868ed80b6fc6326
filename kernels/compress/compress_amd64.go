//go:build !purego

package compress

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Func {
	return compressGeneric
}
