package layerfile

import (
	"encoding/binary"

	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/tally"
	"grenier/kernels/crc32c"
)

const (
	footerMagic = "\x00LGend\r\n"
	footerSize  = 76
)

// Offsets of the fields of a footer.
const (
	fIndexOffset = 0
	fIndexLength = 8
	fIndexCRC    = 16
	fHeaderCRC   = 20
	fHash        = 24
	fWin         = 32
	fDraw        = 40
	fLoss        = 48
	fFileLength  = 56
	fChecksum    = 64
	fMagic       = 68
)

// Footer holds the totals of a file.
type Footer struct {
	Win, Draw, Loss uint64     // positions with a positive, zero, negative score
	Hash            tally.Hash // FNV-1a-64 of all scores in rank order
	Bytes           int64      // length of the file
	Checksum        uint32     // CRC-32C of the footer; depends on every byte of the file
	indexOffset     int64
	indexCRC        uint32
}

// encode returns the bytes of the footer of a file with the given header and
// sets f.Checksum.
func (f *Footer) encode(h *Header) []byte {
	b := make([]byte, footerSize)
	le := binary.LittleEndian
	le.PutUint64(b[fIndexOffset:], uint64(f.indexOffset))
	le.PutUint64(b[fIndexLength:], uint64(h.Blocks())*indexEntrySize)
	le.PutUint32(b[fIndexCRC:], f.indexCRC)
	le.PutUint32(b[fHeaderCRC:], le.Uint32(h.encode()[hChecksum:]))
	le.PutUint64(b[fHash:], uint64(f.Hash))
	le.PutUint64(b[fWin:], f.Win)
	le.PutUint64(b[fDraw:], f.Draw)
	le.PutUint64(b[fLoss:], f.Loss)
	le.PutUint64(b[fFileLength:], uint64(f.Bytes))
	f.Checksum = crc32c.Of(b[:fChecksum])
	le.PutUint32(b[fChecksum:], f.Checksum)
	copy(b[fMagic:], footerMagic)
	return b
}

// parseFooter reads the last footerSize bytes of a file of the given length: its
// magic, its checksum, then its fields.
func parseFooter(file string, b []byte, length int64) (Footer, error) {
	fail := func(format string, args ...any) (Footer, error) {
		return Footer{}, corrupt.New(file, "footer", format, args...)
	}
	le := binary.LittleEndian
	if string(b[fMagic:]) != footerMagic {
		return fail("the file does not end like a layer file: truncated or overwritten")
	}
	if err := sealed.Check(file, "footer", b[:fMagic]); err != nil {
		return Footer{}, err
	}
	if n := le.Uint64(b[fFileLength:]); n != uint64(length) {
		return fail("written for a file of %d bytes, not %d", n, length)
	}
	return Footer{
		Win:         le.Uint64(b[fWin:]),
		Draw:        le.Uint64(b[fDraw:]),
		Loss:        le.Uint64(b[fLoss:]),
		Hash:        tally.Hash(le.Uint64(b[fHash:])),
		Bytes:       length,
		Checksum:    le.Uint32(b[fChecksum:]),
		indexOffset: int64(le.Uint64(b[fIndexOffset:])),
		indexCRC:    le.Uint32(b[fIndexCRC:]),
	}, nil
}

// checkFooter reports whether the footer with bytes b belongs to header h: the
// index must lie between blocks and footer, and everything must add up.
func checkFooter(file string, b []byte, f *Footer, h *Header) error {
	le := binary.LittleEndian
	indexLength := uint64(h.Blocks()) * indexEntrySize
	headerCRC := le.Uint32(h.encode()[hChecksum:])
	sum := f.Win + f.Draw + f.Loss
	switch {
	case le.Uint32(b[fHeaderCRC:]) != headerCRC:
		return corrupt.New(file, "footer", "written for a header with checksum %08x, not %08x", le.Uint32(b[fHeaderCRC:]), headerCRC)
	case le.Uint64(b[fIndexLength:]) != indexLength:
		return corrupt.New(file, "footer", "index of %d bytes: expected %d", le.Uint64(b[fIndexLength:]), indexLength)
	case f.indexOffset < h.start() || uint64(f.Bytes-f.indexOffset) != indexLength+footerSize:
		return corrupt.New(file, "footer", "index at %d does not end at the footer", f.indexOffset)
	case max(f.Win, f.Draw, f.Loss) > h.Positions || sum != h.Positions:
		return corrupt.New(file, "footer", "wins, draws and losses are %d positions, not %d", sum, h.Positions)
	}
	return nil
}
