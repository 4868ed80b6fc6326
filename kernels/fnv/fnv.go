// Package fnv computes FNV-1a with 64 bits (Fowler, Noll and Vo, 1991; variant 1a
// is draft-eastlake-fnv) several bytes at a time.
//
// The definition is a loop, hash = (hash ^ byte) * Prime modulo 2^64, that waits for
// a multiplication with every byte, and a file has one hash: no number of cores makes
// it faster. But little of it depends on the bytes before. With b[i] the bytes, l[i] the
// lowest byte of the hash in front of byte i and x[i] = l[i] ^ b[i],
//
//	hash ^ b[i] = hash + x[i] - l[i]
//
// because only the lowest byte meets b[i]. So n bytes turn the hash h into
//
//	h*Prime^n + sum of (x[i] - l[i]) * Prime^(n-i)
//
// which is a sum of products with constants, in any order, once the l[i] are known.
// They depend on each other and on nothing else of the hash: l[i+1] is the lowest byte
// of x[i]*0xb3, as Prime is 2^40 + 0x1b3. Take them bit by bit, with B[k] the bits k
// of all b[i], side by side, and so on. Bit k of x*0xb3 is bit k of x, for the
// factor is odd, plus the carry of the lower bits of x there, say C[k]:
//
//	L[k][i+1] = X[k][i] ^ C[k][i] = L[k][i] ^ B[k][i] ^ C[k][i]
//
// L[0] is thus the XOR of all B[0] before, from the hash on, as C[0] is 0; and for k = 1
// to 7, C[k] follows from the bits that are known by then, and L[k] is the XOR of all
// B[k] ^ C[k] before. The XOR of all bits before, for 512 bytes at a time, takes a few
// shifts. The derivation is ours.
//
// The generic code is the definition; the twin for amd64 gives the same hashes.
package fnv

// Prime is the factor of FNV-1a with 64 bits.
const Prime = 0x100000001b3

// AddFunc returns the hash of a string followed by data; hash is the hash of the string.
type AddFunc func(hash uint64, data []byte) uint64

func addGeneric(hash uint64, data []byte) uint64 {
	for _, b := range data {
		hash = (hash ^ uint64(b)) * Prime
	}
	return hash
}
