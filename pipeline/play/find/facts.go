package find

import (
	"context"
	"math"

	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	bestline "grenier/pipeline/play/line"
	"grenier/pipeline/tables"
)

// position is a position that is compared with a condition.
type position struct {
	packed.Board
	board    awari.Board // only once the replies are asked about
	score    int8
	values   [packed.MaxHalf]int8 // of the moves, illegal if a pit cannot be played
	captured [packed.MaxHalf]uint8
}

const illegal = math.MinInt8

// fromProbe is the position that a probe tells of, by the plain rules.
func fromProbe(r *packed.Rules, p *tables.Probe) position {
	x := position{Board: r.Pack(p.Board), board: p.Board, score: int8(p.Value)}
	for pit := range x.values {
		m := &p.Moves[pit]
		x.values[pit] = illegal
		if m.Legal {
			x.values[pit], x.captured[pit] = int8(m.Value), uint8(m.Captured)
		}
	}
	return x
}

// onBoard returns a fact that the board tells.
func (j *judge) onBoard(f fact, b packed.Board) int {
	pit, q := int(f-pit0), j.rules.Game().Half()
	switch {
	case f == mover:
		return b.Own.Seeds()
	case f == opponent:
		return b.Other.Seeds()
	case pit < q:
		return b.Own.Pit(pit)
	}
	return b.Other.Pit(pit - q)
}

// ofMoves returns a fact that the scores of the children tell.
func (p *position) ofMoves(f fact) int {
	switch f {
	case moves:
		return p.between(illegal+1, math.MaxInt8)
	case winning:
		return p.between(1, math.MaxInt8)
	case drawing:
		return p.between(0, 0)
	case losing:
		return p.between(illegal+1, -1)
	case best:
		return p.between(p.score, p.score)
	case margin:
		return p.margin()
	case taken:
		return p.most(p.score)
	}
	return p.most(illegal + 1)
}

// between returns how many moves have a value from low to high.
func (p *position) between(low, high int8) int {
	n := 0
	for _, v := range p.values {
		if v >= low && v <= high {
			n++
		}
	}
	return n
}

// margin returns how much less the second best move gives, none if there is none.
func (p *position) margin() int {
	first, second := int8(illegal), int8(illegal)
	for _, v := range p.values {
		first, second = max(first, v), max(second, min(first, v))
	}
	if second == illegal {
		return none
	}
	return int(first) - int(second)
}

// most returns the most seeds that a move takes whose value is least or more, none if there
// is no such move.
func (p *position) most(least int8) int {
	n := none
	for pit, v := range p.values {
		if v >= least && v != illegal {
			n = max(n, int(p.captured[pit]))
		}
	}
	return n
}

// judge knows the facts that take looking further ahead. It belongs to one goroutine.
type judge struct {
	ctx       context.Context
	tables    *tables.Tables
	rules     *packed.Rules
	condition *Condition
	early     []fact // that the board tells
	middle    []fact // that the moves tell
	late      []fact
}

func newJudge(ctx context.Context, t *tables.Tables, r *packed.Rules, c *Condition) *judge {
	return &judge{
		ctx: ctx, tables: t, rules: r, condition: c,
		early: c.between(mover, moves), middle: c.between(moves, give), late: c.between(give, facts),
	}
}

// board reports whether the board is as wanted.
func (j *judge) board(b packed.Board) bool {
	for _, f := range j.early {
		if !j.condition.holds(f, j.onBoard(f, b)) {
			return false
		}
	}
	return true
}

// moves reports whether the moves are as wanted, and all that follows from them.
func (j *judge) moves(p *position) (bool, error) {
	for _, f := range j.middle {
		if !j.condition.holds(f, p.ofMoves(f)) {
			return false, nil
		}
	}
	if len(j.late) == 0 {
		return true, nil
	}
	p.board = j.rules.Unpack(p.Board)
	for _, f := range j.late {
		x, err := j.ahead(f, p)
		if err != nil || !j.condition.holds(f, x) {
			return false, err
		}
	}
	return true, nil
}

// ahead returns a fact that takes looking further ahead.
func (j *judge) ahead(f fact, p *position) (int, error) {
	if f == line {
		l, err := bestline.Best(j.ctx, j.tables, p.board, bestline.Options{Positions: linePositions})
		if err != nil {
			return 0, err
		}
		return len(l.Moves), nil
	}
	return j.gift(p, f == give), nil
}

// linePositions bounds the positions that finding the moves of a best line may take: longer ones
// would hold up a search, whose other positions take some tens of nanoseconds.
const linePositions = 1 << 14

// gift returns the most seeds that the opponent can take in reply to a move, for the move
// where that is least; only the best moves count if so asked. It is none without a move.
func (j *judge) gift(p *position, onlyBest bool) int {
	game := j.tables.Game()
	n := none
	for pit, play := range game.Plays(p.board) {
		if !play.Legal || onlyBest && p.values[pit] != p.score {
			continue
		}
		reply := 0
		for _, answer := range game.Plays(play.Child) {
			reply = max(reply, answer.Captured)
		}
		if n == none || reply < n {
			n = reply
		}
	}
	return n
}

// Judge returns a function that reports whether a position of solved layers meets the condition. It fails like line.Best if
// the condition asks for the line.
func (c *Condition) Judge(t *tables.Tables) func(context.Context, *tables.Probe) (bool, error) {
	r := packed.New(t.Game())
	return func(ctx context.Context, probe *tables.Probe) (bool, error) {
		p := fromProbe(r, probe)
		return newJudge(ctx, t, r, c).all(&p)
	}
}

// all reports whether a position is as wanted, in every way.
func (j *judge) all(p *position) (bool, error) {
	if !j.condition.allows(value, int(p.score)) || !j.board(p.Board) {
		return false, nil
	}
	return j.moves(p)
}

// fact returns any fact.
func (j *judge) fact(f fact, p *position) (int, error) {
	switch {
	case f == value:
		return int(p.score), nil
	case f < moves:
		return j.onBoard(f, p.Board), nil
	case f < give:
		return p.ofMoves(f), nil
	}
	p.board = j.rules.Unpack(p.Board)
	return j.ahead(f, p)
}
