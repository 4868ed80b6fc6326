//go:build !amd64 || purego

package fnv

import "grenier/kernels/cpu"

// For returns the generic kernel: this build has no other.
func For(cpu.Family) AddFunc { return addGeneric }
