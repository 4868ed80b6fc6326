//go:build !amd64 || purego

package planes

import "grenier/kernels/cpu"

// For returns the generic kernel: this build has no other.
func For(cpu.Family) Kernel { return generic }
