package layerfile

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"grenier/io/corrupt"
	"grenier/kernels/cpu"
)

// Blocks that wait for their file, in a stream of another kind, are packed: the entry of a block in the index, with the
// offset 0, and then its stored bytes.

// Packed appends the block to dst as an Unpacker reads it.
func (b *Block) Packed(dst []byte) []byte {
	e := b.entry(0)
	return append(e.append(dst), b.stored...)
}

// entry returns what the index says about the block at an offset.
func (b *Block) entry(offset uint64) entry {
	return entry{offset: offset, length: uint32(len(b.stored)), flags: b.flags, storedCRC: b.storedCRC, scoresCRC: b.scoresCRC}
}

// ReadPacked reads the next packed block, in the memory of dst if that suffices. It fails as r does, with io.EOF if there is none.
func ReadPacked(r io.Reader, dst []byte) ([]byte, error) {
	dst = slices.Grow(dst[:0], indexEntrySize)[:indexEntrySize]
	if _, err := io.ReadFull(r, dst); err != nil {
		return nil, err
	}
	length := parseEntry(dst).length
	if length > MaxBlockSize {
		return nil, fmt.Errorf("a block of %d bytes: expected at most %d", length, MaxBlockSize)
	}
	dst = slices.Grow(dst, int(length))[:indexEntrySize+int(length)]
	_, err := io.ReadFull(r, dst[indexEntrySize:])
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return dst, err
}

// Unpacker unpacks blocks. It belongs to one goroutine at a time.
type Unpacker struct{ decoder *Decoder }

// NewUnpacker returns an unpacker of blocks of a file with header h that come from path, with scores from -most to most. It
// fails with ErrHeader.
func NewUnpacker(path string, h Header, most int, family cpu.Family) (*Unpacker, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	f := newFile(path, nil)
	f.header, f.most = h, most
	return &Unpacker{f.NewDecoder(family)}, nil
}

// Unpack sets b to block i of the file, which refers to packed and to scores: its scores, which Unpack fills. It fails with
// an error that matches corrupt.ErrCorrupt.
func (u *Unpacker) Unpack(b *Block, i int, packed []byte, scores []int8) error {
	h := &u.decoder.f.header
	e, stored := parseEntry(packed), packed[indexEntrySize:]
	scores = scores[:h.BlockLen(i)]
	err := cmp.Or(e.check(len(scores), 0, math.MaxUint64), e.checkStored(stored))
	if err == nil {
		err = u.decoder.undo(scores, e, stored)
	}
	if err != nil {
		return corrupt.New(u.decoder.f.path, fmt.Sprintf("block %d", i), "%w", err)
	}
	*b = Block{buf: b.buf, stored: stored, scores: scores, flags: e.flags, storedCRC: e.storedCRC, scoresCRC: e.scoresCRC}
	b.histogram.Add(scores)
	return nil
}
