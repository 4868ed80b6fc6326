package prove

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"time"

	"grenier/io/manifest"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
)

// layer is the proof of one layer at work.
type layer struct {
	seeds  int
	run    *run
	info   *manifest.Layer
	size   uint64
	memory int64      // bytes for panels and traces
	marks  *marks.Set // positions that are grounded
	copies copies     // of the marks
	proof  Proof
}

func (r *run) newLayer(n int) (*layer, error) {
	l := &layer{
		seeds: n, run: r, info: &r.tables.Layers()[n], size: r.space.Size(n),
		proof: Proof{First: []Position{}}, copies: copies{last: time.Now()},
	}
	memory, fits, err := r.room(n)
	if err != nil {
		return nil, err
	}
	l.memory = memory
	if fits {
		l.marks = marks.New(l.size)
	} else {
		l.marks, err = r.newMarks(l.size)
	}
	return l, err
}

// close removes what is on disk, but for a copy of the marks.
func (l *layer) close() error { return l.marks.Close() }

// verify compares the scores of the layer, and reports whether all are in order.
func (l *layer) verify(ctx context.Context) (verify.Layer, bool, error) {
	r := l.run
	v, err := verify.Run(ctx, r.book.Path(), verify.Options{
		Layers: []int{l.seeds}, Job: job.Job{Workers: r.options.Workers, Family: r.options.Family, Progress: r.meter.verified},
		MemoryBytes: l.memory, Backed: l.marks.Add,
	})
	if err != nil {
		return verify.Layer{}, false, err
	}
	return v.Layers[0], v.OK, nil
}

// byDistances returns the proof of a layer whose distances verify has found to be right: every score but 0 has one, so it is grounded
// (docs/proof.md).
func (l *layer) byDistances() *Proof {
	p := &l.proof
	p.Positive, p.Zero, p.Negative = l.info.Histogram.WinDrawLoss()
	return p
}

// prove grounds scores, as far as that is possible. Positions with positive scores that a move
// that takes seeds gives are marked already.
func (l *layer) prove(ctx context.Context) (*Proof, error) {
	l.collect()
	o := &l.run.options
	g, err := verify.NewGrounding(ctx, l.run.tables, l.seeds, verify.Options{
		Job: job.Job{Workers: o.Workers, Family: o.Family, Progress: l.run.meter.passing}, MemoryBytes: l.memory,
	}, l.marks, l.run.openWork)
	if err != nil {
		return nil, err
	}
	err = l.ground(ctx, g)
	if err == nil {
		err = l.tally(ctx)
	}
	return &l.proof, errors.Join(err, g.Close())
}

// ground marks positions until all with a score other than 0 are, or a pass finds none.
func (l *layer) ground(ctx context.Context, g *verify.Grounding) error {
	l.collect()
	left, err := l.left()
	for err == nil && left > 0 {
		l.proof.Passes++
		l.run.meter.begin(l.proof.Passes)
		more, failed := g.Pass(ctx)
		l.save(ctx.Err() != nil)
		l.run.meter.grounded(more)
		if failed != nil || more == 0 {
			return failed
		}
		left -= more
	}
	return err
}

// left returns how many positions are not marked when passes begin, but may be, and reports the others.
func (l *layer) left() (uint64, error) {
	marked, err := l.marks.Count()
	if l.copies.found != nil {
		l.run.meter.skip(marked)
	}
	l.run.meter.grounded(marked)
	win, _, loss := l.info.Histogram.WinDrawLoss()
	return win + loss - marked, err
}

// collect has the memory back that verifying took, and tracing, unless there are so few positions
// that it is not worth the time.
func (l *layer) collect() {
	if l.size >= 1<<18 {
		runtime.GC()
	}
}

// tally looks at all scores once more: it counts those that are grounded, and lists the first of the others.
func (l *layer) tally(ctx context.Context) error {
	type buffers struct {
		scores [parts.Size]int8
		marked [parts.Size / 8]byte
	}
	var mu sync.Mutex
	all := make([]*buffers, l.run.options.Workers)
	return parts.Each(ctx, len(all), l.size, func(worker int, from, to uint64) error {
		if all[worker] == nil {
			all[worker] = new(buffers)
		}
		scores, marked := all[worker].scores[:to-from], all[worker].marked[:(to-from+7)/8]
		if err := errors.Join(l.run.tables.Read(ctx, l.seeds, from, scores), l.marks.Read(marked, int64(from/8))); err != nil {
			return err
		}
		p := l.count(from, scores, marked)
		mu.Lock()
		defer mu.Unlock()
		l.proof.add(&p)
		return nil
	})
}

// count returns the share of the positions from a rank on in the proof.
func (l *layer) count(from uint64, scores []int8, marked []byte) (p Proof) {
	for len(scores) > 0 {
		n := min(8, len(scores))
		positive, negative := signs(scores[:n])
		in := marked[0]
		p.Positive += ones(positive & in)
		p.Negative += ones(negative & in)
		p.Zero += uint64(n) - ones(positive|negative)
		left := (positive | negative) &^ in
		p.Ungrounded += ones(left)
		for ; left != 0 && len(p.First) < MaxUngrounded; left &= left - 1 {
			i := bits.TrailingZeros8(left)
			board := l.run.space.Text(l.run.space.Unrank(l.seeds, from+uint64(i)))
			p.First = append(p.First, Position{Rank: from + uint64(i), Board: board, Stored: int(scores[i])})
		}
		scores, marked, from = scores[n:], marked[1:], from+8
	}
	return p
}

// signs returns which of up to eight scores are positive, and which are negative.
func signs(scores []int8) (positive, negative byte) {
	for i, score := range scores {
		positive |= byte(-int64(score)>>63) & 1 << i
		negative |= uint8(score) >> 7 << i
	}
	return positive, negative
}

func ones(x byte) uint64 { return uint64(bits.OnesCount8(x)) }

// add takes in the share of other positions.
func (p *Proof) add(o *Proof) {
	p.Positive, p.Negative = p.Positive+o.Positive, p.Negative+o.Negative
	p.Zero, p.Ungrounded = p.Zero+o.Zero, p.Ungrounded+o.Ungrounded
	p.First = append(p.First, o.First...)
	slices.SortFunc(p.First, func(a, b Position) int { return cmp.Compare(a.Rank, b.Rank) })
	p.First = p.First[:min(len(p.First), MaxUngrounded)]
}
