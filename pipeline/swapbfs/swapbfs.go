// Package swapbfs searches the whole state graph of a swap puzzle breadth first:
// it counts the states at each distance from the goal.
//
// # One bit a state
//
// A swap changes the parity of a permutation, so the states of one depth are all
// even or all odd, and the neighbours of depth d are of depths d-1 and d+1 only.
// For each parity the search keeps one set of bits, the states of the newest
// depth of that parity. Depth d+1 is what the swaps make of depth d, less depth
// d-1, whose place it takes: there is no need to know all states seen.
//
// Words have 60 bits in use, and a byte for each word counts the states seen, so
// that full words are left out. A state takes 72/480 = 0.15 bytes.
//
// # Sixty states at once
//
// Cells are listed in three parts: upper cells, up to four lower ones and a tail
// of five (layout). By the order of ranks of package perm, a state is a block
// (the tiles in the upper cells), a word of that block (those in the lower cells)
// and a bit of that word (the order of the tail, tails.go). A swap then moves
// whole words or parts of words:
//
//   - between two upper cells: all words of a block to the same places of another;
//   - between an upper and a lower cell, or two lower ones: words to words, their
//     bits unchanged;
//   - inside the tail: bits inside a word, by look-ups, all edges at once;
//   - between a lower cell and the tail: fifths of a word to five words of the same
//     block, after the word was regrouped by the tile in that cell of the tail.
//
// The cells are shared out so that no edge joins an upper cell and the tail. So
// all that is inside a block needs tables for one block only.
//
// # Pulling
//
// Each block of the new depth is put together from the blocks that its edges lead
// to, for the words that are not yet full only. It is written by one worker and
// read by none before the next depth: there is nothing to lock. The last depths
// are cheap, for few words are left, and the first, for few blocks are reached.
package swapbfs

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// ErrWorkers reports a number of workers below 1.
var ErrWorkers = errors.New("no workers")

// MemoryError reports that a search does not fit in the memory allowed.
type MemoryError struct {
	Rows, Cols    int
	Need, Allowed uint64 // bytes
}

// Error says what is needed.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("searching %d x %d needs %s of memory and %s are allowed",
		e.Rows, e.Cols, humanize.IBytes(e.Need), humanize.IBytes(e.Allowed))
}

// Options of a search.
type Options struct {
	// Memory is the most that may be used, in bytes.
	Memory uint64
	// Workers is the number of goroutines that search.
	Workers int
	// Progress, if not nil, is called now and then, by any worker.
	Progress func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	Depth       int    // being searched
	Seen, Total uint64 // states
	// Share is the share of the work that is done, 0 to 1. It is a guess: the
	// number of depths is not known before the end.
	Share float64
}

// Result is what a search counts.
type Result struct {
	Rows, Cols int
	// Depths is the number of states at each distance from the goal.
	Depths []uint64
}

// States returns the number of all states.
func (r *Result) States() uint64 {
	sum := uint64(0)
	for _, n := range r.Depths {
		sum += n
	}
	return sum
}

// Diameter returns the largest distance of two states.
func (r *Result) Diameter() int { return len(r.Depths) - 1 }

// Antipodes returns the number of states that are as far as possible from the
// goal.
func (r *Result) Antipodes() uint64 { return r.Depths[r.Diameter()] }

// Mean returns the mean distance from the goal.
func (r *Result) Mean() float64 {
	sum := 0.0
	for d, n := range r.Depths {
		sum += float64(d) * float64(n)
	}
	return sum / float64(r.States())
}

// baseMemory is what a process takes besides the search, about.
const baseMemory = 24 << 20

// Memory returns the number of bytes that a search of a grid needs, workers
// included.
func Memory(g *swap.Grid, workers int) (uint64, error) {
	l, err := layoutOf(g)
	if err != nil {
		return 0, err
	}
	return l.memory(workers), nil
}

func layoutOf(g *swap.Grid) (*layout, error) {
	l, ok := newLayout(g)
	if !ok {
		return nil, fmt.Errorf("swapbfs: %d x %d cells cannot be divided", g.Rows(), g.Cols())
	}
	return l, nil
}

