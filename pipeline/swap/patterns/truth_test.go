package patterns_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/patterns"
)

// space is all states of a grid, by rank.
type space struct {
	grid  *swap.Grid
	depth []uint8     // distances
	edges [][2]uint32 // states one swap apart, each pair once
}

func newSpace(g *swap.Grid) *space {
	n := g.Cells()
	sp := &space{grid: g, depth: swaptest.Distances(g)}
	for r := range sp.depth {
		state := perm.UnrankPacked(n, uint64(r))
		for _, m := range g.Swaps() {
			if to := g.Apply(state, m).Rank(n); to > uint64(r) {
				sp.edges = append(sp.edges, [2]uint32{uint32(r), uint32(to)})
			}
		}
	}
	return sp
}

// survey has the values of a bound on all states of a grid.
type survey struct {
	mean                       string
	most                       int
	inadmissible, inconsistent int
}

func (sp *space) survey(h heuristic.Heuristic) survey {
	n := sp.grid.Cells()
	value := make([]int, len(sp.depth))
	var s survey
	sum := 0
	for r, depth := range sp.depth {
		v := h.Estimate(perm.UnrankPacked(n, uint64(r)))
		value[r] = v
		sum += v
		s.most = max(s.most, v)
		if v > int(depth) {
			s.inadmissible++
		}
	}
	for _, e := range sp.edges {
		if d := value[e[0]] - value[e[1]]; d < -1 || d > 1 {
			s.inconsistent++
		}
	}
	s.mean = fmt.Sprintf("%.6f", float64(sum)/float64(len(sp.depth)))
	return s
}

// zoo makes bounds from their names in the reference values.
type zoo struct {
	t *testing.T
	g *swap.Grid
}

var (
	static  = regexp.MustCompile(`^APDB (\S+) \[(unit|weighted) cost(?:=tracked tiles moved)?, (ceil\(sum/2\)|value itself)\]$`)
	dynamic = regexp.MustCompile(`^GADB<=(\d) (unit|weighted) (greedy|exact)( \(upstream order\)| max matching)$`)
)

var costs = map[string]heuristic.Cost{"unit": heuristic.Unit, "weighted": heuristic.Tracked}

// make returns nil for what this package does not have: readings of the document
// that docs/sources.md calls wrong, values that are not whole, and covers that take sets by
// their cost for each tile ("frac"), whose means are as of half Manhattan.
func (z *zoo) make(name string) heuristic.Heuristic {
	switch {
	case strings.HasPrefix(name, "2*WD"), name == "ID real", strings.Contains(name, "frac"):
		return nil
	case name == "MD/2":
		return heuristic.NewManhattan(z.g)
	case name == "MD/2 parity-lifted":
		return heuristic.Lift{Heuristic: heuristic.NewManhattan(z.g), Grid: z.g}
	case name == "ID ceil((Nh+Nv)/(2max))":
		return heuristic.NewInversions(z.g)
	case name == "WD=WDh+WDv":
		return z.walking()
	case name == "WD parity-lifted":
		return heuristic.Lift{Heuristic: z.walking(), Grid: z.g}
	}
	if m := static.FindStringSubmatch(name); m != nil {
		if single := len(z.sets(m[1])) == 1; single && m[2] == "unit" != (m[3] == "value itself") {
			return nil
		}
		return z.staticOf(m[1], costs[m[2]])
	}
	if m := dynamic.FindStringSubmatch(name); m != nil {
		size, _ := strconv.Atoi(m[1])
		return z.dynamicOf(size, costs[m[2]], m[3] == "exact")
	}
	z.t.Fatalf("no bound %q", name)
	return nil
}

func (z *zoo) walking() heuristic.Heuristic { return must.Get(heuristic.NewWalking(z.g))(z.t) }

