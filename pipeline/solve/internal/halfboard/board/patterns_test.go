package board

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// play is a half and a pit of it that is not empty.
type play struct {
	half Half
	pit  int
}

// move returns what the play does to the opponent's half.
func (p play) move(q int) halves.Move { return halves.Sow(p.half[:q], p.pit) } // p is a copy

// anyPlay draws a play of a half with 1 to g.n seeds.
func (g *Geometry) anyPlay(rng *rand.Rand) play {
	sum := 1 + rng.IntN(g.N)
	h := g.Pits[int(g.first(sum))+rng.IntN(g.columns(sum))]
	for {
		if pit := rng.IntN(g.Q); h[pit] > 0 {
			return play{h, pit}
		}
	}
}

// outcome is what a move does to a row: it captures seeds, or it is quiet if these are
// 0, and child is the rank of the half that it leaves. If there is no
// ordinary move, seeds is -1.
type outcome struct {
	seeds int
	child uint32
}

var noMove = outcome{seeds: -1}

// ruled plays seed by seed.
func (g *Geometry) ruled(game awari.Game, p play, opponent uint32) outcome {
	var board awari.Board
	copy(board[:g.Q], p.half[:g.Q])
	copy(board[g.Q:], g.Pits[opponent][:g.Q])
	sown := game.Sow(board, p.pit)
	if sown.Starves {
		return noMove
	}
	return outcome{sown.Captured, uint32(g.Halves.Half().Rank(sown.Board[g.Q : 2*g.Q]))}
}

// outcomes returns what a pattern says about the rows of class.
func (p *pattern) outcomes(t *testing.T, class RowClass, rows int) []outcome {
	all := slices.Repeat([]outcome{noMove}, rows)
	note := func(row int, o outcome) {
		if row >= rows || all[row] != noMove {
			t.Fatalf("row %d of %d: %+v, after %+v", row, rows, o, all[min(row, rows-1)])
		}
		all[row] = o
	}
	for chunk := range len(p.First[class]) - 1 {
		for _, w := range p.Words[class][p.First[class][chunk]:p.First[class][chunk+1]] {
			must.Hold(t, int(w.Chunk) == chunk && w.Pick != 0 && bits.OnesCount64(w.Pick) == bits.OnesCount64(w.Place),
				"chunk %d has the word %+v", chunk, w)
			place := w.Place
			for pick := w.Pick; pick != 0; pick, place = pick&(pick-1), place&(place-1) {
				note(chunk*Side+bits.TrailingZeros64(place), outcome{0, w.Panel*Side + uint32(bits.TrailingZeros64(pick))})
			}
		}
	}
	for _, c := range p.captures[class] {
		for _, pair := range c.pairs {
			must.Not(t, c.seeds <= 0, "a capture of %d seeds in row %d", c.seeds, pair.row)
			note(int(pair.row), outcome{c.seeds, pair.child})
		}
	}
	return all
}

// eachPattern calls check for random patterns, with an example of the move.
func eachPattern(t *testing.T, check func(g *Geometry, rules awari.Rules, sum int, example play, p *pattern)) {
	rng := tries.Rand(t)
	for q, n := range map[int]int{2: 60, 3: 40, 4: 25, 5: 18, 6: 14} {
		g := must.Get(NewGeometry(q, n))(t)
		for range tries.Runs(150) {
			example := g.anyPlay(rng)
			sum := n - example.half.Sum()
			if rng.IntN(2) == 0 {
				sum = rng.IntN(sum + 1)
			}
			rules := awaritest.AnyRules(rng)
			check(g, rules, sum, example, g.newPattern(rules, sum, example.move(q)))
		}
	}
}

// TestLongPatternsFollowTheRules plays random moves against all halves of a sum, seed
// by seed.
func TestLongPatternsFollowTheRules(t *testing.T) {
	eachPattern(t, func(g *Geometry, rules awari.Rules, sum int, example play, p *pattern) {
		game := awaritest.Game(t, 2*g.Q, rules)
		for class := range Classes {
			rows := g.Rows[sum][class]
			must.Not(t, len(rows)%Side != 0 && p.quiet[class][len(rows)/Side]>>(len(rows)%Side) != 0,
				"pit %d of %v, sum %d: rows beyond the last one are quiet", example.pit, example.half, sum)
			for row, got := range p.outcomes(t, class, len(rows)) {
				if want := g.ruled(game, example, rows[row]); got != want {
					t.Fatalf("pit %d of %v against %v: %+v, want %+v", example.pit, example.half, g.Pits[rows[row]], got, want)
				}
				if quiet := p.quiet[class][row/Side]>>(row%Side)&1 == 1; quiet != (got.seeds == 0) {
					t.Fatalf("pit %d of %v against %v: %+v, quiet: %v", example.pit, example.half, g.Pits[rows[row]], got, quiet)
				}
			}
		}
	})
}

// TestPatternsAreBuiltOnce asks for the same patterns from several goroutines, in
// layers of their own.
func TestPatternsAreBuiltOnce(t *testing.T) {
	const askers, sums = 4, 8
	moves := []halves.Move{{Ones: 1, Last: 0}, {Ones: 2, Last: 1}, {Ones: 2, Last: -1}, {Laps: 1, Last: -1}}
	kept := NewPatterns(awari.Abapa)
	var got [askers][]*pattern
	var wg sync.WaitGroup
	for i := range askers {
		g := must.Get(NewGeometry(3, 14+i))(t)
		wg.Go(func() {
			for sum := range sums {
				for _, move := range moves {
					got[i] = append(got[i], kept.get(g, sum, move))
				}
			}
		})
	}
	wg.Wait()
	for i := range askers {
		should.Hold(t, slices.Equal(got[i], got[0]), "asker %d has patterns of its own", i)
	}
	different := map[*pattern]bool{}
	for _, p := range got[0] {
		different[p] = true
	}
	should.Hold(t, len(different) == sums*len(moves), "%d patterns for %d keys", len(different), sums*len(moves))
}
