//go:build !purego

package transpose

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Func {
	return negateGeneric
}
