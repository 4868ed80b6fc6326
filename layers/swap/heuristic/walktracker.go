package heuristic

import (
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// followWalking returns the tracker of a walking distance.
func followWalking(g *swap.Grid, w *Walking) Tracker {
	if w.line() {
		return &lineTracker{swaps: g.Swaps()}
	}
	t := &walkTracker{walking: w, row: walkPart{table: w.byRow, keyOf: w.row}, column: walkPart{table: w.byColumn, keyOf: w.column}}
	for _, m := range g.Swaps() {
		if m.B == m.A+1 {
			t.moves = append(t.moves, walkMove{m, &t.column, m.A % w.cols})
		} else {
			t.moves = append(t.moves, walkMove{m, &t.row, m.A / w.cols})
		}
	}
	return t
}

// walkTracker follows Walking: a swap of two rows changes nothing between columns, and the
// other way round.
type walkTracker struct {
	walking     *Walking
	moves       []walkMove
	tiles       swap.List
	row, column walkPart
}

// walkMove is a swap between two lines of a part, the upper of which has a number.
type walkMove struct {
	swap.Swap
	part  *walkPart
	upper int
}

func (t *walkTracker) Begin(tiles swap.List) {
	t.tiles = append(t.tiles[:0], tiles...)
	t.row.keys, t.column.keys = t.walking.keys(tiles)
	t.row.measure()
	t.column.measure()
}

func (t *walkTracker) Bound() int { return t.row.distance + t.column.distance }

func (t *walkTracker) After(i int) int {
	m := &t.moves[i]
	return t.Bound() - m.part.distance + m.part.after(m.upper, t.tiles[m.A], t.tiles[m.B])
}

func (t *walkTracker) Do(i int) {
	m := &t.moves[i]
	m.part.exchange(m.upper, t.tiles[m.A], t.tiles[m.B])
	m.part.measure()
	t.tiles.Swap(m.Swap)
}

// walkPart follows the distance of rows, or of columns.
type walkPart struct {
	table    *walkTable
	keyOf    []uint32 // of a tile
	keys     [maxLines]uint32
	distance int
}

func (p *walkPart) measure() { p.distance = p.table.distance(p.keys[:p.table.lines]) }

// exchange swaps a, in line upper, with b in the next.
func (p *walkPart) exchange(upper int, a, b uint8) {
	change := p.keyOf[b] - p.keyOf[a]
	p.keys[upper] += change
	p.keys[upper+1] -= change
}

// after returns the distance after exchange.
func (p *walkPart) after(upper int, a, b uint8) int {
	if p.keyOf[a] == p.keyOf[b] {
		return p.distance
	}
	p.exchange(upper, a, b)
	d := p.table.distance(p.keys[:p.table.lines])
	p.exchange(upper, b, a)
	return d
}

// lineTracker follows Walking in one row or one column: the number of inversions.
type lineTracker struct {
	swaps []swap.Swap
	tiles swap.List
	bound int
}

func (t *lineTracker) Begin(tiles swap.List) {
	t.tiles = append(t.tiles[:0], tiles...)
	t.bound = perm.Inversions(tiles)
}

func (t *lineTracker) Bound() int { return t.bound }

func (t *lineTracker) After(i int) int {
	if t.tiles[t.swaps[i].A] > t.tiles[t.swaps[i].B] {
		return t.bound - 1
	}
	return t.bound + 1
}

func (t *lineTracker) Do(i int) {
	t.bound = t.After(i)
	t.tiles.Swap(t.swaps[i])
}
