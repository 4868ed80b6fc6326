// Package patternfile keeps pattern databases in files: small numbers, one byte each,
// with a header that describes them. A file is written once and never changed.
//
// All numbers are little endian. A file is a header, an index and the blocks, with
// nothing between them and nothing behind:
//
//	+--------+--------------------+---------+-----+---------+
//	| header | index              | block 0 | ... | block B |
//	| 48     | 12 for each, and 4 |         |     |         |
//	+--------+--------------------+---------+-----+---------+
//
// A block is a zstd frame of the next MiB of values. The index holds the length of
// each and two CRC-32Cs, of the stored bytes, so that the codec never sees damaged
// input, and of the values; header and index have a CRC-32C of their own. The
// layout byte by byte is in docs/format/pattern-file.md.
//
// Values are looked up at random millions of times a second, so Read maps the file,
// checks it and unpacks all of it at once.
package patternfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/edsrzf/mmap-go"
	"github.com/klauspost/compress/zstd"

	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// Version is the format version that this package writes and reads. It only grows.
const Version = 1

const (
	magic      = "\x89GP\r\n\x1a\n\x00"
	headerSize = 48
	entrySize  = 12
	blockSize  = 1 << 20
	maxEntries = 1 << 40
)

// Offsets of the fields of a header.
const (
	hVersion = 8
	hKind    = 12
	hCost    = 13
	hRows    = 14
	hCols    = 15
	hSize    = 16
	hTiles   = 20
	hEntries = 24
	hBlocks  = 32
	hZero    = 36
)

var layout = sealed.Layout{Name: "a pattern database", Magic: magic, Version: hVersion, Size: headerSize, Oldest: Version, Newest: Version}

// Kind names the objects that the values of a file belong to. The numbers are part
// of the format and never change.
type Kind uint8

// The kinds.
const (
	Static  Kind = 1 // one set of tiles
	Dynamic Kind = 2 // all sets of as many tiles, in ascending order as numbers
)

// ErrHeader reports a header that no file can have.
var ErrHeader = errors.New("bad header of a pattern database")

// Header describes the values of a file.
type Header struct {
	Kind       Kind
	Cost       uint8  // 1 unit, 2 tracked (package heuristic)
	Rows, Cols uint8  // of the grid; at most 32 cells
	Size       uint8  // tiles in a set
	Tiles      uint32 // the set of a Static file, bit t for tile t; else 0
	Entries    uint64 // values
}

// Validate fails with ErrHeader if fields do not go together.
func (h *Header) Validate() error {
	cells := int(h.Rows) * int(h.Cols)
	switch {
	case h.Kind != Static && h.Kind != Dynamic:
		return fmt.Errorf("%w: kind %d", ErrHeader, h.Kind)
	case h.Cost != 1 && h.Cost != 2:
		return fmt.Errorf("%w: cost %d", ErrHeader, h.Cost)
	case cells < 1 || cells > 32:
		return fmt.Errorf("%w: %d x %d cells", ErrHeader, h.Rows, h.Cols)
	case h.Size < 1 || int(h.Size) > cells:
		return fmt.Errorf("%w: sets of %d tiles in %d cells", ErrHeader, h.Size, cells)
	case h.Kind == Static && (bits.OnesCount32(h.Tiles) != int(h.Size) || bits.Len32(h.Tiles) > cells):
		return fmt.Errorf("%w: tiles %#x are not %d of %d", ErrHeader, h.Tiles, h.Size, cells)
	case h.Kind == Dynamic && h.Tiles != 0:
		return fmt.Errorf("%w: tiles %#x with all sets", ErrHeader, h.Tiles)
	case h.Entries < 1 || h.Entries > maxEntries || h.Entries > math.MaxInt/2:
		return fmt.Errorf("%w: %d entries", ErrHeader, h.Entries)
	}
	return nil
}

func (h *Header) blocks() int { return int((h.Entries + blockSize - 1) / blockSize) }

func (h *Header) encode() []byte {
	b := layout.Start(Version)
	b[hKind], b[hCost], b[hRows], b[hCols], b[hSize] = byte(h.Kind), h.Cost, h.Rows, h.Cols, h.Size
	binary.LittleEndian.PutUint32(b[hTiles:], h.Tiles)
	binary.LittleEndian.PutUint64(b[hEntries:], h.Entries)
	binary.LittleEndian.PutUint32(b[hBlocks:], uint32(h.blocks()))
	return sealed.End(b)
}

