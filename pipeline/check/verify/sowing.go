package verify

import (
	"context"
	"encoding/binary"
	"math"

	"grenier/io/crew"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// The outcomes for all halves of the opponent are found once for each effect of a sowing, by asking
// the plain rules, and serve all positions of all layers.

// move is playing a pit with a certain number of seeds.
type move struct {
	sowing
	effect int // on the opponent's half
}

// effect is the effect of a sowing on the opponent's half.
type effect struct {
	board    awari.Board // an example of the mover's half, and the pit to be played
	pit      int
	outcomes [][]outcome // by the seeds of the opponent's half
	starving []uint64    // halves that are left without a seed, by seeds
}

// outcome says which halves result from the opponent's halves of which a number of seeds is captured.
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

// sowings has the effect of playing each pit with each number of seeds.
type sowings struct {
	game    awari.Game
	seeds   int            // at most, on a board
	half    *colex.Ranking // of halves
	byPit   [][]move       // by pit and seeds-1
	effects []effect
}

// newSowings asks the rules about all sowings on boards with up to the given seeds.
func newSowings(ctx context.Context, game awari.Game, seeds, workers int) (*sowings, error) {
	ranking, err := colex.New(game.Half(), seeds)
	if err != nil {
		return nil, err
	}
	s := &sowings{game: game, seeds: seeds, half: ranking, byPit: make([][]move, game.Half())}
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

// list finds the different effects on the opponent's half: the seeds it gets, and where the last
// seed falls. Sowings with fewer seeds come first, so that the example of an effect has the fewest.
func (s *sowings) list() {
	type key struct {
		given half
		last  int
	}
	known := map[key]int{}
	all := allSowings(s.game, s.seeds)
	for i := range s.seeds {
		for pit := range all {
			w := all[pit][i]
			k := key{given: w.given, last: w.last}
			if _, ok := known[k]; !ok {
				known[k] = len(s.effects)
				var alone awari.Board
				alone[pit] = uint8(i + 1)
				s.effects = append(s.effects, effect{board: alone, pit: pit})
			}
			s.byPit[pit] = append(s.byPit[pit], move{sowing: w, effect: known[k]})
		}
	}
}

// rank returns the rank of h among the halves with as many seeds.
func (s *sowings) rank(h half) uint64 {
	var pits [8]uint8
	binary.LittleEndian.PutUint64(pits[:], uint64(h))
	return s.half.Rank(pits[:s.game.Half()])
}

// ask finds the outcomes for all halves of the opponent with the given seeds.
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

// spans returns the spans of the opponent's halves with the given seeds of which a sowing
// captures a number.
func (s *sowings) spans(w *move, seeds, captured int) []span {
	for _, o := range s.effects[w.effect].outcomes[seeds] {
		if o.captured == captured {
			return o.spans
		}
	}
	return nil
}

// captures returns which numbers of seeds a move on a board with the given seeds can capture.
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

// sowingBytes returns a bound on the memory that the outcomes take, for boards with up to the given seeds. Halves that
// differ in their first two pits only are together in a few spans.
func sowingBytes(game awari.Game, seeds int) (bytes uint64) {
	const (
		spansEach = 4 * 5 / 4 * 8 // bytes of four spans, with the slack of append
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
