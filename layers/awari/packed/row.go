package packed

// Row plays and ranks boards with the same half of the opponent, which follow each other in a layer: the effect of
// a sowing on that half, and on the rank of the child, is worked out once. A move then takes only a
// multiplication and five additions from small tables.
type Row struct {
	rules   *Rules
	effects [MaxHalf][counts]effect
}

// effect describes the opponent's half after a sowing; it is the mover's after the move.
type effect struct {
	base     uint64 // part of the rank that it determines
	sums     uint64 // its seeds in every byte
	captured uint8
	starves  bool // nothing is left of it
}

// NewRow returns a row without a board.
func (r *Rules) NewRow() *Row { return &Row{rules: r} }

// Set makes it the row of a board.
func (w *Row) Set(b Board) {
	seeds := b.Own.Seeds()
	for pit := range w.rules.half {
		for n := 1; n <= seeds; n++ {
			w.effects[pit][n] = w.rules.effect(&w.rules.sowings[pit][n], b.Other)
		}
	}
}

// effect works out one.
func (r *Rules) effect(s *sowing, other Half) effect {
	other += s.given
	take := r.taken(s, other)
	captured := (other & take).Seeds()
	other &^= take
	sums := uint64(other) * everyOne
	e := effect{sums: sums >> 56 * everyOne, captured: uint8(captured), starves: other == 0}
	for pit := range MaxHalf {
		e.base += r.terms[pit][sums>>(8*pit)&63]
	}
	return e
}

// Child is the result of a move: rank, seeds captured and pit in one word.
type Child uint64

const (
	capturedAt = 48
	pitAt      = 56
	rankMask   = 1<<capturedAt - 1
)

func newChild(rank uint64, captured, pit int) Child {
	return Child(rank | uint64(captured)<<capturedAt | uint64(pit)<<pitAt)
}

// Rank returns the rank among the boards with as many seeds.
func (c Child) Rank() uint64 { return uint64(c) & rankMask }

// Captured returns the seeds that the move takes.
func (c Child) Captured() int { return int(c >> capturedAt & 0xff) }

// Pit returns the pit that is played.
func (c Child) Pit() int { return int(c >> pitAt) }

// Children puts the results of the legal moves of a board of the row into dst, by pit, and returns how many there are.
func (w *Row) Children(dst *[MaxHalf]Child, b Board) int {
	n, t := 0, &w.rules.terms
	for pit := range w.rules.half {
		seeds := b.Own.Pit(pit) & (counts - 1)
		if seeds == 0 {
			continue
		}
		e := &w.effects[pit][seeds]
		if e.starves {
			continue
		}
		sums := uint64(b.Own-Half(seeds)<<(8*pit)+w.rules.sowings[pit][seeds].own)*everyOne + e.sums
		rank := e.base + t[6][sums&63] + t[7][sums>>8&63] + t[8][sums>>16&63] + t[9][sums>>24&63] + t[10][sums>>32&63]
		dst[n] = newChild(rank, int(e.captured), pit)
		n++
	}
	if n == 0 {
		return w.rules.starving(dst, b)
	}
	return n
}

// starving is Children for a mover whose moves all leave the opponent without seeds, if there are any.
func (r *Rules) starving(dst *[MaxHalf]Child, b Board) (n int) {
	var list Plays
	r.Plays(b, &list)
	for pit := range r.half {
		if list.Legal>>pit&1 == 1 {
			dst[n] = newChild(r.Rank(list.Children[pit]), int(list.Captured[pit]), pit)
			n++
		}
	}
	return n
}
