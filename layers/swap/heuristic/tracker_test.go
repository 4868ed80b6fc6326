package heuristic_test

import (
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// followed returns bounds that Follow takes for grids of any size.
func followed(g *swap.Grid) []heuristic.Heuristic {
	m, v := heuristic.NewManhattan(g), heuristic.NewInversions(g)
	return []heuristic.Heuristic{heuristic.Zero{}, m, v, heuristic.Lift{Heuristic: heuristic.Max{v, m}, Grid: g}}
}

// TestFollowSmall walks at random and compares with the bounds of states.
func TestFollowSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, shape := range [][2]int{{1, 6}, {6, 1}, {2, 3}, {3, 2}, {3, 3}, {2, 5}, {4, 4}} {
		g := mustGrid(t, shape[0], shape[1])
		w := must.Get(heuristic.NewWalking(g))(t)
		for _, h := range append(followed(g), w, heuristic.Lift{Heuristic: heuristic.Inverse{Heuristic: w, Grid: g}, Grid: g}) {
			s, f := g.Goal(), must.Get(heuristic.Follow(g, h))(t)
			f.Begin(g.Home())
			for range 200 {
				i := r.IntN(len(g.Swaps()))
				next := g.Apply(s, g.Swaps()[i])
				if f.Bound() != h.Estimate(s) || f.After(i) != h.Estimate(next) {
					t.Fatalf("%v %s, state %x, swap %d: %d, then %d", shape, h.Name(), s, i, f.Bound(), f.After(i))
				}
				f.Do(i)
				s = next
			}
		}
	}
}

// FuzzFollow takes any grid, state and swaps: a bound that is kept up to date equals the bound
// made anew, a swap changes it by at most 1, and it is 0 at home.
func FuzzFollow(f *testing.F) {
	f.Add(uint8(5), uint8(5), uint64(1), []byte{0, 1, 2, 39})
	f.Add(uint8(8), uint8(8), uint64(2), []byte{111, 50, 7})
	f.Add(uint8(1), uint8(64), uint64(3), []byte{62, 0, 31})
	f.Fuzz(func(t *testing.T, rows, cols uint8, seed uint64, path []byte) {
		g, err := swap.NewListedGrid(int(rows), int(cols))
		if err != nil || len(g.Swaps()) == 0 {
			return
		}
		for _, h := range followed(g) {
			kept, anew := must.Get(heuristic.Follow(g, h))(t), must.Get(heuristic.Follow(g, h))(t)
			if kept.Begin(g.Home()); kept.Bound() != 0 {
				t.Fatalf("%s: %d at home", h.Name(), kept.Bound())
			}
			l := g.Home()
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
			kept.Begin(l)
			for _, b := range path {
				i := int(b) % len(g.Swaps())
				before, after := kept.Bound(), kept.After(i)
				kept.Do(i)
				l.Swap(g.Swaps()[i])
				anew.Begin(l)
				if d := after - before; kept.Bound() != after || anew.Bound() != after || d < -1 || d > 1 {
					t.Fatalf("%s, %d x %d, %v: %d before, %d predicted, %d kept, %d recomputed", h.Name(), rows, cols, l, before, after, kept.Bound(), anew.Bound())
				}
			}
		}
	})
}
