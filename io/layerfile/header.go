package layerfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
)

// Version is the newest format version that this package writes and reads. It only grows.
//
// Version 3 names the layers below; a file that names none is written as version 2.
const Version = 3

// Limits of the format.
const (
	MaxBlockSize = 1 << 16 // scores in a block, and bytes of a stored block
	MaxName      = 16      // bytes in the name of a game or of rules
	MaxPositions = 1 << 48 // positions in a layer
)

const (
	headerMagic = "\x89GL\r\n\x1a\n\x00"
	headerSize  = 84
	// maxModel is the length of a model that has all symbols and completes all lists.
	maxModel = 2 + ranks.MaxSymbols + ranks.MaxSymbols*ranks.MaxSymbols*(1+ranks.MaxSymbols)
)

// Offsets of the fields of a header.
const (
	hVersion   = 8
	hPits      = 12
	hSeeds     = 14
	hGame      = 16
	hRules     = 32
	hCodec     = 48
	hTransform = 49
	hBelow     = 50 // number of layers named; 0 in version 2
	hBlockSize = 52
	hPositions = 56
	hBlocks    = 64
	hModelLen  = 72
	hModelCRC  = 76
	hChecksum  = 80
)

var layout = sealed.Layout{Name: "a layer file", Magic: headerMagic, Version: hVersion, Size: headerSize, Oldest: 2, Newest: Version}

// ErrHeader reports a header that no file can have.
var ErrHeader = errors.New("bad layer header")

// Header describes the contents of a file.
type Header struct {
	Game, Rules string      // 1 to MaxName bytes out of a-z, 0-9, "-" and "_"
	Pits, Seeds int         // 0 to 65,535
	Codec       Codec       // compressor of the blocks
	Transform   Transform   // of the scores, before the codec
	Below       Below       // layers that the contents were computed from, perhaps other contents of the layer itself; "": unknown, or none
	Model       ranks.Model // of frequent scores, for the transform; "": all blocks are plain
	BlockSize   int         // scores in each block but the last, 1 to MaxBlockSize
	Positions   uint64      // scores in the file, at most MaxPositions
}

// Blocks returns the number of blocks.
func (h *Header) Blocks() int {
	size := uint64(h.BlockSize)
	return int((h.Positions + size - 1) / size)
}

// BlockLen returns the number of scores in block i.
func (h *Header) BlockLen(i int) int {
	rest := h.Positions - uint64(i)*uint64(h.BlockSize)
	return int(min(rest, uint64(h.BlockSize)))
}

// Validate fails with ErrHeader if a field is out of its range.
func (h *Header) Validate() error {
	switch {
	case !validName(h.Game):
		return fmt.Errorf("%w: name of the game %q: expected 1 to %d of a-z, 0-9, - and _", ErrHeader, h.Game, MaxName)
	case !validName(h.Rules):
		return fmt.Errorf("%w: name of the rules %q: expected 1 to %d of a-z, 0-9, - and _", ErrHeader, h.Rules, MaxName)
	case h.Pits < 0 || h.Pits > math.MaxUint16:
		return fmt.Errorf("%w: %d pits: expected 0 to %d", ErrHeader, h.Pits, math.MaxUint16)
	case h.Seeds < 0 || h.Seeds > math.MaxUint16:
		return fmt.Errorf("%w: %d seeds: expected 0 to %d", ErrHeader, h.Seeds, math.MaxUint16)
	case h.Codec != LZ4 || !h.Transform.known():
		return fmt.Errorf("%w: %v, %v: unknown codec or transform", ErrHeader, h.Codec, h.Transform)
	}
	if err := h.Below.check(h.Seeds + 1); err != nil {
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	if h.Model != "" {
		if err := h.Model.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrHeader, err)
		}
	}
	return h.validateSize()
}

func (h *Header) validateSize() error {
	switch {
	case h.BlockSize < 1 || h.BlockSize > MaxBlockSize:
		return fmt.Errorf("%w: blocks of %d scores: expected 1 to %d", ErrHeader, h.BlockSize, MaxBlockSize)
	case h.Positions > MaxPositions:
		return fmt.Errorf("%w: %d positions: expected at most %d", ErrHeader, h.Positions, uint64(MaxPositions))
	case h.Positions/uint64(h.BlockSize) >= math.MaxInt/indexEntrySize:
		return fmt.Errorf("%w: %d positions are too many blocks for this machine", ErrHeader, h.Positions)
	}
	return nil
}

func validName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	return len(s) >= 1 && len(s) <= MaxName && strings.Trim(s, letters) == ""
}

