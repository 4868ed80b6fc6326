package search

import (
	"math/bits"

	"grenier/layers/awari"
)

// position is a board for fast play: a byte for each pit, the first pit lowest.
type position struct{ own, other uint64 }

// pack makes a position of a board.
func (m *mover) pack(b *awari.Board) position {
	var p position
	for i := range m.half {
		p.own |= uint64(b[i]) << (8 * i)
		p.other |= uint64(b[m.half+i]) << (8 * i)
	}
	return p
}

// board is the way back.
func (m *mover) board(p position) awari.Board {
	var b awari.Board
	for i := range m.half {
		b[i], b[m.half+i] = uint8(p.own>>(8*i)), uint8(p.other>>(8*i))
	}
	return b
}

// seeds returns the seeds in a pit of the mover.
func (p position) seeds(pit int) uint8 { return uint8(p.own >> (8 * pit)) }

// mover plays and ranks positions, as awari.Game does, without a step for each seed. It is
// immutable.
type mover struct {
	game      awari.Game
	half      int
	sown      [awari.MaxPits / 2][awari.MaxSeeds + 1]sown
	binom     [awari.MaxPits][64]uint64 // binom[i][c] is "c choose i+1"
	first     [awari.MaxSeeds + 2]uint64
	appraisal appraisal
}

// sown is what sowing adds to the pits.
type sown struct {
	own, other uint64
	last       int // pit of the last seed, from 0 in the opponent's half; negative in the own half
}

func newMover(game awari.Game) *mover {
	m := &mover{game: game, half: game.Half(), appraisal: newAppraisal(game)}
	for pit := range m.half {
		for seeds := range m.sown[pit] {
			m.sown[pit][seeds] = m.sow(pit, seeds)
		}
	}
	for c := range m.binom[0] {
		m.binom[0][c] = uint64(c)
	}
	for i := 1; i < len(m.binom); i++ {
		for c := 1; c < len(m.binom[i]); c++ {
			m.binom[i][c] = m.binom[i][c-1] + m.binom[i-1][c-1]
		}
	}
	for n := range m.first {
		m.first[n] = m.binom[game.Pits()-1][game.Pits()+n-1]
	}
	return m
}

// sow sows seeds from an empty pit into an empty board.
func (m *mover) sow(pit, seeds int) sown {
	s := sown{last: -1}
	at := pit
	for range seeds {
		if at = (at + 1) % m.game.Pits(); at == pit {
			at = (at + 1) % m.game.Pits()
		}
		if at < m.half {
			s.own += 1 << (8 * at)
		} else {
			s.other += 1 << (8 * (at - m.half))
		}
		s.last = at - m.half
	}
	return s
}

// plays are the legal moves of a position.
type plays struct {
	children [awari.MaxPits / 2]position
	captured [awari.MaxPits / 2]int8
	legal    uint8 // a bit for each pit
	quiet    uint8 // those that capture nothing
}

// plays fills a list with the moves of a position with n seeds.
func (m *mover) plays(p position, n int, list *plays) {
	list.legal, list.quiet = 0, 0
	starving := uint8(0)
	for pit := range m.half {
		seeds := p.seeds(pit)
		if seeds == 0 {
			continue
		}
		s := &m.sown[pit][seeds]
		own := p.own&^(0xff<<(8*pit)) + s.own
		other, captured := p.other+s.other, 0
		for i := s.last; i >= 0; i-- {
			x := uint8(other >> (8 * i))
			if x-2 > 1 {
				break
			}
			captured += int(x)
			other &^= 0xff << (8 * i)
		}
		if other == 0 {
			starving |= 1 << pit
			continue
		}
		list.children[pit], list.captured[pit] = position{other, own}, int8(captured)
		list.legal |= 1 << pit
		if captured == 0 {
			list.quiet |= 1 << pit
		}
	}
	if list.legal == 0 && starving != 0 && m.game.Rules() == awari.Awari {
		list.legal = starving
		for pits := starving; pits != 0; pits &= pits - 1 {
			pit := bits.TrailingZeros8(pits)
			list.children[pit], list.captured[pit] = position{}, int8(n)
		}
	}
}

// rank returns the rank of a position among those with as many seeds.
func (m *mover) rank(p position) uint64 {
	rank, c := uint64(0), uint64(0)
	for i := range m.half {
		c += p.own >> (8 * i) & 0xff
		rank += m.binom[i][(c+uint64(i))&63]
	}
	for i := range m.half - 1 {
		c += p.other >> (8 * i) & 0xff
		rank += m.binom[m.half+i][(c+uint64(m.half+i))&63]
	}
	return rank
}

// code numbers positions with any number of seeds n.
func (m *mover) code(p position, n int) uint64 { return m.first[n] + m.rank(p) }

// size is the number of positions with n seeds.
func (m *mover) size(n int) uint64 { return m.first[n+1] - m.first[n] }