// sets reads {1,2,3}{4..6} and singletons.
func (z *zoo) sets(text string) (sets [][]int) {
	if text == "singletons" {
		for t := range z.g.Cells() {
			sets = append(sets, []int{t})
		}
		return sets
	}
	for part := range strings.SplitSeq(strings.Trim(text, "{}"), "}{") {
		var set []int
		if from, to, ok := strings.Cut(part, ".."); ok {
			a, _ := strconv.Atoi(from)
			b, _ := strconv.Atoi(to)
			for t := a; t <= b; t++ {
				set = append(set, t-1)
			}
		} else {
			for number := range strings.SplitSeq(part, ",") {
				t, _ := strconv.Atoi(number)
				set = append(set, t-1)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

func (z *zoo) staticOf(text string, cost heuristic.Cost) heuristic.Heuristic {
	var list []*heuristic.Pattern
	for _, set := range z.sets(text) {
		p := must.Get(patterns.Static(z.t.Context(), z.g, mustTiles(z.t, z.g, set...), patterns.Options{Cost: cost}))(z.t)
		list = append(list, p)
	}
	return must.Get(heuristic.NewStatic(list...))(z.t)
}

func (z *zoo) dynamicOf(size int, cost heuristic.Cost, exact bool) heuristic.Heuristic {
	var tables []*heuristic.SetTable
	for k := 1; k <= size; k++ {
		table := must.Get(patterns.Dynamic(z.t.Context(), z.g, k, patterns.Options{Cost: cost}))(z.t)
		tables = append(tables, table)
	}
	return must.Get(heuristic.NewDynamic(exact, tables...))(z.t)
}

// TestLongTruth compares with values that were computed by programs independent of this one, on all states and all
// swaps: means, maxima, and how many states and edges break the flags.
func TestLongTruth(t *testing.T) {
	records := must.Rows(t, "testdata/heuristics.csv")
	spaces := map[string]*space{}
	compared := 0
	for _, r := range records {
		shape := r[0] + "x" + r[1]
		rows, _ := strconv.Atoi(r[0])
		cols, _ := strconv.Atoi(r[1])
		if rows*cols > 8 && !tries.Long() {
			continue
		}
		if spaces[shape] == nil {
			spaces[shape] = newSpace(mustGrid(t, rows, cols))
		}
		h := (&zoo{t: t, g: spaces[shape].grid}).make(r[2])
		if h == nil {
			continue
		}
		compared++
		got := spaces[shape].survey(h)
		most, _ := strconv.ParseFloat(r[4], 64)
		mean, _ := strconv.ParseFloat(r[3], 64)
		if got.mean != fmt.Sprintf("%.6f", mean) || got.most != int(most) || fmt.Sprint(got.inadmissible) != r[5] || fmt.Sprint(got.inconsistent) != r[6] {
			t.Errorf("%s %s: %+v, want %v", shape, r[2], got, r[3:])
		}
		if got.inadmissible > 0 || h.Consistent() && got.inconsistent > 0 {
			t.Errorf("%s %s: %+v, consistent %v", shape, r[2], got, h.Consistent())
		}
	}
	should.Not(t, compared < 40, "only %d compared", compared)
}

// known remembers the estimates of a bound, by rank.
type known struct {
	heuristic.Heuristic
	cells  int
	values []int
}

func (k known) Estimate(s swap.State) int { return k.values[s.Rank(k.cells)] }

func remember(g *swap.Grid, h heuristic.Heuristic) known {
	k := known{Heuristic: h, cells: g.Cells(), values: make([]int, perm.Factorial(g.Cells()))}
	for r := range k.values {
		k.values[r] = h.Estimate(perm.UnrankPacked(k.cells, uint64(r)))
	}
	return k
}

// bounds returns bounds by databases of one set of tiles, of several, and of all sets of up to four tiles.
func (z *zoo) bounds(cost heuristic.Cost) []heuristic.Heuristic {
	n := z.g.Cells()
	all := []heuristic.Heuristic{z.staticOf("{1}", cost), z.staticOf(fmt.Sprintf("{1..%d}", (n+1)/2), cost), z.staticOf(fmt.Sprintf("{1..%d}", n), cost)}
	if n > 1 {
		all = append(all, z.staticOf(fmt.Sprintf("{1..%d}{%d..%d}", n/2, n/2+1, n), cost))
	}
	if n > 5 {
		all = append(all, z.staticOf("{1,2,4}{3,5,6}", cost))
	}
	for size := 1; size <= min(n, heuristic.MaxSet); size++ {
		for _, exact := range []bool{false, true} {
			if n < 9 || size < 3 || exact == (cost == heuristic.Tracked) { // half of them take long enough
				all = append(all, z.dynamicOf(size, cost, exact))
			}
		}
	}
	return all
}

// TestLongFlags checks the flags of bounds by pattern databases on all states and swaps of
// small grids. A column has the cells and swaps of a row and nothing else counts, so
// columns are left out. Grids of 9 cells are left to the full run.
func TestLongFlags(t *testing.T) {
	cells := tries.Pick(6, 8, 9)
	for _, size := range smallGrids(cells) {
		g := mustGrid(t, size[0], size[1])
		if size[1] == 1 && size[0] > 1 {
			row := mustGrid(t, 1, size[0])
			should.Hold(t, slices.Equal(g.Swaps(), row.Swaps()), "%v: other swaps than a row", size)
			continue
		}
		sp, z := newSpace(g), &zoo{t: t, g: g}
		for _, cost := range costs {
			for _, h := range z.bounds(cost) {
				k := remember(g, h)
				for _, h := range []heuristic.Heuristic{k, heuristic.Lift{Heuristic: k, Grid: g}, heuristic.Inverse{Heuristic: k, Grid: g}} {
					got := sp.survey(h)
					if got.inadmissible > 0 || h.Consistent() && got.inconsistent > 0 {
						t.Errorf("%v %s: %+v, consistent %v", size, h.Name(), got, h.Consistent())
					}
				}
			}
		}
	}
}

// smallGrids returns the sizes of all grids of up to the given cells.
func smallGrids(cells int) (sizes [][2]int) {
	for rows := 1; rows <= cells; rows++ {
		for cols := 1; rows*cols <= cells; cols++ {
			sizes = append(sizes, [2]int{rows, cols})
		}
	}
	return sizes
}
