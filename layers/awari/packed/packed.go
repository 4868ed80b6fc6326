// Package packed plays awari boards that are packed into two machine words, one for each player. A pit is
// a byte, so a sowing is an addition to each word, a capture a mask, and the colex rank of a board is
// read from tables: no step for each seed.
//
//	rules := packed.New(game)
//	var moves packed.Plays
//	b := rules.Pack(board)
//	rules.Plays(b, &moves)
//	rank := rules.Rank(moves.Children[0])
//
// The seeds that a sowing adds to the two words depend on the pit and its seeds alone, not on the rest of the
// board. New asks the plain rules of layers/awari for all of them, and whether a capture may take all seeds of the opponent; Plays asks
// these rules again for the few boards on which each move leaves the opponent without seeds. So the rule sets live
// there, and nothing is shared with the solver, which takes moves apart in another way
// (layers/awari/halves).
package packed

import (
	"math/bits"

	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// MaxHalf is the largest number of pits of a player.
const MaxHalf = awari.MaxPits / 2

// counts is the number of values that a pit can have, rounded up so that an index needs no check.
const counts = 64

// Board is a packed board. After a move it is turned, like an awari.Board.
type Board struct{ Own, Other Half }

// Rules plays and ranks the packed boards of a game. It is immutable.
type Rules struct {
	game    awari.Game
	half    int
	sowings [MaxHalf][counts]sowing
	slam    Half // all bits if a capture may take all seeds of the opponent, none if such a one takes nothing
	// terms are the terms of a rank, by pit and by the seeds up to the pit: MaxHalf pits of the mover, then the
	// pits of the opponent, without the last one.
	terms [awari.MaxPits - 1][counts]uint64
}

// New returns the rules of a game.
func New(game awari.Game) *Rules {
	r := &Rules{game: game, half: game.Half()}
	if !game.Rules().SlamIsQuiet() {
		r.slam = ^Half(0)
	}
	for pit := range r.half {
		for seeds := 1; seeds <= awari.MaxSeeds; seeds++ {
			r.sowings[pit][seeds] = r.ask(pit, seeds)
		}
	}
	for pit := range r.half {
		for sum := range counts {
			r.terms[pit][sum] = colex.MustBinomial(sum+pit, pit+1)
			if pit < r.half-1 {
				r.terms[MaxHalf+pit][sum] = colex.MustBinomial(sum+r.half+pit, r.half+pit+1)
			}
		}
	}
	return r
}

// Game returns the game that is played.
func (r *Rules) Game() awari.Game { return r.game }

// Pack packs a board.
func (r *Rules) Pack(b awari.Board) Board {
	return Board{Pack(b[:r.half]), Pack(b[r.half : 2*r.half])}
}

// Unpack is the inverse of Pack.
func (r *Rules) Unpack(p Board) (b awari.Board) {
	p.Own.Unpack(b[:r.half])
	p.Other.Unpack(b[r.half : 2*r.half])
	return b
}

// Rank returns the colex rank of a board among those with as many seeds: the sum of a term for each pit but the last,
// which depends on the seeds up to there.
func (r *Rules) Rank(p Board) uint64 {
	own := uint64(p.Own) * everyOne
	other := (uint64(p.Other) + own>>40&0xff) * everyOne
	t := &r.terms
	return t[0][own&63] + t[1][own>>8&63] + t[2][own>>16&63] + t[3][own>>24&63] + t[4][own>>32&63] + t[5][own>>40&63] +
		t[6][other&63] + t[7][other>>8&63] + t[8][other>>16&63] + t[9][other>>24&63] + t[10][other>>32&63]
}

// Next returns the board with the next rank among those with as many seeds and pits, which must exist; half is the pits of a
// player.
func (b Board) Next(half int) Board {
	if b.Own>>8 != 0 {
		return Board{b.Own.Next(), b.Other}
	}
	return b.NextRow(half)
}

// NextRow is Next for the last board with a half of the opponent: all seeds of the mover are in pit 0.
func (b Board) NextRow(half int) Board {
	row := (b.Own | b.Other<<8).Next() // the mover's half counts as one pit
	return Board{row & 0xff << (8 * (half - 1)), row >> 8}
}

// Plays are the legal moves of a board, by pit.
type Plays struct {
	Children [MaxHalf]Board // the boards that they lead to
	Captured [MaxHalf]int8  // the seeds that they take
	Legal    uint8          // a bit for each pit; the numbers of other pits mean nothing
	Quiet    uint8          // those that capture nothing
}

// Plays fills a list with the moves of a board.
func (r *Rules) Plays(p Board, list *Plays) {
	legal, quiet, starving := uint8(0), uint8(0), false
	for pits := filled(p.Own); pits != 0; pits &= pits - 1 {
		top := pits & -pits
		pit := bits.TrailingZeros64(uint64(top)) / 8
		s := &r.sowings[pit][p.Own.Pit(pit)]
		own, other := p.Own&^(top<<1-top>>7)+s.own, p.Other+s.given
		take := r.taken(s, other)
		captured := (other & take).Seeds()
		if other &^= take; other == 0 {
			starving = true
			continue
		}
		list.Children[pit], list.Captured[pit] = Board{other, own}, int8(captured)
		legal |= 1 << pit
		if take == 0 {
			quiet |= 1 << pit
		}
	}
	list.Legal, list.Quiet = legal, quiet
	if legal == 0 && starving {
		r.starve(p, list)
	}
}

// starve adds the moves that the rules allow a mover whose moves all leave the opponent without seeds.
func (r *Rules) starve(p Board, list *Plays) {
	for pit, play := range r.game.Plays(r.Unpack(p)) {
		if play.Legal {
			list.Legal |= 1 << pit
			list.Children[pit], list.Captured[pit] = r.Pack(play.Child), int8(play.Captured)
		}
	}
}

// Quiet plays one pit; ok is false if that is not a move that takes no seeds. Such a move leaves the opponent
// a seed, so all rule sets allow it.
func (r *Rules) Quiet(p Board, pit int) (child Board, ok bool) {
	seeds := p.Own.Pit(pit)
	if seeds == 0 {
		return Board{}, false
	}
	s := &r.sowings[pit][seeds]
	child = Board{p.Other + s.given, p.Own - Half(seeds)<<(8*pit) + s.own}
	return child, child.Own != 0 && r.taken(s, child.Own) == 0
}

// Before appends the boards from which a quiet move leads to p, in the order of awari.Game.Predecessors.
func (r *Rules) Before(dst []Board, p Board) []Board {
	if p.Own == 0 {
		return dst
	}
	for pit := range r.half {
		if p.Other.Pit(pit) != 0 {
			continue
		}
		for seeds := 1; seeds <= awari.MaxSeeds; seeds++ {
			s := &r.sowings[pit][seeds]
			if !p.Other.holds(s.own) || !p.Own.holds(s.given) {
				break // more seeds give no pit less
			}
			if r.taken(s, p.Own) == 0 {
				dst = append(dst, Board{p.Other - s.own + Half(seeds)<<(8*pit), p.Own - s.given})
			}
		}
	}
	return dst
}
