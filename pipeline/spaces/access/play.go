package access

import (
	"context"
	"math/bits"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/kernels/bitset"
	"grenier/layers/awari"
)

// play plays the moves of the boards to do of a block.
func (s *search) play(ctx context.Context, b *block) error {
	t, reserved, err := s.take(ctx, b)
	defer func() { s.store.release(reserved) }()
	if err != nil {
		return err
	}
	for given, moves := range s.sowingsOf(b.own) {
		if len(moves.list) == 0 {
			continue
		}
		if given == 0 && b.own == b.seeds {
			s.short(t, b, moves.list)
		} else if err := s.give(ctx, t, b, given, moves); err != nil {
			return err
		}
	}
	return nil
}

// short looks at moves of boards on which the opponent has no seeds that give him none.
func (s *search) short(t *turned, b *block, moves []sowing) {
	for _, m := range moves {
		if s.emptied.Load() {
			return
		}
		if t.row(m.from) != nil {
			s.starve(b.own, uint64(m.from), 0, 0, 0)
		}
	}
}

// starve finds out whether a legal move of a board takes all seeds. The mover has the half of
// rank a; the opponent will have the half of rank after, of total seeds, when he was given some.
func (s *search) starve(own int, a uint64, total int, after uint64, given int) {
	if s.emptied.Load() {
		return
	}
	var board awari.Board
	s.unrank(board[:s.q], own, a)
	s.unrank(board[s.q:2*s.q], total, after)
	for pit := range s.q {
		board[s.q+pit] -= s.received(given, pit)
	}
	for _, play := range s.game.Plays(board) {
		if play.Legal && play.Child.Seeds() == 0 {
			s.emptied.Store(true)
		}
	}
}

// target is where the boards go whose moves give the opponent the same number of seeds.
type target struct {
	own, given int // seeds of the mover, and given
	total      int // seeds of the opponent then
	gain       *bitset.Mask
	capture    *capture
	to         *block // without a capture
	reached    []uint64
	todo       []uint64 // nil if all that is reached there is to do
	taken      [maxCapture + 1]*block
}

// give plays the moves that give the opponent the given seeds.
func (s *search) give(ctx context.Context, t *turned, b *block, given int, moves sowings) error {
	g := &target{own: b.own, given: given, total: b.seeds - b.own + given}
	sets, err := s.aim(g, b.seeds, moves.ends)
	if err == nil {
		err = s.share(ctx, t, g, moves.list)
	}
	for _, w := range s.workers {
		w.count(g)
	}
	for _, x := range sets {
		s.store.unpin(x)
	}
	return err
}

// aim finds the sets that a target needs, and pins them.
func (s *search) aim(g *target, n int, captures bool) (sets []*set, err error) {
	if g.given > 0 {
		g.gain = s.gainOf(g.total, g.given)
	}
	pin := func(x *set) []uint64 {
		if err == nil {
			err = s.store.pin(x)
			sets = append(sets, x)
		}
		return x.words
	}
	g.to = s.blocks[n][g.total]
	g.reached = pin(&g.to.reached)
	if !g.to.all {
		g.todo = pin(&g.to.todo)
	}
	if !captures {
		return sets, err
	}
	g.capture = s.captureOf(g.total, (g.given+s.q-1)%s.q)
	for seeds, some := range g.capture.counts {
		if some && seeds < g.total {
			g.taken[seeds] = s.blocks[n-seeds][g.total-seeds]
			pin(&g.taken[seeds].reached)
		}
	}
	return sets, err
}

// shareWords is about how many words a worker takes at a time.
const shareWords = 1 << 14

// share shares out moves among workers.
func (s *search) share(ctx context.Context, t *turned, g *target, moves []sowing) error {
	for _, w := range s.workers {
		w.begin(g)
	}
	size := max(1, shareWords/g.to.stride)
	parts := (len(moves) + size - 1) / size
	if parts == 1 {
		s.workers[0].plays(t, g, moves)
		return ctx.Err()
	}
	return crew.Each(ctx, s.Workers, parts, func(worker, i int) error {
		s.workers[worker].plays(t, g, moves[i*size:min((i+1)*size, len(moves))])
		return nil
	})
}

// worker plays moves.
type worker struct {
	search *search
	row    []uint64
	// New boards: to do, and by the seeds captured.
	found uint64
	taken [maxCapture + 1]uint64
}

// begin prepares for a target.
func (w *worker) begin(g *target) {
	w.found, w.taken = 0, [maxCapture + 1]uint64{}
	if len(w.row) < g.to.stride {
		w.row = make([]uint64, g.to.stride)
	}
}

// count adds the boards found for a target.
func (w *worker) count(g *target) {
	g.to.reached.add(w.found)
	if !g.to.all {
		g.to.todo.add(w.found)
	}
	for seeds, n := range w.taken {
		if n > 0 {
			g.taken[seeds].reached.add(n)
		}
	}
	w.found, w.taken = 0, [maxCapture + 1]uint64{}
}

// plays plays moves.
func (w *worker) plays(t *turned, g *target, moves []sowing) {
	for _, m := range moves {
		row := t.row(m.from)
		if row == nil {
			continue
		}
		if g.gain != nil {
			w.search.deposit(w.row, row, g.gain)
			row = w.row
		}
		row = row[:g.to.stride]
		to := int(m.to &^ ends)
		if m.to&ends != 0 {
			w.captures(g, row, m.from, to)
		} else {
			w.quiet(g, row, to)
		}
	}
}

// quiet adds boards to a row of the target.
func (w *worker) quiet(g *target, row []uint64, to int) {
	at := to * g.to.stride
	for i, x := range row {
		if x != 0 {
			w.add(g, at+i, x)
		}
	}
}

// add adds boards to a word of the target.
func (w *worker) add(g *target, word int, x uint64) {
	reached := &g.reached[word]
	if x &^= atomic.LoadUint64(reached); x == 0 {
		return
	}
	if x &^= atomic.OrUint64(reached, x); x == 0 {
		return
	}
	w.found += uint64(bits.OnesCount64(x))
	if g.todo != nil {
		atomic.OrUint64(&g.todo[word], x)
	}
}

// captures adds boards to a row of the target, and those with a capture to others.
func (w *worker) captures(g *target, row []uint64, from uint32, to int) {
	at := to * g.to.stride
	for i, x := range row {
		if x == 0 {
			continue
		}
		quiet := g.capture.quiet[i]
		if y := x & quiet; y != 0 {
			w.add(g, at+i, y)
		}
		for x &^= quiet; x != 0; x &= x - 1 {
			w.capture(g, 64*i+bits.TrailingZeros64(x), from, to)
		}
	}
}

// capture adds the board of row to that is left if the opponent has the half of the given rank.
func (w *worker) capture(g *target, rank int, from uint32, to int) {
	t := g.capture.taken[rank]
	seeds, left := t.seeds(), t.rank()
	if seeds == g.total {
		w.search.starve(g.own, uint64(from), g.total, uint64(rank), g.given)
		return
	}
	b := g.taken[seeds]
	word := &b.reached.words[to*b.stride+left/64]
	bit := uint64(1) << (left % 64)
	if atomic.LoadUint64(word)&bit == 0 && atomic.OrUint64(word, bit)&bit == 0 {
		w.taken[seeds]++
	}
}
