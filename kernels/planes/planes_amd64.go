//go:build !purego

package planes

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	return Kernel{Split: splitGeneric, Join: joinGeneric}
}
