package search

import (
	"math/bits"

	"grenier/kernels/colex"
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
func (p position) seeds(pit int) uint8 { return uint8(p.own >> (8 * pit & 63)) }

// mover plays and ranks positions, as awari.Game does, without a step for each seed. It is
// immutable.
type mover struct {
	game      awari.Game
	half      int
	sown      [awari.MaxPits / 2][awari.MaxSeeds + 1]sown
	terms     [awari.MaxPits - 1][64]uint64 // of a rank: by pit, six for each half, and seeds up to it
	first     [awari.MaxSeeds + 2]uint64
	appraisal appraisal
}

// sown is what sowing adds to the pits.
type sown struct {
	own, other uint64
	reach      uint64 // the pits of the opponent up to the last one sown, all bits of each; 0 if that is an own one
}

func newMover(game awari.Game) *mover {
	m := &mover{game: game, half: game.Half(), appraisal: newAppraisal(game)}
	for pit := range m.half {
		for seeds := range m.sown[pit] {
			m.sown[pit][seeds] = m.sow(pit, seeds)
		}
	}
	for pit := range m.half {
		for c := range m.terms[pit] {
			m.terms[pit][c] = colex.MustBinomial(c+pit, pit+1)
		}
	}
	for pit := range m.half - 1 {
		for c := range m.terms[0] {
			m.terms[awari.MaxPits/2+pit][c] = colex.MustBinomial(c+m.half+pit, m.half+pit+1)
		}
	}
	for n := range m.first {
		m.first[n] = colex.MustBinomial(game.Pits()+n-1, game.Pits())
	}
	return m
}

// sow sows seeds from an empty pit into an empty board.
func (m *mover) sow(pit, seeds int) sown {
	var s sown
	at := pit
	for range seeds {
		if at = (at + 1) % m.game.Pits(); at == pit {
			at = (at + 1) % m.game.Pits()
		}
		if at < m.half {
			s.own += 1 << (8 * at)
			s.reach = 0
		} else {
			s.other += 1 << (8 * (at - m.half))
			s.reach = 1<<(8*(at-m.half+1)) - 1
		}
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

// A number in each byte.
const (
	everyOne  = 0x0101010101010101
	everyTop  = 0x8080808080808080 // the highest bit
	everyRest = everyTop - everyOne
)

// filled returns the highest bit of each byte that is not 0. All are less than 128.
func filled(bytes uint64) uint64 { return (bytes + everyRest) & everyTop }

// sum returns the sum of all bytes, which is less than 256.
func sum(bytes uint64) int { return int(bytes * everyOne >> 56) }

// taken returns the pits that are captured, all bits of each: from the last one of reach on backwards, while they hold 2 or 3.
func taken(other, reach uint64) uint64 {
	kept := filled((other^2*everyOne)&^everyOne) & reach
	return reach &^ (1<<(bits.Len64(kept)&63) - 1)
}

// plays fills a list with the moves of a position.
func (m *mover) plays(p position, list *plays) {
	legal, quiet, starving := uint8(0), uint8(0), false
	for pits := filled(p.own); pits != 0; pits &= pits - 1 {
		top := pits & -pits
		pit := bits.TrailingZeros64(top) / 8
		s := &m.sown[pit][p.seeds(pit)]
		own, other := p.own&^(top<<1-top>>7)+s.own, p.other+s.other
		take := taken(other, s.reach)
		captured := sum(other & take)
		if other &^= take; other == 0 {
			starving = true
			continue
		}
		list.children[pit], list.captured[pit] = position{other, own}, int8(captured)
		legal |= 1 << pit
		if take == 0 {
			quiet |= 1 << pit
		}
	}
	list.legal, list.quiet = legal, quiet
	if legal == 0 && starving {
		m.starve(p, list)
	}
}

// starve adds what the rules allow a mover whose moves all leave the opponent without seeds.
func (m *mover) starve(p position, list *plays) {
	for pit, play := range m.game.Plays(m.board(p)) {
		if play.Legal {
			list.legal |= 1 << pit
			list.children[pit], list.captured[pit] = m.pack(&play.Child), int8(play.Captured)
		}
	}
}

// rank returns the rank of a position among those with as many seeds: the sum of a term for each pit but the last, which
// depends on the seeds up to there.
func (m *mover) rank(p position) uint64 {
	own := p.own * everyOne
	other := (p.other + own>>40&0xff) * everyOne
	t := &m.terms
	return t[0][own&63] + t[1][own>>8&63] + t[2][own>>16&63] + t[3][own>>24&63] + t[4][own>>32&63] + t[5][own>>40&63] +
		t[6][other&63] + t[7][other>>8&63] + t[8][other>>16&63] + t[9][other>>24&63] + t[10][other>>32&63]
}

// code numbers positions with any number of seeds n.
func (m *mover) code(p position, n int) uint64 { return m.first[n] + m.rank(p) }

// size is the number of positions with n seeds.
func (m *mover) size(n int) uint64 { return m.first[n+1] - m.first[n] }
