//go:build !amd64 || purego

package transpose

import "grenier/kernels/cpu"

// For returns the generic kernel: this build has no other.
func For(cpu.Family) UpdateFunc { return updateGeneric }
