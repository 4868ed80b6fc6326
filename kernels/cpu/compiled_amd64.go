//go:build !purego

package cpu

// compiled are the families that this build has besides the generic one.
var compiled = []Family{BMI2, AVX512}
