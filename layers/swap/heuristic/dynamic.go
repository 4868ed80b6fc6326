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
// additive database of document 004 (docs/sources.md says how it is read).
type SetTable struct {
	Grid *swap.Grid
	Size int // tiles in a set, 1 to MaxSet
	Cost Cost
	// Values has the pattern databases of all sets in ascending order of the sets
	// as numbers, one after the other.
	Values []uint8
}

// Sets returns all sets of size tiles of g in ascending order.
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
	sets   []member // of all sizes, the smallest first
}

// member is a set as an extension of a smaller one, so that the ranks of the cells of
// all sets take one step each.
type member struct {
	set    Tiles
	parent int     // in the list of all sets: the set without its last tile
	last   uint8   // tile
	size   uint8   // tiles
	digits uint16  // factor from a digit of a rank to the next
	values []uint8 // of the set, by rank of the cells
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
			return nil, fmt.Errorf("%w: table %d is of sets of %d tiles, %d x %d, cost %v; expected %d, %d x %d, %v", ErrPattern, i+1,
				t.Size, t.Grid.Rows(), t.Grid.Cols(), t.Cost, i+1, first.Grid.Rows(), first.Grid.Cols(), first.Cost)
		}
	}
	d := &Dynamic{grid: first.Grid, tables: append([]*SetTable{nil}, tables...), exact: exact}
	d.number()
	return d, nil
}

// number lists the sets, after the empty one.
func (d *Dynamic) number() {
	d.sets = []member{{}}
	index := map[Tiles]int{0: 0}
	for size, table := range d.tables {
		if size == 0 {
			continue
		}
		entries := int(Entries(d.grid, size))
		for i, set := range Sets(d.grid, size) {
			last := uint8(bits.Len16(uint16(set)) - 1)
			index[set] = len(d.sets)
			d.sets = append(d.sets, member{
				set: set, parent: index[set&^(1<<last)], last: last, size: uint8(size),
				digits: uint16(d.grid.Cells() - size + 1), values: table.Values[i*entries:][:entries],
			})
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

// Consistent reports whether the cover is exact. The best cover of one state costs
// at most 2 more than the same cover of a neighbour; a greedy one may change
// altogether.
func (d *Dynamic) Consistent() bool { return d.exact }

// Estimate returns half the cost of the cover, rounded up.
func (d *Dynamic) Estimate(s swap.State) int {
	offers := d.offers(d.grid.Inverse(s))
	if d.exact {
		return (best(offers, d.grid.Cells()) + 1) / 2
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

// offers returns all sets with their costs, given the cells of the tiles.
func (d *Dynamic) offers(cells swap.State) []offer {
	type placed struct {
		rank uint16 // of the cells of the tiles, see Tiles.arrangement
		used Tiles  // cells
	}
	places, offers := make([]placed, len(d.sets)), make([]offer, len(d.sets)-1)
	for i := 1; i < len(d.sets); i++ {
		m := &d.sets[i]
		p := places[m.parent]
		cell := cells.At(int(m.last))
		bit := Tiles(1) << cell
		rank := p.rank*m.digits + uint16(cell-(p.used&(bit-1)).Len())
		places[i] = placed{rank, p.used | bit}
		offers[i-1] = offer{m.set, uint32(m.values[rank])<<19 | uint32(m.size)<<16 | uint32(rank)}
	}
	return offers
}

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

// best returns the greatest cost of a cover. It starts from each tile alone; only sets
// that cost more than that matter, and few do.
func best(offers []offer, tiles int) int {
	c := cover{known: make([]int16, 1<<tiles)}
	alone, sum := offers[:tiles], 0
	for _, o := range alone {
		sum += o.cost()
	}
	for _, o := range offers[tiles:] {
		gain := o.cost()
		for left := o.set; left != 0; left &= left - 1 {
			gain -= alone[left.first()].cost()
		}
		if gain > 0 {
			first := o.set.first()
			c.gains[first] = append(c.gains[first], gainful{o.set, gain})
			c.firsts |= 1 << first
		}
	}
	return sum + c.most(1<<tiles-1)
}

// gainful is a set that costs more than its tiles alone.
type gainful struct {
	set  Tiles
	gain int
}

// cover is the search for disjoint sets of the greatest gain.
type cover struct {
	gains  [swap.MaxCells][]gainful // by first tile
	firsts Tiles                    // tiles that have some
	known  []int16                  // 1 + the greatest gain in a set of tiles, 0 if not known
}

// most returns the greatest gain in a set of tiles: the first tile that begins a set
// does, or is alone.
func (c *cover) most(left Tiles) int {
	if left&c.firsts == 0 {
		return 0
	}
	if k := c.known[left]; k > 0 {
		return int(k) - 1
	}
	first := (left & c.firsts).first()
	gain := c.most(left &^ (1 << first))
	for _, g := range c.gains[first] {
		if g.set&^left == 0 {
			gain = max(gain, g.gain+c.most(left&^g.set))
		}
	}
	c.known[left] = int16(gain + 1)
	return gain
}
