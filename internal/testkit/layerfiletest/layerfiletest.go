// Package layerfiletest forges layer files for tests: contents that no program of ours
// writes under checksums that are right, so that tests get behind the checksums. It follows
// docs/format/layer-file.md and shares no code with package layerfile.
//
// File makes a file from its parts; where a field is not set, it follows from the others.
// Reseal makes the checksums of damaged bytes fit again.
package layerfiletest

import (
	"encoding/binary"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
)

// Sizes of the format.
const (
	HeaderSize = 84
	EntrySize  = 24
	FooterSize = 76
	belowSize  = 10 // of a layer below
)

const (
	headerMagic = "\x89GL\r\n\x1a\n\x00"
	footerMagic = "\x00LGend\r\n"
)

var le = binary.LittleEndian

// Header holds the fields of a header but for the checksums.
type Header struct {
	Version           uint32
	Pits, Seeds       uint16
	Game, Rules       string // up to 16 bytes
	Codec, Transform  uint8
	Below             uint16 // layers named
	BlockSize         uint32
	Positions, Blocks uint64
	ModelLength       uint32
}

// Block is the stored bytes of a block and the scores that it claims to hold.
type Block struct {
	Stored []byte
	Scores []int8
	Flags  uint32 // 1: plain
}

// Plain returns a block that holds the scores as they are.
func Plain(scores []int8) Block { return Block{tally.Bytes(scores), scores, 1} }

// Entry is an entry of the index.
type Entry struct {
	Offset               uint64
	Length, Flags        uint32
	StoredCRC, ScoresCRC uint32
}

// Footer holds the fields of a footer but for the checksums.
type Footer struct {
	IndexOffset, IndexLength uint64
	Hash                     tally.Hash
	Win, Draw, Loss          uint64
	FileLength               uint64
}

// File is a layer file to be forged. The zero value is one of awari with 12 pits and no
// seeds. The fields that the functions change are sealed as they leave them; functions may be nil.
type File struct {
	Below  []byte // layers below, 10 bytes each
	Model  []byte
	Blocks []Block

	Header func(*Header)
	Entry  func(i int, e *Entry)
	Footer func(*Footer)
}

// Encode returns the bytes of the file.
func (f *File) Encode() []byte {
	h := f.header()
	tail := slices.Concat(f.Below, f.Model)
	b := append(h.encode(tail), tail...)
	var index []byte
	foot := Footer{Hash: tally.NewHash(cpu.Generic).Sum()}
	var histogram tally.Histogram
	hash := tally.NewHash(cpu.Generic)
	for i, block := range f.Blocks {
		e := Entry{uint64(len(b)), uint32(len(block.Stored)), block.Flags, crc32c.Of(block.Stored), crc32c.Of(tally.Bytes(block.Scores))}
		if f.Entry != nil {
			f.Entry(i, &e)
		}
		index = e.append(index)
		b = append(b, block.Stored...)
		hash = hash.Add(block.Scores)
		histogram.Add(block.Scores)
	}
	foot.Hash = hash.Sum()
	foot.Win, foot.Draw, foot.Loss = histogram.WinDrawLoss()
	foot.IndexOffset, foot.IndexLength = uint64(len(b)), uint64(len(index))
	foot.FileLength = uint64(len(b) + len(index) + FooterSize)
	if f.Footer != nil {
		f.Footer(&foot)
	}
	return append(append(b, index...), foot.encode(le.Uint32(b[80:]), crc32c.Of(index))...)
}

// header returns the header that follows from the blocks, as the test wants it.
func (f *File) header() Header {
	h := Header{
		Version: 2, Pits: 12, Game: "awari", Rules: "awari", Codec: 1, Transform: 2,
		BlockSize: 1, Blocks: uint64(len(f.Blocks)), ModelLength: uint32(len(f.Model)),
	}
	if h.Below = uint16(len(f.Below) / belowSize); h.Below > 0 {
		h.Version = 3
	}
	for i, b := range f.Blocks {
		h.Positions += uint64(len(b.Scores))
		if i == 0 {
			h.BlockSize = uint32(len(b.Scores))
		}
	}
	if f.Header != nil {
		f.Header(&h)
	}
	return h
}

