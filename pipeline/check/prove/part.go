package prove

import (
	"bytes"
	"cmp"
	"context"
	mathbits "math/bits"
	"slices"

	"grenier/io/tally"
	"grenier/layers/awari/packed"
	"grenier/pipeline/internal/parts"
)

// part is a piece of the layer that one goroutine looks at. States are all over memory, so
// states of many positions are asked for together: the processor waits for them at the same time.
type part struct {
	*layer
	ctx     context.Context
	buffer  []int8         // for scores that are not in memory
	stack   []packed.Board // grounded, with the score -level, but not followed yet
	tests   front          // candidates that may be grounded
	winners front          // positions from which moves lead to some that were lost
	fresh   []packed.Board // winners that are won by that
	losers  front          // positions from which moves lead to these
	ranks   []uint64       // of children of the tests
	found   found
}

// front is some positions with their ranks, and from which of others each was found.
type front struct {
	at     []packed.Board
	rank   []uint64
	parent []int32
}

const (
	// stackSize is how many positions a part remembers to follow.
	stackSize = 4096
	// batch is how many of them it takes at a time.
	batch = 32
)

// found is the outcome of a look at positions.
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
	return scores, p.run.tables.Read(p.ctx, p.seeds, from, scores)
}

// begin makes candidates of the positions with the score -level, and counts those with the
// score level that moves that take seeds give.
func (p *part) begin(from, to uint64) error {
	scores, err := p.read(from, to)
	if err != nil {
		return err
	}
	eachOf(scores, -p.level, func(i int) { p.states.change(from+uint64(i), open, candidate) })
	eachOf(scores, p.level, func(i int) {
		if p.states.of(from+uint64(i)) == won {
			p.found.positive++
		}
	})
	return nil
}

// eachOf calls do with the index of each of scores that is the given one.
func eachOf(scores []int8, score int, do func(i int)) {
	all := tally.Bytes(scores)
	for at := 0; ; at++ {
		next := bytes.IndexByte(all[at:], byte(score))
		if next < 0 {
			return
		}
		at += next
		do(at)
	}
}

// again looks at all candidates with the ranks from to to-1.
func (p *part) again(from, to uint64) error {
	for w := from / perWord; w < words(to); w++ {
		for bits := p.states.candidates(w); bits != 0; bits &= bits - 1 {
			rank := perWord*w + uint64(mathbits.TrailingZeros64(bits))/stateBits
			p.tests.add(p.position(rank), rank)
			if len(p.tests.at) == batch {
				p.try()
				p.follow()
			}
		}
	}
	p.try()
	p.follow()
	return nil
}

// try grounds the tests of which all quiet moves lead to won positions, and remembers to follow
// them. If there are too many they stay candidates.
func (p *part) try() {
	p.ranks = p.ranks[:0]
	for _, at := range p.tests.at {
		p.ranks = append(p.ranks, 0) // how many follow
		n := len(p.ranks)
		for pit := range p.space.Half() {
			if child, ok := p.Quiet(at, pit); ok {
				p.ranks = append(p.ranks, p.Rank(child))
			}
		}
		p.ranks[n-1] = uint64(len(p.ranks) - n)
	}
	p.states.touch(p.ranks)
	children := p.ranks
	for i, at := range p.tests.at {
		n := children[0]
		all := p.states.allWon(children[1 : 1+n])
		children = children[1+n:]
		switch {
		case !all:
		case len(p.stack) >= stackSize:
			p.missed.Store(true)
		case p.states.change(p.tests.rank[i], candidate, open): // unless somebody else has grounded it
			p.found.negative++
			p.stack = append(p.stack, at)
		}
	}
	p.tests.clear()
}

// follow grounds what positions with the score -level, just grounded, make so, and what that
// does in turn. A position from which a quiet move leads to one has level or more, because scores are
// locally optimal; as larger scores are won or left, an open one has level.
func (p *part) follow() {
	for len(p.stack) > 0 {
		n := max(0, len(p.stack)-batch)
		lost := p.stack[n:]
		p.stack = p.stack[:n]
		p.arrive(&p.winners, lost)
		p.fresh = p.fresh[:0]
		for i, at := range p.winners.at {
			rank := p.winners.rank[i]
			if p.states.of(rank) == open && p.leads(at, lost[p.winners.parent[i]]) && p.states.change(rank, open, won) {
				p.found.positive++
				p.fresh = append(p.fresh, at)
			}
		}
		p.arrive(&p.losers, p.fresh)
		for i, rank := range p.losers.rank {
			if p.states.of(rank) == candidate {
				p.tests.add(p.losers.at[i], rank)
			}
		}
		p.try()
	}
}

// arrive makes f the positions from which quiet moves lead to some.
func (p *part) arrive(f *front, some []packed.Board) {
	f.clear()
	for i, to := range some {
		f.at = p.Before(f.at, to)
		for _, at := range f.at[len(f.rank):] {
			f.rank = append(f.rank, p.Rank(at))
			f.parent = append(f.parent, int32(i))
		}
	}
	p.states.touch(f.rank)
}

// add adds a position.
func (f *front) add(at packed.Board, rank uint64) {
	f.at, f.rank = append(f.at, at), append(f.rank, rank)
}

// clear leaves no position.
func (f *front) clear() { f.at, f.rank, f.parent = f.at[:0], f.rank[:0], f.parent[:0] }

// leads reports whether the plain rules have a quiet move from one position to another: what was
// found by taking seeds back is sown forward.
func (p *part) leads(from, to packed.Board) bool {
	b, want := p.Unpack(from), p.Unpack(to)
	for pit := range p.space.Half() {
		if b[pit] == 0 || to.Other.Pit(pit) != 0 { // the pit that was played is empty now
			continue
		}
		if sown := p.space.Sow(b, pit); sown.Captured == 0 && !sown.Starves && p.space.Turn(sown.Board) == want {
			return true
		}
	}
	return false
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
