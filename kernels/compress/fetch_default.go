//go:build !amd64 || purego

package compress

import "grenier/kernels/cpu"

// FetchFor returns the generic kernel: this build has no other.
func FetchFor(cpu.Family) FetchFunc { return fetchGeneric }