// Encode returns the contents of a file. It fails with ErrHeader.
func Encode(h Header, values []uint8) ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if uint64(len(values)) != h.Entries {
		return nil, fmt.Errorf("%w: %d entries, but %d values", ErrHeader, h.Entries, len(values))
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	var index, blocks []byte
	for len(values) > 0 {
		raw := values[:min(blockSize, len(values))]
		start := len(blocks)
		blocks = z.EncodeAll(raw, blocks)
		index = binary.LittleEndian.AppendUint32(index, uint32(len(blocks)-start))
		index = binary.LittleEndian.AppendUint32(index, crc32c.Of(blocks[start:]))
		index = binary.LittleEndian.AppendUint32(index, crc32c.Of(raw))
		values = values[len(raw):]
	}
	return bytes.Join([][]byte{h.encode(), sealed.End(index), blocks}, nil), nil
}

// Read returns the header and the values of a file. It fails with an error that matches
// corrupt.ErrCorrupt if anything has changed since the file was written. accept, if
// not nil, is called before anything is unpacked and may refuse a file that the caller
// has no use or no memory for.
func Read(path string, accept func(Header) error) (Header, []uint8, error) {
	f, err := vfs.OpenFile(path)
	if err != nil {
		return Header{}, nil, corrupt.Opened(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return Header{}, nil, err
	case info.Size() == 0:
		return Header{}, nil, corrupt.New(path, "header", "truncated: the file is empty")
	}
	data, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return Header{}, nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	var h Header
	var values []uint8
	if fault := corrupt.Guard(func() { h, values, err = parse(path, data, accept) }); fault != nil {
		err = corrupt.New(path, "", "%w", fault)
	}
	if unmapped := data.Unmap(); err == nil {
		err = unmapped
	}
	return h, values, err
}

func parse(path string, data []byte, accept func(Header) error) (Header, []uint8, error) {
	h, err := parseHeader(path, data)
	if err != nil {
		return Header{}, nil, err
	}
	end := headerSize + entrySize*h.blocks()
	if h.blocks() > len(data)/entrySize || len(data) < end+4 {
		return Header{}, nil, corrupt.New(path, "index", "truncated: %d blocks do not fit a file of %d bytes", h.blocks(), len(data))
	}
	index := data[headerSize:end]
	if err := sealed.Check(path, "index", data[headerSize:end+4]); err != nil {
		return Header{}, nil, err
	}
	total := uint64(end + 4)
	for i := range h.blocks() {
		total += uint64(binary.LittleEndian.Uint32(index[entrySize*i:]))
	}
	if total != uint64(len(data)) {
		return Header{}, nil, corrupt.New(path, "", "%d bytes instead of %d", len(data), total)
	}
	if accept != nil {
		if err := accept(h); err != nil {
			return Header{}, nil, err
		}
	}
	values, err := unpack(path, h, index, data[end+4:])
	return h, values, err
}

// parseHeader checks a header as package sealed does, then the other fields.
func parseHeader(path string, data []byte) (Header, error) {
	if _, err := layout.Open(path, "header", data); err != nil {
		return Header{}, err
	}
	b := data[:headerSize]
	h := Header{
		Kind: Kind(b[hKind]), Cost: b[hCost], Rows: b[hRows], Cols: b[hCols], Size: b[hSize],
		Tiles: binary.LittleEndian.Uint32(b[hTiles:]), Entries: binary.LittleEndian.Uint64(b[hEntries:]),
	}
	if err := h.Validate(); err != nil {
		return Header{}, corrupt.New(path, "header", "%w", err)
	}
	if !bytes.Equal(h.encode(), b) {
		return Header{}, corrupt.New(path, "header", "unused bytes are not 0, or the number of blocks is not %d", h.blocks())
	}
	return h, nil
}

// unpack returns the values of all blocks, whose stored bytes are data.
func unpack(path string, h Header, index, data []byte) ([]uint8, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	values := make([]uint8, 0, h.Entries)
	for i := range h.blocks() {
		part := fmt.Sprintf("block %d", i)
		entry := index[entrySize*i:]
		stored := data[:binary.LittleEndian.Uint32(entry)]
		data = data[len(stored):]
		if sum, want := crc32c.Of(stored), binary.LittleEndian.Uint32(entry[4:]); sum != want {
			return nil, corrupt.New(path, part, "checksum %08x instead of %08x", sum, want)
		}
		start := len(values)
		want := min(blockSize, cap(values)-start)
		block, err := z.DecodeAll(stored, values[start:start:start+want])
		if err != nil || len(block) != want {
			return nil, corrupt.New(path, part, "%d of %d values can be unpacked: %v", len(block), want, err)
		}
		if sum, want := crc32c.Of(block), binary.LittleEndian.Uint32(entry[8:]); sum != want {
			return nil, corrupt.New(path, part, "checksum of the values %08x instead of %08x", sum, want)
		}
		values = values[:start+want]
	}
	return values, nil
}
