package verify

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// queueSize is how many positions are compared together. Their children are all
// over memory: computing the addresses first lets the processor wait for many of
// them at a time.
const queueSize = 1024

// part is some positions of a layer, compared by one goroutine.
type part struct {
	run        *run
	seeds      int
	queue      []position // not compared yet
	children   []child    // of the positions in the queue
	checked    uint64
	mismatches uint64
	first      []Difference
}

// position is a position to be compared.
type position struct {
	board  awari.Board
	rank   uint64
	stored int8
	end    int // of its children
}

// child is what a move leads to.
type child struct {
	rank     uint64
	captured int
}

// compare compares the positions number from to to-1 of those wanted.
func (p *part) compare(from, to uint64) error {
	next := p.all
	if p.run.wanted(p.seeds) < p.run.space.Size(p.seeds) {
		next = p.sample
	}
	if err := next(from, to); err != nil {
		return err
	}
	return p.flush()
}

// all compares the positions with the ranks from to to-1, in order.
func (p *part) all(from, to uint64) error {
	stored, err := p.stored(from, to)
	if err != nil {
		return err
	}
	b := p.run.space.Unrank(p.seeds, from)
	pits := b[:p.run.space.Pits()]
	bv := colex.ListToBV(pits)
	for i, score := range stored {
		if i > 0 {
			bv = colex.NextBV(bv)
			colex.BVToList(bv, p.seeds, pits)
		}
		if err := p.add(b, from+uint64(i), score); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the scores of the ranks from to to-1.
func (p *part) stored(from, to uint64) ([]int8, error) {
	if scores := p.run.memory[p.seeds]; scores != nil {
		return scores[from:to], nil
	}
	scores := make([]int8, to-from)
	return scores, p.run.tables.Read(p.seeds, from, scores)
}

// sample compares one position, picked at random, of each of the intervals from
// to to-1 into which the sample divides the layer: no position is picked twice,
// and they come in the order of the file. The choice depends on the seed alone,
// not on the number of workers.
func (p *part) sample(from, to uint64) error {
	random := rand.New(rand.NewPCG(p.run.options.Seed, uint64(p.seeds)<<48|from))
	for i := from; i < to; i++ {
		begin, end := p.run.interval(p.seeds, i), p.run.interval(p.seeds, i+1)
		rank := begin + random.Uint64N(end-begin)
		stored, err := p.run.score(p.seeds, rank)
		if err != nil {
			return err
		}
		if err := p.add(p.run.space.Unrank(p.seeds, rank), rank, stored); err != nil {
			return err
		}
	}
	return nil
}

// interval returns the first rank of interval i of a sample of layer n: i times
// size / sample, rounded down.
func (r *run) interval(n int, i uint64) uint64 {
	hi, lo := bits.Mul64(i, r.space.Size(n))
	q, _ := bits.Div64(hi, lo, r.options.Sample)
	return q
}

// add queues a position with its stored score.
func (p *part) add(b awari.Board, rank uint64, stored int8) error {
	plays := p.run.space.Plays(b)
	for pit := range plays {
		if play := &plays[pit]; play.Legal {
			_, rank := p.run.space.Rank(play.Child)
			p.children = append(p.children, child{captured: play.Captured, rank: rank})
		}
	}
	p.queue = append(p.queue, position{board: b, rank: rank, stored: stored, end: len(p.children)})
	if len(p.queue) < queueSize {
		return nil
	}
	return p.flush()
}

// flush compares the positions in the queue.
func (p *part) flush() error {
	begin := 0
	for i := range p.queue {
		q := &p.queue[i]
		expected, taken, err := p.run.expected(q.board, p.seeds, p.children[begin:q.end])
		if err != nil {
			return err
		}
		p.checked++
		switch {
		case int(q.stored) != expected:
			p.differs(q, expected)
		case taken && expected > 0 && p.run.options.Backed != nil:
			p.run.options.Backed(p.seeds, q.rank)
		}
		begin = q.end
	}
	p.queue, p.children = p.queue[:0], p.children[:0]
	return nil
}

// differs takes note of a wrong score.
func (p *part) differs(q *position, expected int) {
	p.mismatches++
	if len(p.first) < MaxDifferences {
		p.first = append(p.first, Difference{
			Rank: q.rank, Board: p.run.space.Text(q.board), Stored: int(q.stored), Expected: expected,
		})
	}
}

// expected returns the score that follows from the moves of a board with n seeds:
// the best of captured minus score of the child, or what the rules say if there
// is no move; and whether a move that takes seeds gives that score.
func (r *run) expected(b awari.Board, n int, children []child) (best int, taken bool, err error) {
	if len(children) == 0 {
		return r.space.Terminal(b), false, nil
	}
	best, most := math.MinInt, math.MinInt // of all moves, of those that take seeds
	for i := range children {
		captured := children[i].captured
		score, err := r.score(n-captured, children[i].rank)
		if err != nil {
			return 0, false, err
		}
		best = max(best, captured-int(score))
		if captured > 0 {
			most = max(most, captured-int(score))
		}
	}
	return best, most == best, nil
}

// score returns the stored score of a position of layer n.
func (r *run) score(n int, rank uint64) (int8, error) {
	if scores := r.memory[n]; scores != nil {
		return scores[rank], nil
	}
	return r.tables.ScoreAt(n, rank)
}
