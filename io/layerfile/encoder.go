package layerfile

import (
	"fmt"

	"grenier/io/tally"
	"grenier/kernels/planes"
)

// Block is an encoded block on its way to a Writer. The zero value is ready for
// Encoder.Encode; a block that was appended can be encoded anew and keeps its
// memory, at most 64 KiB.
type Block struct {
	buf       []byte // memory for stored; raw blocks are stored from scores
	stored    []byte
	scores    []int8 // the caller's
	flags     uint32
	storedCRC uint32
	scoresCRC uint32
	histogram tally.Histogram
	codec     Codec
}

// Encoder encodes blocks. It has no shared state: give one to each worker.
type Encoder struct {
	size       int
	codec      Codec
	kernel     planes.Kernel
	compressor compressor
	planes     []byte
}

// NewEncoder returns an encoder for blocks of a file with header h. It fails
// with ErrHeader.
func NewEncoder(h Header, kernel planes.Kernel) (*Encoder, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	c, err := h.Codec.newCompressor()
	if err != nil {
		return nil, err
	}
	return &Encoder{
		size:       h.BlockSize,
		codec:      h.Codec,
		kernel:     kernel,
		compressor: c,
		planes:     make([]byte, planes.Size(h.BlockSize)),
	}, nil
}

// Encode sets b to the block of the given scores, 1 to Header.BlockSize of them.
// The block refers to scores: they must not change until it is appended.
func (e *Encoder) Encode(b *Block, scores []int8) error {
	if len(scores) < 1 || len(scores) > e.size {
		return fmt.Errorf("encoding a block of %d scores: want 1 to %d", len(scores), e.size)
	}
	raw := tally.Bytes(scores)
	b.scores, b.codec = scores, e.codec
	b.histogram = tally.Histogram{}
	b.histogram.Add(scores)
	b.scoresCRC = crc32c(raw)
	split := e.planes[:planes.Size(len(scores))]
	e.kernel.Split(split, raw)
	if out := e.compressor.compress(b.buf, split, len(scores)); out != nil {
		b.buf, b.stored, b.flags = out, out, 0
	} else {
		b.stored, b.flags = raw, flagRaw
	}
	b.storedCRC = crc32c(b.stored)
	return nil
}
