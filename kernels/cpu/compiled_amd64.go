//go:build !purego

package cpu

// compiled tells that this build holds kernels in assembly.
const compiled = true
