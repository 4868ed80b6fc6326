package heuristic

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"grenier/kernels/fault"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Cost is the cost of a swap while only the tiles of the pattern are
// distinguished. Swaps of two other tiles are free. The numbers are part of the format of
// pattern database files and never change.
type Cost uint8

// The costs. A swap moves at most two tiles, so the sum over disjoint patterns is at
// most twice the distance with either; with Tracked it is never less than with Unit,
// and a pattern of all tiles is exact.
const (
	Unit    Cost = 1 // 1 for every swap that moves a tile of the pattern (document 004)
	Tracked Cost = 2 // the number of tiles of the pattern that it moves, 1 or 2 (docs/sources.md)
)

var (
	// ErrCost reports an unknown cost.
	ErrCost = fault.New(fault.Usage, "unknown cost")
	// ErrPattern reports tiles that cannot be a pattern, or patterns that do not go
	// together.
	ErrPattern = fault.New(fault.Usage, "bad pattern")
)

// ParseCost returns the cost of that name, "unit" or "tracked". It fails with
// ErrCost.
func ParseCost(name string) (Cost, error) {
	for _, c := range []Cost{Unit, Tracked} {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%w %q: must be unit or tracked", ErrCost, name)
}

// String returns the name as ParseCost takes it.
func (c Cost) String() string {
	if c == Tracked {
		return "tracked"
	}
	return "unit"
}

// Tiles is a set of tiles: bit t is tile t.
type Tiles uint16

// TilesOf returns the set of tiles with these numbers, from 0. It fails with
// ErrPattern if the grid has no such tile or if one is there twice.
func TilesOf(g *swap.Grid, numbers []int) (Tiles, error) {
	var set Tiles
	for _, t := range numbers {
		switch {
		case t < 0 || t >= g.Cells():
			return 0, fmt.Errorf("%w: there is no tile %d in a grid of %d cells", ErrPattern, t+1, g.Cells())
		case set>>t&1 != 0:
			return 0, fmt.Errorf("%w: tile %d is there twice", ErrPattern, t+1)
		}
		set |= 1 << t
	}
	if set == 0 {
		return 0, fmt.Errorf("%w: no tiles", ErrPattern)
	}
	return set, nil
}

// Len returns the number of tiles.
func (s Tiles) Len() int { return bits.OnesCount16(uint16(s)) }

// first returns the lowest tile.
func (s Tiles) first() int { return bits.TrailingZeros16(uint16(s)) }

// Numbers returns the tiles in ascending order, from 0.
func (s Tiles) Numbers() []int {
	var list []int
	for ; s != 0; s &= s - 1 {
		list = append(list, bits.TrailingZeros16(uint16(s)))
	}
	return list
}

// String returns the tiles, from 1 as document 004 counts them, with commas between.
func (s Tiles) String() string {
	var names []string
	for _, t := range s.Numbers() {
		names = append(names, strconv.Itoa(t+1))
	}
	return strings.Join(names, ",")
}

// arrangement returns the lexicographic rank of the cells of the tiles of s, in
// ascending order of the tiles, among the arrangements of as many of n cells
// (perm.RankArrangement); cells is the inverse of the state.
func (s Tiles) arrangement(cells swap.State, n int) int {
	rank, used := 0, uint32(0)
	for ; s != 0; s &= s - 1 {
		c := cells >> (4 * uint(bits.TrailingZeros16(uint16(s)))) & 15
		bit := uint32(1) << c
		rank = rank*n + int(c) - bits.OnesCount32(used&(bit-1))
		used |= bit
		n--
	}
	return rank
}

// Pattern is a pattern database: the costs of bringing the tiles of a set home.
type Pattern struct {
	Grid  *swap.Grid
	Tiles Tiles
	Cost  Cost
	// Values has the cost for each way to place the tiles, by the lexicographic rank
	// of their cells in ascending order of the tiles (perm.RankArrangement).
	Values []uint8
}

// Entries returns how many values a pattern of some tiles of g has.
func Entries(g *swap.Grid, tiles int) uint64 { return perm.Arrangements(g.Cells(), tiles) }

// Static adds up pattern databases of disjoint sets of tiles. A swap moves tiles of
// at most two sets, and two tiles at most: half the sum, rounded up, is a bound, which a swap changes by at
// most 1. A single database in which every swap costs 1 is one as well, without halving (docs/sources.md).
type Static struct {
	consistent
	patterns []*Pattern
	whole    bool // not halved
}

// NewStatic returns the bound by patterns of the same grid and cost. It fails with
// ErrPattern if their tiles overlap or they differ in grid or cost.
func NewStatic(patterns ...*Pattern) (*Static, error) {
	if len(patterns) == 0 {
		return nil, fmt.Errorf("%w: no pattern database", ErrPattern)
	}
	first, all := patterns[0], Tiles(0)
	for _, p := range patterns {
		switch {
		case p.Grid.Rows() != first.Grid.Rows() || p.Grid.Cols() != first.Grid.Cols():
			return nil, fmt.Errorf("%w: databases of %d x %d and %d x %d cells", ErrPattern,
				first.Grid.Rows(), first.Grid.Cols(), p.Grid.Rows(), p.Grid.Cols())
		case p.Cost != first.Cost:
			return nil, fmt.Errorf("%w: databases of cost %v and %v", ErrPattern, first.Cost, p.Cost)
		case all&p.Tiles != 0:
			return nil, fmt.Errorf("%w: tiles %v are in two databases", ErrPattern, all&p.Tiles)
		}
		all |= p.Tiles
	}
	return &Static{patterns: patterns, whole: len(patterns) == 1 && first.Cost == Unit}, nil
}

// Name returns "apdb(...)" with the cost and the sets of tiles.
func (a *Static) Name() string {
	name := "apdb(" + a.patterns[0].Cost.String()
	for _, p := range a.patterns {
		name += ";" + p.Tiles.String()
	}
	return name + ")"
}

// Estimate returns half the sum, rounded up, or the value of a single database of cost Unit.
func (a *Static) Estimate(s swap.State) int {
	grid, sum := a.patterns[0].Grid, 0
	cells := grid.Inverse(s)
	for _, p := range a.patterns {
		sum += int(p.Values[p.Tiles.arrangement(cells, grid.Cells())])
	}
	if a.whole {
		return sum
	}
	return (sum + 1) / 2
}
