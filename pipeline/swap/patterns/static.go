package patterns

import (
	"context"
	"math/bits"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// unseen is the value of an arrangement that the search has not reached.
const unseen = 0xff

// Static builds the pattern database of a set of tiles. It takes two bytes for each
// entry, less for few tiles. It fails with heuristic.ErrPattern, a *memory.Error, or the error of ctx.
func Static(ctx context.Context, g *swap.Grid, tiles heuristic.Tiles, o Options) (*heuristic.Pattern, error) {
	if _, err := heuristic.TilesOf(g, tiles.Numbers()); err != nil {
		return nil, err
	}
	entries, lanes := heuristic.Entries(g, tiles.Len()), g.Cells()-tiles.Len()+1
	rows := entries / uint64(lanes)
	// A byte for each entry, and four sets.
	if err := o.fits(entries + max(8*rows, saveBytes(entries))); err != nil {
		return nil, err
	}
	s := newSearch(g, tiles, o.Cost)
	s.settled = &meter{Job: &o.Job, total: entries}
	if err := s.run(ctx, max(1, o.Workers)); err != nil {
		return nil, err
	}
	return &heuristic.Pattern{Grid: g, Tiles: tiles, Cost: o.Cost, Values: s.values}, nil
}

// search is a breadth-first search by levels over all arrangements of k tiles. Those
// that differ in the last tile only are a row: ranks that follow each other, one lane
// for each cell that the other k-1 tiles leave free. A set of arrangements has a word
// of 16 bits for each row, and a swap that does not move the last tile takes a
// whole row to another one, with at most a few lanes exchanged.
//
// Workers share the sets and add to them by atomic operations. No arrangement is
// reached from one level at costs 1 and 2: a swap that costs 2 keeps the parity of the
// sum of Manhattan distances of the tiles, one that costs 1 with Tracked changes it.
type search struct {
	*steps           // of the first k-1 tiles
	cost   int       // of a swap of two tiles
	lanes  int       // entries in a row
	rows   int       // rows
	values []uint8   // by rank
	seen   rowSet    // all that has been reached
	fronts [3]rowSet // of this level and the next two
	filled [3]atomic.Bool

	settled *meter
}

// rowSet is a set of arrangements: two rows in each word.
type rowSet []uint32

func newRowSet(rows int) rowSet { return make(rowSet, (rows+1)/2) }

// get returns the lanes of a row.
func (s rowSet) get(row int) uint32 {
	return atomic.LoadUint32(&s[row>>1]) >> (16 * uint(row&1)) & 0xffff
}

// add adds lanes to a row.
func (s rowSet) add(row int, lanes uint32) { atomic.OrUint32(&s[row>>1], lanes<<(16*uint(row&1))) }

func newSearch(g *swap.Grid, tiles heuristic.Tiles, cost heuristic.Cost) *search {
	k := tiles.Len()
	s := &search{steps: newSteps(g, k-1), cost: 1, lanes: g.Cells() - k + 1}
	if cost == heuristic.Tracked {
		s.cost = 2
	}
	s.rows = int(heuristic.Entries(g, k-1))
	s.values = make([]uint8, s.rows*s.lanes)
	s.seen = newRowSet(s.rows)
	for i := range s.fronts {
		s.fronts[i] = newRowSet(s.rows)
	}
	numbers := tiles.Numbers()
	last := numbers[k-1]
	home := s.home(tiles &^ (1 << last))
	s.reach(home.rank, 1<<(last-(k-1)), 0) // all others are in lower cells
	return s
}

// reach adds lanes of a row to a front, but those that have been seen.
func (s *search) reach(row int, lanes uint32, front int) {
	lanes &^= s.seen.get(row)
	if lanes == 0 {
		return
	}
	s.seen.add(row, lanes)
	s.fronts[front].add(row, lanes)
	if !s.filled[front].Load() {
		s.filled[front].Store(true)
	}
}

// chunk is how many words of a set a worker takes at a time.
const chunk = 1 << 9

func (s *search) run(ctx context.Context, workers int) error {
	for depth := 0; s.filled[depth%3].Load() || s.filled[(depth+1)%3].Load(); depth++ {
		if err := s.level(ctx, depth, workers); err != nil {
			return err
		}
		s.filled[depth%3].Store(false)
	}
	return nil
}

func (s *search) level(ctx context.Context, depth, workers int) error {
	front := s.fronts[depth%3]
	return crew.Each(ctx, workers, (len(front)+chunk-1)/chunk, func(_, i int) error {
		w, from := worker{search: s, depth: depth}, i*chunk
		s.settled.add(w.expand(front, from, min(from+chunk, len(front))))
		return nil
	})
}

// worker expands the rows of a level.
type worker struct {
	*search
	depth int
	now   placing                  // of the first k-1 tiles
	below [swap.MaxCells + 1]uint8 // how many lower cells are free
}

// expand takes the words from..end-1 out of the front and sees the neighbours of their
// entries, and returns how many entries these are. Nobody else adds to this front before the
// next level.
func (w *worker) expand(front rowSet, from, end int) (entries uint64) {
	for i := from; i < end; i++ {
		word := front[i]
		if word == 0 {
			continue
		}
		front[i] = 0
		entries += uint64(bits.OnesCount32(word))
		if lanes := word & 0xffff; lanes != 0 {
			w.neighbours(2*i, lanes)
		}
		if lanes := word >> 16; lanes != 0 {
			w.neighbours(2*i+1, lanes)
		}
	}
	return entries
}

// neighbours gives the arrangements their value and reaches those one swap away.
func (w *worker) neighbours(row int, lanes uint32) {
	for rest := lanes; rest != 0; rest &= rest - 1 {
		w.values[row*w.lanes+bits.TrailingZeros32(rest)] = uint8(w.depth)
	}
	w.place(&w.now, row)
	free := uint8(0)
	for c, t := range w.now.at {
		w.below[c] = free
		free += t / nobody
	}
	one, both := (w.depth+1)%3, (w.depth+w.cost)%3
	for _, m := range w.grid.Swaps() {
		change, moved := w.change(&w.now, m)
		a, b := w.below[m.A], w.below[m.B] // lanes, where the cell is free
		switch {
		case moved == 2:
			w.reach(row+change, lanes, both)
		case moved == 0:
			// Only the last tile can move, between lanes a and b.
			if moving := lanes>>b&1<<a | lanes>>a&1<<b; moving != 0 {
				w.reach(row, moving, one)
			}
		case w.now.at[m.A] == nobody:
			// The free cell goes up. The last tile, if there, changes places with
			// the other tile, to the highest lane; those between move down.
			w.reach(row+change, lanes>>a&1<<(b-1), both)
			w.reach(row+change, shiftDown(lanes&^(1<<a), a, b), one)
		default:
			w.reach(row+change, lanes>>b&1<<a, both)
			w.reach(row+change, shiftUp(lanes&^(1<<b), a, b), one)
		}
	}
}

// shiftDown moves the lanes above a and below b down by one.
func shiftDown(lanes uint32, a, b uint8) uint32 {
	between := uint32(1)<<b - 1<<(a+1)
	return lanes&^between | lanes&between>>1
}

// shiftUp moves the lanes from a up to below b up by one.
func shiftUp(lanes uint32, a, b uint8) uint32 {
	between := uint32(1)<<b - 1<<a
	return lanes&^between | lanes&between<<1
}
