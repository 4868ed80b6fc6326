//go:build !amd64 || purego

package compress

import (
	"grenier/kernels/cpu"
	"grenier/kernels/rows"
)

// LeastFor returns the generic kernel: this build has no other.
func LeastFor(f cpu.Family) LeastFunc { return leastBy(compressGeneric, rows.For(f).Min) }
