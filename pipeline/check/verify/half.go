package verify

import "grenier/layers/awari"

// The effect of a sowing on one half of a board does not depend on the other: the mover's half decides how many seeds
// each pit of the opponent gets, and which pit gets the last one. The plain rules are asked once for each pit and
// number of seeds. Package packed has the same for play; it is not used here, so that checks share no code with the
// engine and the proofs.

// half is one half of a board, pit i in byte i. No pit holds 128 seeds or more.
type half uint64

// highBits has the upper bit of each byte set.
const highBits = 0x8080808080808080

// pack returns the half with the given pits, eight at most.
func pack(pits []uint8) (h half) {
	for i, x := range pits {
		h |= half(x) << (8 * i)
	}
	return h
}

// pit returns how many seeds a pit holds.
func (h half) pit(i int) int { return int(h >> (8 * i) & 0xff) }

// holds reports whether each pit of h holds at least the seeds of the same pit of g.
func (h half) holds(g half) bool { return ((h|highBits)-g)&highBits == highBits }

// sowing is playing a pit with a certain number of seeds, apart from captures.
type sowing struct {
	own   half // seeds that each pit of the mover gets; the pit played is empty afterwards
	kept  int  // the seeds of own
	given half // seeds that each pit of the opponent gets
	last  int  // the pit of the opponent that gets the last seed, -1 if none does
}

// plenty is a number of seeds to which adding some captures nothing.
const plenty = 64

// allSowings returns the sowings of a game by pit and number of seeds, from 1 to the given one. Sowings of
// more seeds give no pit less.
func allSowings(game awari.Game, seeds int) [][]sowing {
	all := make([][]sowing, game.Half())
	for pit := range all {
		for s := 1; s <= seeds; s++ {
			all[pit] = append(all[pit], askSowing(game, pit, s))
		}
	}
	return all
}

// askSowing asks the rules about one sowing.
func askSowing(game awari.Game, pit, seeds int) sowing {
	q := game.Half()
	var b awari.Board
	b[pit] = uint8(seeds)
	for i := q; i < 2*q; i++ {
		b[i] = plenty
	}
	after := game.Sow(b, pit).Board
	w := sowing{own: pack(after[:q]), last: max(-1, (pit+1+(seeds-1)%(2*q-1))%(2*q)-q)}
	for i := range q {
		w.kept += int(after[i])
		after[q+i] -= plenty
	}
	w.given = pack(after[q : 2*q])
	return w
}
