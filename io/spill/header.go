package spill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// ErrHeader reports a header that no stream can have.
var ErrHeader = errors.New("impossible header of a stream")

// What a header can say.
const (
	MaxKind     = 16   // bytes of Kind
	MaxIdentity = 4096 // bytes of Identity
)

// Header says what a stream is, and whose.
type Header struct {
	Kind     string // what the contents are: 1 to MaxKind of a-z, 0-9 and "-"
	Version  int    // of the contents, 1 and up
	Identity []byte // what must agree for the contents to be of use
}

// The layout of files. Numbers are little endian.
const (
	magic         = "\x89GS\r\n\x1a\n\x00"
	formatVersion = 1
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
	rawFlag       = 1 << 31 // in the length: stored as it is

	// End.
	eBlocks  = 8
	eLength  = 16
	eSums    = 24
	eSum     = 28
	tailSize = 32
)

var little = binary.LittleEndian

func (h *Header) validate() error {
	if len(h.Kind) < 1 || len(h.Kind) > MaxKind || strings.Trim(h.Kind, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%w: kind %q; 1 to %d of a-z, 0-9 and - are possible", ErrHeader, h.Kind, MaxKind)
	}
	if h.Version < 1 || int64(h.Version) > math.MaxUint32 || len(h.Identity) > MaxIdentity {
		return fmt.Errorf("%w: version %d, 1 and up are possible; an identity of %d bytes, at most %d are possible",
			ErrHeader, h.Version, len(h.Identity), MaxIdentity)
	}
	return nil
}

// encode returns the bytes of the header, which end with their checksum, four bytes.
func (h *Header) encode(blockSize int) []byte {
	b := make([]byte, headSize, headSize+len(h.Identity)+4)
	copy(b, magic)
	copy(b[hKind:], h.Kind)
	little.PutUint32(b[hFormat:], formatVersion)
	little.PutUint32(b[hVersion:], uint32(h.Version))
	little.PutUint32(b[hBlock:], uint32(blockSize))
	little.PutUint32(b[hIdentity:], uint32(len(h.Identity)))
	b = append(b, h.Identity...)
	return little.AppendUint32(b, crc32c.Of(b))
}

// head is the beginning of a file.
type head struct {
	Header
	blockSize int
	sum       uint32 // of the header, which those of blocks begin with
	size      int64
}

// readHead reads the header of the file at path.
func readHead(f vfs.File, path string) (h head, err error) {
	wrong := func(format string, args ...any) (head, error) {
		return head{}, corrupt.New(path, "header", format, args...)
	}
	b := make([]byte, headSize+MaxIdentity+4)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	if b = b[:n]; !bytes.HasPrefix(b, []byte(magic)) {
		return wrong("%w: it does not begin like a stream", corrupt.ErrForeign)
	}
	if n < headSize {
		return wrong("%w after %d bytes", io.ErrUnexpectedEOF, n)
	}
	if v := little.Uint32(b[hFormat:]); v > formatVersion {
		return wrong("%w %d of the format: this program reads %d", corrupt.ErrVersion, v, formatVersion)
	}
	length := int64(little.Uint32(b[hIdentity:]))
	if length > MaxIdentity {
		return wrong("an identity of %d bytes", length)
	}
	end := headSize + int(length)
	if n < end+4 {
		return wrong("%w after %d bytes", io.ErrUnexpectedEOF, n)
	}
	h = head{sum: little.Uint32(b[end:]), size: int64(end) + 4, blockSize: int(little.Uint32(b[hBlock:]))}
	if sum := crc32c.Of(b[:end]); sum != h.sum {
		return wrong("checksum %08x instead of %08x", sum, h.sum)
	}
	h.Kind = strings.TrimRight(string(b[hKind:hFormat]), "\x00")
	h.Version, h.Identity = int(little.Uint32(b[hVersion:])), b[headSize:end:end]
	if err := h.validate(); err != nil || little.Uint32(b[hFormat:]) == 0 || h.blockSize < 1 || h.blockSize > maxBlock {
		return wrong("a field is impossible: %d bytes of a block, format %d, %v", h.blockSize, little.Uint32(b[hFormat:]), err)
	}
	return h, nil
}

// expect fails unless the header is that of the stream wanted.
func (h *Header) expect(path string, want Header) error {
	switch {
	case h.Kind != want.Kind:
		return corrupt.New(path, "header", "%w: it holds %q instead of %q", corrupt.ErrMismatch, h.Kind, want.Kind)
	case h.Version > want.Version:
		return corrupt.New(path, "header", "%w %d: this program reads versions up to %d", corrupt.ErrVersion, h.Version, want.Version)
	case !bytes.Equal(h.Identity, want.Identity):
		return corrupt.New(path, "header", "%w: it is of %q instead of %q", corrupt.ErrMismatch, h.Identity, want.Identity)
	}
	return nil
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
