package layerfile

import (
	"encoding/binary"
	"fmt"
	"iter"

	"grenier/io/tally"
)

// Below names the layers that the scores of a layer were computed from: each by its number of
// seeds, ascending, and the hash of its scores. Contents of another sort may name the layer itself, whose
// scores they were computed from. It is the form that files have; "" says that the
// layers are unknown, or that there are none.
type Below string

const (
	belowSize = 2 + 8 // seeds, hash
	maxBelow  = 1000  // layers
)

// With returns b with one layer more, which has more seeds than the others. It panics
// if a file cannot have them.
func (b Below) With(seeds int, hash tally.Hash) Below {
	e := binary.LittleEndian.AppendUint16(nil, uint16(seeds))
	b += Below(binary.LittleEndian.AppendUint64(e, uint64(hash)))
	if err := b.check(seeds + 1); err != nil {
		panic(err)
	}
	return b
}

// All yields the layers.
func (b Below) All() iter.Seq2[int, tally.Hash] {
	return func(yield func(int, tally.Hash) bool) {
		for i := range b.len() {
			e := []byte(b[i*belowSize:][:belowSize])
			if !yield(int(binary.LittleEndian.Uint16(e)), tally.Hash(binary.LittleEndian.Uint64(e[2:]))) {
				return
			}
		}
	}
}

// len returns the number of layers.
func (b Below) len() int { return len(b) / belowSize }

// check fails unless a layer of n seeds can be made from these.
func (b Below) check(n int) error {
	if len(b)%belowSize != 0 || b.len() > maxBelow {
		return fmt.Errorf("%d bytes name the layers below: expected %d for each, and at most %d of them", len(b), belowSize, maxBelow)
	}
	last := -1
	for seeds := range b.All() {
		if seeds <= last || seeds >= n {
			return fmt.Errorf("layer %d is named behind layer %d as one below layer %d", seeds, last, n)
		}
		last = seeds
	}
	return nil
}
