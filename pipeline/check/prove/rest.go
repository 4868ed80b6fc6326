package prove

import (
	"context"
	"slices"
	"sync/atomic"

	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/parts"
)

// entry is a position of the rest: its rank, its score, and whether it is grounded.
type entry uint64

const grounded entry = 1

func newEntry(rank uint64, score int8, done bool) entry {
	e := entry(rank)<<9 | entry(uint8(score))<<1
	if done {
		e |= grounded
	}
	return e
}

func (e entry) rank() uint64 { return uint64(e >> 9) }
func (e entry) score() int   { return int(int8(e >> 1)) }

// rest is the positions that were not grounded before the last pass, in the order of their
// ranks, shared by goroutines. Whatever the others can ground was found by that pass: so a position that
// is not grounded yet can only be so because of some in the rest, which it knows with their
// scores.
type rest struct {
	entries []entry
	starts  []uint64 // where the ranks from a multiple of width on start
	width   uint64
}

const (
	// perStart is how many entries there are for each start, on average.
	perStart = 8
	// restBytes is the memory that an entry takes, with its share of the starts.
	restBytes = 8 + 1 + 1
)

// newRest returns the rest of a layer of size positions.
func newRest(entries []entry, size uint64) *rest {
	slices.Sort(entries)
	n := uint64(len(entries)/perStart + 1)
	r := &rest{entries: entries, starts: make([]uint64, n+1), width: (size + n - 1) / n}
	at := 0
	for i := range r.starts {
		for at < len(entries) && entries[at].rank() < uint64(i)*r.width {
			at++
		}
		r.starts[i] = uint64(at)
	}
	r.starts[n] = uint64(len(entries))
	return r
}

// find returns the entry of a rank; ok is false if there is none.
func (r *rest) find(rank uint64) (e entry, ok bool) {
	i := rank / r.width
	from, to := r.starts[i], r.starts[i+1]
	for from < to {
		mid := (from + to) / 2
		switch e := r.load(mid); {
		case e.rank() == rank:
			return e, true
		case e.rank() < rank:
			from = mid + 1
		default:
			to = mid
		}
	}
	return 0, false
}

func (r *rest) load(i uint64) entry { return entry(atomic.LoadUint64((*uint64)(&r.entries[i]))) }

// ground grounds entry i, which one goroutine alone does.
func (r *rest) ground(i uint64) {
	atomic.StoreUint64((*uint64)(&r.entries[i]), uint64(r.entries[i]|grounded))
}

// settleRest grounds all of the n positions of the rest that can be grounded, and returns how many
// these are. It lists the first of the others.
func (l *layer) settleRest(ctx context.Context, n uint64) (sum verify.Grounded, err error) {
	entries := make([]entry, 0, n)
	if err := l.left(ctx, func(some []entry) { entries = append(entries, some...) }); err != nil {
		return sum, err
	}
	r := newRest(entries, l.size)
	for {
		l.proof.Passes++
		l.run.meter.begin(0, l.proof.Passes)
		var positive, negative atomic.Uint64
		err := parts.Each(ctx, l.run.options.Workers, uint64(len(entries)), func(_ int, from, to uint64) error {
			p, m := l.look(r, from, to)
			positive.Add(p)
			negative.Add(m)
			l.run.meter.grounded(p + m)
			return nil
		})
		if err != nil {
			return sum, err
		}
		sum.Positive += positive.Load()
		sum.Negative += negative.Load()
		if positive.Load()+negative.Load() == 0 {
			break
		}
	}
	for _, e := range entries {
		if e&grounded == 0 && len(l.proof.First) < MaxUngrounded {
			l.list(e)
		}
	}
	return sum, nil
}

// look grounds the entries of from..to-1 that follow from the others, and counts them by sign.
func (l *layer) look(r *rest, from, to uint64) (positive, negative uint64) {
	for i := from; i < to; i++ {
		e := r.load(i)
		if e&grounded != 0 || !l.backedBy(r, e) {
			continue
		}
		r.ground(i)
		if e.score() > 0 {
			positive++
		} else {
			negative++
		}
	}
	return positive, negative
}

// backedBy reports whether a position with a positive score k has a grounded child with -k in the
// rest, or one with a negative score no child there that is not grounded.
func (l *layer) backedBy(r *rest, e entry) bool {
	at, won := l.position(e.rank()), e.score() > 0
	for pit := range l.space.Half() {
		child, ok := l.Quiet(at, pit)
		if !ok {
			continue
		}
		c, in := r.find(l.Rank(child))
		switch {
		case !in:
		case won && c&grounded != 0 && c.score() == -e.score():
			return true
		case !won && c&grounded == 0:
			return false
		}
	}
	return !won
}
