package swap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/swap"
)

// shuffled returns a random state.
func shuffled(g *swap.Grid, r *rand.Rand) swap.List {
	l := g.Home()
	r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

func TestListedSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 65}, {9, 8}, {0, 1}, {1, -1}, {1 << 32, 1 << 32}} {
		should.Be(t, must.Err(swap.NewListedGrid(size[0], size[1])), swap.ErrSize, "%v", size)
	}
	g := mustGrid(t, 8, 8)
	should.Hold(t, len(g.Swaps()) == 112 && !g.Packs() && mustGrid(t, 4, 4).Packs(), "%d swaps", len(g.Swaps()))
}

// TestListAgainstState does the same with both kinds of states.
func TestListAgainstState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range sizes() {
		g := mustGrid(t, size[0], size[1])
		l := shuffled(g, r)
		s := l.State()
		for _, m := range g.Swaps() {
			must.Hold(t, l.Parity() == g.Parity(s) && l.Solved() == (s == g.Goal()) && l.State() == s && slices.Equal(g.List(s), l) && l.Valid(),
				"%v: %v is not %x", size, l, s)
			l.Swap(m)
			s = g.Apply(s, m)
		}
		if !g.Home().Solved() || g.Home().State() != g.Goal() {
			t.Errorf("%v: home is %v", size, g.Home())
		}
	}
}

// TestToward plays random moves from random states, and back: what solves the relative state
// leads from one to the other.
func TestToward(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		g := must.Get(swap.NewListedGrid(1+r.IntN(5), 1+r.IntN(5)))(t)
		from := g.Home()
		r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		to := slices.Clone(from)
		var moves []swap.Swap
		for range r.IntN(20) * len(g.Swaps()) {
			m := g.Swaps()[r.IntN(len(g.Swaps()))]
			to.Swap(m)
			moves = append(moves, m)
		}
		relative := from.Toward(to)
		for _, m := range moves {
			relative.Swap(m)
		}
		must.Hold(t, relative.Solved(), "from %v to %v by %v: %v is left", from, to, moves, relative)
		must.List(t, from.Toward(g.Home()), from, "toward the goal %v", from)
	}
}
