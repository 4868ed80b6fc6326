package verify

import (
	"context"
	"encoding/binary"
	"math"

	"grenier/io/crew"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// A sowing changes both halves of a board, and what it does to one does not depend on
// the other: the mover's half decides how many seeds each pit of the opponent gets and
// which pit gets the last one, the opponent's half what is captured. So the outcomes for
// all halves of the opponent are found once for each effect, by asking the plain rules,
// and serve all positions of all layers.

// half is one half of a board, pit i in byte i.
type half uint64

// highBits has the upper bit of each byte set: no pit holds as many seeds.
const highBits = 0x8080808080808080

// holds reports whether each pit of h holds as many seeds as that of g, or more.
func (h half) holds(g half) bool { return ((h|highBits)-g)&highBits == highBits }

// pack returns the half with the given pits.
func pack(pits []uint8) (h half) {
	for i, x := range pits {
		h |= half(x) << (8 * i)
	}
	return h
}

// rank returns the rank of h among the halves with as many seeds.
func (s *sowings) rank(h half) uint64 {
	var pits [8]uint8
	binary.LittleEndian.PutUint64(pits[:], uint64(h))
	return s.half.Rank(pits[:s.game.Half()])
}

// sowing is playing a pit with a certain number of seeds.
type sowing struct {
	own    half // what each pit of the mover gets; the pit itself is empty afterwards
	kept   int  // seeds that stay in the mover's half
	effect int  // on the opponent's half
}

// effect is what a sowing does to the opponent's half.
type effect struct {
	board    awari.Board // an example of the mover's half, and the pit to be played
	pit      int
	outcomes [][]outcome // by the seeds of the opponent's half
	starving []uint64    // halves that are left without a seed, by seeds
}

// outcome is what becomes of the opponent's halves of which so many seeds are captured.
// The ranks of those that are left without a seed are not among the spans.
type outcome struct {
	captured int
	spans    []span
}

// span says that the halves with the ranks from..from+n-1 become those with the ranks
// to..to+n-1, from and to in 24 bits each, n in 16.
type span uint64

const (
	maxSpan   = math.MaxUint16
	rankBits  = 24
	rankLimit = 1 << rankBits
)

func newSpan(from, to uint64) span { return span(from | to<<rankBits | 1<<(2*rankBits)) }

func (r span) from() int { return int(r & (rankLimit - 1)) }
func (r span) to() int   { return int(r >> rankBits & (rankLimit - 1)) }
func (r span) n() int    { return int(r >> (2 * rankBits)) }

// add appends one half to the spans.
func (o *outcome) add(from, to uint64) {
	if last := len(o.spans) - 1; last >= 0 {
		r := o.spans[last]
		if n := r.n(); n < maxSpan && r.from()+n == int(from) && r.to()+n == int(to) {
			o.spans[last] = r + 1<<(2*rankBits)
			return
		}
	}
	o.spans = append(o.spans, newSpan(from, to))
}

// sowings knows what every pit with every number of seeds does when it is played.
type sowings struct {
	game    awari.Game
	seeds   int            // at most, on a board
	half    *colex.Ranking // of halves
	byPit   [][]sowing     // by pit and seeds-1
	effects []effect
}

// newSowings asks the rules about all sowings on boards with up to so many seeds.
func newSowings(ctx context.Context, game awari.Game, seeds, workers int) (*sowings, error) {
	ranking, err := colex.New(game.Half(), seeds)
	if err != nil {
		return nil, err
	}
	s := &sowings{game: game, seeds: seeds, half: ranking, byPit: make([][]sowing, game.Half())}
	s.list()
	type part struct{ effect, seeds int }
	var all []part
	for i := range s.effects {
		e := &s.effects[i]
		most := seeds - e.board.Seeds()
		e.outcomes, e.starving = make([][]outcome, most+1), make([]uint64, most+1)
		for b := range most + 1 {
			all = append(all, part{i, b})
		}
	}
	return s, crew.Each(ctx, workers, len(all), func(_, i int) error {
		return s.effects[all[i].effect].ask(game, ranking, all[i].seeds)
	})
}

// plenty is so much that adding to it captures nothing.
const plenty = 100

// list finds what each sowing does to the mover's half, and the different effects on that of
// the opponent. Those with fewer seeds come first, so that the example of an effect
// has the fewest.
func (s *sowings) list() {
	type key struct {
		given half
		last  int
	}
	known := map[key]int{}
	q := s.game.Half()
	for seeds := 1; seeds <= s.seeds; seeds++ {
		for pit := range q {
			var b awari.Board
			b[pit] = uint8(seeds)
			alone := b
			for i := q; i < 2*q; i++ {
				b[i] = plenty
			}
			after := s.game.Sow(b, pit).Board
			own := pack(after[:q])
			for i := q; i < 2*q; i++ {
				after[i] -= plenty
			}
			k := key{given: pack(after[q : 2*q]), last: s.last(pit, seeds)}
			if _, ok := known[k]; !ok {
				known[k] = len(s.effects)
				s.effects = append(s.effects, effect{board: alone, pit: pit})
			}
			kept := 0
			for _, x := range after[:q] {
				kept += int(x)
			}
			s.byPit[pit] = append(s.byPit[pit], sowing{own: own, kept: kept, effect: known[k]})
		}
	}
}

// last returns which pit of the opponent gets the last seed, -1 if none does.
func (s *sowings) last(pit, seeds int) int {
	p := s.game.Pits()
	return max(-1, (pit+1+(seeds-1)%(p-1))%p-s.game.Half())
}

// ask finds the outcomes for all halves of the opponent with so many seeds.
func (e *effect) ask(game awari.Game, ranking *colex.Ranking, seeds int) error {
	halves, err := ranking.Iterate(seeds)
	if err != nil {
		return err
	}
	q := game.Half()
	var all []outcome
	b := e.board
	for rank, pits := range halves {
		copy(b[q:], pits)
		sown := game.Sow(b, e.pit)
		if sown.Starves {
			e.starving[seeds]++
			continue
		}
		i := 0
		for i < len(all) && all[i].captured != sown.Captured {
			i++
		}
		if i == len(all) {
			all = append(all, outcome{captured: sown.Captured})
		}
		all[i].add(rank, ranking.Rank(sown.Board[q:2*q]))
	}
	e.outcomes[seeds] = all
	return nil
}

// spans returns what becomes of the opponent's halves with so many seeds of which a sowing
// captures a number.
func (s *sowings) spans(w *sowing, seeds, captured int) []span {
	for _, o := range s.effects[w.effect].outcomes[seeds] {
		if o.captured == captured {
			return o.spans
		}
	}
	return nil
}

// captures returns the numbers of seeds that a move on a board with so many can capture.
func (s *sowings) captures(seeds int) []bool {
	found := make([]bool, seeds+1)
	for i := range s.effects {
		e := &s.effects[i]
		for b := range min(len(e.outcomes), seeds-e.board.Seeds()+1) {
			for _, o := range e.outcomes[b] {
				found[o.captured] = true
			}
		}
	}
	return found
}

// bytes returns the memory that the outcomes take.
func (s *sowings) bytes() uint64 {
	n := 0
	for i := range s.effects {
		for _, all := range s.effects[i].outcomes {
			for _, o := range all {
				n += 8 * cap(o.spans)
			}
		}
	}
	return uint64(n)
}

// sowingBytes returns a bound on bytes, for boards with up to so many seeds. Halves that
// differ in their first two pits only are together in a few spans.
func sowingBytes(game awari.Game, seeds int) (bytes uint64) {
	const (
		spansEach = 4 * 5 / 4 * 8 // bytes of four spans, with what append takes besides
		laps      = 2             // sowings of several laps have few seeds left for the opponent
		small     = 64            // bytes that count where there are few groups
	)
	q := game.Half()
	for b := range seeds {
		groups, err := colex.Binomial(b+q-2, q-2)
		if err != nil {
			return math.MaxUint64
		}
		bytes += (groups*spansEach + small) * uint64(q+1+laps)
	}
	return bytes
}
