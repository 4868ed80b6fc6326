package distance

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/internal/parts"
)

// cell is what is known of a position: both bytes are in the same line of the cache.
type cell struct {
	score int8
	plies uint8 // 0: not known, or none
}

// sweeper finds the distances of a layer in memory, in the order of the plies.
type sweeper struct {
	*packed.Rules
	space   *awari.Space
	seeds   int
	size    uint64
	workers int
	cells   []cell
	open    set  // positions whose distance is not known but exists
	near    set  // those, and perhaps others, that are looked at next
	fresh   set  // whose distance is the sweep in progress
	done    int  // the last sweep that is complete
	back    bool // near are those from which moves that keep the score lead to the ones found last
	each    []*looker
	grow    func(positions uint64) // is told how many distances became known
}

// cellBits is the memory of a position: a cell and a bit in each set.
const cellBits = 16 + 3

// looker is what a worker needs. Cells are all over memory, so those of many positions are asked for together (touch): the processor
// waits for them at the same time.
type looker struct {
	*sweeper
	walk
	effects *packed.Row
	inRow   bool // effects are those of the row at hand
	before  []packed.Board
	moves   [packed.MaxHalf]packed.Child
	tasks   []task
	ranks   []uint64 // of the neighbours of each task, one after the other
	touched int      // so that reading is not left out
}

// task is a position at work, and how many of the ranks are its.
type task struct {
	rank  uint64
	score int8
	ranks int
}

// batch is how many positions are at work at a time.
const batch = 64

// pass calls do with all parts of the layer, each worker with a looker of its own.
func (s *sweeper) pass(ctx context.Context, do func(l *looker, from, to uint64)) error {
	return parts.Each(ctx, s.workers, s.size, func(worker int, from, to uint64) error {
		do(s.each[worker], from, to)
		return nil
	})
}

