package prove

import (
	"cmp"
	mathbits "math/bits"
	"slices"

	"grenier/layers/awari"
	"grenier/pipeline/internal/parts"
)

// part is a piece of the layer that one goroutine looks at.
type part struct {
	*layer
	scores []int8 // of the piece
	buffer []int8 // for scores that are not in memory
	before []awari.Board
	found  found
}

// found is what a look at positions has found.
type found struct {
	// positive and negative count the grounded positions of the level by their
	// scores: all seen, or only fresh ones if only marked positions were seen.
	positive, negative uint64
	fresh              uint64     // positions grounded by this look
	left               []Position // first ones by rank that are not grounded
}

// add takes in what another part has found.
func (f *found) add(g *found) {
	f.positive += g.positive
	f.negative += g.negative
	f.fresh += g.fresh
	f.left = firstOf(append(f.left, g.left...))
}

// firstOf returns the first MaxUngrounded of the positions given, by rank.
func firstOf(p []Position) []Position {
	slices.SortFunc(p, func(a, b Position) int { return cmp.Compare(a.Rank, b.Rank) })
	return p[:min(len(p), MaxUngrounded)]
}

// read makes the scores of the ranks from to to-1 those of the piece.
func (p *part) read(from, to uint64) error {
	if p.layer.scores != nil {
		p.scores = p.layer.scores[from:to]
		return nil
	}
	if p.buffer == nil {
		p.buffer = make([]int8, parts.Size)
	}
	p.scores = p.buffer[:to-from]
	return p.run.tables.Read(p.seeds, from, p.scores)
}

// all looks at all positions of the level with the ranks from to to-1.
func (p *part) all(from, to uint64) error {
	if err := p.read(from, to); err != nil {
		return err
	}
	for i, score := range p.scores {
		if !p.wanted(score) {
			continue
		}
		rank := from + uint64(i)
		if p.grounded(rank, score) || p.ground(rank, score) {
			p.found.count(score)
		} else if len(p.found.left) < MaxUngrounded {
			b := p.run.space.Unrank(p.seeds, rank)
			p.found.left = append(p.found.left, Position{Rank: rank, Board: p.run.space.Text(b), Stored: int(score)})
		}
	}
	return nil
}

// again looks at the marked positions of the level with the ranks from to to-1, and
// takes their marks away.
func (p *part) again(from, to uint64) error {
	p.scores = nil
	for w := from / 64; w < words(to); w++ {
		marks := p.marked.take(w)
		if marks == 0 {
			continue
		}
		if p.scores == nil {
			if err := p.read(from, to); err != nil {
				return err
			}
		}
		for ; marks != 0; marks &= marks - 1 {
			rank := 64*w + uint64(mathbits.TrailingZeros64(marks))
			score := p.scores[rank-from]
			if p.wanted(score) && !p.grounded(rank, score) && p.ground(rank, score) {
				p.found.count(score)
			}
		}
	}
	return nil
}

// count counts a grounded position.
func (f *found) count(score int8) {
	if score > 0 {
		f.positive++
	} else {
		f.negative++
	}
}

// wanted reports whether a score is of the level.
func (p *part) wanted(score int8) bool { return int(score) == p.level || int(score) == -p.level }

// grounded reports whether a position of the level is grounded already.
func (p *part) grounded(rank uint64, score int8) bool {
	if score > 0 {
		return p.won.has(rank)
	}
	return p.lost.has(rank)
}

// ground grounds a position of the level if its children allow, and marks the
// positions from which it is reached.
func (p *part) ground(rank uint64, score int8) bool {
	b := p.run.space.Unrank(p.seeds, rank)
	if score > 0 {
		if !p.oneLost(b) {
			return false
		}
		p.won.add(rank)
	} else {
		if !p.allWon(b) {
			return false
		}
		p.lost.add(rank)
	}
	p.found.fresh++
	p.before = p.run.space.Predecessors(p.before[:0], b)
	for _, before := range p.before {
		_, rank := p.run.space.Rank(before)
		p.marked.add(rank)
	}
	return true
}

// oneLost reports whether a quiet move leads to a grounded position with the score
// -level.
func (p *part) oneLost(b awari.Board) bool {
	for pit := range p.run.space.Half() {
		if rank, ok := p.quiet(b, pit); ok && p.lost.has(rank) {
			return true
		}
	}
	return false
}

// allWon reports whether all quiet moves lead to grounded positions with positive
// scores.
func (p *part) allWon(b awari.Board) bool {
	for pit := range p.run.space.Half() {
		if rank, ok := p.quiet(b, pit); ok && !p.won.has(rank) {
			return false
		}
	}
	return true
}

// quiet plays a pit and returns the rank of the child if that is a move that takes
// no seeds. Such a move leaves the opponent a seed, so both rule sets allow it.
func (p *part) quiet(b awari.Board, pit int) (rank uint64, ok bool) {
	if b[pit] == 0 {
		return 0, false
	}
	sown := p.run.space.Sow(b, pit)
	if sown.Captured > 0 || sown.Starves {
		return 0, false
	}
	_, rank = p.run.space.Rank(p.run.space.Turn(sown.Board))
	return rank, true
}