func (h *Header) encode(tail []byte) []byte {
	b := make([]byte, HeaderSize)
	copy(b, headerMagic)
	le.PutUint32(b[8:], h.Version)
	le.PutUint16(b[12:], h.Pits)
	le.PutUint16(b[14:], h.Seeds)
	copy(b[16:32], h.Game)
	copy(b[32:48], h.Rules)
	b[48], b[49] = h.Codec, h.Transform
	le.PutUint16(b[50:], h.Below)
	le.PutUint32(b[52:], h.BlockSize)
	le.PutUint64(b[56:], h.Positions)
	le.PutUint64(b[64:], h.Blocks)
	le.PutUint32(b[72:], h.ModelLength)
	le.PutUint32(b[76:], crc32c.Of(tail))
	le.PutUint32(b[80:], crc32c.Of(b[:80]))
	return b
}

func (e *Entry) append(b []byte) []byte {
	b = le.AppendUint64(b, e.Offset)
	for _, x := range []uint32{e.Length, e.Flags, e.StoredCRC, e.ScoresCRC} {
		b = le.AppendUint32(b, x)
	}
	return b
}

func (f *Footer) encode(headerCRC, indexCRC uint32) []byte {
	b := make([]byte, FooterSize)
	le.PutUint64(b, f.IndexOffset)
	le.PutUint64(b[8:], f.IndexLength)
	le.PutUint32(b[16:], indexCRC)
	le.PutUint32(b[20:], headerCRC)
	for i, x := range []uint64{uint64(f.Hash), f.Win, f.Draw, f.Loss, f.FileLength} {
		le.PutUint64(b[24+8*i:], x)
	}
	le.PutUint32(b[64:], crc32c.Of(b[:64]))
	copy(b[68:], footerMagic)
	return b
}

// Reseal recomputes the checksums of header, model, index and footer in place, as far as
// the bytes are where these say, and returns data. Shorter data than header and footer
// stay as they are.
func Reseal(data []byte) []byte {
	if len(data) < HeaderSize+FooterSize {
		return data
	}
	if end := HeaderSize + belowSize*uint64(le.Uint16(data[50:])) + uint64(le.Uint32(data[72:])); end <= uint64(len(data)) {
		le.PutUint32(data[76:], crc32c.Of(data[HeaderSize:end]))
	}
	le.PutUint32(data[80:], crc32c.Of(data[:80]))
	footer := data[len(data)-FooterSize:]
	le.PutUint32(footer[20:], le.Uint32(data[80:]))
	if index, ok := indexOf(data); ok {
		le.PutUint32(footer[16:], crc32c.Of(index))
	}
	le.PutUint32(footer[64:], crc32c.Of(footer[:64]))
	return data
}

// ResealBlocks is Reseal, and also recomputes the checksums of the stored bytes of the
// blocks, and of the scores of plain blocks.
func ResealBlocks(data []byte) []byte {
	if len(data) < HeaderSize+FooterSize {
		return data
	}
	index, ok := indexOf(data)
	for ; ok && len(index) >= EntrySize; index = index[EntrySize:] {
		offset, length := le.Uint64(index), uint64(le.Uint32(index[8:]))
		if offset > uint64(len(data)) || length > uint64(len(data))-offset {
			continue
		}
		sum := crc32c.Of(data[offset : offset+length])
		le.PutUint32(index[16:], sum)
		if le.Uint32(index[12:])&1 != 0 {
			le.PutUint32(index[20:], sum)
		}
	}
	return Reseal(data)
}

// indexOf returns the index if it is where the footer says.
func indexOf(data []byte) ([]byte, bool) {
	end := uint64(len(data) - FooterSize)
	offset, length := le.Uint64(data[end:]), le.Uint64(data[end+8:])
	if offset > end || length > end-offset {
		return nil, false
	}
	return data[offset : offset+length], true
}

// MarkZstd makes the layer file at path one of an earlier version, compressed with zstd, as far as its header goes.
func MarkZstd(t testing.TB, path string) {
	t.Helper()
	data := must.Read(t, path)
	const codec, zstd = 48, 2
	data[codec] = zstd
	must.Write(t, path, Reseal(data))
}
