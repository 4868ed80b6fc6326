package verify

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/io/layerfile"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// partSize is how many positions a worker takes at a time.
const partSize = layerfile.MaxBlockSize

// compare compares the scores of layer n with what the moves give.
func (r *run) compare(ctx context.Context, n int, layer *Layer) error {
	if err := r.hold(ctx, n); err != nil {
		return err
	}
	var mu sync.Mutex
	var differences []Difference
	err := r.parallel(ctx, r.wanted(n), func(from, to uint64) error {
		p := part{run: r, seeds: n}
		err := p.compare(from, to)
		mu.Lock()
		defer mu.Unlock()
		layer.Checked += p.checked
		layer.Mismatches += p.mismatches
		differences = append(differences, p.first...)
		r.meter.add(n, p.checked)
		return err
	})
	layer.differ(differences)
	return err
}

// parallel calls work for parts of 0..total-1, together all of it, from several
// goroutines, until there are no more or one fails.
func (r *run) parallel(ctx context.Context, total uint64, work func(from, to uint64) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Uint64
	for range r.options.Workers {
		group.Go(func() error {
			for {
				to := next.Add(partSize)
				from := to - partSize
				if from >= total {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(from, min(to, total)); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// part is some positions of a layer, compared by one goroutine.
type part struct {
	run        *run
	seeds      int
	checked    uint64
	mismatches uint64
	first      []Difference
}

// compare compares the positions number from to to-1 of those wanted.
func (p *part) compare(from, to uint64) error {
	if p.run.wanted(p.seeds) < p.run.ranking.Size(p.seeds) {
		return p.sample(from, to)
	}
	return p.all(from, to)
}

// all compares the positions with the ranks from to to-1, in order.
func (p *part) all(from, to uint64) error {
	stored, err := p.stored(from, to)
	if err != nil {
		return err
	}
	var b awari.Board
	pits := b[:p.run.ranking.Pits()]
	if err := p.run.ranking.Unrank(p.seeds, from, pits); err != nil {
		return err
	}
	bv := colex.ListToBV(pits)
	for i, score := range stored {
		if i > 0 {
			bv = colex.NextBV(bv)
			colex.BVToList(bv, p.seeds, pits)
		}
		if err := p.position(b, from+uint64(i), score); err != nil {
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
	var b awari.Board
	for i := from; i < to; i++ {
		begin, end := p.run.interval(p.seeds, i), p.run.interval(p.seeds, i+1)
		rank := begin + random.Uint64N(end-begin)
		if err := p.run.ranking.Unrank(p.seeds, rank, b[:p.run.ranking.Pits()]); err != nil {
			return err
		}
		stored, err := p.run.score(b, p.seeds)
		if err != nil {
			return err
		}
		if err := p.position(b, rank, stored); err != nil {
			return err
		}
	}
	return nil
}

// interval returns the first rank of interval i of a sample of layer n: i times
// size / sample, rounded down.
func (r *run) interval(n int, i uint64) uint64 {
	hi, lo := bits.Mul64(i, r.ranking.Size(n))
	q, _ := bits.Div64(hi, lo, r.options.Sample)
	return q
}

// position compares a stored score with what the moves of its board give.
func (p *part) position(b awari.Board, rank uint64, stored int8) error {
	expected, err := p.run.expected(b, p.seeds)
	if err != nil {
		return err
	}
	p.checked++
	if int(stored) == expected {
		return nil
	}
	p.mismatches++
	if len(p.first) < MaxDifferences {
		p.first = append(p.first, Difference{
			Rank: rank, Board: p.run.game.Text(b), Stored: int(stored), Expected: expected,
		})
	}
	return nil
}

// expected returns the score that follows from the moves of a board with n
// seeds: the best of captured minus score of the child, or what the rules say if
// there is no move.
func (r *run) expected(b awari.Board, n int) (int, error) {
	best := math.MinInt
	for _, play := range r.game.Plays(b) {
		if !play.Legal {
			continue
		}
		score, err := r.score(play.Child, n-play.Captured)
		if err != nil {
			return 0, err
		}
		best = max(best, play.Captured-int(score))
	}
	if best == math.MinInt {
		best = r.game.Terminal(b)
	}
	return best, nil
}

// score returns the stored score of a board with n seeds.
func (r *run) score(b awari.Board, n int) (int8, error) {
	if scores := r.memory[n]; scores != nil {
		return scores[r.ranking.Rank(b[:])], nil
	}
	return r.tables.Score(b)
}
