//go:build !purego

package rows

import "grenier/kernels/cpu"

// For returns the kernel of the family f, which must be supported.
func For(f cpu.Family) Kernel {
	return Kernel{Min: minGeneric, CountDiff: countDiffGeneric}
}
