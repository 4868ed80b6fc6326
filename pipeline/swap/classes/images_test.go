package classes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

func mustGrid(t testing.TB, rows, cols int) *swap.Grid {
	t.Helper()
	g, err := swap.NewGrid(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// class returns the states of the class of s, sorted, by the definition.
func class(g *swap.Grid, s swap.State) []swap.State {
	var list []swap.State
	for _, h := range g.Symmetries() {
		list = append(list, g.Conjugate(s, h), g.Inverse(g.Conjugate(s, h)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// canonical returns the smallest image of a state: what stands for its class.
func (x *neighbourhood) canonical(s swap.State) swap.State {
	m := x.images(s)
	least := s
	for i := range x.order {
		least = min(least, m.direct[i], m.inverse[i])
	}
	return least
}

// checkExpand compares what expand returns for the class of s with the classes of
// all neighbours of all of its states.
func checkExpand(t *testing.T, g *swap.Grid, s swap.State) {
	t.Helper()
	x := newNeighbourhood(g)
	states := class(g, s)
	if got := x.canonical(s); got != states[0] {
		t.Errorf("%d x %d: %x stands for the class of %x, want %x", g.Rows(), g.Cols(), got, s, states[0])
	}
	want := map[uint64]bool{}
	for _, member := range states {
		for _, m := range g.Swaps() {
			want[uint64(class(g, g.Apply(member, m))[0])] = true
		}
	}
	keys, size := x.expand(nil, states[0])
	if size != uint64(len(states)) {
		t.Errorf("%d x %d: %d states in the class of %x, want %d", g.Rows(), g.Cols(), size, s, len(states))
	}
	if len(keys) > x.fanout() {
		t.Errorf("%d x %d: %d neighbours of %x, at most %d are expected", g.Rows(), g.Cols(), len(keys), s, x.fanout())
	}
	got := map[uint64]bool{}
	for _, k := range keys {
		if got[k] = true; !want[k] {
			t.Errorf("%d x %d: %x is no neighbour of %x", g.Rows(), g.Cols(), k, s)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d x %d: %d classes are neighbours of that of %x, want %d", g.Rows(), g.Cols(), len(got), s, len(want))
	}
}

// TestExpandAll checks all classes of small grids.
func TestExpandAll(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {1, 5}, {6, 1}, {2, 2}, {2, 3}, {3, 2}} {
		g := mustGrid(t, size[0], size[1])
		for rank := range perm.Factorial(g.Cells()) {
			checkExpand(t, g, perm.UnrankPacked(g.Cells(), rank))
		}
	}
}

// TestExpandRandom checks random states of larger grids, and some with many
// symmetries.
func TestExpandRandom(t *testing.T) {
	const seed = 11
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{3, 3}, {2, 4}, {1, 9}, {3, 4}, {4, 3}, {2, 6}, {1, 13}, {3, 5}, {4, 4}, {2, 8}, {16, 1}} {
		g := mustGrid(t, size[0], size[1])
		for _, h := range g.Symmetries() {
			checkExpand(t, g, h)
		}
		for range 30 {
			checkExpand(t, g, perm.UnrankPacked(g.Cells(), random.Uint64N(perm.Factorial(g.Cells()))))
		}
	}
}

// TestOneSide checks what the package comment says: the neighbours of the state
// that stands for a class are not all neighbours of the class.
func TestOneSide(t *testing.T) {
	g := mustGrid(t, 1, 4)
	x := newNeighbourhood(g)
	missed := 0
	for rank := range perm.Factorial(4) {
		s := x.canonical(perm.UnrankPacked(4, rank))
		m := x.images(s)
		one := x.neighbours(nil, m.direct[:x.order], m.inverse[:x.order])
		all, _ := x.expand(nil, s)
		for _, k := range all {
			if !slices.Contains(one, k) {
				missed++
			}
		}
	}
	if missed == 0 {
		t.Error("the neighbours of one state are enough on 1 x 4")
	}
}

// TestRank checks that ranks are those of packed permutations in the order of
// numbers.
func TestRank(t *testing.T) {
	for n := 1; n <= 7; n++ {
		x := newNeighbourhood(mustGrid(t, 1, n))
		var all []uint64
		for rank := range perm.Factorial(n) {
			all = append(all, uint64(perm.UnrankPacked(n, rank)))
		}
		slices.Sort(all)
		for i, s := range all {
			if got := x.rank(s); got != uint64(i) || uint64(x.unrank(got)) != s {
				t.Fatalf("%x has rank %d, want %d, and that is %x", s, got, i, x.unrank(got))
			}
		}
	}
}

func BenchmarkExpand(b *testing.B) {
	for _, size := range [][2]int{{3, 4}, {4, 4}, {1, 13}} {
		g := mustGrid(b, size[0], size[1])
		b.Run(swap.Space{Grid: g}.Name(), func(b *testing.B) {
			x := newNeighbourhood(g)
			random := rand.New(rand.NewPCG(1, 1))
			s := perm.UnrankPacked(g.Cells(), random.Uint64N(perm.Factorial(g.Cells())))
			keys := make([]uint64, 0, x.fanout())
			for b.Loop() {
				keys, _ = x.expand(keys[:0], s)
				s = swap.State(keys[0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/neighbour")
		})
	}
}
