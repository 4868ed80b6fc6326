//go:build !amd64 || purego

package ranks

import "grenier/kernels/cpu"

// For returns the generic kernel: this build has no other.
func For(cpu.Family) Kernel { return Kernel{Ranks: ranksGeneric, Scores: scoresGeneric} }
