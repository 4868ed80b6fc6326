//go:build !amd64 || purego

package boards

import "grenier/kernels/cpu"

// of returns the generic kernels: this build has no others.
func of(cpu.Family) operations { return generic }
