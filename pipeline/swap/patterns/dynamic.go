package patterns

import (
	"context"
	"fmt"
	"math"

	"grenier/io/crew"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// Dynamic builds the pattern databases of all sets of size tiles. It fails with
// heuristic.ErrPattern, a *memory.Error, or the error of ctx.
func Dynamic(ctx context.Context, g *swap.Grid, size int, o Options) (*heuristic.SetTable, error) {
	if size < 1 || size > heuristic.MaxSet || size > g.Cells() {
		return nil, fmt.Errorf("%w: sets of %d tiles: expected 1 to %d", heuristic.ErrPattern, size, min(heuristic.MaxSet, g.Cells()))
	}
	o.Workers = max(1, o.Workers)
	sets, entries := heuristic.Sets(g, size), int(heuristic.Entries(g, size))
	all, walks := uint64(len(sets)*entries), uint64(o.Workers*entries*walkBytes)
	if err := o.fits(all + max(graphBytes(g, entries)+walks, saveBytes(all))); err != nil {
		return nil, err
	}
	graph := newGraph(newSteps(g, size), o.Cost)
	values := make([]uint8, len(sets)*entries)
	progress := &meter{Job: &o.Job, total: uint64(len(values))}
	walkers := make([]*walker, o.Workers)
	err := crew.Each(ctx, o.Workers, len(sets), func(worker, i int) error {
		if walkers[worker] == nil {
			walkers[worker] = &walker{graph: graph}
		}
		home := graph.home(sets[i])
		walkers[worker].search(values[i*entries:(i+1)*entries], home.rank)
		progress.add(uint64(entries))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &heuristic.SetTable{Grid: g, Size: size, Cost: o.Cost, Values: values}, nil
}

// graph lists the neighbours of each arrangement.
type graph struct {
	*steps
	ones []list // at cost 1, by rank
	twos []list // at cost 2
}

type list []uint32

// graphBytes returns the most bytes that a graph of n arrangements takes: two lists
// for each, of all swaps together, that may have just grown.
func graphBytes(g *swap.Grid, entries int) uint64 {
	return uint64(entries) * uint64(2*24+2*4*len(g.Swaps()))
}

func newGraph(s *steps, cost heuristic.Cost) *graph {
	entries := int(heuristic.Entries(s.grid, s.k))
	g := &graph{steps: s, ones: make([]list, entries), twos: make([]list, entries)}
	var p placing
	for rank := range entries {
		s.place(&p, rank)
		for _, m := range s.grid.Swaps() {
			change, moved := s.change(&p, m)
			switch {
			case moved == 2 && cost == heuristic.Tracked:
				g.twos[rank] = append(g.twos[rank], uint32(rank+change))
			case moved > 0:
				g.ones[rank] = append(g.ones[rank], uint32(rank+change))
			}
		}
	}
	return g
}

// walker searches a graph.
type walker struct {
	*graph
	queues [3][]uint32 // arrangements of this level and of the next two
}

// walkBytes is the most that the queues take for each arrangement, when they have grown.
const walkBytes = 16

// search sets all values, each the cost of the way from home. See type search for why
// no arrangement is reached at two costs from one level.
func (w *walker) search(values []uint8, home int) {
	for i := range values {
		values[i] = unseen
	}
	now, next, later := w.queues[0][:0], w.queues[1][:0], w.queues[2][:0]
	values[home] = 0
	now = append(now, uint32(home))
	for depth := uint8(0); len(now)+len(next) > 0 && depth < math.MaxUint8-2; depth++ {
		for _, rank := range now {
			for _, to := range w.ones[rank] {
				if values[to] == unseen {
					values[to] = depth + 1
					next = append(next, to)
				}
			}
			for _, to := range w.twos[rank] {
				if values[to] == unseen {
					values[to] = depth + 2
					later = append(later, to)
				}
			}
		}
		now, next, later = next, later, now[:0]
	}
	w.queues = [3][]uint32{now, next, later}
}