// encode returns the bytes of a valid header.
func (h *Header) encode() []byte {
	b := layout.Start(h.version())
	binary.LittleEndian.PutUint16(b[hPits:], uint16(h.Pits))
	binary.LittleEndian.PutUint16(b[hSeeds:], uint16(h.Seeds))
	copy(b[hGame:], h.Game)
	copy(b[hRules:], h.Rules)
	b[hCodec] = byte(h.Codec)
	b[hTransform] = byte(h.Transform)
	binary.LittleEndian.PutUint16(b[hBelow:], uint16(h.Below.len()))
	binary.LittleEndian.PutUint32(b[hBlockSize:], uint32(h.BlockSize))
	binary.LittleEndian.PutUint64(b[hPositions:], h.Positions)
	binary.LittleEndian.PutUint64(b[hBlocks:], uint64(h.Blocks()))
	binary.LittleEndian.PutUint32(b[hModelLen:], uint32(len(h.Model)))
	binary.LittleEndian.PutUint32(b[hModelCRC:], crc32c.Of([]byte(h.tail())))
	return sealed.End(b)
}

// version returns the format version that the header needs.
func (h *Header) version() int {
	if h.Below == "" {
		return 2
	}
	return 3
}

// tail returns the bytes after the header: the layers below and the model.
func (h *Header) tail() string { return string(h.Below) + string(h.Model) }

// start returns the offset of the first block.
func (h *Header) start() int64 { return headerSize + int64(len(h.Below)+len(h.Model)) }

// Begins reports whether a file begins like a layer file, of any version, whatever
// follows.
func Begins(f io.ReaderAt) bool {
	var head [len(headerMagic)]byte
	n, _ := f.ReadAt(head[:], 0)
	return string(head[:n]) == headerMagic
}

// parseHeader reads the first bytes of a file: the fields that package sealed checks, then the others, but not the
// layers below and the model, which follow in the file.
func parseHeader(file string, b []byte) (Header, error) {
	fail := func(format string, args ...any) (Header, error) {
		return Header{}, corrupt.New(file, "header", format, args...)
	}
	version, err := layout.Open(file, "header", b)
	if err != nil {
		return Header{}, err
	}
	h := decodeHeader(b)
	if h.Codec == Zstd {
		return fail("%w", ErrZstd)
	}
	if h.Codec != LZ4 || !h.Transform.known() {
		return fail("%w: codec %d, transform %d", corrupt.ErrVersion, h.Codec, h.Transform)
	}
	if err := h.Validate(); err != nil {
		return fail("%w", err)
	}
	below := binary.LittleEndian.Uint16(b[hBelow:])
	if (version == 2) != (below == 0) || below > maxBelow {
		return fail("version %d names %d layers below: 2 names none, %d names 1 to %d", version, below, Version, maxBelow)
	}
	// One header has one encoding: the number of blocks follows from the rest.
	if blocks := binary.LittleEndian.Uint64(b[hBlocks:]); blocks != uint64(h.Blocks()) {
		return fail("%d blocks instead of %d", blocks, h.Blocks())
	}
	return h, nil
}

// decodeHeader reads the fields of a header without checking any.
func decodeHeader(b []byte) Header {
	return Header{
		Game:      trimName(b[hGame:hRules]),
		Rules:     trimName(b[hRules:hCodec]),
		Pits:      int(binary.LittleEndian.Uint16(b[hPits:])),
		Seeds:     int(binary.LittleEndian.Uint16(b[hSeeds:])),
		Codec:     Codec(b[hCodec]),
		Transform: Transform(b[hTransform]),
		BlockSize: int(binary.LittleEndian.Uint32(b[hBlockSize:])),
		Positions: binary.LittleEndian.Uint64(b[hPositions:]),
	}
}

func trimName(b []byte) string { return strings.TrimRight(string(b), "\x00") }

// mismatch names the first difference between headers that makes a file useless
// to a caller who wants another one; codec, transform and block size do not.
func (h *Header) mismatch(want Header) error {
	differ := func(what string, got, want any) error {
		return fmt.Errorf("%s %v %w the expected %v", what, got, corrupt.ErrMismatch, want)
	}
	switch {
	case h.Game != want.Game:
		return differ("game", h.Game, want.Game)
	case h.Rules != want.Rules:
		return differ("rules", h.Rules, want.Rules)
	case h.Pits != want.Pits:
		return differ("number of pits", h.Pits, want.Pits)
	case h.Seeds != want.Seeds:
		return differ("number of seeds", h.Seeds, want.Seeds)
	case h.Positions != want.Positions:
		return differ("number of positions", h.Positions, want.Positions)
	}
	return nil
}