// load takes the scores, which read gives, and leaves the losers to be looked at.
func (s *sweeper) load(ctx context.Context, read func(from uint64, dst []int8) error) (open uint64, err error) {
	s.cells, s.open, s.near = memory.Make[cell](int(s.size)), newSet(s.size), newSet(s.size)
	s.each = make([]*looker, s.workers)
	rows := newRows(s.space, s.Rules, s.seeds)
	for i := range s.each {
		s.each[i] = &looker{sweeper: s, walk: walk{rows: rows}, effects: s.NewRow()}
	}
	var mu sync.Mutex
	buffers := make([][]int8, s.workers)
	err = parts.Each(ctx, s.workers, s.size, func(worker int, from, to uint64) error {
		if buffers[worker] == nil {
			buffers[worker] = make([]int8, parts.Size)
		}
		scores, n := buffers[worker][:to-from], uint64(0)
		if err := read(from, scores); err != nil {
			return err
		}
		for i, score := range scores {
			rank := from + uint64(i)
			s.cells[rank].score = score
			if score != 0 {
				n++
				s.open.add(rank)
			}
			if score < 0 {
				s.near.add(rank)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		open += n
		return nil
	})
	return open, err
}

// sweep gives the distance plies to the positions that have it, when all smaller ones are known, and
// returns how many there are. What has been found fresh before has it too.
func (s *sweeper) sweep(ctx context.Context, plies int, open uint64) (found uint64, err error) {
	var n atomic.Uint64
	if err := s.pass(ctx, func(l *looker, from, to uint64) { n.Add(l.look(from, to)) }); err != nil {
		return 0, err
	}
	// Either all open positions are looked at next, or those from which moves lead to fresh ones: what is less work.
	s.back = backCost*n.Load() < open-n.Load()
	return n.Load(), s.pass(ctx, func(l *looker, from, to uint64) { l.settle(from, to, uint8(plies)) })
}

// backCost is how many positions can be looked at in the time that it takes to find from where moves lead to one and
// to look at these.
const backCost = 2

// look finds those of the open positions with the ranks from to to-1 that are near whose distance the known ones
// give, and returns the number of fresh ones.
func (l *looker) look(from, to uint64) (found uint64) {
	l.begin(from)
	l.enter(from, to)
	for w := from / 64; w < words(to); w++ {
		for rest := l.open[w] & l.near[w]; rest != 0; rest &= rest - 1 {
			rank := 64*w + uint64(bits.TrailingZeros64(rest))
			score := l.cells[rank].score
			if l.back && score > 0 {
				l.fresh.add(rank)
				continue
			}
			if rank >= l.end {
				l.next(rank)
				l.enter(rank, to)
			}
			l.tasks = append(l.tasks, task{rank, score, l.quiet(l.board(rank))})
			if len(l.tasks) == batch {
				l.judge()
			}
		}
		l.near[w] = 0
	}
	l.judge()
	for _, word := range l.fresh[from/64 : words(to)] {
		found += uint64(bits.OnesCount64(word))
	}
	return found
}

// judge finds those of the tasks whose distance is known.
func (l *looker) judge() {
	l.touch()
	ranks := l.ranks
	for _, t := range l.tasks {
		if l.grounded(ranks[:t.ranks], t.score) {
			l.fresh.add(t.rank)
		}
		ranks = ranks[t.ranks:]
	}
	l.tasks, l.ranks = l.tasks[:0], l.ranks[:0]
}

// touch brings the cells of neighbours into the caches of the processor.
func (l *looker) touch() {
	for _, rank := range l.ranks {
		l.touched += int(l.cells[rank].score)
	}
}

// enter works out the effects of sowings on the row at hand, if at least manyInRow of its boards from rank on are looked at.
func (l *looker) enter(rank, to uint64) {
	if l.inRow = countBoth(l.open, l.near, rank, min(l.end, to)) >= manyInRow; l.inRow {
		l.effects.Set(l.board(rank))
	}
}

// manyInRow is how many boards make up for the time that it takes to work out a row.
const manyInRow = 40

// quiet adds the ranks of the boards that quiet moves lead to from one of the row at hand, and returns how many.
func (l *looker) quiet(b packed.Board) int {
	n := len(l.ranks)
	if l.inRow {
		for _, move := range l.moves[:l.effects.Children(&l.moves, b)] {
			if move.Captured() == 0 {
				l.ranks = append(l.ranks, move.Rank())
			}
		}
		return len(l.ranks) - n
	}
	for pit := range l.space.Half() {
		if child, ok := l.Quiet(b, pit); ok {
			l.ranks = append(l.ranks, l.Rank(child))
		}
	}
	return len(l.ranks) - n
}

// grounded reports whether a position with a score above 0 has a quiet move that keeps it to one whose distance is known, or
// one with a score below 0 no such move to any other.
func (l *looker) grounded(children []uint64, score int8) bool {
	keep, known := 0, 0
	for _, rank := range children {
		if c := l.cells[rank]; c.score == -score {
			keep++
			if c.plies != 0 {
				known++
			}
		}
	}
	if score > 0 {
		return known > 0
	}
	return known == keep
}

// settle makes the distance of fresh positions known, and says which ones are near.
func (l *looker) settle(from, to uint64, plies uint8) {
	l.begin(from)
	found := uint64(0)
	for w := from / 64; w < words(to); w++ {
		fresh := l.fresh[w]
		l.open[w] &^= fresh
		l.fresh[w] = 0
		if !l.back {
			l.near[w] = ^uint64(0)
		}
		found += uint64(bits.OnesCount64(fresh))
		for ; fresh != 0; fresh &= fresh - 1 {
			rank := 64*w + uint64(bits.TrailingZeros64(fresh))
			l.cells[rank].plies = plies
			if l.back {
				l.approach(rank)
			}
		}
	}
	l.arrive()
	l.grow(found)
}

// approach finds the positions from which quiet moves lead to a rank.
func (l *looker) approach(rank uint64) {
	if rank >= l.end {
		l.next(rank)
	}
	l.before = l.Before(l.before[:0], l.board(rank))
	for _, b := range l.before {
		l.ranks = append(l.ranks, l.Rank(b))
	}
	l.tasks = append(l.tasks, task{rank, l.cells[rank].score, len(l.before)})
	if len(l.tasks) == batch {
		l.arrive()
	}
}

// arrive makes those near from which the moves to the tasks keep the score.
func (l *looker) arrive() {
	l.touch()
	ranks := l.ranks
	for _, t := range l.tasks {
		for _, at := range ranks[:t.ranks] {
			if c := l.cells[at]; c.score == -t.score {
				l.near.share(at/64, 1<<(at%64))
			}
		}
		ranks = ranks[t.ranks:]
	}
	l.tasks, l.ranks = l.tasks[:0], l.ranks[:0]
}
