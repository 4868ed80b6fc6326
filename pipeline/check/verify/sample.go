package verify

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/layers/awari"
)

// A sample is one position, picked at random, of each of the intervals into which it divides
// the layer: no position is picked twice. The choice depends on the seed alone. Positions are
// compared in batches: the scores that a batch needs are looked up in the order of the files, so
// that each block is decoded once, and only the parts that are needed if these are few.

// question asks for a score: its rank, from bit indexBits+1 on, and the position of the batch
// that needs it. The bit between says that it is the score of the position itself; otherwise it
// is the score of a child.
type question uint64

const (
	indexBits   = 24
	ownQuestion = question(1) << indexBits
)

func newQuestion(rank uint64, index int) question {
	return question(rank<<(indexBits+1) | uint64(index))
}

func (q question) rank() uint64 { return uint64(q >> (indexBits + 1)) }
func (q question) index() int   { return int(q & (ownQuestion - 1)) }

const (
	// sampleBytes is the memory of a position of a batch: itself, and questions about it and its
	// children, in slices that grow.
	sampleBytes = 160
	leastBatch  = 1024
	// sampleChunk positions, or questions, go to a goroutine at a time.
	sampleChunk = 4096
)

// positions are some positions of a layer: what is stored for them, and the best that their moves
// give as far as it is known.
type positions struct {
	space  *awari.Space
	seeds  int
	ranks  []uint64
	stored []int8
	best   []atomic.Int32
}

func newPositions(space *awari.Space, n int, size uint64) positions {
	return positions{space: space, seeds: n, ranks: make([]uint64, size), stored: make([]int8, size), best: make([]atomic.Int32, size)}
}

// ask asks for the scores that position i needs, by layer, and returns the best that is known without.
func (p *positions) ask(asked [][]question, i int) (best int32) {
	board := p.space.Unrank(p.seeds, p.ranks[i])
	asked[p.seeds] = append(asked[p.seeds], newQuestion(p.ranks[i], i)|ownQuestion)
	best = int32(p.space.Terminal(board))
	for _, play := range p.space.Plays(board) {
		if play.Legal {
			m, rank := p.space.Rank(play.Child)
			asked[m] = append(asked[m], newQuestion(rank, i))
			best = none
		}
	}
	return best
}

// learn takes over the answer to a question about layer m.
func (p *positions) learn(q question, m int, score int8) {
	if q&ownQuestion != 0 {
		p.stored[q.index()] = score
	} else {
		atLeast(&p.best[q.index()], int32(p.seeds-m)-int32(score)) // a move to it captures the difference
	}
}

// compare adds the differences to f when all questions are answered.
func (p *positions) compare(f *found) {
	for i, rank := range p.ranks {
		f.checked++
		if expected := int(p.best[i].Load()); expected != int(p.stored[i]) {
			board := p.space.Text(p.space.Unrank(p.seeds, rank))
			f.differs(Difference{Rank: rank, Board: board, Stored: int(p.stored[i]), Expected: expected})
		}
	}
}

// batch is the comparison of some positions of a sample.
type batch struct {
	positions
	run   *run
	first uint64 // interval

	mu    sync.Mutex
	asked [][]question // by layer

	tell    func(share float64) // nil: nobody listens
	telling sync.Mutex
	done    float64 // share of the time that is over, about
}

// sample compares a sample of layer n, or the part of it: the positions of some of its intervals.
func (r *run) sample(ctx context.Context, n int, f *found) error {
	begin, end := r.options.Part.Share(r.wanted(n))
	size := min(max(uint64(max(0, r.options.MemoryBytes))/sampleBytes, leastBatch), 1<<indexBits)
	for from := begin; from < end; from += size {
		to := min(from+size, end)
		b := r.newBatch(n, from, to)
		b.tell = func(share float64) { r.meter.reach(n, from-begin+uint64(share*float64(to-from))) }
		if err := b.compare(ctx, f); err != nil {
			return err
		}
		r.meter.reach(n, to-begin)
	}
	return nil
}

// newBatch returns the comparison of the positions of the intervals from to to-1.
func (r *run) newBatch(n int, from, to uint64) *batch {
	return &batch{positions: newPositions(r.space, n, to-from), run: r, first: from, asked: make([][]question, n+1)}
}

// compare compares the positions and adds to f what is found.
func (b *batch) compare(ctx context.Context, f *found) error {
	const picking = 0.1 // of the time, about
	if err := b.each(ctx, len(b.ranks), picking, b.pick); err != nil {
		return err
	}
	sort := func(_, m int) error { slices.Sort(b.asked[m]); return nil }
	if err := crew.Each(ctx, b.run.options.Workers, len(b.asked), sort); err != nil {
		return err
	}
	all := 0.0
	for m, asked := range b.asked {
		all += b.cost(m, len(asked))
	}
	for m, asked := range b.asked {
		if err := b.look(ctx, m, asked, (1-picking)*b.cost(m, len(asked))/all); err != nil {
			return err
		}
	}
	b.positions.compare(f)
	return nil
}

