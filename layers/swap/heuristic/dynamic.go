package heuristic

import (
	"fmt"
	"math/bits"
	"slices"

	"grenier/layers/swap"
)

// MaxSet is the largest number of tiles in the sets of a SetTable.
const MaxSet = 4

// SetTable holds a pattern database for every set of a number of tiles, the general
// additive database of document 004.
type SetTable struct {
	Grid *swap.Grid
	Size int // tiles in a set, 1 to MaxSet
	Cost Cost
	// Values has the pattern databases of all sets in ascending order of the sets
	// as numbers, one after the other.
	Values []uint8
}

// Sets returns all sets of so many tiles of g in ascending order.
func Sets(g *swap.Grid, size int) []Tiles {
	var sets []Tiles
	for s := range 1 << g.Cells() {
		if t := Tiles(s); t.Len() == size {
			sets = append(sets, t)
		}
	}
	return sets
}

// Dynamic covers the tiles of a state by disjoint sets, so as to make half the sum
// of their costs large. Greedy covers take the set that costs most first, and among
// sets of the same cost the one of most tiles; exact covers are the best of all, a
// matching of greatest weight in a hypergraph.
type Dynamic struct {
	grid   *swap.Grid
	tables []*SetTable // by size, [0] is nil
	exact  bool
	sets   []Tiles // of all sizes, the largest first
	place  []int   // where the table of a set begins in the table of its size
	index  []int32 // of a set, as a number, in sets
}

// NewDynamic returns the bound by tables of sets of 1, 2, 3, ... tiles, of the same
// grid and cost. It fails with ErrPattern if one is missing or does not match.
func NewDynamic(exact bool, tables ...*SetTable) (*Dynamic, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("%w: no table of sets", ErrPattern)
	}
	first := tables[0]
	for i, t := range tables {
		if t.Size != i+1 || t.Cost != first.Cost || t.Grid.Rows() != first.Grid.Rows() || t.Grid.Cols() != first.Grid.Cols() {
			return nil, fmt.Errorf("%w: table %d is of sets of %d tiles, %d x %d, cost %v; want %d, %d x %d, %v", ErrPattern, i+1,
				t.Size, t.Grid.Rows(), t.Grid.Cols(), t.Cost, i+1, first.Grid.Rows(), first.Grid.Cols(), first.Cost)
		}
	}
	d := &Dynamic{grid: first.Grid, tables: append([]*SetTable{nil}, tables...), exact: exact}
	d.number()
	return d, nil
}

// number lists the sets.
func (d *Dynamic) number() {
	d.index = make([]int32, 1<<d.grid.Cells())
	for size := len(d.tables) - 1; size > 0; size-- {
		for i, s := range Sets(d.grid, size) {
			d.index[s] = int32(len(d.sets))
			d.sets = append(d.sets, s)
			d.place = append(d.place, i*int(Entries(d.grid, size)))
		}
	}
}

// Name returns "gadb(...)" with the cost, the largest size and how sets are chosen.
func (d *Dynamic) Name() string {
	how := "greedy"
	if d.exact {
		how = "exact"
	}
	return fmt.Sprintf("gadb(%v;%d;%s)", d.tables[1].Cost, len(d.tables)-1, how)
}

// Admissible returns true.
func (*Dynamic) Admissible() bool { return true }

// Consistent reports whether the cover is exact. The best cover of one state costs
// at most 2 more than the same cover of a neighbour; a greedy one may change
// altogether.
func (d *Dynamic) Consistent() bool { return d.exact }

// Estimate returns half the cost of the cover, rounded up.
func (d *Dynamic) Estimate(s swap.State) int {
	cells, offers := d.grid.Inverse(s), make([]offer, len(d.sets))
	for i, set := range d.sets {
		size, place := set.Len(), set.arrangement(cells, d.grid.Cells())
		cost := d.tables[size].Values[d.place[i]+place]
		offers[i] = offer{set, uint32(cost)<<19 | uint32(size)<<16 | uint32(place)}
	}
	if d.exact {
		return (d.best(offers) + 1) / 2
	}
	return (greedy(offers) + 1) / 2
}

// offer is a set that may be part of a cover. Its key orders offers by cost, then by
// size, then by the cells of the tiles in ascending order of the tiles. This is the order
// of the program that document 004 describes (github.com/kwame-mbobda-kuate/ensae-prog24).
type offer struct {
	set Tiles
	key uint32 // cost, 3 bits of size, 16 bits of rank of the cells, which is below 16!/12!
}

func (o offer) cost() int { return int(o.key >> 19) }

// greedy takes the offer with the greatest key, then the greatest of those that are
// disjoint from it, and so on. It overwrites the offers.
func greedy(offers []offer) int {
	sum := 0
	for len(offers) > 0 {
		first := offers[0]
		for _, o := range offers {
			if o.key > first.key {
				first = o
			}
		}
		sum += first.cost()
		offers = slices.DeleteFunc(offers, func(o offer) bool { return o.set&first.set != 0 })
	}
	return sum
}

// best returns the greatest cost of a cover, by the sets of tiles that are covered
// already: the lowest tile that is not comes with any others that are not.
func (d *Dynamic) best(offers []offer) int {
	c := cover{d: d, offers: offers, known: make([]int16, 1<<d.grid.Cells())}
	return c.best(Tiles(1<<d.grid.Cells() - 1))
}

// cover is the work of best.
type cover struct {
	d      *Dynamic
	offers []offer
	known  []int16 // 1 + the greatest cost of a cover of a set, 0 if not known
}

func (c *cover) best(left Tiles) int {
	if left == 0 {
		return 0
	}
	if k := c.known[left]; k > 0 {
		return int(k) - 1
	}
	lowest := left & -left
	most := c.extend(lowest, left&^lowest, left, len(c.d.tables)-2)
	c.known[left] = int16(most + 1)
	return most
}

// extend returns the greatest cost of a cover of left that has a set of the tiles
// of set and up to more of those in choice.
func (c *cover) extend(set, choice, left Tiles, more int) int {
	most := c.offers[c.d.index[set]].cost() + c.best(left&^set)
	if more == 0 {
		return most
	}
	for ; choice != 0; choice &= choice - 1 {
		next := Tiles(1) << bits.TrailingZeros16(uint16(choice))
		most = max(most, c.extend(set|next, choice&^next, left, more-1))
	}
	return most
}
