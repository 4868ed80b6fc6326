package solve_test

import (
	"fmt"
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// plainRules are the rules of docs/rules.md and a retrograde solver, written down once more: they share nothing with the
// program, not even the order of boards.
type plainRules struct {
	pits      int
	quietSlam bool                   // a capture of all seeds of the opponent takes nothing
	takesAll  bool                   // who cannot feed the opponent takes everything
	numbers   []map[plainBoard]int32 // of boards, by seeds
}

// plainBoard is a board, the mover's pits first.
type plainBoard [awari.MaxPits]uint8

// boards lists the boards with n seeds.
func (g *plainRules) boards(n int) (all []plainBoard) {
	var b plainBoard
	var fill func(pit, left int)
	fill = func(pit, left int) {
		if b[pit] = uint8(left); pit == g.pits-1 {
			all = append(all, b)
			return
		}
		for here := range left + 1 {
			b[pit] = uint8(here)
			fill(pit+1, left-here)
		}
	}
	fill(0, n)
	return all
}

// play plays a pit; feeds says that the opponent has a seed afterwards.
func (g *plainRules) play(b plainBoard, pit int) (child plainBoard, taken int, feeds bool) {
	half, hand, at := g.pits/2, b[pit], pit
	for b[pit] = 0; hand > 0; hand-- {
		if at = (at + 1) % g.pits; at == pit {
			at = (at + 1) % g.pits
		}
		b[at]++
	}
	sown := b
	for ; at >= half && (b[at] == 2 || b[at] == 3); at-- {
		taken += int(b[at])
		b[at] = 0
	}
	has := func() bool { return slices.ContainsFunc(b[half:g.pits], func(x uint8) bool { return x > 0 }) }
	if g.quietSlam && taken > 0 && !has() {
		b, taken = sown, 0
	}
	copy(child[:], b[half:g.pits])
	copy(child[half:], b[:half])
	return child, taken, has()
}

type plainLayer struct {
	best  []int8  // the best capture, or the end of the game; none if there is neither
	quiet []int32 // where moves that take nothing lead
	first []int32 // where those of a board begin
}

const noCapture = -128

func (g *plainRules) moves(n int, lower [][]int8) (l plainLayer) {
	boards, numbers := g.boards(n), map[plainBoard]int32{}
	for i, b := range boards {
		numbers[b] = int32(i)
	}
	g.numbers = append(g.numbers, numbers)
	for _, b := range boards {
		l.first = append(l.first, int32(len(l.quiet)))
		best, unfed, quiet := noCapture, false, len(l.quiet)
		for pit := range g.pits / 2 {
			if b[pit] == 0 {
				continue
			}
			child, taken, feeds := g.play(b, pit)
			switch {
			case !feeds:
				unfed = true
			case taken == 0:
				l.quiet = append(l.quiet, numbers[child])
			default:
				best = max(best, taken-int(lower[n-taken][g.numbers[n-taken][child]]))
			}
		}
		if best == noCapture && len(l.quiet) == quiet {
			if best = -n; unfed && g.takesAll {
				best = n
			}
		}
		l.best = append(l.best, int8(best))
	}
	l.first = append(l.first, int32(len(l.quiet)))
	return l
}

// solve returns the scores of a layer: for each value from the largest on, the boards whose mover, or
// whose opponent, can force it; what nobody can force is 0.
func (l *plainLayer) solve(n int) []int8 {
	scores := make([]int8, len(l.best))
	for v := int8(n); v > 0; v-- {
		for changed := true; changed; {
			changed = false
			for i, best := range l.best {
				if scores[i] != 0 {
					continue
				}
				children := l.quiet[l.first[i]:l.first[i+1]]
				switch lost := best <= -v; {
				case best >= v || slices.ContainsFunc(children, func(c int32) bool { return scores[c] < 0 }):
					scores[i], changed = v, true
				case lost && !slices.ContainsFunc(children, func(c int32) bool { return scores[c] <= 0 }):
					scores[i], changed = -v, true
				}
			}
		}
	}
	return scores
}

// TestLongPlainRules compares the files of the engine with the scores of a plain solver that knows nothing but the rules.
func TestLongPlainRules(t *testing.T) {
	most := tries.Pick(map[int]int{4: 12, 6: 7, 12: 4}, map[int]int{4: 24, 6: 13, 8: 11, 12: 10}, map[int]int{4: 40, 6: 20, 8: 16, 12: 14})
	for pits, seeds := range most {
		for _, rules := range awari.RuleSets() {
			top := seeds
			if rules != awari.Abapa { // reference files have the others
				top = min(seeds, 11)
			}
			t.Run(fmt.Sprintf("%d pits, %v", pits, rules), func(t *testing.T) { comparePlainly(t, awaritest.Game(t, pits, rules), top) })
		}
	}
}

func comparePlainly(t *testing.T, game awari.Game, most int) {
	dir := t.TempDir()
	mustSolve(t, dir, game, options(most))
	tab := must.Get(tables.Open(t.Context(), dir))(t)
	defer tab.Close()
	space := must.Get(awari.NewSpace(game, most))(t)
	g := &plainRules{pits: game.Pits(), quietSlam: game.Rules() == awari.Abapa, takesAll: game.Rules() != awari.Strict}
	var layers [][]int8
	for n := range most + 1 {
		l := g.moves(n, layers)
		layers = append(layers, l.solve(n))
		got, boards := make([]int8, space.Size(n)), g.boards(n)
		must.OK(t, tab.Read(t.Context(), n, 0, got))
		for i, b := range boards {
			_, rank := space.Rank(awari.Board(b))
			must.Hold(t, got[rank] == layers[n][i], "%v is worth %d, not %d", b, layers[n][i], got[rank])
		}
		must.Equal(t, len(boards), len(got), "boards with %d seeds", n)
	}
}
