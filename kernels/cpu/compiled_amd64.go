//go:build !purego

package cpu

// compiled says that this build has kernels in assembly.
const compiled = true
