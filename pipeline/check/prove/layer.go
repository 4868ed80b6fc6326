package prove

import (
	"context"
	"math"
	mathbits "math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
)

// layer is the proof of one layer at work.
type layer struct {
	*packed.Rules
	space  *awari.Space
	seeds  int
	run    *run
	info   *manifest.Layer
	size   uint64
	memory int64  // bytes for panels, scores, the rest
	scores []int8 // nil if they do not fit into memory
	states states
	marks  *marks.Set    // instead of states, if they do not fit into memory
	backed atomic.Uint64 // positions that were marked while the scores were compared
	copies copies        // of the marks
	level  int           // size of the scores in progress
	proof  Proof
	missed atomic.Bool // candidates that can be grounded were left to a later pass
}

func (r *run) newLayer(n int) (*layer, error) {
	l := &layer{
		Rules: packed.New(r.space.Game), space: r.space, seeds: n, run: r, info: &r.tables.Layers()[n], size: r.space.Size(n),
		proof: Proof{First: []Position{}}, copies: copies{last: time.Now()},
	}
	memory, fits, err := r.room(n)
	if err != nil {
		return nil, err
	}
	l.memory = memory
	if !fits {
		r.states = nil // the layers that follow are larger
		l.marks, err = r.newMarks(l.size)
		return l, err
	}
	if r.states == nil {
		r.states = newStates(r.largestInMemory())
	}
	l.states = r.states[:words(l.size)]
	l.states.clear()
	return l, nil
}

// position returns the board with a rank.
func (l *layer) position(rank uint64) packed.Board { return l.Pack(l.space.Unrank(l.seeds, rank)) }

// close removes what is on disk, but for a copy of the marks.
func (l *layer) close() error {
	if l.marks == nil {
		return nil
	}
	return l.marks.Close()
}

// verify compares the scores of the layer, and reports whether all are in order.
func (l *layer) verify(ctx context.Context) (verify.Layer, bool, error) {
	r := l.run
	v, err := verify.Run(ctx, r.book.Path(), verify.Options{
		Layers: []int{l.seeds}, Job: job.Job{Workers: r.options.Workers, Family: r.options.Family, Progress: r.meter.verified},
		MemoryBytes: l.memory, Backed: l.back,
	})
	if err != nil {
		return verify.Layer{}, false, err
	}
	return v.Layers[0], v.OK, nil
}

// back grounds positions with a positive score that a move that takes seeds gives: bits for the
// ranks from 8 x at on.
func (l *layer) back(bits []byte, at int64) error {
	if l.marks != nil {
		return l.mark(bits, at)
	}
	for i, b := range bits {
		for ; b != 0; b &= b - 1 {
			l.states.change(8*uint64(at+int64(i))+uint64(mathbits.TrailingZeros8(b)), open, won)
		}
	}
	return nil
}

// byDistances returns the proof of a layer whose distances verify has found to be right: every score but 0 has one, so it is grounded
// (docs/proof.md).
func (l *layer) byDistances() *Proof {
	p := &l.proof
	p.Positive, p.Zero, p.Negative = l.info.Histogram.WinDrawLoss()
	return p
}

// prove grounds scores, level by level, as far as that is possible. Positions with
// positive scores that a move that takes seeds gives are won already. Scores
// beyond the number of seeds, which no move gives, may be in the file as well.
func (l *layer) prove(ctx context.Context) (*Proof, error) {
	l.proof.Zero = l.info.Histogram.Count(0)
	if l.marks != nil {
		return &l.proof, l.ground(ctx)
	}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	for l.level = -math.MinInt8; l.level > 0; l.level-- {
		if err := l.settle(ctx); err != nil {
			return nil, err
		}
	}
	l.proof.First = firstOf(l.proof.First)
	return &l.proof, nil
}

// collect has the memory back that verifying took, and passes, unless there are so few positions
// that it is not worth the time.
func (l *layer) collect() {
	if l.size >= 1<<18 {
		runtime.GC()
	}
}

// load decodes the layer into memory if it fits.
func (l *layer) load(ctx context.Context) error {
	l.collect()
	if l.size > uint64(l.memory) {
		return nil
	}
	l.scores = make([]int8, l.size)
	return parts.Each(ctx, l.run.options.Workers, l.size, func(_ int, from, to uint64) error {
		return l.run.tables.Read(ctx, l.seeds, from, l.scores[from:to])
	})
}

// settle grounds the positions with the scores level and -level. In the end all are
// grounded, or a look at all with -level has grounded none; then the others are listed.
func (l *layer) settle(ctx context.Context) error {
	wanted := l.info.Histogram.Count(int8(-l.level))
	if l.level <= math.MaxInt8 {
		wanted += l.info.Histogram.Count(int8(l.level))
	}
	if wanted == 0 {
		return nil
	}
	sum, err := l.pass(ctx, (*part).begin)
	if err != nil {
		return err
	}
	for sum.positive+sum.negative < wanted {
		l.missed.Store(false)
		more, err := l.pass(ctx, (*part).again)
		if err != nil {
			return err
		}
		sum.add(&more)
		if more.negative == 0 && !l.missed.Load() {
			rest, err := l.pass(ctx, (*part).rest)
			if err != nil {
				return err
			}
			l.proof.First = append(l.proof.First, rest.left...)
			break
		}
	}
	l.proof.Positive += sum.positive
	l.proof.Negative += sum.negative
	l.proof.Ungrounded += wanted - sum.positive - sum.negative
	return nil
}

// pass has all parts of the layer looked at.
func (l *layer) pass(ctx context.Context, look func(p *part, from, to uint64) error) (found, error) {
	l.proof.Passes++
	l.run.meter.begin(l.level, l.proof.Passes)
	var mu sync.Mutex
	var sum found
	all := make([]*part, l.run.options.Workers)
	err := parts.Each(ctx, len(all), l.size, func(worker int, from, to uint64) error {
		p := all[worker]
		if p == nil {
			p = &part{layer: l, ctx: ctx}
			all[worker] = p
		}
		p.found = found{}
		err := look(p, from, to)
		l.run.meter.grounded(p.found.positive + p.found.negative)
		mu.Lock()
		defer mu.Unlock()
		sum.add(&p.found)
		return err
	})
	return sum, err
}
