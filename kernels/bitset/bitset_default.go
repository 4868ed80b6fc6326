//go:build !amd64 || purego

package bitset

import "grenier/kernels/cpu"

// of and extractOf return the generic kernels: this build has no others.
func of(cpu.Family) DepositFunc { return deposit }

func extractOf(cpu.Family) ExtractFunc { return extract }
