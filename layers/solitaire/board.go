// Package solitaire is peg solitaire, the larger problem that document 002 names: pegs stand in
// the holes of a board; a peg jumps over a neighbour along a row or a column into the empty hole
// behind it, and the neighbour is taken away. A game is solved when one peg is left.
//
// Every jump takes one peg, so layer k is the positions with k pegs, and no jump leads back.
// Positions that a symmetry of the board carries into each other have the same future; a Group
// (group.go) picks one of them.
//
// A move is one jump, or several of the same peg in a row.
//
// # Pictures
//
// A board, and a position on it, can be given as a picture, one line for each row:
//
//	o      a peg
//	.      an empty hole
//	-      no hole; a blank does too
//
// Rows may have different lengths, and lines without holes before the first row and after the last
// are skipped, as is a margin that all rows share. The English board with its centre empty is
//
//	  ooo
//	  ooo
//	ooooooo
//	ooo.ooo
//	ooooooo
//	  ooo
//	  ooo
//
// Holes are numbered row by row from 0. Their names are a letter for the column, from the left, and
// a number for the row, from the top: d4 is the centre of the English board.
package solitaire

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"grenier/kernels/fault"
	"grenier/layers/symmetry"
)

// Limits of boards.
const (
	MaxHoles = symmetry.MaxCells
	MaxCols  = 26 // columns have letters
	MaxRows  = 99
)

// Errors about the input of users.
var (
	ErrPicture = fault.New(fault.Usage, "bad picture")
	ErrHole    = fault.New(fault.Usage, "no such hole")
	ErrJump    = fault.New(fault.Usage, "not a jump")
)

// Position is a set of pegs: bit i stands for hole i.
type Position = uint64

// Jump is the way of a peg from one hole over a second to a third.
type Jump struct{ From, Over, To int }

// Pegs returns the position with a peg in each of the three holes: a jump changes all of them.
func (j Jump) Pegs() Position { return 1<<j.From | 1<<j.Over | 1<<j.To }

// Board is the holes. It does not change and is safe for concurrent use.
type Board struct {
	name       string
	rows, cols int
	squares    []int // of the grid, by hole
	jumps      []Jump
	shifts     []shift
	symmetries []symmetry.Map
}

// shift is all jumps with the same distances between their holes, in numbers: whether the pegs of
// a position can make them is a matter of shifting it.
type shift struct {
	over, to int             // distances from the hole where the jump begins
	from     Position        // where such a jump begins
	number   [MaxHoles]uint8 // of the jump, by hole
}

// Names of the boards that have one.
const (
	English = "english" // 33 holes
	French  = "french"  // 37 holes
)

// The boards that have a name.
var named = []*Board{
	mustBoard(English, "--ooo--\n--ooo--\nooooooo\nooooooo\nooooooo\n--ooo--\n--ooo--"),
	mustBoard(French, "--ooo--\n-ooooo-\nooooooo\nooooooo\nooooooo\n-ooooo-\n--ooo--"),
}

func mustBoard(name, picture string) *Board {
	b, _, err := parse(picture)
	if err != nil {
		panic(err)
	}
	b.name = name
	return b
}

// Named returns the board of that name, nil if there is none.
func Named(name string) *Board {
	for _, b := range named {
		if b.name == name {
			return b
		}
	}
	return nil
}

// newBoard returns the board with holes in the given squares of a grid, which they touch on all
// sides.
func newBoard(rows, cols int, squares []int) *Board {
	b := &Board{rows: rows, cols: cols, squares: squares, symmetries: symmetry.OfGrid(rows, cols, squares)}
	b.name = fmt.Sprintf("%d holes in %d x %d", len(squares), rows, cols)
	for hole := range squares {
		for _, way := range [4][2]int{{-1, 0}, {0, -1}, {0, 1}, {1, 0}} {
			r, c := b.place(hole)
			over, to := b.at(r+way[0], c+way[1]), b.at(r+2*way[0], c+2*way[1])
			if over >= 0 && to >= 0 {
				b.addJump(Jump{hole, over, to})
			}
		}
	}
	return b
}

// addJump adds a jump, and the shift that it belongs to.
func (b *Board) addJump(j Jump) {
	number := uint8(len(b.jumps))
	b.jumps = append(b.jumps, j)
	i := slices.IndexFunc(b.shifts, func(s shift) bool { return s.over == j.Over-j.From && s.to == j.To-j.From })
	if i < 0 {
		i = len(b.shifts)
		b.shifts = append(b.shifts, shift{over: j.Over - j.From, to: j.To - j.From})
	}
	b.shifts[i].from |= 1 << j.From
	b.shifts[i].number[j.From] = number
}

// Name returns the name of the board, or its description.
func (b *Board) Name() string { return b.name }

// Holes returns the number of holes.
func (b *Board) Holes() int { return len(b.squares) }

// Full returns the position with a peg in every hole.
func (b *Board) Full() Position { return ^Position(0) >> (MaxHoles - len(b.squares)) }

// Jumps returns all jumps of the board, by the hole where they begin. The slice must not be
// changed.
func (b *Board) Jumps() []Jump { return b.jumps }

// Symmetries returns the symmetries of the board, the identity first. The slice must not be
// changed.
func (b *Board) Symmetries() []symmetry.Map { return b.symmetries }

