package search

import (
	"slices"

	"grenier/layers/swap"
)

// chains solves token swapping, as the swap puzzle is known, with at most four times as many swaps as are needed
// (Miltzow, Narins, Okamoto, Rote, Thomas and Uno: "Approximation and Hardness for Token Swapping", ESA 2016).
//
// From a cell whose tile is not home it follows tiles, each time to a neighbouring cell that is nearer to the home of the
// tile at hand. If that closes a cycle of k cells, k - 1 swaps take each of its tiles one cell on. Otherwise it ends at a
// tile that is home; one swap then takes the tile before one cell on, and that one off.
//
// Let D be the sum of the distances of all tiles at the start. A cycle takes k off the sum, and the other kind of swap nothing,
// so cycles make at most D swaps. A tile that was taken off its home only gets back in a cycle, as the tile in its home is not
// home until then; so there are no more swaps of that kind than tiles brought nearer in cycles, which is D. A swap takes at
// most 2 off the sum, so a solution has D/2 swaps at least: 2 D are at most four times as many.
func chains(s *search) ([]swap.Swap, error) {
	c := &chaining{grid: s.grid, tiles: slices.Clone(s.list), seen: make([]int, s.grid.Cells())}
	for !c.tiles.Solved() {
		c.follow(c.away())
	}
	return c.moves, nil
}

// away returns the first cell whose tile is not home.
func (c *chaining) away() int {
	for cell, tile := range c.tiles {
		if int(tile) != cell {
			return cell
		}
	}
	panic("all tiles are home")
}

// chaining is a grid on its way.
type chaining struct {
	grid  *swap.Grid
	tiles swap.List
	moves []swap.Swap
	seen  []int // 1 more than the place of a cell in the path
}

// follow follows tiles from a cell whose tile is not home, and moves them.
func (c *chaining) follow(cell int) {
	clear(c.seen)
	var path []int
	for c.seen[cell] == 0 {
		path = append(path, cell)
		c.seen[cell] = len(path)
		if int(c.tiles[cell]) == cell {
			c.exchange(path[len(path)-2], cell)
			return
		}
		cell = c.next(cell)
	}
	for i := len(path) - 1; i >= c.seen[cell]; i-- {
		c.exchange(path[i-1], path[i])
	}
}

// next returns a cell beside one, nearer to the home of its tile: rather one whose tile wants to come here, or to leave.
func (c *chaining) next(cell int) int {
	var all []int
	for _, m := range c.grid.Swaps() {
		other := m.A + m.B - cell
		if (m.A == cell || m.B == cell) && c.nearer(cell, other) {
			all = append(all, other)
		}
	}
	for _, wanted := range []func(other int) bool{
		func(other int) bool { return c.nearer(other, cell) },
		func(other int) bool { return int(c.tiles[other]) != other },
	} {
		if i := slices.IndexFunc(all, wanted); i >= 0 {
			return all[i]
		}
	}
	return all[0]
}

// nearer reports whether a tile gets nearer to its home by going from one cell to another.
func (c *chaining) nearer(from, to int) bool {
	home, cols := int(c.tiles[from]), c.grid.Cols()
	distance := func(cell int) int { return abs(cell/cols-home/cols) + abs(cell%cols-home%cols) }
	return distance(to) < distance(from)
}

// exchange swaps the tiles of two cells.
func (c *chaining) exchange(a, b int) {
	m := swap.Swap{A: min(a, b), B: max(a, b)}
	c.tiles.Swap(m)
	c.moves = append(c.moves, m)
}

func abs(x int) int { return max(x, -x) }
