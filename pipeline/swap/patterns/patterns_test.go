package patterns_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/swaptest"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/patternfile"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
)

// relax returns the costs of all placements of tiles by relaxing every swap until nothing changes: no queue, no order, no table of steps.
func relax(g *swap.Grid, tiles heuristic.Tiles, cost heuristic.Cost) []uint8 {
	n, k := g.Cells(), tiles.Len()
	values := slices.Repeat([]uint8{0xff}, int(perm.Arrangements(n, k)))
	home := make([]uint8, k)
	for i, t := range tiles.Numbers() {
		home[i] = uint8(t)
	}
	values[perm.RankArrangement(home, n)] = 0
	at, to := make([]uint8, k), make([]uint8, k)
	for changed := true; changed; {
		changed = false
		for rank := range values {
			if values[rank] == 0xff {
				continue
			}
			perm.UnrankArrangement(at, n, uint64(rank))
			for _, m := range g.Swaps() {
				moved := 0
				for i, c := range at {
					if to[i] = c; int(c) == m.A || int(c) == m.B {
						to[i] = uint8(m.A + m.B - int(c))
						moved++
					}
				}
				if cost == heuristic.Unit {
					moved = min(moved, 1)
				}
				if r := perm.RankArrangement(to, n); int(values[r]) > int(values[rank])+moved {
					values[r] = values[rank] + uint8(moved)
					changed = true
				}
			}
		}
	}
	return values
}

var shapes = [][2]int{{1, 1}, {1, 2}, {2, 1}, {1, 5}, {5, 1}, {2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {3, 3}}

// TestLongValues compares databases of one set of tiles, and of all sets of a size, with the plain relaxation.
func TestLongValues(t *testing.T) {
	for shape, g := range swaptest.Grids(t, shapes[:tries.More(9, len(shapes))]...) {
		for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
			o := patterns.Options{Job: job.Job{Workers: 2}, Cost: cost}
			for set := heuristic.Tiles(1); int(set) < 1<<g.Cells(); set = set*3 + 1 {
				if perm.Arrangements(g.Cells(), set.Len()) > 10_000 {
					continue
				}
				p := must.Get(patterns.Static(t.Context(), g, set, o))(t)
				must.List(t, p.Values, relax(g, set, cost), "%v, %v, %v", shape, set, cost)
			}
			for size := 1; size <= min(heuristic.MaxSet, g.Cells()); size++ {
				table := must.Get(patterns.Dynamic(t.Context(), g, size, o))(t)
				entries := int(heuristic.Entries(g, size))
				for i, set := range heuristic.Sets(g, size) {
					if i%9 == 0 {
						must.List(t, table.Values[i*entries:(i+1)*entries], relax(g, set, cost), "%v, %v, %v of all", shape, set, cost)
					}
				}
			}
		}
	}
}

func build(t *testing.T, g *swap.Grid, numbers []int, size int, o patterns.Options) *patterns.File {
	t.Helper()
	return must.Get(patterns.Build(t.Context(), g, numbers, size, o))(t)
}

func save(t *testing.T, f *patterns.File) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "database")
	must.Write(t, path, must.Get(f.Encode())(t))
	return path
}

// TestFiles checks that bounds from files are those from memory.
func TestFiles(t *testing.T) {
	g := swaptest.Grid(t, 2, 3)
	o := patterns.Options{Cost: heuristic.Tracked}
	names := []string{save(t, build(t, g, []int{0, 1, 2}, 0, o)), save(t, build(t, g, []int{4, 5}, 0, o)), save(t, build(t, g, nil, 3, o))}
	for _, c := range []struct {
		files []string
		exact bool
		want  heuristic.Heuristic
	}{
		{names[:2], false, swaptest.Static(t, g, heuristic.Tracked, []int{0, 1, 2}, []int{4, 5})},
		{names[2:], true, swaptest.Dynamic(t, g, heuristic.Tracked, 3, true)},
		{names[2:], false, swaptest.Dynamic(t, g, heuristic.Tracked, 3, false)},
	} {
		h := must.Get(patterns.Load(t.Context(), g, c.files, c.exact, o))(t)
		for _, s := range swaptest.States(g) {
			must.Hold(t, h.Estimate(s) == c.want.Estimate(s), "%s, state %x: %d, want %d", h.Name(), s, h.Estimate(s), c.want.Estimate(s))
		}
	}
	should.Be(t, must.Err(patterns.Load(t.Context(), g, names, false, o)), heuristic.ErrPattern)
	should.Be(t, must.Err(patterns.Load(t.Context(), swaptest.Grid(t, 3, 2), names[:1], false, o)), corrupt.ErrMismatch)
	must.As[*memory.Error](t, must.Err(patterns.Load(t.Context(), g, names[:1], false, patterns.Options{Job: job.Job{Memory: 10}})))
	// A file that is in order but has the wrong number of values for its grid.
	h := patternfile.Header{Kind: patternfile.Static, Cost: 1, Rows: 2, Cols: 3, Size: 2, Tiles: 3, Entries: 31}
	short := save(t, &patterns.File{Header: h, Values: slices.Repeat([]uint8{1}, 31)})
	should.Be(t, must.Err(patterns.Load(t.Context(), g, []string{short}, false, o)), corrupt.ErrCorrupt)
}

