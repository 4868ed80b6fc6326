package spill

import (
	"encoding/binary"
	"errors"
	"io"

	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/vfs"
)

// Header describes the contents of a stream, and says whose they are.
type Header = sealed.Head

// The layout of files. Numbers are little endian.
const (
	magic         = "\x89GS\r\n\x1a\n\x00"
	formatVersion = 2
	maxBlock      = 1 << 20 // bytes of the contents of a block
	usualBlock    = 1 << 15
	directBlock   = 1 << 18 // of streams that are written past the page cache

	// Header.
	hKind     = 8
	hFormat   = 24
	hVersion  = 28
	hBlock    = 32
	hIdentity = 36 // its length
	headSize  = 40 // and then the identity and the checksum of all that

	// Block.
	bContents     = 4
	bSum          = 8
	blockHeadSize = 12
	rawFlag       = 1 << 31 // in the length: lz4 did not pack it
	codedFlag     = 1 << 30 // its bytes have a Huffman code

	// End.
	eBlocks  = 8
	eLength  = 16
	eSums    = 24
	eSum     = 28
	tailSize = 32
)

var little = binary.LittleEndian

var layout = sealed.Layout{Name: "a stream", Magic: magic, Version: hFormat, Size: headSize + 4, Oldest: 1, Newest: formatVersion}

// encode returns the bytes of a header, which end with their checksum, four bytes.
func encode(h *Header, blockSize int) []byte {
	b := layout.Start(formatVersion)
	sealed.PutKind(b[hKind:], h.Kind)
	little.PutUint32(b[hVersion:], uint32(h.Version))
	little.PutUint32(b[hBlock:], uint32(blockSize))
	little.PutUint32(b[hIdentity:], uint32(len(h.Identity)))
	return sealed.End(append(b, h.Identity...))
}

// head is the beginning of a file.
type head struct {
	Header
	blockSize int
	sum       uint32 // of the header; checksums of blocks begin with it
	size      int64
}

// readHead reads the header of the file at path.
func readHead(f vfs.File, path string) (h head, err error) {
	b := make([]byte, headSize+sealed.MaxIdentity+4)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	b = b[:n]
	if _, err := layout.Begin(path, "header", b); err != nil {
		return head{}, err
	}
	length := int64(little.Uint32(b[hIdentity:]))
	if length > sealed.MaxIdentity {
		return head{}, corrupt.New(path, "header", "an identity of %d bytes", length)
	}
	end := headSize + int(length)
	if n < end+4 {
		return head{}, corrupt.New(path, "header", "%w after %d bytes", io.ErrUnexpectedEOF, n)
	}
	if err := sealed.Check(path, "header", b[:end+4]); err != nil {
		return head{}, err
	}
	h = head{sum: little.Uint32(b[end:]), size: int64(end) + 4, blockSize: int(little.Uint32(b[hBlock:]))}
	h.Kind, h.Version, h.Identity = sealed.KindOf(b[hKind:]), int(little.Uint32(b[hVersion:])), b[headSize:end:end]
	if err := h.Validate(); err != nil || h.blockSize < 1 || h.blockSize > maxBlock {
		return head{}, corrupt.New(path, "header", "a field is impossible: %d bytes of a block, %v", h.blockSize, err)
	}
	return h, nil
}

// ReadHeader returns the header of the stream in a file. It fails with errors that match
// corrupt.ErrCorrupt if there is something else, with fs.ErrNotExist if there is nothing.
func ReadHeader(d vfs.Dir, name string) (Header, error) {
	f, err := d.Open(name)
	if err != nil {
		return Header{}, corrupt.Opened(d.Path(name), err)
	}
	defer f.Close()
	h, err := readHead(f, d.Path(name))
	return h.Header, err
}
