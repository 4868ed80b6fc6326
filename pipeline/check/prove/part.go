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
	buffer []int8 // for scores that are not in memory
	stack  []position
	lost   []position // from which moves lead to one that was lost
	won    []position // the same of one that was won
	found  found
}

// stackSize is how many positions a part remembers that it has grounded but not followed.
const stackSize = 4096

// found is what a look at positions has found.
type found struct {
	positive, negative uint64     // positions of the level, by their scores, that were grounded
	left               []Position // first ones by rank that are not
}

// add takes in what another part has found.
func (f *found) add(g *found) {
	f.positive += g.positive
	f.negative += g.negative
	f.left = firstOf(append(f.left, g.left...))
}

// firstOf returns the first MaxUngrounded of the positions given, by rank.
func firstOf(p []Position) []Position {
	slices.SortFunc(p, func(a, b Position) int { return cmp.Compare(a.Rank, b.Rank) })
	return p[:min(len(p), MaxUngrounded)]
}

// read returns the scores of the ranks from to to-1.
func (p *part) read(from, to uint64) ([]int8, error) {
	if p.scores != nil {
		return p.scores[from:to], nil
	}
	if p.buffer == nil {
		p.buffer = make([]int8, parts.Size)
	}
	scores := p.buffer[:to-from]
	return scores, p.run.tables.Read(p.seeds, from, scores)
}

// begin makes candidates of the positions with the score -level, and counts those with the
// score level that moves that take seeds give.
func (p *part) begin(from, to uint64) error {
	scores, err := p.read(from, to)
	if err != nil {
		return err
	}
	high, low := p.level, -p.level
	for i, score := range scores {
		switch int(score) {
		case low:
			p.states.change(from+uint64(i), open, candidate)
		case high:
			if p.states.of(from+uint64(i)) == won {
				p.found.positive++
			}
		}
	}
	return nil
}

// again looks at all candidates with the ranks from to to-1.
func (p *part) again(from, to uint64) error {
	for w := from / perWord; w < words(to); w++ {
		for bits := p.states.candidates(w); bits != 0; bits &= bits - 1 {
			rank := perWord*w + uint64(mathbits.TrailingZeros64(bits))/stateBits
			at := p.position(rank)
			if p.allWon(at) && p.lose(rank) {
				p.follow(at)
			}
		}
	}
	return nil
}

// allWon reports whether all quiet moves lead to won positions.
func (p *part) allWon(at position) bool {
	for pit := range p.space.Half() {
		if child, ok := p.quiet(at, pit); ok && p.states.of(p.rank(child)) != won {
			return false
		}
	}
	return true
}

// lose grounds a candidate of which all quiet moves lead to won positions, unless somebody
// else has.
func (p *part) lose(rank uint64) bool {
	if !p.states.change(rank, candidate, open) {
		return false
	}
	p.found.negative++
	return true
}

// follow grounds what a position with the score -level, just grounded, makes so, and what that
// does in turn. A position from which a quiet move leads there has level or more, because scores are
// locally optimal; as larger scores are won or left, an open one has level.
func (p *part) follow(at position) {
	p.stack = append(p.stack[:0], at)
	for len(p.stack) > 0 {
		at := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.lost = p.before(p.lost[:0], at)
		for _, winner := range p.lost {
			if p.leads(winner, at) && p.states.change(p.rank(winner), open, won) {
				p.found.positive++
				p.notice(winner)
			}
		}
	}
}

// leads reports whether the plain rules have a quiet move from one position to another: what was
// found by taking seeds back is sown forward.
func (p *part) leads(from, to position) bool {
	if p.states.of(p.rank(from)) != open {
		return false // it will not change: no need to ask
	}
	b, want := p.board(from), p.board(to)
	for pit := range p.space.Half() {
		if b[pit] == 0 {
			continue
		}
		if sown := p.space.Sow(b, pit); sown.Captured == 0 && !sown.Starves && p.space.Turn(sown.Board) == want {
			return true
		}
	}
	return false
}

// board returns the board of a position.
func (p *part) board(at position) (b awari.Board) {
	q := p.space.Half()
	for i := range q {
		b[i], b[q+i] = uint8(at.mover.Pit(i)), uint8(at.opponent.Pit(i))
	}
	return b
}

// notice grounds the candidates from which moves lead to a position just won, if all of their
// moves lead to such, and remembers to follow them. If there are too many they stay candidates.
func (p *part) notice(at position) {
	p.won = p.before(p.won[:0], at)
	for _, loser := range p.won {
		rank := p.rank(loser)
		if p.states.of(rank) != candidate || !p.allWon(loser) {
			continue
		}
		if len(p.stack) >= stackSize {
			p.missed.Store(true)
		} else if p.lose(rank) {
			p.stack = append(p.stack, loser)
		}
	}
}

// rest lists positions of the level that are not grounded, and gives them up.
func (p *part) rest(from, to uint64) error {
	scores, err := p.read(from, to)
	if err != nil {
		return err
	}
	for i, score := range scores {
		rank, given := from+uint64(i), false
		switch int(score) {
		case -p.level:
			given = p.states.change(rank, candidate, open)
		case p.level:
			given = p.states.change(rank, open, left)
		}
		if given && len(p.found.left) < MaxUngrounded {
			b := p.space.Unrank(p.seeds, rank)
			p.found.left = append(p.found.left, Position{Rank: rank, Board: p.space.Text(b), Stored: int(score)})
		}
	}
	return nil
}
