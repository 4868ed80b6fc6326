package search

import (
	"context"
	"slices"

	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// The widths of beam: it begins with the first and doubles it. The last is the width of a
// search without a limit of time or width.
const (
	firstWidth = 64
	lastWidth  = 1 << 14
)

// beam is a beam search: it keeps only the most promising states of each depth, as many as the
// width: those with the least bounds plus weighted inversions, which order the states on the
// plateaus of the bounds. A state that cannot be on a path shorter than the best one is pruned. It repeats with twice the width until the
// solution meets the lower bound, or the width, the memory or the time is used up.
func beam(s *search) ([]swap.Swap, error) {
	for width := firstWidth; len(s.best) > s.lower; width *= 2 {
		if s.width > 0 && width > s.width {
			break
		}
		b, err := newBeamer(s, s.tracker, width)
		if err != nil {
			return nil, err
		}
		found, err := b.run()
		if err != nil {
			return nil, err
		}
		if found != nil {
			s.best = found
		} else if !b.pool.cut {
			break // all ways were followed to where they are too long
		}
	}
	return s.best, nil
}

// rescue looks at no more swaps than this, about.
const rescueWork = 1 << 21

// rescue looks for a solution shorter than s.best by a narrow beam that takes well under a
// second.
func rescue(s *search) error {
	quick := *s
	quick.ctx, quick.limit, quick.job.Progress = context.Background(), 0, nil
	tracker, err := heuristic.Follow(s.grid, heuristic.Lift{Heuristic: heuristic.NewManhattan(s.grid), Grid: s.grid})
	if err != nil {
		return err
	}
	width := max(1, rescueWork/(len(s.grid.Swaps())*len(s.best)))
	b, err := newBeamer(&quick, tracker, width)
	if err != nil {
		return nil // not enough memory
	}
	if found, err := b.run(); err == nil && found != nil {
		s.best = found
	}
	return nil
}

// beamer is one search of a width.
type beamer struct {
	*search
	bound   heuristic.Tracker
	guide   heuristic.Tracker // inversions
	prints  *prints
	width   int
	room    uint64 // bytes of all that follows
	layer   layer  // the states of a depth
	next    layer  // and of the next one, while they are made
	pool    pool
	former  printSet // the depth before
	steps   [][]step // by depth, from 1: how the states of layers were reached
	tiles   swap.List
	visited uint64 // states of all layers
}

// layer has states, one after the other, and their fingerprints.
type layer struct {
	tiles  []uint8
	prints []uint64
}

// step says how a state was reached: from which one of the layer before, and by which
// swap in the lowest stepBits.
type step uint32

const (
	stepBits   = 7 // for the 112 swaps of 8 x 8
	mostStates = 1 << (32 - stepBits)
)

// newBeamer fails with errMemory.
func newBeamer(s *search, bound heuristic.Tracker, width int) (*beamer, error) {
	cells, room := s.grid.Cells(), uint64(width)
	perState := 2*(cells+8) + 2*candidateBytes + 4*len(s.best)
	room = room*uint64(perState) + printSetBytes(2*width) + printSetBytes(width)
	if width > mostStates {
		return nil, errMemory
	}
	if err := s.hold(0, 0, room); err != nil {
		return nil, err
	}
	b := &beamer{
		search: s, bound: bound, guide: heuristic.CountInversions(s.grid), prints: newPrints(cells), width: width, room: room,
		pool: newPool(width), former: newPrintSet(width), tiles: make(swap.List, cells),
	}
	for _, l := range []*layer{&b.layer, &b.next} {
		l.tiles, l.prints = make([]uint8, 0, width*cells), make([]uint64, 0, width)
	}
	b.layer.tiles = append(b.layer.tiles, s.list...)
	b.layer.prints = append(b.layer.prints, b.prints.of(s.list))
	return b, nil
}

// boundWeight is how many inversions a bound higher by 1 is worth. It was the best of
// some tried on 5 x 5, 6 x 6 and 8 x 8.
const boundWeight = 64

// run returns a solution shorter than s.best, nil if it finds none.
func (b *beamer) run() ([]swap.Swap, error) {
	for len(b.layer.prints) > 0 {
		b.pool.clear()
		for i := range b.layer.prints {
			home, err := b.expandState(i)
			if err != nil {
				return nil, err
			}
			if home != nil {
				return home, nil
			}
		}
		b.pool.shrink()
		b.advance()
	}
	return nil, nil
}

// expandState puts the neighbours of state i of the layer into the pool. It returns a
// solution if one of them is home.
func (b *beamer) expandState(i int) ([]swap.Swap, error) {
	b.visited++
	if err := b.hold(uint64(len(b.pool.list)), b.visited, b.room); err != nil {
		return nil, err
	}
	if err := b.expand(); err != nil {
		return nil, err
	}
	cells := len(b.tiles)
	copy(b.tiles, b.layer.tiles[i*cells:])
	b.bound.Begin(b.tiles)
	b.guide.Begin(b.tiles)
	most := len(b.best) - 2 - (len(b.steps) + 1) // bound of a neighbour on a shorter way: all ways have the same parity
	for move, m := range b.grid.Swaps() {
		b.Generated++
		h := b.bound.After(move)
		if h > most {
			continue
		}
		print := b.prints.after(b.layer.prints[i], b.tiles, m)
		if print == b.prints.home && b.solves(m) {
			return b.path(step(i)<<stepBits | step(move)), nil
		}
		if !b.former.has(print) {
			score := uint32(boundWeight*h + b.guide.After(move))
			b.pool.add(candidate{print: print, from: step(i)<<stepBits | step(move), score: score})
		}
	}
	return nil, nil
}

// solves reports whether a move solves b.tiles.
func (b *beamer) solves(m swap.Swap) bool {
	b.tiles.Swap(m)
	solved := b.tiles.Solved()
	b.tiles.Swap(m)
	return solved
}

// advance makes the next layer of the pool.
func (b *beamer) advance() {
	cells, swaps := len(b.tiles), b.grid.Swaps()
	b.next.tiles, b.next.prints = b.next.tiles[:0], b.next.prints[:0]
	steps := make([]step, 0, len(b.pool.list))
	for _, c := range b.pool.list {
		parent := int(c.from >> stepBits)
		b.next.tiles = append(b.next.tiles, b.layer.tiles[parent*cells:(parent+1)*cells]...)
		swap.List(b.next.tiles[len(b.next.tiles)-cells:]).Swap(swaps[c.from&(1<<stepBits-1)])
		b.next.prints = append(b.next.prints, c.print)
		steps = append(steps, c.from)
	}
	b.former.clear()
	for _, print := range b.layer.prints {
		b.former.add(print)
	}
	b.layer, b.next = b.next, b.layer
	b.steps = append(b.steps, steps)
	if b.search.width > 0 { // one search of a width takes as long as all before
		done := float64(b.width) * (1 + float64(len(b.steps))/float64(len(b.best)))
		b.share = min(1, done/float64(2*b.search.width))
	}
}

// path returns the moves that end with a step from the layer.
func (b *beamer) path(last step) []swap.Swap {
	var moves []swap.Swap
	for depth := len(b.steps); ; depth-- {
		moves = append(moves, b.grid.Swaps()[last&(1<<stepBits-1)])
		if depth == 0 {
			break
		}
		last = b.steps[depth-1][last>>stepBits]
	}
	slices.Reverse(moves)
	return moves
}
