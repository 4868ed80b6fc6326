//go:build !amd64 || purego

package cpu

// compiled tells that this build holds the generic kernels only.
const compiled = false
