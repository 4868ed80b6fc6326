package halfboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/pierrec/lz4/v4"

	"grenier/kernels/planes"
)

// errPacked reports bytes that are not what a packer made: a checksum should have found
// that.
var errPacked = errors.New("halfboard: bad packed scores")

// A packer packs parts of tiles, for one goroutine: scores as bit planes, offers, most of
// which are the same, by lz4.
type packer struct {
	planes planes.Kernel
	lz4    lz4.Compressor
	packed []byte // by the calls since reset
}

func (p *packer) reset() { p.packed = p.packed[:0] }

// scores appends scores and returns the bytes that they take.
func (p *packer) scores(runs [][]int8) int {
	before := len(p.packed)
	for _, run := range runs {
		at := len(p.packed)
		p.packed = slices.Grow(p.packed, planes.Bound(len(run)))
		p.packed = p.packed[:at+p.planes.Pack(p.packed[at:at+planes.Bound(len(run))], run)]
	}
	return len(p.packed) - before
}

// unpackScores is the inverse of scores.
func (p *packer) unpackScores(runs [][]int8, packed []byte) error {
	for _, run := range runs {
		n := p.planes.Unpack(run, packed)
		if n < 0 {
			return fmt.Errorf("%w: %d bytes for %d scores", errPacked, len(packed), len(run))
		}
		packed = packed[n:]
	}
	if len(packed) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errPacked, len(packed))
	}
	return nil
}

// lengthSize is the size of the length in front of each packed run of offers.
const lengthSize = 4

// offers appends offers and returns the bytes that they take: for each run its length
// when packed, and then the run, as it is if packing does not make it shorter.
func (p *packer) offers(runs [][]int8) int {
	before := len(p.packed)
	for _, run := range runs {
		at := len(p.packed) + lengthSize
		p.packed = slices.Grow(p.packed, lengthSize+len(run))[:at+len(run)]
		n, err := p.lz4.CompressBlock(asBytes(run), p.packed[at:at+len(run)-1])
		if err != nil || n == 0 {
			n = copy(p.packed[at:], asBytes(run))
		}
		binary.LittleEndian.PutUint32(p.packed[at-lengthSize:], uint32(n))
		p.packed = p.packed[:at+n]
	}
	return len(p.packed) - before
}

// unpackOffers is the inverse of offers.
func unpackOffers(runs [][]int8, packed []byte) error {
	for i, run := range runs {
		if err := unpackOffer(run, packed, i); err != nil {
			return err
		}
	}
	return nil
}

// unpackOffer writes run i of packed offers to dst.
func unpackOffer(dst []int8, packed []byte, i int) error {
	for ; ; i-- {
		if len(packed) < lengthSize {
			return fmt.Errorf("%w: the end is missing", errPacked)
		}
		n := int(binary.LittleEndian.Uint32(packed))
		if packed = packed[lengthSize:]; n > len(packed) {
			return fmt.Errorf("%w: a run of %d bytes of which %d are there", errPacked, n, len(packed))
		}
		if i > 0 {
			packed = packed[n:]
			continue
		}
		if n == len(dst) {
			copy(asBytes(dst), packed)
			return nil
		}
		if got, err := lz4.UncompressBlock(packed[:n], asBytes(dst)); err != nil || got != len(dst) {
			return fmt.Errorf("%w: %d bytes for %d offers", errPacked, n, len(dst))
		}
		return nil
	}
}

func asBytes(scores []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(scores))), len(scores))
}