// cost returns about the time in which questions about layer m are answered, in that to decode a score: many questions
// need all scores, few of them parts of blocks.
func (b *batch) cost(m, questions int) float64 {
	const part, answer = 1 << 14, 50
	return min(float64(questions)*part, float64(b.space.Size(m))) + answer*float64(questions)
}

// each shares out chunks of 0..n-1, which take a share of the time.
func (b *batch) each(ctx context.Context, n int, share float64, do func(from, to int) error) error {
	return crew.Each(ctx, b.run.options.Workers, (n+sampleChunk-1)/sampleChunk, func(_, i int) error {
		from, to := i*sampleChunk, min((i+1)*sampleChunk, n)
		if err := do(from, to); err != nil || b.tell == nil {
			return err
		}
		b.telling.Lock()
		defer b.telling.Unlock()
		b.done += share * float64(to-from) / float64(n)
		b.tell(min(b.done, 1))
		return nil
	})
}

// pick chooses the positions from to to-1 and asks for all scores that they need.
func (b *batch) pick(from, to int) error {
	asked := make([][]question, b.seeds+1)
	var source rand.PCG
	random := rand.New(&source)
	for i := from; i < to; i++ {
		interval := b.first + uint64(i)
		source.Seed(b.run.options.Seed, uint64(b.seeds)<<48|interval)
		b.ranks[i] = b.run.pick(random, b.seeds, interval)
		b.best[i].Store(b.ask(asked, i))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for m := range asked {
		b.asked[m] = append(b.asked[m], asked[m]...)
	}
	return nil
}

// pickTries is how many positions of an interval are tried to find one of Options.Among.
const pickTries = 32

// pick returns a position of an interval of layer n. A sample of more than there are positions takes all.
func (r *run) pick(random *rand.Rand, n int, interval uint64) (rank uint64) {
	for range pickTries {
		rank = anyOf(random, interval, r.wanted(n), r.space.Size(n))
		if r.options.Among == nil || r.options.Among(r.space.Unrank(n, rank)) {
			break
		}
	}
	return rank
}

// anyOf returns a number of interval i of all into which 0 ... size-1 are divided.
func anyOf(random *rand.Rand, i, all, size uint64) uint64 {
	begin, end := interval(i, all, size), interval(i+1, all, size)
	return begin + random.Uint64N(end-begin)
}

// interval returns the first number of interval i: i times size / all, rounded down.
func interval(i, all, size uint64) uint64 {
	hi, lo := bits.Mul64(i, size)
	q, _ := bits.Div64(hi, lo, all)
	return q
}

// look answers sorted questions about layer m, which takes a share of the time.
func (b *batch) look(ctx context.Context, m int, asked []question, share float64) error {
	if len(asked) == 0 {
		return nil
	}
	file, err := b.run.tables.File(ctx, m)
	if err != nil {
		return err
	}
	return b.each(ctx, len(asked), share, func(from, to int) error {
		next := max(b.run.options.Workers, 1) * sampleChunk // others answer those in between
		b.announce(m, file.Header(), asked[min(from+next, len(asked)):min(to+next, len(asked))])
		return b.answer(ctx, m, file.Header(), asked[from:to])
	})
}

// announce says that sorted questions about layer m are answered soon, unless they leave out most blocks.
func (b *batch) announce(m int, h layerfile.Header, asked []question) {
	if len(asked) == 0 {
		return
	}
	first := asked[0].rank()
	length := asked[len(asked)-1].rank() - first + 1
	if length/uint64(h.BlockSize) <= uint64(len(asked)) {
		b.run.tables.Ahead(m, first, int(length))
	}
}

// fewScores of a block are quicker to decode one by one.
const fewScores = 3

// answer answers sorted questions about layer m, whose file has a header.
func (b *batch) answer(ctx context.Context, m int, h layerfile.Header, asked []question) (err error) {
	t, size := b.run.tables, uint64(h.BlockSize)
	var scores []int8
	for len(asked) > 0 {
		block := asked[0].rank() / size
		n := 1
		for n < len(asked) && asked[n].rank()/size == block {
			n++
		}
		whole := n > fewScores
		if whole {
			length := h.BlockLen(int(block))
			scores = slices.Grow(scores[:0], length)[:length]
			if err := t.Read(ctx, m, block*size, scores); err != nil {
				return err
			}
		}
		for _, q := range asked[:n] {
			var score int8
			if whole {
				score = scores[q.rank()%size]
			} else if score, err = t.ReadOne(ctx, m, q.rank()); err != nil {
				return err
			}
			b.learn(q, m, score)
		}
		asked = asked[n:]
	}
	return nil
}

// atLeast raises a value.
func atLeast(value *atomic.Int32, to int32) {
	for {
		old := value.Load()
		if old >= to || value.CompareAndSwap(old, to) {
			return
		}
	}
}
