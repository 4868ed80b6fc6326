package prove

import (
	"context"
	"math"
	"runtime"
	"sync"

	"grenier/io/manifest"
	"grenier/pipeline/internal/parts"
)

// layer is the proof of one layer at work.
type layer struct {
	run    *run
	info   *manifest.Layer
	seeds  int
	size   uint64
	scores []int8 // nil if they do not fit into memory
	won    bits   // grounded positions with positive scores
	lost   bits   // grounded positions with the score -level
	marked bits   // positions to look at again: a child was grounded since
	level  int    // size of the scores in progress
	proof  Proof
}

func (r *run) newLayer(n int) *layer {
	size := r.space.Size(n)
	l := &layer{
		run: r, info: &r.tables.Layers()[n], seeds: n, size: size,
		won: r.won[:words(size)], lost: r.lost[:words(size)], marked: r.marked[:words(size)],
	}
	l.won.clear() // nothing is marked: a layer ends when there are no marks left
	return l
}

// prove grounds scores, level by level, as far as that is possible. Positions with
// positive scores that a move that takes seeds gives are in won already. Scores
// beyond the number of seeds, which no move gives, may be in the file as well.
func (l *layer) prove(ctx context.Context) (*Proof, error) {
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	l.proof = Proof{Zero: l.info.Histogram.Count(0), First: []Position{}}
	for l.level = -math.MinInt8; l.level > 0; l.level-- {
		if err := l.settle(ctx); err != nil {
			return nil, err
		}
	}
	l.proof.First = firstOf(l.proof.First)
	return &l.proof, nil
}

// load decodes the layer into memory if it fits.
func (l *layer) load(ctx context.Context) error {
	runtime.GC() // have the memory back that verifying took
	if l.size > uint64(l.run.options.MemoryBytes) {
		return nil
	}
	l.scores = make([]int8, l.size)
	return parts.Each(ctx, l.run.options.Workers, l.size, func(_ int, from, to uint64) error {
		return l.run.tables.Read(l.seeds, from, l.scores[from:to])
	})
}

// settle grounds the positions with the scores level and -level: it looks at all
// of them, then again and again at those of which a child was grounded since. In
// the end all are grounded, or a look at all has grounded none.
func (l *layer) settle(ctx context.Context) error {
	wanted := l.info.Histogram.Count(int8(-l.level))
	if l.level <= math.MaxInt8 {
		wanted += l.info.Histogram.Count(int8(l.level))
	}
	if wanted == 0 {
		return nil
	}
	l.lost.clear()
	for {
		all, err := l.pass(ctx, (*part).all)
		if err != nil {
			return err
		}
		positive, negative := all.positive, all.negative
		for fresh := all.fresh; fresh > 0; {
			more, err := l.pass(ctx, (*part).again)
			if err != nil {
				return err
			}
			positive += more.positive
			negative += more.negative
			fresh = more.fresh
		}
		if missing := wanted - positive - negative; missing == 0 || all.fresh == 0 {
			l.proof.Positive += positive
			l.proof.Negative += negative
			l.proof.Ungrounded += missing
			if missing > 0 {
				l.proof.First = append(l.proof.First, all.left...)
			}
			return nil
		}
	}
}

// pass has all parts of the layer looked at.
func (l *layer) pass(ctx context.Context, look func(p *part, from, to uint64) error) (found, error) {
	l.proof.Passes++
	l.run.meter.pass(l.level, l.proof.Passes)
	var mu sync.Mutex
	var sum found
	all := make([]*part, l.run.options.Workers)
	err := parts.Each(ctx, len(all), l.size, func(worker int, from, to uint64) error {
		p := all[worker]
		if p == nil {
			p = &part{layer: l}
			all[worker] = p
		}
		p.found = found{}
		err := look(p, from, to)
		l.run.meter.grounded(p.found.fresh)
		mu.Lock()
		defer mu.Unlock()
		sum.add(&p.found)
		return err
	})
	return sum, err
}
