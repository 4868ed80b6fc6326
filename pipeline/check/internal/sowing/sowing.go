// Package sowing knows what every sowing does to the two halves of a board. What it does to one
// does not depend on the other: the mover's half decides how many seeds each pit of the opponent
// gets, and which pit gets the last one. The plain rules of layers/awari are asked, once for
// each pit and number of seeds.
package sowing

import "grenier/layers/awari"

// Half is one half of a board, pit i in byte i. No pit holds 128 seeds or more.
type Half uint64

// highBits has the upper bit of each byte set.
const highBits = 0x8080808080808080

// Pack returns the half with the given pits, eight at most.
func Pack(pits []uint8) (h Half) {
	for i, x := range pits {
		h |= Half(x) << (8 * i)
	}
	return h
}

// Pit returns how many seeds a pit holds.
func (h Half) Pit(i int) int { return int(h >> (8 * i) & 0xff) }

// Holds reports whether each pit of h holds as many seeds as that of g, or more.
func (h Half) Holds(g Half) bool { return ((h|highBits)-g)&highBits == highBits }

// Sowing is playing a pit with a certain number of seeds, apart from captures.
type Sowing struct {
	Own   Half // what each pit of the mover gets; that which is played is empty afterwards
	Kept  int  // the seeds of Own
	Given Half // what each pit of the opponent gets
	Last  int  // the pit of the opponent that gets the last seed, -1 if none does
}

// plenty is so much that adding to it captures nothing.
const plenty = 64

// All returns the sowings of a game by pit and number of seeds, from 1 to the given one. Those of
// more seeds give no pit less.
func All(game awari.Game, seeds int) [][]Sowing {
	all := make([][]Sowing, game.Half())
	for pit := range all {
		for s := 1; s <= seeds; s++ {
			all[pit] = append(all[pit], one(game, pit, s))
		}
	}
	return all
}

// one asks the rules about one sowing.
func one(game awari.Game, pit, seeds int) Sowing {
	q := game.Half()
	var b awari.Board
	b[pit] = uint8(seeds)
	for i := q; i < 2*q; i++ {
		b[i] = plenty
	}
	after := game.Sow(b, pit).Board
	w := Sowing{Own: Pack(after[:q]), Last: max(-1, (pit+1+(seeds-1)%(2*q-1))%(2*q)-q)}
	for i := range q {
		w.Kept += int(after[i])
		after[q+i] -= plenty
	}
	w.Given = Pack(after[q : 2*q])
	return w
}
