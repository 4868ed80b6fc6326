package halfboard

import (
	"context"
	"slices"

	"grenier/layers/awari/halves"
)

// position names a position by the codes of its halves.
type position struct{ mover, opponent uint32 }

// A change is a position whose score has been replaced and has not yet been
// passed on to its predecessors.
type change struct {
	position
	old int8
}

// update is a new score for a position.
type update struct {
	position
	score int8
}

// settle passes changes on, round by round, until nothing changes. In a round
// the workers first read only: they find the predecessors that may change and
// recompute them. Then the new scores are written, in place, by nobody else:
// between rounds no version has readers. It returns the number of changes.
func (e *engine) settle(ctx context.Context, changes []change) (int, error) {
	total := 0
	for len(changes) > 0 {
		total += len(changes)
		affected, err := gather(ctx, e.workers, changes, e.affected)
		if err != nil {
			return total, err
		}
		updates, err := gather(ctx, e.workers, affected, e.recompute)
		if err != nil {
			return total, err
		}
		changes = e.apply(changes[:0], updates)
	}
	return total, nil
}

// affected appends the quiet predecessors of a changed position whose score the
// change may move. A predecessor knows the old score: it is at least -old. When
// the new score is lower, the predecessor gains if -new is above its score; when
// it is higher, the predecessor can only lose if this move was its best.
func (e *engine) affected(dst []position, c change) []position {
	score := *e.grid.score(c.position)
	for pit, seeds := range e.grid.pits[c.opponent][:e.grid.q] {
		if seeds == 0 {
			dst = e.affectedFrom(dst, c, score, pit)
		}
	}
	return dst
}

// affectedFrom is affected for the predecessors that sowed out of pit.
func (e *engine) affectedFrom(dst []position, c change, score int8, pit int) []position {
	g := e.grid
	after := g.pits[c.mover] // the opponent's half of the predecessors, sown
	if after == (half{}) {
		return dst // no ordinary move leaves a half empty
	}
	for seeds := 1; ; seeds++ {
		mover, opponent := g.pits[c.opponent], after
		m, ok := halves.Unsow(mover[:g.q], pit, seeds)
		if !ok || !g.takeBack(&opponent, m) {
			return dst // more seeds would have needed more in every pit
		}
		if m.Last >= 0 && halves.Capturable(after[m.Last]) || !opponent.hasEmpty(g.q) {
			continue // not quiet, or a full row: computed at the end
		}
		p := position{g.code(&mover), g.code(&opponent)}
		if s := *g.score(p); score < c.old && -score > s || score > c.old && -c.old == s {
			dst = append(dst, p)
		}
	}
}

// takeBack undoes what m added to h, if it can have.
func (g *geometry) takeBack(h *half, m halves.Move) bool {
	for pit := range h[:g.q] {
		if h[pit] < m.Gain(pit) {
			return false
		}
		h[pit] -= m.Gain(pit)
	}
	return true
}

// recompute appends an update if p's score is not what its moves give.
func (e *engine) recompute(dst []update, p position) []update {
	g := e.grid
	best := -*g.offer(p)
	mover, opponent := g.pits[p.mover], g.pits[p.opponent]
	for pit, seeds := range mover[:g.q] {
		if seeds == 0 {
			continue
		}
		left, sown := mover, opponent
		m := halves.Sow(left[:g.q], pit)
		for i := range sown[:g.q] {
			sown[i] += m.Gain(i)
		}
		if m.Last >= 0 && halves.Capturable(sown[m.Last]) || sown == (half{}) {
			continue
		}
		best = max(best, -*g.score(position{g.code(&sown), g.code(&left)}))
	}
	if best != *g.score(p) {
		dst = append(dst, update{p, best})
	}
	return dst
}

// apply writes the updates and appends the changes they make. A position may
// have several updates, all the same.
func (e *engine) apply(dst []change, updates []update) []change {
	for _, u := range updates {
		score := e.grid.score(u.position)
		if *score != u.score {
			dst = append(dst, change{u.position, *score})
			*score = u.score
		}
	}
	return dst
}

// score returns the place of the score of p, which is in an open row.
func (g *grid) score(p position) *int8 {
	t, row, col := g.find(p)
	return &t.current.scores[row*t.cols+col]
}

// offer returns the place of what captures are worth in p, negated.
func (g *grid) offer(p position) *int8 {
	t, row, col := g.find(p)
	return &g.offersOf(t, openRows, col)[row]
}

// find returns the tile of p, which is in an open row, and its place there.
func (g *grid) find(p position) (t *tile, row, col int) {
	a, b := &g.places[p.mover], &g.places[p.opponent]
	return g.tile(g.pits[p.mover].sum(), int(b.slab), int(a.slab)), int(b.row), int(a.col)
}

// changesOf appends the positions of t whose scores differ from the old ones.
func (g *grid) changesOf(dst []change, t *tile, old, scores []int8) []change {
	columns, rows := g.columns(t.strip), g.rowCodes(g.n-t.strip.sum, g.opponents(t), openRows)
	for row, opponent := range rows {
		was, is := old[row*t.cols:][:t.cols], scores[row*t.cols:][:t.cols]
		if slices.Equal(was, is) {
			continue
		}
		for col := range was {
			if was[col] != is[col] {
				dst = append(dst, change{position{columns.code(col), opponent}, was[col]})
			}
		}
	}
	return dst
}