func TestRefused(t *testing.T) {
	g := swaptest.Grid(t, 4, 4)
	all := must.Get(heuristic.TilesOf(g, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))(t)
	o := patterns.Options{Job: job.Job{Memory: 1 << 20}, Cost: heuristic.Unit}
	err := must.As[*memory.Error](t, must.Err(patterns.Static(t.Context(), g, all, o)))
	should.Equal(t, err.Error(), "the pattern database needs 183 TiB of memory; the limit is 1.0 MiB")
	should.Be(t, must.Err(patterns.Static(t.Context(), g, 0, o)), heuristic.ErrPattern)
	must.As[*memory.Error](t, must.Err(patterns.Dynamic(t.Context(), g, 4, o)))
	for _, size := range []int{0, 5} {
		should.Be(t, must.Err(patterns.Dynamic(t.Context(), g, size, o)), heuristic.ErrPattern)
	}
	ctx := must.Ended(t)
	o.Memory = 0
	should.Be(t, must.Err(patterns.Static(ctx, g, 3, o)), context.Canceled)
	should.Be(t, must.Err(patterns.Dynamic(ctx, g, 2, o)), context.Canceled)
}

// TestFalseValues has files under right checksums with values that no pattern has.
func TestFalseValues(t *testing.T) {
	g := swaptest.Grid(t, 3, 3)
	for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
		o := patterns.Options{Cost: cost}
		right := []*patterns.File{build(t, g, []int{1, 4, 6}, 0, o), build(t, g, nil, 2, o)}
		for name, change := range map[string]func(values []uint8){
			"nothing":       func([]uint8) {},
			"one too large": func(v []uint8) { v[100] = 255 },
			"one less":      func(v []uint8) { v[100]-- },
			"one more":      func(v []uint8) { v[100]++ },
			"all zero":      func(v []uint8) { clear(v) },
			"all larger": func(v []uint8) {
				for i := range v {
					v[i]++
				}
			},
		} {
			for _, f := range right {
				forged := *f
				forged.Values = slices.Clone(f.Values)
				change(forged.Values)
				want := map[bool]error{false: corrupt.ErrCorrupt}[name == "nothing"]
				should.Be(t, must.Err(patterns.Load(t.Context(), g, []string{save(t, &forged)}, false, o)), want, "%v, %s", cost, name)
			}
		}
	}
}

type space struct {
	grid  *swap.Grid
	depth []uint8     // distances
	edges [][2]uint32 // states one swap apart, each pair once
}

func newSpace(g *swap.Grid) *space {
	n := g.Cells()
	sp := &space{grid: g, depth: swaptest.Distances(g)}
	for r, state := range swaptest.States(g) {
		for _, m := range g.Swaps() {
			if to := g.Apply(state, m).Rank(n); to > r {
				sp.edges = append(sp.edges, [2]uint32{uint32(r), uint32(to)})
			}
		}
	}
	return sp
}

type survey struct {
	mean                       string
	most                       int
	inadmissible, inconsistent int
}

