package halfboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/pierrec/lz4/v4"

	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// A form is how scores are packed that are put away.
type form uint8

const (
	plainForm form = iota // as they are
	lz4Form               // lz4: offers, most of which are the same
	rankForm              // ranks in a Rice code, as in layer files: scores
)

// errPacked reports bytes that are not what pack made: a checksum should have found
// that.
var errPacked = errors.New("halfboard: bad packed scores")

// packing is what all packers of a layer share.
type packing struct {
	encoding *ranks.Encoding
	decoding *ranks.Decoding
	ranks    ranks.Kernel
	rice     rice.Kernel
}

// use packs by a model from now on. Nothing must have been packed before.
func (p *packing) use(model ranks.Model) {
	p.encoding, p.decoding = ranks.NewEncoding(model), ranks.NewDecoding(model)
}

// packer packs and unpacks, for one goroutine. Packed runs follow each other: for
// each its form, one byte, its length, four bytes, and that many bytes.
type packer struct {
	*packing
	lz4    lz4.Compressor
	places []byte // scratch
	packed []byte // the result
}

const packHead = 5 // bytes before each packed run

// pack packs runs in the form f, or plain where that is no shorter. The result is
// valid until the next call.
func (p *packer) pack(runs [][]int8, f form) []byte {
	p.packed = p.packed[:0]
	for _, run := range runs {
		p.packRun(run, f)
	}
	return p.packed
}

func (p *packer) packRun(run []int8, f form) {
	head := len(p.packed)
	p.packed = slices.Grow(p.packed, packHead+len(run))
	room := p.packed[head+packHead : head+packHead+len(run)]
	n := p.code(room, run, f)
	if n <= 0 {
		f, n = plainForm, copy(room, asBytes(run))
	}
	p.packed = p.packed[:head+packHead+n]
	p.packed[head] = byte(f)
	binary.LittleEndian.PutUint32(p.packed[head+1:], uint32(n))
}

// code writes the code of run to dst and returns its length, 0 or less if it does not
// fit.
func (p *packer) code(dst []byte, run []int8, f form) int {
	switch f {
	case plainForm:
		return 0
	case lz4Form:
		n, err := p.lz4.CompressBlock(asBytes(run), dst)
		if err != nil {
			return 0
		}
		return n
	}
	p.places = slices.Grow(p.places[:0], len(run))[:len(run)]
	p.encoding.Ranks(p.places, asBytes(run))
	return p.rice.Split(dst, p.places)
}

// unpack writes what packed holds to runs.
func (p *packer) unpack(runs [][]int8, packed []byte) error {
	for _, run := range runs {
		if len(packed) < packHead {
			return fmt.Errorf("%w: the end is missing", errPacked)
		}
		f, n := form(packed[0]), int(binary.LittleEndian.Uint32(packed[1:]))
		if packed = packed[packHead:]; n > len(packed) {
			return fmt.Errorf("%w: a run of %d bytes of which %d are there", errPacked, n, len(packed))
		}
		if err := p.uncode(asBytes(run), packed[:n], f); err != nil {
			return err
		}
		packed = packed[n:]
	}
	if len(packed) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errPacked, len(packed))
	}
	return nil
}

func (p *packer) uncode(dst, src []byte, f form) error {
	switch f {
	case plainForm:
		if copy(dst, src) == len(dst) && len(src) == len(dst) {
			return nil
		}
	case lz4Form:
		if n, err := lz4.UncompressBlock(src, dst); err == nil && n == len(dst) {
			return nil
		}
	case rankForm:
		if err := p.rice.Join(dst, src); err == nil {
			p.ranks.Scores(p.decoding, dst)
			return nil
		}
	}
	return fmt.Errorf("%w: %d bytes of form %d for %d scores", errPacked, len(src), f, len(dst))
}

func asBytes(scores []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(scores))), len(scores))
}
