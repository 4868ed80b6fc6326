package layerfile

import (
	"fmt"

	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// Block is an encoded block in flight to a Writer. The zero value is ready for
// Encoder.Encode; a block that was appended can be reused and keeps its memory,
// at most 64 KiB.
type Block struct {
	buf       []byte // memory for stored; raw blocks are stored from scores
	stored    []byte
	scores    []int8 // the caller's
	flags     uint32
	storedCRC uint32
	scoresCRC uint32
	histogram tally.Histogram
}

// Encoder encodes blocks. It has no shared state: give one to each worker.
type Encoder struct {
	size       int
	encoding   *ranks.Encoding // nil without a model
	ranks      ranks.Kernel
	rice       rice.Kernel
	low, high  int8 // range of the model
	compressor lz4Codec
	places     []byte // ranks of the scores of a block
	code       []byte
}

// NewEncoder returns an encoder for blocks of a file with header h that uses the
// kernels of a family; all of them write the same bytes. It fails with ErrHeader.
func NewEncoder(h Header, family cpu.Family) (*Encoder, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	size := h.BlockLen(0)
	e := &Encoder{
		size:   size,
		ranks:  ranks.For(family),
		rice:   rice.For(family),
		places: make([]byte, size),
		code:   make([]byte, size),
	}
	if h.Model != "" {
		e.low, e.high = h.Model.Range()
		e.encoding = ranks.NewEncoding(h.Model)
	}
	return e, nil
}

// Encode sets b to the block of the given scores, 1 to Header.BlockSize of them.
// The block refers to scores: they must not change until it is appended.
func (e *Encoder) Encode(b *Block, scores []int8) error {
	if len(scores) < 1 || len(scores) > e.size {
		return fmt.Errorf("encoding a block of %d scores: expected 1 to %d", len(scores), e.size)
	}
	raw := tally.Bytes(scores)
	b.scores = scores
	b.histogram = tally.Histogram{}
	b.histogram.Add(scores)
	b.scoresCRC = crc32c.Of(raw)
	if out := e.compress(b, raw); out != nil {
		b.buf, b.stored, b.flags = out, out, 0
	} else {
		b.stored, b.flags = raw, flagRaw
	}
	b.storedCRC = crc32c.Of(b.stored)
	return nil
}

// compress returns the stored bytes of scores, nil if they cannot be shorter or
// if the model lacks a score.
func (e *Encoder) compress(b *Block, scores []byte) []byte {
	if e.encoding == nil || !b.histogram.Within(e.low, e.high) {
		return nil
	}
	places := e.places[:len(scores)]
	e.ranks.Ranks(e.encoding, places, scores)
	n := e.rice.Split(e.code[:len(scores)], places)
	if n < 0 {
		return nil
	}
	return e.compressor.compress(b.buf, e.code[:n], len(scores))
}