// words returns the number of words of a set of states of one parity.
func (l *layout) words() uint64 { return perm.Arrangements(l.cells, l.cells-tail) }

// blocks returns the number of blocks.
func (l *layout) blocks() uint64 { return perm.Arrangements(l.cells, l.upper) }

func (l *layout) memory(workers int) uint64 {
	block := perm.Arrangements(l.rest(), l.lower)
	scratch := block * uint64(2+8*(1+len(l.ls)))
	return 2*(8+1)*l.words() + 2*2*l.blocks() + l.bytes() + 8*block + uint64(workers)*scratch + baseMemory
}

// Search counts the states of a grid at each distance from the goal. It fails
// with a MemoryError when Options.Memory is too little, with ErrWorkers, and with
// the error of ctx.
func Search(ctx context.Context, g *swap.Grid, o Options) (*Result, error) {
	if o.Workers < 1 {
		return nil, fmt.Errorf("swapbfs: %w: %d", ErrWorkers, o.Workers)
	}
	l, err := layoutOf(g)
	if err != nil {
		return nil, err
	}
	if need := l.memory(o.Workers); need > o.Memory {
		return nil, &MemoryError{Rows: g.Rows(), Cols: g.Cols(), Need: need, Allowed: o.Memory}
	}
	s := newSearch(l, o)
	s.total = perm.Factorial(g.Cells())
	s.depths = guessDiameter(g) + 1 // the last one finds nothing
	r := &Result{Rows: g.Rows(), Cols: g.Cols()}
	for found := uint64(1); found > 0; {
		r.Depths = append(r.Depths, found)
		if found, err = s.depth(ctx, len(r.Depths)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// side holds the states of one parity.
type side struct {
	newest []uint64 // by word, those of the newest depth
	seen   []uint8  // by word, the number of states of all depths so far
	// busy[b] is 1 if a word of newest in block b is not 0, full[b] if all
	// states of block b are seen.
	busy, full []uint8
}

func newSide(l *layout) side {
	words, blocks := l.words(), l.blocks()
	return side{
		newest: make([]uint64, words), seen: make([]uint8, words),
		busy: make([]uint8, blocks), full: make([]uint8, blocks),
	}
}

// search is a search under way.
type search struct {
	layout  *layout
	tables  *tables
	options Options
	sides   [2]side
	nothing []uint64 // a block without states
	workers []*worker
	total   uint64
	depths  float64 // guessed number of depths to be searched
	seen    atomic.Uint64
}

// newSearch returns a search that has seen the goal only: bit 0 of word 0.
func newSearch(l *layout, o Options) *search {
	s := &search{layout: l, tables: newTables(l), options: o, sides: [2]side{newSide(l), newSide(l)}}
	s.nothing = make([]uint64, s.tables.words)
	for range o.Workers {
		s.workers = append(s.workers, newWorker(s))
	}
	s.sides[0].newest[0], s.sides[0].seen[0], s.sides[0].busy[0] = 1, 1, 1
	s.seen.Store(1)
	return s
}

// chunk is the number of blocks that a worker takes at once.
const chunk = 4

// depth finds the states of a depth from those of the one before and returns
// their number.
func (s *search) depth(ctx context.Context, depth int) (found uint64, err error) {
	var next atomic.Int64
	blocks := int64(s.layout.blocks())
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers {
		w.from, w.to = &s.sides[1-depth&1], &s.sides[depth&1]
		w.side = uint8(depth & 1)
		w.found = 0
		group.Go(func() error {
			for {
				first := next.Add(chunk) - chunk
				if first >= blocks {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				before := w.found
				for b := first; b < min(first+chunk, blocks); b++ {
					w.pull(int(b))
				}
				s.report(depth, float64(first)/float64(blocks), s.seen.Add(w.found-before))
			}
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	for _, w := range s.workers {
		found += w.found
	}
	return found, nil
}

// report tells how far the search is, given the share of a depth that is done.
func (s *search) report(depth int, share float64, seen uint64) {
	if s.options.Progress == nil {
		return
	}
	share = min(1, (float64(depth-1)+share)/s.depths)
	s.options.Progress(Progress{Depth: depth, Seen: seen, Total: s.total, Share: share})
}

// guessDiameter returns the diameter of a line, and about that of another grid:
// some 5/4 of the largest half Manhattan distance, which is that of the reversal
// (ERRATA, document 004).
func guessDiameter(g *swap.Grid) float64 {
	m, n := g.Rows(), g.Cols()
	if min(m, n) == 1 {
		return float64(m * n * (m*n - 1) / 2)
	}
	return 5. / 4 * float64(n*(m*m/2)+m*(n*n/2)) / 2
}

// worker finds the new states of one block at a time.
type worker struct {
	*search
	from, to *side // of this depth and the one before
	side     uint8 // parity of the states to be found
	found    uint64

	block     block
	open      []uint16   // words of the block that have states left
	reached   []uint64   // by word
	regrouped [][]uint64 // by element of tables.outer and word
}

func newWorker(s *search) *worker {
	w := &worker{search: s, block: newBlock(s.layout), open: make([]uint16, 0, s.tables.words), reached: make([]uint64, s.tables.words)}
	for range s.tables.outer {
		w.regrouped = append(w.regrouped, make([]uint64, s.tables.words))
	}
	return w
}

// words returns what a set has for the words of a block.
func words[T any](s *search, set []T, block int) []T {
	n := s.tables.words
	return set[block*n : (block+1)*n : (block+1)*n]
}

// pull replaces the newest states of a block by those of this depth.
func (w *worker) pull(number int) {
	newest := words(w.search, w.to.newest, number)
	if w.to.full[number] == 0 {
		w.block.find(w.layout, number)
		if w.reachable() {
			w.replace(newest)
			return
		}
	}
	if w.to.busy[number] != 0 {
		clear(newest)
		w.to.busy[number] = 0
	}
}

// reachable reports whether an edge joins the block and one with states of the
// depth before.
func (w *worker) reachable() bool {
	busy := w.from.busy[w.block.number]
	for _, b := range w.block.across {
		busy |= w.from.busy[b]
	}
	for _, landings := range w.block.cross {
		for _, target := range landings {
			busy |= w.from.busy[target.block]
		}
	}
	return busy != 0
}

// replace does the work of pull for a block that may have new states.
func (w *worker) replace(newest []uint64) {
	number := w.block.number
	seen := words(w.search, w.to.seen, number)
	w.listOpen(newest, seen)
	w.pullBlocks()
	if w.from.busy[number] != 0 {
		w.pullInside()
	}
	found := 0
	for _, o := range w.open {
		fresh := w.reached[o] &^ newest[o]
		newest[o] = fresh
		n := bits.OnesCount64(fresh)
		seen[o] += uint8(n)
		found += n
	}
	w.found += uint64(found)
	w.to.busy[number] = uint8(min(found, 1))
	if len(w.open) == 0 {
		w.to.full[number] = 1
	}
}

// listOpen lists the words that have states left, clears what they reach, and
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

// pullBlocks adds what comes from other blocks.
func (w *worker) pullBlocks() {
	for _, b := range w.block.across {
		if w.from.busy[b] == 0 {
			continue
		}
		source := words(w.search, w.from.newest, b)
		for _, o := range w.open {
			w.reached[o] |= source[o]
		}
	}
	for e := range w.tables.cross {
		w.pullCrossing(&w.tables.cross[e], w.block.cross[e])
	}
}

// pullCrossing adds what comes along an edge between an upper and a lower cell.
func (w *worker) pullCrossing(c *crossing, landings []landing) {
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
			s.newest = words(w.search, w.from.newest, target.block)
		}
	}
	if !any {
		return
	}
	for _, o := range w.open {
		s := &sources[c.tile[o]]
		w.reached[o] |= s.newest[s.to[o]]
	}
}

// pullInside adds what comes from the block itself.
func (w *worker) pullInside() {
	source := words(w.search, w.from.newest, w.block.number)
	for _, table := range w.tables.inner {
		for _, o := range w.open {
			w.reached[o] |= source[table[o]]
		}
	}
	// A word of this side has tails of parity flip ^ tables.parity, and the
	// same word of the other side those of the other parity.
	flip := w.side ^ w.block.parity
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

// pullGroups adds what comes along the edges of element k of tables.outer.
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
