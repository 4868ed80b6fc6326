package heuristic

import (
	"fmt"
	"math/bits"
	"strings"

	"grenier/kernels/fault"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Cost is what a swap costs while only some tiles, those of the pattern, are
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

var costNames = []string{Unit: "unit", Tracked: "tracked"}

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
	for c, known := range costNames {
		if c > 0 && known == name {
			return Cost(c), nil
		}
	}
	return 0, fmt.Errorf("%w %q (allowed: unit, tracked)", ErrCost, name)
}

// Known reports whether c is one of the costs.
func (c Cost) Known() bool { return c == Unit || c == Tracked }

// String returns the name as ParseCost takes it.
func (c Cost) String() string {
	if c.Known() {
		return costNames[c]
	}
	return fmt.Sprintf("Cost(%d)", uint8(c))
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
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.oneBased()), " ", ","), "[]")
}

func (s Tiles) oneBased() []int {
	list := s.Numbers()
	for i := range list {
		list[i]++
	}
	return list
}

// arrangement returns the lexicographic rank of the cells of the tiles of s, in
// ascending order of the tiles, among the arrangements of so many of n cells
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

// Pattern is a pattern database: what it costs to bring the tiles of a set home.
type Pattern struct {
	Grid  *swap.Grid
	Tiles Tiles
	Cost  Cost
	// Values has the cost for each way to place the tiles, by the lexicographic rank
	// of their cells in ascending order of the tiles (perm.RankArrangement).
	Values []uint8
}

// Entries returns how many values a pattern of so many tiles of g has.
func Entries(g *swap.Grid, tiles int) uint64 { return perm.Arrangements(g.Cells(), tiles) }

// value returns the cost for a state, given its inverse.
func (p *Pattern) value(cells swap.State) int {
	return int(p.Values[p.Tiles.arrangement(cells, p.Grid.Cells())])
}

// Static adds up pattern databases of disjoint sets of tiles. A swap moves tiles of
// at most two sets, and two tiles at most: half the sum, rounded up, is a bound. Where
// every swap costs 1, a single database is one as well (docs/sources.md).
type Static struct {
	patterns []*Pattern
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
	return &Static{patterns}, nil
}

// Name returns "apdb(...)" with the cost and the sets of tiles.
func (a *Static) Name() string {
	name := "apdb(" + a.patterns[0].Cost.String()
	for _, p := range a.patterns {
		name += ";" + p.Tiles.String()
	}
	return name + ")"
}

// Admissible returns true.
func (*Static) Admissible() bool { return true }

// Consistent returns true: a swap changes the sum by at most 2.
func (*Static) Consistent() bool { return true }

// Estimate returns half the sum, rounded up.
func (a *Static) Estimate(s swap.State) int {
	cells := a.patterns[0].Grid.Inverse(s)
	sum := 0
	for _, p := range a.patterns {
		sum += p.value(cells)
	}
	return (sum + 1) / 2
}

// Alone is the bound by one pattern database of cost Unit, without halving: every
// swap that it counts is a swap.
type Alone struct{ pattern *Pattern }

// NewAlone fails with ErrPattern if the cost is not Unit.
func NewAlone(p *Pattern) (Alone, error) {
	if p.Cost != Unit {
		return Alone{}, fmt.Errorf("%w: cost %v is not halved (allowed: unit)", ErrPattern, p.Cost)
	}
	return Alone{p}, nil
}

// Name returns "pdb(...)" with the tiles.
func (a Alone) Name() string { return "pdb(" + a.pattern.Tiles.String() + ")" }

// Admissible returns true.
func (Alone) Admissible() bool { return true }

// Consistent returns true.
func (Alone) Consistent() bool { return true }

// Estimate returns the value of the database.
func (a Alone) Estimate(s swap.State) int { return a.pattern.value(a.pattern.Grid.Inverse(s)) }
