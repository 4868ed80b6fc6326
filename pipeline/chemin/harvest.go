package chemin

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/layers/chemin"
)

// sequence is an order of the cells of a board.
type sequence [chemin.MaxCells]uint8

func sequenceOf(order []int) (s sequence) {
	for i, cell := range order {
		s[i] = uint8(cell)
	}
	return s
}

// order is the inverse of sequenceOf.
func (s *sequence) order(b *chemin.Board) []int {
	order := make([]int, b.Cells())
	for i := range order {
		order[i] = int(s[i])
	}
	return order
}

func compareSequences(a, b sequence) int { return slices.Compare(a[:], b[:]) }

// harvest counts the solutions of the best score, and keeps the first of them, whatever the order in which they
// are found.
type harvest struct {
	score uint32
	// solutions counts orientations, or the orders visited (Naive, Classes), and ending the ones
	// whose last cell has the score; classes counts the orientations that are the least of
	// their symmetric ones.
	solutions, ending, classes uint64

	most int        // to keep
	kept []sequence // of a class each
	cut  bool       // there are more
	// orientations of the solutions, for Naive and Classes.
	orientations limited[chemin.Orientation]
}

// wants reports whether a solution of this score counts, and forgets lower ones.
func (h *harvest) wants(score uint32) bool {
	if score > h.score {
		h.score, h.solutions, h.ending, h.classes, h.kept, h.cut = score, 0, 0, 0, h.kept[:0], false
		h.orientations.reset()
	}
	return score == h.score
}

// keep keeps a solution, or drops it if there are enough that come before it.
func (h *harvest) keep(s sequence) {
	if h.cut && compareSequences(s, h.kept[h.most-1]) > 0 {
		return
	}
	h.kept = append(h.kept, s)
	if len(h.kept) >= 2*h.most {
		h.trim()
	}
}

// trim sorts the solutions kept and drops those beyond the bound.
func (h *harvest) trim() {
	slices.SortFunc(h.kept, compareSequences)
	if len(h.kept) > h.most {
		h.kept, h.cut = h.kept[:h.most], true
	}
}

// take adds the findings of another search.
func (h *harvest) take(other *harvest) {
	if !h.wants(other.score) {
		return
	}
	h.solutions += other.solutions
	h.ending += other.ending
	h.classes += other.classes
	for _, s := range other.kept {
		h.keep(s)
	}
	if other.cut {
		h.trim()
		h.cut = true
	}
	h.orientations.take(&other.orientations)
}

// limited is a set that gives up when it is too large.
type limited[T comparable] struct {
	most int
	has  map[T]struct{}
	full bool // more than most were added
}

func (l *limited[T]) reset() { l.has, l.full = nil, false }

func (l *limited[T]) add(thing T) {
	if l.full {
		return
	}
	if l.has == nil {
		l.has = map[T]struct{}{}
	}
	if l.has[thing] = struct{}{}; len(l.has) > l.most {
		l.has, l.full = nil, true
	}
}

func (l *limited[T]) take(other *limited[T]) {
	for thing := range other.has {
		l.add(thing)
	}
	if other.full {
		l.has, l.full = nil, true
	}
}

// grid is the numbers in the cells of a full board.
type grid [chemin.MaxCells]uint32

func gridOf(b *chemin.Board, order []int) grid {
	var g grid
	copy(g[:], play(b, order))
	return g
}

func moveGrid(b *chemin.Board, g grid, by *chemin.Symmetry) (image grid) {
	for cell := range b.Cells() {
		image[by[cell]] = g[cell]
	}
	return image
}

func moveOrientation(b *chemin.Board, o chemin.Orientation, by *chemin.Symmetry) chemin.Orientation {
	return o.Move(b, by)
}

// least returns the least image of a thing under the symmetries, and how many images it has.
func least[T ~[chemin.MaxCells]uint32](b *chemin.Board, thing T, move func(*chemin.Board, T, *chemin.Symmetry) T) (first T, images uint64) {
	first = thing
	kept := 0
	for i := range b.Symmetries() {
		image := move(b, thing, &b.Symmetries()[i])
		if image == thing {
			kept++
		}
		if slices.Compare(image[:], first[:]) < 0 {
			first = image
		}
	}
	return first, uint64(len(b.Symmetries()) / kept)
}

// orbits counts the different images of some things under the symmetries, and the classes.
func orbits[T ~[chemin.MaxCells]uint32](b *chemin.Board, things iter.Seq[T], move func(*chemin.Board, T, *chemin.Symmetry) T) *tally {
	n := &tally{}
	seen := map[T]struct{}{}
	for thing := range things {
		first, images := least(b, thing, move)
		if _, ok := seen[first]; !ok {
			seen[first] = struct{}{}
			n.total += images
			n.classes++
		}
	}
	return n
}

// tally is a number of things, in all and up to symmetry.
type tally struct{ total, classes uint64 }

// gridSet has the least images of grids. It is safe for concurrent use.
type gridSet struct {
	board  *chemin.Board
	full   atomic.Bool // there were too many
	shards [64]struct {
		mu   sync.Mutex
		has  limited[grid]
		size tally
	}
}

func newGridSet(b *chemin.Board, most int) *gridSet {
	s := &gridSet{board: b}
	for i := range s.shards {
		s.shards[i].has.most = most / len(s.shards)
	}
	return s
}

func (s *gridSet) add(g grid) {
	if s.full.Load() {
		return
	}
	first, images := least(s.board, g, moveGrid)
	number := uint32(0)
	for i, x := range first {
		number = number*31 + x + uint32(i)
	}
	shard := &s.shards[(number>>8^number)%uint32(len(s.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	before := len(shard.has.has)
	shard.has.add(first)
	if shard.has.full {
		s.full.Store(true)
	}
	if len(shard.has.has) > before {
		shard.size.total += images
		shard.size.classes++
	}
}

// count returns the number of grids, nil if there were too many.
func (s *gridSet) count() *tally {
	if s == nil || s.full.Load() {
		return nil
	}
	n := &tally{}
	for i := range s.shards {
		n.total += s.shards[i].size.total
		n.classes += s.shards[i].size.classes
	}
	return n
}
