package heuristic

import (
	"errors"
	"fmt"
	"math"

	"grenier/layers/swap"
)

// ErrTooLarge reports a grid for which a bound would need too large a table.
var ErrTooLarge = errors.New("table too large")

// MaxWalking is the largest number of entries in one of the two tables of Walking.
const MaxWalking = 1 << 19

// Walking is the walking distance of Ken'ichiro Takahashi: the swaps between rows
// that bring every tile to its row, when tiles of one row are free to change places,
// plus the same for columns (document 004, "Walking Distance"; the sum that is printed
// there counts the columns twice, which is not admissible: ERRATA).
type Walking struct {
	rows, columns walk
}

// NewWalking prepares the bound for a grid by a breadth-first search from home over
// the matrices that say how many tiles of each home row are in each row, and the
// same for columns. It fails with ErrTooLarge if there are more than MaxWalking such
// matrices.
func NewWalking(g *swap.Grid) (*Walking, error) {
	w := &Walking{}
	row := func(c int) int { return c / g.Cols() }
	column := func(c int) int { return c % g.Cols() }
	if err := w.rows.prepare(g.Rows(), g.Cols(), row); err != nil {
		return nil, err
	}
	if err := w.columns.prepare(g.Cols(), g.Rows(), column); err != nil {
		return nil, err
	}
	return w, nil
}

// Name returns "walking".
func (*Walking) Name() string { return "walking" }

// Admissible returns true.
func (*Walking) Admissible() bool { return true }

// Consistent returns true.
func (*Walking) Consistent() bool { return true }

// Estimate looks up the rows and the columns and adds.
func (w *Walking) Estimate(s swap.State) int { return w.rows.distance(s) + w.columns.distance(s) }

var errWalking = fmt.Errorf("walking distance: %w: more than %d entries (manhattan and inversion need no table)", ErrTooLarge, MaxWalking)

// walk is the part for rows, or for columns: lines in both cases. A matrix has a row
// for each line, an entry for each home line: how many tiles of that home. Its key
// is a number in base length+1 with the entries as digits, without the last line and
// the last home, which follow from the others.
type walk struct {
	cells  int
	digit  [swap.MaxCells][swap.MaxCells]uint64 // what a cell and its tile add to the key
	depths map[uint64]uint8
}

func (w *walk) prepare(lines, length int, line func(int) int) error {
	base := float64(length + 1)
	if math.Pow(base, float64((lines-1)*(lines-1))) > math.MaxUint64 {
		return errWalking
	}
	place := placeValues(lines, uint64(length+1))
	w.cells = lines * length
	for c := range w.cells {
		for t := range w.cells {
			w.digit[c][t] = place[line(c)*lines+line(t)]
		}
	}
	s := walkSearch{lines: lines, place: place, depths: map[uint64]uint8{}}
	err := s.run(length)
	w.depths = s.depths
	return err
}

// placeValues returns the place value of each entry of a matrix, 0 for those that
// are left out.
func placeValues(lines int, base uint64) []uint64 {
	place := make([]uint64, lines*lines)
	next := uint64(1)
	for i := range lines - 1 {
		for j := range lines - 1 {
			place[i*lines+j] = next
			next *= base
		}
	}
	return place
}

// walkSearch is the search that fills a table.
type walkSearch struct {
	lines  int
	place  []uint64
	depths map[uint64]uint8
	queue  []walkNode
}

// walkNode is a matrix and its key.
type walkNode struct {
	key    uint64
	counts []uint8
}

// run visits all matrices, from the one where every tile is home.
func (s *walkSearch) run(length int) error {
	home := walkNode{counts: make([]uint8, s.lines*s.lines)}
	for i := range s.lines {
		home.counts[i*s.lines+i] = uint8(length)
		home.key += uint64(length) * s.place[i*s.lines+i]
	}
	s.depths[home.key] = 0
	s.queue = append(s.queue, home)
	for len(s.queue) > 0 {
		if len(s.depths) > MaxWalking {
			return errWalking
		}
		level := s.queue
		s.queue = nil
		for _, node := range level {
			s.expand(node)
		}
	}
	return nil
}

// expand exchanges a tile of home a in line i with one of home b in line i+1.
func (s *walkSearch) expand(node walkNode) {
	for i := range s.lines - 1 {
		upper, lower := i*s.lines, (i+1)*s.lines
		for a := range s.lines {
			for b := range s.lines {
				if a != b && node.counts[upper+a] > 0 && node.counts[lower+b] > 0 {
					s.visit(node, upper, lower, a, b)
				}
			}
		}
	}
}

func (s *walkSearch) visit(from walkNode, upper, lower, a, b int) {
	key := from.key - s.place[upper+a] + s.place[upper+b] - s.place[lower+b] + s.place[lower+a]
	if _, seen := s.depths[key]; seen {
		return
	}
	s.depths[key] = s.depths[from.key] + 1
	counts := append([]uint8(nil), from.counts...)
	counts[upper+a]--
	counts[upper+b]++
	counts[lower+b]--
	counts[lower+a]++
	s.queue = append(s.queue, walkNode{key, counts})
}

func (w *walk) distance(s swap.State) int {
	var key uint64
	for c := range w.cells {
		key += w.digit[c&15][s&15]
		s >>= 4
	}
	return int(w.depths[key])
}
