package layerfile

import (
	"context"
	"encoding/binary"
	"fmt"

	"grenier/kernels/crc32c"
)

const indexEntrySize = 24

// flagRaw marks a block that is stored as plain scores.
const flagRaw = 1

// entry is what the index says about one block.
type entry struct {
	offset    uint64 // of the stored bytes in the file
	length    uint32 // of the stored bytes
	flags     uint32 // flagRaw or 0
	storedCRC uint32 // CRC-32C of the stored bytes
	scoresCRC uint32 // CRC-32C of the scores
}

func (e *entry) append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, e.offset)
	b = le.AppendUint32(b, e.length)
	b = le.AppendUint32(b, e.flags)
	b = le.AppendUint32(b, e.storedCRC)
	return le.AppendUint32(b, e.scoresCRC)
}

func parseEntry(b []byte) entry {
	le := binary.LittleEndian
	return entry{
		offset:    le.Uint64(b),
		length:    le.Uint32(b[8:]),
		flags:     le.Uint32(b[12:]),
		storedCRC: le.Uint32(b[16:]),
		scoresCRC: le.Uint32(b[20:]),
	}
}

func (e *entry) raw() bool { return e.flags&flagRaw != 0 }

// check reports whether e can be the entry of a block of n scores in a file whose
// blocks lie between offsets start and end.
func (e *entry) check(n int, start, end uint64) error {
	switch {
	case e.flags&^flagRaw != 0:
		return fmt.Errorf("unknown flags %d", e.flags)
	case e.raw() && e.length != uint32(n):
		return fmt.Errorf("%d scores are stored as they are in %d bytes", n, e.length)
	case !e.raw() && (e.length == 0 || e.length >= uint32(n)):
		return fmt.Errorf("%d scores are compressed to %d bytes", n, e.length)
	case e.offset < start || e.offset > end || uint64(e.length) > end-e.offset:
		return fmt.Errorf("%d bytes at %d are not between model and index", e.length, e.offset)
	}
	return nil
}

// readEntry copies entry i of the index to dst.
func (f *File) readEntry(ctx context.Context, dst []byte, i int) error {
	if f.pages != nil {
		return f.pages.read(ctx, dst, i)
	}
	return f.source.read(ctx, dst, f.footer.indexOffset+int64(i)*indexEntrySize)
}

// Ahead says that the blocks from first to last are read soon: of a Sparing file the system reads them meanwhile. What is
// wrong with them is left to those who read them.
func (f *File) Ahead(ctx context.Context, first, last int) {
	var bytes [2][indexEntrySize]byte
	if first < 0 || last < first || last >= f.NumBlocks() || f.readEntry(ctx, bytes[0][:], first) != nil || f.readEntry(ctx, bytes[1][:], last) != nil {
		return
	}
	from, to := parseEntry(bytes[0][:]), parseEntry(bytes[1][:])
	if length := int64(to.offset+uint64(to.length)) - int64(from.offset); length > 0 {
		f.source.ahead(int64(from.offset), length)
	}
}

// readIndex passes all entries of the index to check, reading s in pieces,
// and returns the CRC-32C of the index. The first failure ends it and is returned as
// bad: what follows may be as long as the file system allows.
func readIndex(ctx context.Context, s source, offset int64, blocks int, check func(i int, e entry) error) (crc uint32, bad, err error) {
	buf := make([]byte, min(blocks, 4096)*indexEntrySize)
	for i := 0; i < blocks; {
		piece := buf[:min(blocks-i, 4096)*indexEntrySize]
		if err := s.read(ctx, piece, offset+int64(i)*indexEntrySize); err != nil {
			return 0, nil, err
		}
		crc = crc32c.Update(crc, piece)
		for ; len(piece) > 0; piece = piece[indexEntrySize:] {
			if bad := check(i, parseEntry(piece)); bad != nil {
				return 0, bad, nil
			}
			i++
		}
	}
	return crc, bad, nil
}
