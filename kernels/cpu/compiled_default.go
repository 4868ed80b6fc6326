//go:build !amd64 || purego

package cpu

// compiled says that this build has generic kernels only.
const compiled = false
