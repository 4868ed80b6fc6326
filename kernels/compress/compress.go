// Package compress gathers the scores of the positions that moves lead to.
//
// The scores of positions that differ only in the half of the player to move lie
// in lines of 64; a line belongs to a row, the other player's half, and to a panel,
// 64 consecutive halves of the player to move. Play the same move on one half
// against 64 consecutive other halves B: the seeds it gives B are the same for all, so the
// boards reached differ only in B plus a constant, in the same order. They stand in
// one row, after the sides are changed, in a few neighbouring panels, with gaps: B
// plus a constant never has fewer seeds in a pit than the constant. Reading the
// scores of all results of the move therefore needs no random access: each of these
// lines is compressed by a bit mask, Pick, of the scores that are reached; and as not
// every B gets its score from this line, or from a quiet move at all, the result is
// expanded by another mask, Place.
//
// Both masks depend on the move and on B alone. The 64 halves of the player who
// moves, one panel, that play the same move differ in the row only. So a kernel call
// works on a block: a panel of moving halves times 64 B. And a kernel needs to look
// at the masks once for many columns: it makes them a table that says from which
// score of the line each row takes its own, and then shuffles line after line by it.
//
// Scores are bytes, or codes of 2, 3, 4 or 6 bits as package window packs them. A line of codes
// is shorter; a block holds codes as bytes. Lines of thin blocks hold codes of some positions only.
//
// TestExample shows a small block with all its numbers. The generic code defines the
// result; the twins for amd64 and arm64 give the same one.
package compress

import (
	"fmt"
	"math/bits"

	"grenier/kernels/internal/shared"
	"grenier/kernels/window"
)

// Side is the number of rows and of columns of a block, and of scores in a line.
const Side = shared.Side

// Block holds the scores of a block, or other bytes of the kind, one column after the
// other: row r of column c is at c*Side+r.
type Block = [Side * Side]int8

// A Word is the contribution of a line to a column: the scores of the set bits of
// Pick go, in order, to the rows of the set bits of Place. Both have as many.
type Word struct {
	Pick, Place uint64
	Panel       uint32 // of the line
	Chunk       uint32 // which 64 rows Place is of; kernels do not read it
}

// A Route says where a move leads: Words name the panels, the column
// names the row. A line is 8 bytes for each bit of a score; the line of panel p and row r is
// at p*Stride + r*size of Scores. If lines are in thin blocks, the block that has it begins at
// Blocks[p*Stride + r/64] of Scores, as line r%64, and window.SlackThin bytes of any kind follow
// the last one.
type Route struct {
	Scores []int8   // starts at a multiple of 64 bytes
	Stride int      // in bytes: a multiple of the size of a line; of thin blocks, their number
	Blocks []uint64 // of thin blocks
	Words  []Word   // of all chunks, in order
	First  []uint32 // chunk i has Words[First[i]:First[i+1]]
}

// A Group is a set of columns that play moves with the same route.
type Group struct {
	Columns uint64 // a bit for each
	Route   uint32 // index
	First   uint32 // Program.Rows[First] is the row for the first of the columns, and so on
}

// A Program is all that the columns of a panel can play.
type Program struct {
	Groups []Group
	Rows   []uint32
}

// lineBytes returns the bytes of a line of scores of the given width in bits: 2, 3, 4, 6 or 8.
// It panics on others.
func lineBytes(width int) int {
	switch width {
	case 2, 3, 4, 6, 8:
		return width * Side / 8
	}
	panic(fmt.Sprintf("compress: scores of %d bits (allowed: 2, 3, 4, 6, 8)", width))
}

// LeastFunc computes the given columns of a block: the opponent's score after the best
// move of each position. Each score in dst becomes the least of the one
// in offers and those that the groups of p bring to its place by the words of the
// given chunk. Other columns of dst stay as they are.
//
// Codes have no offers, which are nil then: where the groups bring no code, dst
// becomes window.None.
//
// lines, and the bytes behind offers, are fetched into the cache if many columns
// are asked for: the caller is about to need them. lines start at a multiple of 8 bytes.
//
// The scores of routes may be written by others meanwhile; each is read at some
// time during the call. The two parts of a code of 3 or 6 bits are read at two times, the second
// one first. Programs and routes are trusted: a row or panel that
// Scores does not have is undefined behaviour.
//
// A kernel keeps in s what it has worked out about words, which it may use in later calls.
type LeastFunc func(s *Scratch, dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8)

// Scratch is what a worker keeps from one call of kernels to the next. The zero value is empty.
type Scratch struct{ kept }

func leastGeneric(width int) LeastFunc { return leastOf(lineBytes(width)) }

// leastThin is the LeastFunc of routes that lead to thin blocks: the one that defines the others.
var leastThin = leastOf(thin)

// leastOf returns the function for lines of size bytes, or of thin blocks.
func leastOf(size int) LeastFunc {
	return func(_ *Scratch, dst, offers *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
		begin(dst, offers, columns)
		for i := range p.Groups {
			g := &p.Groups[i]
			if g.Columns&columns == 0 {
				continue
			}
			route := &routes[g.Route]
			words := route.Words[route.First[chunk]:route.First[chunk+1]]
			for k := range words {
				var s spread
				s.set(&words[k])
				s.group(dst, columns, g, p.Rows[g.First:], route, int(words[k].Panel), size)
			}
		}
	}
}

// begin sets columns of dst to the offers, or to window.None if there are none.
func begin(dst, offers *Block, columns uint64) {
	for left := columns; left != 0; left &= left - 1 {
		at := bits.TrailingZeros64(left) * Side
		if offers != nil {
			*(*[Side]int8)(dst[at:]) = *(*[Side]int8)(offers[at:])
		} else {
			*(*[Side]int8)(dst[at:]) = none
		}
	}
}

// none is a column without codes.
var none = func() (column [Side]int8) {
	for i := range column {
		column[i] = window.None
	}
	return column
}()

// spread is a Word as a list of moves from one place to another.
type spread struct {
	n        int
	from, to [Side]uint8
}

func (s *spread) set(w *Word) {
	place := w.Place
	for pick := w.Pick; pick != 0; pick &= pick - 1 {
		s.from[s.n%Side] = uint8(bits.TrailingZeros64(pick))
		s.to[s.n%Side] = uint8(bits.TrailingZeros64(place))
		place &= place - 1
		s.n++
	}
}

// group applies a word to those columns of g that are asked for.
func (s *spread) group(dst *Block, columns uint64, g *Group, rows []uint32, route *Route, panel, size int) {
	var line shared.Line
	for i, left := 0, g.Columns; left != 0; i, left = i+1, left&(left-1) {
		c := bits.TrailingZeros64(left)
		if columns>>c&1 == 0 {
			continue
		}
		route.load(&line, panel, int(rows[i]), size)
		s.least((*[Side]int8)(dst[c*Side:]), line.Scores())
	}
}

// thin stands for the size of lines of thin blocks.
const thin = 0

// load reads a line.
func (r *Route) load(line *shared.Line, panel, row, size int) {
	switch at := panel * r.Stride; size {
	case Side:
		line.Load(r.Scores[at+row*size:])
	case thin:
		window.Thin(r.Scores[r.Blocks[at+row/Side]:]).Load(row%Side, line)
	default:
		line.Unpack(r.Scores[at+row*size:], size/8)
	}
}

func (s *spread) least(column, line *[Side]int8) {
	for i, from := range s.from[:s.n] {
		// The lesser of two without a branch, which would be mispredicted.
		to := &column[s.to[i]%Side]
		less := int32(line[from%Side]) - int32(*to)
		*to += int8(less & (less >> 31))
	}
}
