//go:build !amd64 || purego

package bitset

import "grenier/kernels/cpu"

// of returns the generic kernel: this build has no other.
func of(cpu.Family) DepositFunc { return deposit }
