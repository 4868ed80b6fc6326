//go:build !(amd64 || arm64) || purego

package transpose

import "grenier/kernels/cpu"

// For returns the generic kernel for scores of 8 bits or codes of 2, 3, 4 or 6: this build has
// no other. It panics at other bits.
func For(_ cpu.Family, bits int) UpdateFunc {
	if bits == 8 {
		return updateGeneric
	}
	return packedOf(bits).updateGeneric
}
