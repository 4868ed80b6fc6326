package prove

import (
	"context"
	mathbits "math/bits"
	"sync"

	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
)

// A layer of which two bits a position do not fit into memory has one bit a position on disk:
// whether it is grounded. Passes in the order of the ranks (verify.Grounding) ground positions of
// all levels at once, each about one ply more. When the positions that are left fit into memory as
// a list they are settled there (rest.go).

// mark grounds positions on disk.
func (l *layer) mark(bits []byte, at int64) error {
	n := 0
	for _, b := range bits {
		n += mathbits.OnesCount8(b)
	}
	l.backed.Add(uint64(n))
	return l.marks.Add(bits, at)
}

// ground is prove for marks on disk.
func (l *layer) ground(ctx context.Context) error {
	l.collect()
	win, _, loss := l.info.Histogram.WinDrawLoss()
	o := &l.run.options
	g, err := verify.NewGrounding(ctx, l.run.tables, l.seeds, verify.Options{
		Job: job.Job{Workers: o.Workers, Family: o.Family, Progress: l.run.meter.passing}, MemoryBytes: l.memory,
	}, l.marks)
	if err != nil {
		return err
	}
	done, err := l.begun(ctx)
	if err != nil {
		return err
	}
	if l.copies.found != nil {
		l.run.meter.skip(done.Sum())
	}
	l.run.meter.grounded(done.Sum())
	for done.Sum() < win+loss {
		if err := l.marks.Keep(); err != nil {
			return err
		}
		before := done.Sum()
		l.proof.Passes++
		l.run.meter.begin(0, l.proof.Passes)
		more, err := g.Pass(ctx)
		if l.save(ctx.Err() != nil); err != nil {
			return err
		}
		l.run.meter.grounded(more.Sum())
		done.Positive, done.Negative = done.Positive+more.Positive, done.Negative+more.Negative
		if n := win + loss - before; n <= uint64(l.memory)/restBytes && done.Sum() < win+loss {
			g = nil
			l.collect()
			if more, err = l.settleRest(ctx, n); err != nil {
				return err
			}
			done.Positive, done.Negative = done.Positive+more.Positive, done.Negative+more.Negative
			break
		}
		if more.Sum() == 0 {
			if err := l.listRest(ctx); err != nil {
				return err
			}
			break
		}
	}
	l.proof.Positive, l.proof.Negative = done.Positive, done.Negative
	l.proof.Ungrounded = win + loss - done.Sum()
	return nil
}

// listRest lists the first positions that are not grounded.
func (l *layer) listRest(ctx context.Context) error {
	return l.left(ctx, func(some []entry) {
		for _, e := range some[:min(len(some), MaxUngrounded)] {
			l.list(e)
		}
		l.proof.First = firstOf(l.proof.First)
	})
}

// list lists a position as one that is not grounded.
func (l *layer) list(e entry) {
	board := l.space.Text(l.space.Unrank(l.seeds, e.rank()))
	l.proof.First = append(l.proof.First, Position{Rank: e.rank(), Board: board, Stored: e.score()})
}

// left calls take with the positions that were not grounded when marks were last kept, the ones in
// each part of the layer in the order of the ranks, the parts in any order.
func (l *layer) left(ctx context.Context, take func([]entry)) error {
	type buffers struct {
		scores    []int8
		kept, now []byte
		entries   []entry
	}
	var mu sync.Mutex
	all := make([]buffers, l.run.options.Workers)
	return parts.Each(ctx, len(all), l.size, func(worker int, from, to uint64) error {
		b := &all[worker]
		if b.scores == nil {
			*b = buffers{scores: make([]int8, parts.Size), kept: make([]byte, parts.Size/8), now: make([]byte, parts.Size/8)}
		}
		scores, bytes := b.scores[:to-from], (to-from+7)/8
		if err := l.run.tables.Read(ctx, l.seeds, from, scores); err != nil {
			return err
		}
		if err := l.marks.ReadKept(b.kept[:bytes], int64(from/8)); err != nil {
			return err
		}
		if err := l.marks.Read(b.now[:bytes], int64(from/8)); err != nil {
			return err
		}
		b.entries = b.entries[:0]
		for i, score := range scores {
			if score != 0 && b.kept[i/8]>>(i%8)&1 == 0 {
				b.entries = append(b.entries, newEntry(from+uint64(i), score, b.now[i/8]>>(i%8)&1 != 0))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		take(b.entries)
		return nil
	})
}
