package verify

import (
	"context"

	"grenier/pipeline/internal/marks"
	"grenier/pipeline/tables"
)

// Grounding finds, in passes over a layer whose scores are locally optimal, the positions whose
// scores can be traced down to seeds that are taken: those that are grounded, see package prove.
//
// A pass is a comparison of the layer in which scores of positions that are not grounded yet count
// as 0, and moves that take seeds do not count: those positions whose scores they give are grounded
// from the beginning. One with a score k > 0 is grounded if quiet moves give that score: a
// child is grounded with -k. One with a score below 0 is if they give less than 0: all children are
// grounded, since one that is not would give 0. That is so if there is no quiet move, too.
type Grounding struct {
	run   *run
	seeds int
	marks *marks.Set
}

// NewGrounding prepares passes over the layer of n seeds, whose grounded positions are marked. Of
// the options it looks at Workers, Family, MemoryBytes, which bounds a panel, and Progress, which counts
// the positions of a pass. It fails as Run does.
func NewGrounding(ctx context.Context, t *tables.Tables, n int, o Options, m *marks.Set) (*Grounding, error) {
	o.Layers = []int{n}
	r, err := newRun(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return &Grounding{run: r, seeds: n, marks: m}, nil
}

// Grounded counts positions by the signs of their scores.
type Grounded struct{ Positive, Negative uint64 }

// Sum returns their number.
func (g Grounded) Sum() uint64 { return g.Positive + g.Negative }

// Pass marks the positions that are grounded because others are that were marked before the
// pass, or in it, and returns how many. It fails like Run.
func (g *Grounding) Pass(ctx context.Context) (f Grounded, err error) {
	r, done := g.run, uint64(0)
	own, count := uint64(chunks(r.space.Size(g.seeds))), r.panels(g.seeds)
	for i := range count {
		p := r.part(g.seeds, i, count)
		p.mark, p.grounded = g.marks.Add, g.marks
		positions := uint64(len(p.best))
		p.meter = &panelMeter{meter: &r.meter, seeds: g.seeds, before: done, positions: positions, total: 2 * own}
		if err := p.ground(ctx, &f); err != nil {
			return f, err
		}
		done += positions
	}
	return f, nil
}

// ground marks positions of the panel, and counts them.
func (p *part) ground(ctx context.Context, f *Grounded) error {
	if _, err := p.walk(ctx, p.seeds, (*visitor).raise); err != nil {
		return err
	}
	all, err := p.walk(ctx, p.seeds, (*visitor).ground)
	for _, v := range all {
		f.Positive += v.marked.Positive
		f.Negative += v.marked.Negative
	}
	return err
}

// ground marks the positions of a row that quiet moves ground.
func (v *visitor) ground(rs *rows) error {
	l, err := v.line(rs)
	for i, score := range l.scores {
		rank, best := l.rank+uint64(i), v.best[l.at]
		l.at += l.width
		switch {
		case score > 0 && best == score && !v.known.has(rank):
			v.marked.Positive++
			v.fresh.mark(rank)
		case score < 0 && best < 0 && !v.known.has(rank):
			v.marked.Negative++
			v.fresh.mark(rank)
		}
	}
	return err
}