func (sp *space) survey(h heuristic.Heuristic) survey {
	value, sum := make([]int, len(sp.depth)), 0
	var s survey
	for r, state := range swaptest.States(sp.grid) {
		v := h.Estimate(state)
		value[r] = v
		sum += v
		s.most = max(s.most, v)
		if v > int(sp.depth[r]) {
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

type zoo struct {
	t *testing.T
	g *swap.Grid
}

var (
	static  = regexp.MustCompile(`^APDB (\S+) \[(unit|weighted) cost(?:=tracked tiles moved)?, (ceil\(sum/2\)|value itself)\]$`)
	dynamic = regexp.MustCompile(`^GADB<=(\d) (unit|weighted) (greedy|exact)( \(upstream order\)| max matching)$`)
)

var costs = map[string]heuristic.Cost{"unit": heuristic.Unit, "weighted": heuristic.Tracked}

// make returns nil for what this package does not have: readings of the document that docs/sources.md calls wrong, values that are not
// whole, and covers that take sets by their cost for each tile ("frac"), whose means are as of half Manhattan.
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
		return swaptest.Dynamic(z.t, z.g, costs[m[2]], size, m[3] == "exact")
	}
	z.t.Fatalf("no bound %q", name)
	return nil
}

func (z *zoo) walking() heuristic.Heuristic { return must.Get(heuristic.NewWalking(z.g))(z.t) }

// sets reads {1,2,3}{4..6} and singletons.
func (z *zoo) sets(text string) (sets [][]int) {
	if text == "singletons" {
		text = "{1}"
		for t := 2; t <= z.g.Cells(); t++ {
			text += fmt.Sprintf("{%d}", t)
		}
	}
	for part := range strings.SplitSeq(strings.Trim(text, "{}"), "}{") {
		var set []int
		for some := range strings.SplitSeq(part, ",") {
			from, to, ok := strings.Cut(some, "..")
			if !ok {
				to = from
			}
			first, last := must.Get(strconv.Atoi(from))(z.t), must.Get(strconv.Atoi(to))(z.t)
			for t := first; t <= last; t++ {
				set = append(set, t-1)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

func (z *zoo) staticOf(text string, cost heuristic.Cost) heuristic.Heuristic {
	return swaptest.Static(z.t, z.g, cost, z.sets(text)...)
}

// TestLongTruth compares with values that were computed by programs independent of this one, on all states and all
// swaps: means, maxima, and how many states and edges break the flags.
func TestLongTruth(t *testing.T) {
	spaces := map[string]*space{}
	compared := 0
	for _, r := range must.Rows(t, "testdata/heuristics.csv") {
		shape := r[0] + "x" + r[1]
		rows, cols := must.Get(strconv.Atoi(r[0]))(t), must.Get(strconv.Atoi(r[1]))(t)
		if rows*cols > 8 && !tries.Long() {
			continue
		}
		if spaces[shape] == nil {
			spaces[shape] = newSpace(swaptest.Grid(t, rows, cols))
		}
		h := (&zoo{t: t, g: spaces[shape].grid}).make(r[2])
		if h == nil {
			continue
		}
		compared++
		got := spaces[shape].survey(h)
		most, _ := strconv.ParseFloat(r[4], 64)
		mean, _ := strconv.ParseFloat(r[3], 64)
		should.Hold(t, got.mean == fmt.Sprintf("%.6f", mean) && got.most == int(most) && fmt.Sprint(got.inadmissible, got.inconsistent) == r[5]+" "+r[6],
			"%s %s: %+v, want %v", shape, r[2], got, r[3:])
		should.Not(t, got.broken(h), "%s %s: %+v, says %v", shape, r[2], got, h.Consistent())
	}
	should.Not(t, compared < 40, "only %d compared", compared)
}

// broken reports whether a bound does not do what it says.
func (s survey) broken(h heuristic.Heuristic) bool {
	return s.inadmissible > 0 || h.Consistent() && s.inconsistent > 0
}

// known are the values of a bound by rank.
type known struct {
	heuristic.Heuristic
	cells  int
	values []int
}

func (k known) Estimate(s swap.State) int { return k.values[s.Rank(k.cells)] }

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
				all = append(all, swaptest.Dynamic(z.t, z.g, cost, size, exact))
			}
		}
	}
	return all
}

// TestLongFlags checks the flags of bounds by pattern databases on all states and swaps of small grids. A column has the cells and swaps of
// a row and nothing else counts, so columns are left out. Grids of 8 and 9 cells are left to the full run.
func TestLongFlags(t *testing.T) {
	cells := tries.Pick(6, 7, 9)
	for rows := 1; rows <= cells; rows++ {
		for cols := 1; rows*cols <= cells; cols++ {
			g := swaptest.Grid(t, rows, cols)
			if cols == 1 && rows > 1 {
				should.List(t, g.Swaps(), swaptest.Grid(t, 1, rows).Swaps(), "%d x 1: not those of a row", rows)
				continue
			}
			sp, z := newSpace(g), &zoo{t: t, g: g}
			for _, cost := range costs {
				for _, h := range z.bounds(cost) {
					k := known{Heuristic: h, cells: g.Cells()}
					for _, s := range swaptest.States(g) {
						k.values = append(k.values, h.Estimate(s))
					}
					for _, h := range []heuristic.Heuristic{k, heuristic.Lift{Heuristic: k, Grid: g}, heuristic.Inverse{Heuristic: k, Grid: g}} {
						got := sp.survey(h)
						should.Not(t, got.broken(h), "%d x %d, %s: %+v", rows, cols, h.Name(), got)
					}
				}
			}
		}
	}
}
