package patterns

import (
	"context"
	"encoding/binary"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// unseen is the value of an arrangement that the search has not reached.
const unseen = 0xff

// Static builds the pattern database of a set of tiles. It takes two bytes for each
// entry. It fails with heuristic.ErrPattern, heuristic.ErrCost, ErrMemory, or the
// error of ctx.
func Static(ctx context.Context, g *swap.Grid, tiles heuristic.Tiles, o Options) (*heuristic.Pattern, error) {
	if _, err := heuristic.TilesOf(g, tiles.Numbers()); err != nil {
		return nil, err
	}
	entries := heuristic.Entries(g, tiles.Len())
	if entries > math.MaxInt/2 {
		return nil, o.check(math.MaxUint64)
	}
	if err := o.check(2 * entries); err != nil {
		return nil, err
	}
	s := &search{steps: newSteps(g, tiles.Len()), cost: o.Cost, entries: int(entries), values: make([]uint32, (entries+3)/4)}
	for i := range s.values {
		s.values[i] = math.MaxUint32
	}
	home := s.home(tiles)
	s.see(home.rank, 0)
	if err := s.run(ctx, o.Workers); err != nil {
		return nil, err
	}
	return &heuristic.Pattern{Grid: g, Tiles: tiles, Cost: o.Cost, Values: s.bytes()}, nil
}

// search is a breadth-first search by levels. Workers share the values, four in a
// word. Within a level a value is only ever changed from unseen, and all who change
// it write the same: a swap that costs 2 does not change the parity of the sum of
// Manhattan distances and one that costs 1 does, so with cost Tracked no arrangement
// is reached from one level at costs 1 and 2.
type search struct {
	*steps
	cost    heuristic.Cost
	entries int
	values  []uint32
	reached [unseen + 3]atomic.Bool // is there an arrangement of this value?
}

// chunk is how many words a worker takes at a time.
const chunk = 1 << 12

func (s *search) run(ctx context.Context, workers int) error {
	for depth := 0; s.reached[depth].Load() || s.reached[depth+1].Load(); depth++ {
		if err := s.level(ctx, uint8(depth), workers); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) level(ctx context.Context, depth uint8, workers int) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			w := worker{search: s, prefix: -1}
			for {
				from := int(next.Add(chunk)) - chunk
				if from >= len(s.values) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				w.expand(depth, from, min(from+chunk, len(s.values)))
			}
		})
	}
	return group.Wait()
}

// worker finds the arrangements of a level and expands them.
type worker struct {
	*search
	now    placing
	prefix int    // all of the rank but the last digit, -1 for none
	free   uint64 // cells that the last tile may be in
	cell   uint64 // where it is
}

// expand sees the neighbours of all arrangements in the words from to end-1 whose
// value is depth.
func (w *worker) expand(depth uint8, from, end int) {
	pattern := uint32(depth) * 0x01010101
	for i := from; i < end; i++ {
		word := atomic.LoadUint32(&w.values[i]) ^ pattern
		if (word-0x01010101)&^word&0x80808080 == 0 {
			continue // no byte is 0
		}
		for j := range 4 {
			if word>>(8*j)&0xff == 0 {
				w.neighbours(4*i+j, depth)
			}
		}
	}
}

func (w *worker) neighbours(rank int, depth uint8) {
	w.move(rank)
	for _, m := range w.grid.Swaps() {
		change, moved := w.change(&w.now, m)
		if moved == 0 {
			continue
		}
		if w.cost == heuristic.Unit {
			moved = 1
		}
		w.see(rank+change, depth+uint8(moved))
	}
}

// move sets now to a rank. Ranks come in order, most of them with the same prefix as
// the one before.
func (w *worker) move(rank int) {
	cells := w.grid.Cells() - w.k + 1
	prefix := rank / cells
	if prefix != w.prefix {
		w.place(&w.now, prefix*cells)
		w.prefix, w.free = prefix, 0
		n := 0
		for c, t := range w.now.at[:w.grid.Cells()] {
			if t == nobody || int(t) == w.k-1 {
				w.free |= uint64(c) << (4 * n)
				n++
			}
		}
		w.cell = w.free & 15
	}
	w.now.rank = rank
	w.now.at[w.cell&15] = nobody
	w.cell = w.free >> (4 * uint(rank-prefix*cells)) & 15
	w.now.at[w.cell] = uint8(w.k - 1)
}

// see gives an arrangement its value if it has none.
func (s *search) see(rank int, value uint8) {
	word, shift := &s.values[rank>>2], 8*uint(rank&3)
	if atomic.LoadUint32(word)>>shift&0xff != unseen {
		return
	}
	atomic.AndUint32(word, ^(uint32(unseen^value) << shift))
	if !s.reached[value].Load() {
		s.reached[value].Store(true)
	}
}

// bytes returns the values as bytes.
func (s *search) bytes() []uint8 {
	b := make([]uint8, 4*len(s.values))
	for i, word := range s.values {
		binary.LittleEndian.PutUint32(b[4*i:], word)
	}
	return b[:s.entries]
}
