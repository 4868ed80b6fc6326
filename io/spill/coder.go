package spill

import (
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/huff0"
)

// coder gives bytes a Huffman code, and decodes it. Few are needed at a time: as many as there are goroutines at work.
type coder struct {
	huff0.Scratch
	decoded []byte
}

var coders = sync.Pool{New: func() any { return &coder{Scratch: huff0.Scratch{Reuse: huff0.ReusePolicyNone}} }}

// coded is the bytes in front of a code: the number of bytes that have it.
const coded = 4

// code gives bytes, packed in the way that flags say, a code of their own, and stores that if it is shorter. It reports
// whether it is.
func (b *block) code(bytes []byte, flags uint32) bool {
	c := coders.Get().(*coder)
	defer coders.Put(c)
	code, _, err := huff0.Compress4X(bytes, &c.Scratch)
	if err != nil || coded+len(code) >= len(bytes) { // the error says that it is not, or that all bytes are the same
		return false
	}
	n := len(bytes)
	b.stored = slices.Grow(b.stored[:0], blockHeadSize+coded+len(code))[:blockHeadSize+coded]
	little.PutUint32(b.stored[blockHeadSize:], uint32(n))
	b.stored = append(b.stored, code...)
	b.end(coded+len(code), flags|codedFlag)
	return true
}

// decode returns the bytes with a code, most of them at most. They are good until the next call.
func (c *coder) decode(code []byte, most int) ([]byte, error) {
	if len(code) < coded {
		return nil, fmt.Errorf("a code of %d bytes", len(code))
	}
	n := int(little.Uint32(code))
	if n > most {
		return nil, fmt.Errorf("a code of %d bytes, of at most %d", n, most)
	}
	table, rest, err := huff0.ReadTable(code[coded:], &c.Scratch)
	if err != nil {
		return nil, err
	}
	c.decoded = slices.Grow(c.decoded[:0], n)
	return table.Decoder().Decompress4X(c.decoded[:0:n], rest)
}