// place returns the row and the column of a hole.
func (b *Board) place(hole int) (row, col int) {
	return b.squares[hole] / b.cols, b.squares[hole] % b.cols
}

// at returns the hole at a place, -1 if there is none.
func (b *Board) at(row, col int) int {
	if row < 0 || row >= b.rows || col < 0 || col >= b.cols {
		return -1
	}
	if hole, ok := slices.BinarySearch(b.squares, row*b.cols+col); ok {
		return hole
	}
	return -1
}

// Center returns the hole in the middle. It fails with ErrHole if there is none.
func (b *Board) Center() (int, error) {
	if hole := b.at(b.rows/2, b.cols/2); hole >= 0 && b.rows%2 == 1 && b.cols%2 == 1 {
		return hole, nil
	}
	return 0, fmt.Errorf("%w: the board (%s) has no hole in its centre", ErrHole, b.name)
}

// HoleName returns the name of a hole.
func (b *Board) HoleName(hole int) string {
	row, col := b.place(hole)
	return fmt.Sprintf("%c%d", 'a'+col, row+1)
}

// Hole returns the hole of that name, which may be "center". It fails with ErrHole.
func (b *Board) Hole(name string) (int, error) {
	if name == "center" {
		return b.Center()
	}
	if len(name) >= 2 {
		row, err := strconv.ParseUint(name[1:], 10, 8)
		if hole := b.at(int(row)-1, int(name[0])-'a'); err == nil && hole >= 0 && b.HoleName(hole) == name {
			return hole, nil
		}
	}
	return 0, fmt.Errorf("%w: %.20q: the board has %s", ErrHole, name, b.span())
}

// span describes the names of the holes, row by row.
func (b *Board) span() string {
	var rows []string
	for row := range b.rows {
		first, last, n := -1, -1, 0
		for col := range b.cols {
			if hole := b.at(row, col); hole >= 0 {
				if first < 0 {
					first = hole
				}
				last, n = hole, n+1
			}
		}
		switch {
		case n == 1:
			rows = append(rows, b.HoleName(first))
		case n > 1:
			rows = append(rows, b.HoleName(first)+"-"+b.HoleName(last))
		}
	}
	return strings.Join(rows, ", ")
}

// JumpName returns the name of a jump: where it begins and where it ends.
func (b *Board) JumpName(j Jump) string { return b.HoleName(j.From) + "-" + b.HoleName(j.To) }

// Legal appends to dst the numbers of the jumps that are possible in a position, and returns the
// extended slice.
func (b *Board) Legal(dst []uint8, p Position) []uint8 {
	for i := range b.shifts {
		s := &b.shifts[i]
		for from := s.from & p & back(p, s.over) &^ back(p, s.to); from != 0; from &= from - 1 {
			dst = append(dst, s.number[bits.TrailingZeros64(from)])
		}
	}
	return dst
}

// Undo appends to dst the numbers of the jumps that may have led to a position, and returns the
// extended slice.
func (b *Board) Undo(dst []uint8, p Position) []uint8 {
	for i := range b.shifts {
		s := &b.shifts[i]
		for from := s.from &^ p &^ back(p, s.over) & back(p, s.to); from != 0; from &= from - 1 {
			dst = append(dst, s.number[bits.TrailingZeros64(from)])
		}
	}
	return dst
}

// back moves pegs back by a distance, as if hole i+distance were hole i.
func back(p Position, distance int) Position {
	if distance < 0 {
		return p << uint(-distance)
	}
	return p >> uint(distance)
}

// FindJump returns the jump between two holes of a position. It fails with ErrJump and says why.
func (b *Board) FindJump(p Position, from, to int) (Jump, error) {
	for _, j := range b.jumps {
		if j.From != from || j.To != to {
			continue
		}
		switch name := b.JumpName(j); {
		case p>>j.From&1 == 0:
			return j, fmt.Errorf("%w: %s: there is no peg in %s", ErrJump, name, b.HoleName(j.From))
		case p>>j.Over&1 == 0:
			return j, fmt.Errorf("%w: %s: there is no peg in %s", ErrJump, name, b.HoleName(j.Over))
		case p>>j.To&1 != 0:
			return j, fmt.Errorf("%w: %s: %s is not empty", ErrJump, name, b.HoleName(j.To))
		}
		return j, nil
	}
	return Jump{}, fmt.Errorf("%w: %s-%s: a jump goes over a neighbour in the same row or column", ErrJump, b.HoleName(from), b.HoleName(to))
}

// SameParity reports whether jumps could lead from one position to another as far as sums modulo 2
// tell: whether the holes in which they differ are a sum of jumps. If not, none do.
func (b *Board) SameParity(p, q Position) bool {
	var sums [MaxHoles]Position // by their highest hole
	for _, j := range b.jumps {
		if rest := reduce(&sums, j.Pegs()); rest != 0 {
			sums[bits.Len64(rest)-1] = rest
		}
	}
	return reduce(&sums, p^q) == 0
}

// reduce adds sums to x until that is 0 or no sum has its highest hole.
func reduce(sums *[MaxHoles]Position, x Position) Position {
	for x != 0 && sums[bits.Len64(x)-1] != 0 {
		x ^= sums[bits.Len64(x)-1]
	}
	return x
}
