//go:build !amd64 || purego

package transpose

import "grenier/kernels/cpu"

// ForThin returns the generic kernel for lines that are a thin block (window.Thin) instead: positions
// that are not searched do not change. This build has no other.
func ForThin(cpu.Family) UpdateFunc { return updateThin }
