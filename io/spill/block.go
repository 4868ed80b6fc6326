package spill

import (
	"fmt"
	"slices"

	"github.com/pierrec/lz4/v4"

	"grenier/kernels/crc32c"
)

// block is a part of a stream in flight between goroutines. Blocks are used again, and
// take memory when they are used: many streams are short.
type block struct {
	number   uint64
	contents []byte
	stored   []byte // head and compressed contents; a reader has the next head behind them
	err      error  // its fault, if any
}

// blocksFor returns the blocks for some workers: one that each works on, one that waits for
// each, one that the file is busy with and one that the caller is.
func blocksFor(workers int) []*block {
	all := make([]*block, 2*workers+2)
	for i := range all {
		all[i] = new(block)
	}
	return all
}

// clear makes room for contents of size bytes: where they are stored, if they stay as they are.
func (b *block) clear(p Packing, size int) {
	if p != Direct {
		b.contents = slices.Grow(b.contents[:0], size)
		return
	}
	b.stored = slices.Grow(b.stored[:0], blockHeadSize+size)
	b.contents = b.stored[blockHeadSize:blockHeadSize]
}

// pack fills stored from contents. It cannot fail.
func (b *block) pack(p Packing, header uint32) {
	switch {
	case p == Direct: // it is filled
		b.end(len(b.contents), rawFlag)
	case p == LZ4 || !b.code(b.contents, rawFlag):
		flags := b.lz4()
		b.code(b.stored[blockHeadSize:], flags)
	}
	little.PutUint32(b.stored[bContents:], uint32(len(b.contents)))
	little.PutUint32(b.stored[bSum:], b.checksum(header))
}

// end ends stored behind n bytes of packed contents, and says how they are packed.
func (b *block) end(n int, flags uint32) {
	b.stored = b.stored[:blockHeadSize+n]
	little.PutUint32(b.stored, uint32(n)|flags)
}

// lz4 packs contents, or copies them if that is shorter, and returns the flags.
func (b *block) lz4() (flags uint32) {
	most := blockHeadSize + lz4.CompressBlockBound(len(b.contents))
	b.stored = slices.Grow(b.stored[:0], most)[:most]
	stored := b.stored[blockHeadSize:]
	n, err := lz4.CompressBlock(b.contents, stored, nil)
	if err != nil || n == 0 || n >= len(b.contents) {
		n, flags = copy(stored, b.contents), rawFlag
	}
	b.end(n, flags)
	return flags
}

// checksum returns the checksum of a block: of the header of its stream, its number, its
// lengths and the stored bytes.
func (b *block) checksum(header uint32) uint32 {
	var whose [12]byte
	little.PutUint32(whose[:], header)
	little.PutUint64(whose[4:], b.number)
	sum := crc32c.Of(whose[:])
	sum = crc32c.Update(sum, b.stored[:bSum])
	return crc32c.Update(sum, b.stored[blockHeadSize:])
}

// unpack checks the stored bytes and fills contents.
func (b *block) unpack(header uint32) error {
	if sum, want := b.checksum(header), little.Uint32(b.stored[bSum:]); sum != want {
		return fmt.Errorf("checksum %08x instead of %08x", sum, want)
	}
	stored, flags, length := b.stored[blockHeadSize:], little.Uint32(b.stored), int(little.Uint32(b.stored[bContents:]))
	b.contents = slices.Grow(b.contents[:0], length)[:length]
	if flags&codedFlag != 0 {
		c := coders.Get().(*coder)
		defer coders.Put(c)
		var err error
		if stored, err = c.decode(stored, lz4.CompressBlockBound(length)); err != nil {
			return err
		}
	}
	n, err := len(stored), error(nil)
	if flags&rawFlag != 0 {
		copy(b.contents, stored)
	} else {
		n, err = lz4.UncompressBlock(stored, b.contents)
	}
	if err != nil || n != length {
		return fmt.Errorf("%d bytes of contents instead of %d: %v", n, length, err)
	}
	return nil
}

// part names a block in errors.
func part(number uint64) string { return fmt.Sprintf("block %d", number) }

// totals are the sums that the end of a stream gives.
type totals struct {
	blocks, length uint64
	sums           uint32 // of the checksums of all blocks
}

// add counts a block by its head.
func (t *totals) add(head []byte) {
	t.blocks++
	t.length += uint64(little.Uint32(head[bContents:]))
	t.sums = crc32c.Update(t.sums, head[bSum:blockHeadSize])
}

// encode returns the end of a stream.
func (t *totals) encode(header uint32) []byte {
	b := make([]byte, tailSize)
	little.PutUint64(b[eBlocks:], t.blocks)
	little.PutUint64(b[eLength:], t.length)
	little.PutUint32(b[eSums:], t.sums)
	sum := crc32c.Of(little.AppendUint32(nil, header))
	little.PutUint32(b[eSum:], crc32c.Update(sum, b[:eSum]))
	return b
}
