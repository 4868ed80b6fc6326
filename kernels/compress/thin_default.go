//go:build !amd64 || purego

package compress

import "grenier/kernels/cpu"

// ForThin returns the generic kernel for thin blocks: this build has no other.
func ForThin(cpu.Family) LeastFunc { return leastThin }
