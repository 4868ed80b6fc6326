package bfs

import (
	"iter"
	"math/bits"
)

// worker finds the new states of one block at a time.
type worker struct {
	*search
	from, to *flags // of the depth before and of this one
	side     int    // parity of the states to be found
	found    uint64

	block     block
	desk      desk
	open      []uint16   // words of the block that have states left
	reached   []uint64   // by word
	regrouped [][]uint64 // by element of tables.outer and word
}

func newWorker(s *search) *worker {
	w := &worker{search: s, block: newBlock(s.layout), open: make([]uint16, 0, s.tables.words), reached: make([]uint64, s.tables.words)}
	for range s.tables.outer {
		w.regrouped = append(w.regrouped, make([]uint64, s.tables.words))
	}
	w.desk.fetched = make([][]uint64, s.layout.rest())
	return w
}

// pullAll pulls some blocks.
func (w *worker) pullAll(blocks span) error {
	if err := w.store.open(w.side, blocks, w.sources(blocks), &w.desk); err != nil {
		return err
	}
	for b := blocks.first; b < blocks.end; b++ {
		if err := w.pull(b); err != nil {
			return err
		}
	}
	return w.store.shut(w.side, &w.desk)
}

// sources yields the busy blocks that edges join with some blocks that are not
// full.
func (w *worker) sources(blocks span) iter.Seq[int] {
	return func(yield func(int) bool) {
		for b := blocks.first; b < blocks.end; b++ {
			if w.to.full[b] != 0 {
				continue
			}
			w.block.find(w.layout, b)
			for source := range w.block.around() {
				if w.from.busy[source] != 0 && !yield(source) {
					return
				}
			}
		}
	}
}

// pull replaces the newest states of a block by the states of this depth.
func (w *worker) pull(number int) error {
	full := w.to.full[number] != 0
	if !full {
		w.block.find(w.layout, number)
		full = !w.reachable()
	}
	wasBusy := w.to.busy[number] != 0
	if full && !wasBusy {
		return nil
	}
	if err := w.store.load(w.side, number, &w.desk); err != nil {
		return err
	}
	w.to.busy[number] = 0
	if full {
		clear(w.desk.states.newest)
	} else if err := w.replace(); err != nil {
		return err
	}
	if wasBusy || w.to.busy[number] != 0 {
		w.store.save(w.side, number, &w.desk, w.to.busy[number] != 0, w.to.full[number] != 0)
	}
	return nil
}

// reachable reports whether an edge joins the block and one with states of the
// depth before.
func (w *worker) reachable() bool {
	if w.from.busy[w.block.number] != 0 {
		return true
	}
	for b := range w.block.around() {
		if w.from.busy[b] != 0 {
			return true
		}
	}
	return false
}

// replace does the work of pull for a block that may have new states.
func (w *worker) replace() error {
	number, newest, seen := w.block.number, w.desk.states.newest, w.desk.states.seen
	w.listOpen(newest, seen)
	if err := w.pullBlocks(); err != nil {
		return err
	}
	if w.from.busy[number] != 0 {
		source, err := w.source(number, 0)
		if err != nil {
			return err
		}
		w.pullInside(source)
	}
	found := 0
	left := len(w.open)
	for _, o := range w.open {
		fresh := w.reached[o] &^ newest[o]
		newest[o] = fresh
		n := bits.OnesCount64(fresh)
		seen[o] += uint8(n)
		found += n
		if seen[o] == tailBits {
			left--
		}
	}
	w.found += uint64(found)
	w.to.busy[number] = uint8(min(found, 1))
	if left == 0 {
		w.to.full[number] = 1
	}
	return nil
}

// source returns the newest states of the depth before of a block that has some.
// They may be in the k-th element of desk.fetched.
func (w *worker) source(block, k int) ([]uint64, error) {
	return w.store.newest(1-w.side, block, &w.desk, k)
}

// listOpen lists the words that have states left, clears the states they reach, and
// clears the newest states of the other words.
func (w *worker) listOpen(newest []uint64, seen []uint8) {
	w.open = w.open[:0]
	for o, n := range seen {
		if n < tailBits {
			w.open = append(w.open, uint16(o))
		} else {
			newest[o] = 0
		}
	}
	clear(w.reached)
}

// pullBlocks adds the states that come from other blocks.
func (w *worker) pullBlocks() error {
	for _, b := range w.block.across {
		if w.from.busy[b] == 0 {
			continue
		}
		source, err := w.source(b, 0)
		if err != nil {
			return err
		}
		for _, o := range w.open {
			w.reached[o] |= source[o]
		}
	}
	for e := range w.tables.cross {
		if err := w.pullCrossing(&w.tables.cross[e], w.block.cross[e]); err != nil {
			return err
		}
	}
	return nil
}

// pullCrossing adds the states that come along an edge between an upper and a lower cell.
func (w *worker) pullCrossing(c *crossing, landings []landing) (err error) {
	any := false
	var sources [tail + middle]struct {
		newest []uint64
		to     []uint16
	}
	for t, target := range landings {
		s := &sources[t]
		s.newest, s.to = w.nothing, c.to[target.tile]
		if w.from.busy[target.block] != 0 {
			any = true
			if s.newest, err = w.source(target.block, t); err != nil {
				return err
			}
		}
	}
	if !any {
		return nil
	}
	for _, o := range w.open {
		s := &sources[c.tile[o]]
		w.reached[o] |= s.newest[s.to[o]]
	}
	return nil
}

// pullInside adds the states that come from the block itself, whose newest states of the
// depth before are source.
func (w *worker) pullInside(source []uint64) {
	for _, table := range w.tables.inner {
		for _, o := range w.open {
			w.reached[o] |= source[table[o]]
		}
	}
	// A word of this side has tails of parity flip ^ tables.parity, and the
	// same word of the other side tails of the other parity.
	flip := uint8(w.side) ^ w.block.parity
	if turn := w.tables.turn; turn[0] != nil {
		for _, o := range w.open {
			if x := source[o]; x != 0 {
				w.reached[o] |= turn[(1^flip^w.tables.parity[o])&1].apply(x)
			}
		}
	}
	for k := range w.tables.outer {
		w.regroup(source, k, 1^flip)
		w.pullGroups(k, flip)
	}
}

// regroup regroups all words of the block for element k of tables.outer.
func (w *worker) regroup(source []uint64, k int, flip uint8) {
	to, grouped := w.tables.outer[k].to, w.regrouped[k]
	for o, x := range source {
		if x != 0 {
			x = to[(flip^w.tables.parity[o])&1].apply(x)
		}
		grouped[o] = x
	}
}

// pullGroups adds the states that come along the edges of element k of tables.outer.
func (w *worker) pullGroups(k int, flip uint8) {
	outer, grouped := &w.tables.outer[k], w.regrouped[k]
	for _, o := range w.open {
		x := uint64(0)
		for _, table := range outer.exchanges {
			e := &table[o]
			x |= grouped[e[0].word] >> (e[0].shift & 63) & groupMask
			x |= grouped[e[1].word] >> (e[1].shift & 63) & groupMask << groupBits
			x |= grouped[e[2].word] >> (e[2].shift & 63) & groupMask << (2 * groupBits)
			x |= grouped[e[3].word] >> (e[3].shift & 63) & groupMask << (3 * groupBits)
			x |= grouped[e[4].word] >> (e[4].shift & 63) & groupMask << (4 * groupBits)
		}
		if x != 0 {
			w.reached[o] |= outer.from[(flip^w.tables.parity[o])&1].apply(x)
		}
	}
}
