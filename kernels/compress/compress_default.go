//go:build !amd64 || purego

package compress

import "grenier/kernels/cpu"

// For returns the generic kernel: this build has no other.
func For(cpu.Family) LeastFunc { return leastGeneric }
