// Package symmetry has the symmetries of boards that are cut out of a grid, and the least
// images of sets of cells under them: one member of each class of symmetric sets.
package symmetry

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxCells is the most cells that a board may have.
const MaxCells = 64

// Map is a symmetry of a board: cell i goes to cell Map[i].
type Map [MaxCells]uint8

// Set is a set of cells: bit i stands for cell i.
type Set interface{ ~uint32 | ~uint64 }

// OfGrid returns the symmetries of a board, the identity first, each once: on a board with one
// row, turning and mirroring are the same. The board is the given squares of a grid, numbered
// row by row from 0 and ascending; cell i is squares[i]. They touch all four sides of the grid.
func OfGrid(rows, cols int, squares []int) []Map {
	if len(squares) > MaxCells {
		panic(fmt.Sprintf("symmetry: %d cells: %d are possible", len(squares), MaxCells))
	}
	var maps []Map
	for kind := range 8 {
		if kind&4 != 0 && rows != cols {
			continue
		}
		if m, ok := ofKind(kind, rows, cols, squares); ok && !slices.Contains(maps, m) {
			maps = append(maps, m)
		}
	}
	return maps
}

// ofKind returns the symmetry of the grid with that number, unless a cell leaves the board.
func ofKind(kind, rows, cols int, squares []int) (m Map, ok bool) {
	for cell, square := range squares {
		r, c := square/cols, square%cols
		if kind&1 != 0 {
			r = rows - 1 - r
		}
		if kind&2 != 0 {
			c = cols - 1 - c
		}
		if kind&4 != 0 {
			r, c = c, r
		}
		to, ok := slices.BinarySearch(squares, r*cols+c)
		if !ok {
			return m, false
		}
		m[cell] = uint8(to)
	}
	return m, true
}

// Image returns where m carries a set of cells.
func Image[S Set](m *Map, set S) S {
	var image S
	for rest := uint64(set); rest != 0; rest &= rest - 1 {
		image |= 1 << m[bits.TrailingZeros64(rest)]
	}
	return image
}

// Least returns the smallest image of a set under some symmetries, and appends to dst those
// that lead to it.
func Least[S Set](dst []*Map, maps []Map, set S) (S, []*Map) {
	first, least := len(dst), ^S(0)
	for i := range maps {
		image := Image(&maps[i], set)
		if image < least {
			least, dst = image, dst[:first]
		}
		if image == least {
			dst = append(dst, &maps[i])
		}
	}
	return least, dst
}
