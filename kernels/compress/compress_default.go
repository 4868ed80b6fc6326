//go:build !amd64 || purego

package compress

import "grenier/kernels/cpu"

// rowFor returns the generic kernel: this build has no other.
func rowFor(cpu.Family) rowFunc { return compressGeneric }
