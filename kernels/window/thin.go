package window

import (
	"encoding/binary"
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/internal/swar"
)

// Thin is a block of up to 64 lines of which few positions are searched: these have codes of
// Eight, one behind the other, all others have Zero. It begins with a head for each line, 10
// bytes: a mask of 8, with a bit for each position that is searched, and the place of the first
// code of the line, 2 bytes. Codes begin at the next multiple of 8 bytes, line by line; bytes
// that fill up the end of the block to such a multiple are Zero. Numbers are little endian.
//
// Only codes change. A block begins at a multiple of 8 bytes, so that words that hold codes
// hold codes of one block: who changes codes may store such words, if nobody else changes
// codes of the block.
type Thin []int8

// head is the bytes of the head of a line.
const head = 10

// MostThin is the most bytes of a thin block.
const MostThin = Side*head + Side*Side

// SlackThin is the bytes behind a thin block that kernels may read.
const SlackThin = Side

// codesAt returns where the codes of a block of the given number of lines begin.
func codesAt(lines int) int { return (lines*head + tile - 1) / tile * tile }

// ThinSize returns the bytes of a block with the given masks.
func ThinSize(masks []uint64) int {
	size := codesAt(len(masks))
	for _, mask := range masks {
		size += bits.OnesCount64(mask)
	}
	return (size + tile - 1) / tile * tile
}

// ThinBound returns the most bytes of the given number of blocks, which have the given numbers of
// lines and of positions to search in all.
func ThinBound(blocks, lines, searched int) int {
	const unused = 2 * (tile - 1)
	return blocks*unused + lines*head + searched
}

// NewThin makes a block with the given masks, 1 to 64, of the first ThinSize bytes of memory. All
// codes are Zero.
func NewThin(memory []int8, masks []uint64) Thin {
	b := Thin(memory[:ThinSize(masks)])
	at := codesAt(len(masks))
	zero := int8(Eight.Zero)
	for i := range b {
		b[i] = zero
	}
	for i, mask := range masks {
		head := b.head(i)
		binary.LittleEndian.PutUint64(head, mask)
		binary.LittleEndian.PutUint16(head[8:], uint16(at))
		at += bits.OnesCount64(mask)
	}
	return b
}

func (b Thin) head(line int) []byte { return shared.Bytes(b[line*head:][:head]) }

// Lines returns the number of lines.
func (b Thin) Lines() int { return int(binary.LittleEndian.Uint16(b.head(0)[8:])) / head }

// Mask returns which positions of a line are searched.
func (b Thin) Mask(line int) uint64 { return binary.LittleEndian.Uint64(b.head(line)) }

// At returns the place of the first code of a line in the block.
func (b Thin) At(line int) int { return int(binary.LittleEndian.Uint16(b.head(line)[8:])) }

// Codes returns the codes of all lines, with the bytes that fill up the block.
func (b Thin) Codes() []int8 { return b[b.At(0):] }

// Load sets codes to the codes of a line. Others may change them meanwhile: each is the old or
// the new one.
func (b Thin) Load(line int, codes *shared.Line) {
	for i := range codes {
		codes[i] = uint64(Eight.Zero) * swar.Ones
	}
	var near ThinCodes
	own, all := near.Load(b, line), codes.Scores()
	for left := b.Mask(line); left != 0; left &= left - 1 {
		all[bits.TrailingZeros64(left)%Side] = own[0]
		own = own[1:]
	}
}

// ThinCodes is a copy of the words that have the codes of a line.
type ThinCodes [Side/tile + 1]uint64

// Load copies the codes of a line and returns its codes in the copy.
func (c *ThinCodes) Load(b Thin, line int) []int8 {
	at, n := b.At(line), bits.OnesCount64(b.Mask(line))
	first := at % tile
	shared.LoadWords(c[:], b[at-first:at+n])
	return shared.Words(c[:])[first : first+n]
}

// Store replaces the words of a line that differ from the copy.
func (c *ThinCodes) Store(b Thin, line int) {
	at, n := b.At(line), bits.OnesCount64(b.Mask(line))
	shared.StoreWords(b[at-at%tile:at+n], c[:])
}

// Turn begins a window with the given base, 0 to 48: each code becomes the result of Begin for its
// capture value; captures has Side of them for each line. It sets sources, for each line, to the
// columns whose score is not 0 now, and returns the columns in which some position is searched.
// Nobody else may use the block meanwhile.
func (b Thin) Turn(captures []int8, base int, sources *[Side]uint64) (alive uint64) {
	begin, codes := &eightBegin[base], b.Codes()
	for line := range b.Lines() {
		mask, found := b.Mask(line), uint64(0)
		values := (*[Side]int8)(captures[line*Side:])
		alive |= mask
		for left := mask; left != 0; left &= left - 1 {
			column := bits.TrailingZeros64(left)
			code := begin[uint8(values[column%Side])]
			codes[0], codes = int8(code), codes[1:]
			if Eight.Score[code] != 0 {
				found |= 1 << column
			}
		}
		sources[line] = found
	}
	return alive
}

// Prune replaces the capture values by 0 of positions that are not searched: captures has Side of them for each line.
func (b Thin) Prune(captures []int8) {
	for line := range b.Lines() {
		for mask, own := b.Mask(line), captures[line*Side:][:Side]; len(own) > 0; mask, own = mask>>tile, own[tile:] {
			swar.Store(own, swar.Load(own)&swar.Spread(mask))
		}
	}
}

// eightBegin has the results of Eight.Begin, by base and capture value.
var eightBegin = func() (begin [maxBase + 1][256]uint8) {
	for base := range begin {
		for value := range begin[base] {
			begin[base][value] = Eight.Begin(int8(value), base)
		}
	}
	return begin
}()

// Digits turns the block into lines of digits that are not signed, in dst, and returns how many
// of them are at an end of the window.
func (b Thin) Digits(dst []int8) (ends int) {
	n, codes := b.Lines(), b.Codes()
	dst = dst[: n*Side : len(dst)]
	clear(dst)
	for line := range n {
		sizes := (*[Side]int8)(dst[line*Side:])
		for left := b.Mask(line); left != 0; left &= left - 1 {
			size := int8(Eight.sizes[uint8(codes[0])])
			codes = codes[1:]
			sizes[bits.TrailingZeros64(left)%Side] = size
			if size == maxValues {
				ends++
			}
		}
	}
	return ends
}
