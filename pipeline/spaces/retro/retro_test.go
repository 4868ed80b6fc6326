package retro

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers"
	"grenier/layers/awari"
)

type node struct{ layer, number int }

type graph struct {
	sizes    []uint64
	moves    map[node][]layers.Move[node]
	terminal map[node]int // score of nodes without moves, 0 when absent
}

func (g *graph) Name() string                       { return "graph" }
func (g *graph) Layers() int                        { return len(g.sizes) }
func (g *graph) Size(layer int) uint64              { return g.sizes[layer] }
func (g *graph) Rank(s node) (int, uint64)          { return s.layer, uint64(s.number) }
func (g *graph) Unrank(layer int, rank uint64) node { return node{layer, int(rank)} }
func (g *graph) Terminal(s node) int                { return g.terminal[s] }
func (g *graph) Successors(d []layers.Move[node], s node) []layers.Move[node] {
	return append(d, g.moves[s]...)
}

func (g *graph) Predecessors(d []node, s node) []node {
	for number := range g.sizes[s.layer] {
		if p := (node{s.layer, int(number)}); slices.Contains(g.moves[p], layers.Move[node]{To: s}) {
			d = append(d, p)
		}
	}
	return d
}

// randomGraph returns a game of a few small layers with many cycles.
func randomGraph(random *rand.Rand) *graph {
	g := &graph{moves: map[node][]layers.Move[node]{}, terminal: map[node]int{}}
	for layer := range 1 + random.IntN(4) {
		g.sizes = append(g.sizes, uint64(1+random.IntN(12)))
		for number := range g.sizes[layer] {
			g.randomMoves(node{layer, int(number)}, random)
		}
	}
	return g
}

func (g *graph) randomMoves(s node, random *rand.Rand) {
	for number := range g.sizes[s.layer] {
		if random.IntN(6) == 0 {
			g.moves[s] = append(g.moves[s], layers.Move[node]{To: node{s.layer, int(number)}})
		}
	}
	for s.layer > 0 && random.IntN(3) == 0 {
		below := random.IntN(s.layer)
		to := node{below, random.IntN(int(g.sizes[below]))}
		g.moves[s] = append(g.moves[s], layers.Move[node]{To: to, Reward: random.IntN(4)})
	}
	if len(g.moves[s]) == 0 {
		g.terminal[s] = random.IntN(9) - 4
	}
}

// define returns the scores of a layer by their definition: a state is worth at least k > 0 if some move guarantees k,
// and at most -k if it has to leave the k to the opponent whatever it does. Both sets are the smallest that are closed
// under this; what is in neither for any k is worth 0.
func define(g *graph, table [][]int8, layer int) []int8 {
	scores := make([]int8, g.sizes[layer])
	for k := int8(1); k < 60; k++ {
		wins, losses := force(g, table, layer, int(k))
		for u := range scores {
			if wins[u] {
				scores[u] = k
			}
			if losses[u] {
				scores[u] = -k
			}
		}
	}
	return scores
}

func force(g *graph, table [][]int8, layer, k int) (wins, losses []bool) {
	size := g.sizes[layer]
	wins, losses = make([]bool, size), make([]bool, size)
	for changed := true; changed; {
		changed = false
		for u := range int(size) {
			s := node{layer, u}
			win, loss := g.terminal[s] >= k, len(g.moves[s]) > 0 || g.terminal[s] <= -k
			for _, m := range g.moves[s] {
				if m.To.layer == layer {
					win = win || losses[m.To.number]
					loss = loss && wins[m.To.number]
				} else {
					score := m.Reward - int(table[m.To.layer][m.To.number])
					win = win || score >= k
					loss = loss && score <= -k
				}
			}
			changed = changed || win != wins[u] || loss != losses[u]
			wins[u], losses[u] = win, loss
		}
	}
	return wins, losses
}

// solve returns the scores of all states of layers 0 to n, by layer and rank.
func solve[S comparable](ctx context.Context, space layers.Space[S], n int) (table [][]int8, err error) {
	for len(table) <= n && err == nil {
		var scores []int8
		if scores, _, err = SolveLayer(ctx, space, table, len(table), nil); err == nil {
			table = append(table, scores)
		}
	}
	return table, err
}

// TestRandomGraphs: random games have the scores of the definition, and some are looked at as spaces.
func TestRandomGraphs(t *testing.T) {
	random := tries.Rand(t)
	cyclic := 0
	for i := range 400 {
		g := randomGraph(random)
		if i < 20 {
			conformance.Run(t, g, conformance.Options{})
		}
		table := must.Get(solve(t.Context(), g, len(g.sizes)-1))(t)
		for layer := range table {
			want := define(g, table, layer)
			must.List(t, table[layer], want, "layer %d of %+v has scores", layer, g)
			if slices.Contains(want, 0) {
				cyclic++
			}
		}
	}
	should.Not(t, cyclic == 0, "no random layer has a state worth 0")
}

// TestEndlessPlay holds the cases in which the document's algorithm needs its repairs. In layer 1 the exits lead to
// state 0 of layer 0, which is worth 2 to its mover.
func TestEndlessPlay(t *testing.T) {
	quiet := func(to int) layers.Move[node] { return layers.Move[node]{To: node{1, to}} }
	exit := func(reward int) layers.Move[node] { return layers.Move[node]{Reward: reward} }
	for _, c := range []struct {
		name  string
		moves [][]layers.Move[node] // of the states of layer 1
		want  []int8
	}{
		{"a cycle", [][]layers.Move[node]{{quiet(1)}, {quiet(0)}}, []int8{0, 0}},
		{"a loop", [][]layers.Move[node]{{quiet(0)}}, []int8{0}},
		{"a cycle with a losing exit", [][]layers.Move[node]{{quiet(1), exit(1)}, {quiet(0)}}, []int8{0, 0}},
		{"a cycle with a winning exit", [][]layers.Move[node]{{quiet(1), exit(5)}, {quiet(0)}}, []int8{3, -3}},
		{"a winning exit beside a cycle", [][]layers.Move[node]{{quiet(1)}, {quiet(0), quiet(2)}, {exit(5)}}, []int8{0, 0, 3}},
		{"a losing exit, and a quiet move to a win of the opponent", [][]layers.Move[node]{{quiet(1), exit(1)}, {exit(7)}}, []int8{-1, 5}},
		{"only a quiet move, to a loss", [][]layers.Move[node]{{quiet(1)}, {exit(1)}}, []int8{1, -1}},
		{"no move", [][]layers.Move[node]{nil}, []int8{0}},
	} {
		g := &graph{[]uint64{1, uint64(len(c.moves))}, map[node][]layers.Move[node]{}, map[node]int{{0, 0}: 2}}
		for u, moves := range c.moves {
			g.moves[node{1, u}] = moves
		}
		should.List(t, must.Get(solve(t.Context(), g, 1))(t)[1], c.want, "%s: scores", c.name)
	}
}

// TestLineOfMoves settles a chain that would overflow a recursion's stack budget: each state has one quiet move, to the next.
func TestLineOfMoves(t *testing.T) {
	for u, score := range must.Get(solve(t.Context(), line{}, 0))(t)[0] {
		must.Equal(t, score, int8(1-2*(u%2)), "score of state %d", u)
	}
}

// line is a countdown: state 0 wins 1, every other has one quiet move down.
type line struct{}

func (line) Name() string                 { return "line" }
func (line) Layers() int                  { return 1 }
func (line) Size(int) uint64              { return 1 << 20 }
func (line) Rank(s int32) (int, uint64)   { return 0, uint64(s) }
func (line) Unrank(_ int, r uint64) int32 { return int32(r) }
func (line) Terminal(int32) int           { return 1 }
func (line) Predecessors(d []int32, s int32) []int32 {
	if s == 1<<20-1 {
		return d
	}
	return append(d, s+1)
}

func (line) Successors(d []layers.Move[int32], s int32) []layers.Move[int32] {
	if s == 0 {
		return d
	}
	return append(d, layers.Move[int32]{To: s - 1})
}

func TestErrors(t *testing.T) {
	small := &graph{sizes: []uint64{1, 2}, terminal: map[node]int{{0, 0}: 1}}
	of := func(table [][]int8, layer int) error {
		return must.Err(SolveLayer(t.Context(), small, table, layer, nil))
	}
	wild := &graph{sizes: []uint64{2}, terminal: map[node]int{{0, 1}: -128}}
	for name, c := range map[string]struct {
		err, want error
		message   string
	}{
		"negative layer":       {of(nil, -1), ErrLayer, "0 to 1"},
		"layer too high":       {of(nil, 2), ErrLayer, "0 to 1"},
		"lower layer missing":  {of(nil, 1), ErrLayer, "1 needs the 1 layers below it, 0 given"},
		"lower layer too long": {of([][]int8{{1, 1}}, 1), ErrLayer, "0 has 1 states, 2 scores given"},
		"score too low":        {must.Err(solve(t.Context(), wild, 0)), ErrScore, "-128 of state {0 1}"},
		"cancelled":            {must.Err(solve(must.Ended(t), line{}, 0)), context.Canceled, ""},
	} {
		t.Log(name)
		should.Says(t, c.err, c.want, c.message)
	}
}

// truth holds the figures of an independent program for one layer of awari.
type truth struct {
	seeds                      int
	positions, win, draw, loss int
	mean                       string
	hash                       string
}

func readTruth(t *testing.T) map[awari.Game][]truth {
	t.Helper()
	byGame := map[awari.Game][]truth{}
	for _, r := range must.Rows(t, "../../../layers/awari/testdata/layers.csv") {
		var numbers [7]int
		for i := 1; i < 7; i++ {
			numbers[i] = must.Get(strconv.Atoi(r[i]))(t)
		}
		game := must.Get(awari.New(numbers[1], must.Get(awari.ParseRules(r[0]))(t)))(t)
		byGame[game] = append(byGame[game], truth{numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], r[7], r[8]})
	}
	return byGame
}

// The truth was hashed with FNV-1a of 64 bits started from truthBasis, which is the basis of the standard without its
// last decimal digit: package hash/fnv gives other values.
const (
	truthBasis = 1469598103934665603
	fnvPrime   = 1099511628211
)

// summarise reduces the scores of a layer to what the truth says of it. The hash is over the scores as bytes, in rank order.
func summarise(seeds int, scores []int8) truth {
	s := truth{seeds: seeds, positions: len(scores)}
	hash, sum := uint64(truthBasis), 0
	for _, score := range scores {
		hash = (hash ^ uint64(uint8(score))) * fnvPrime
		sum += int(score)
		switch {
		case score > 0:
			s.win++
		case score < 0:
			s.loss++
		default:
			s.draw++
		}
	}
	s.mean = fmt.Sprintf("%.6f", float64(sum)/float64(len(scores)))
	s.hash = fmt.Sprintf("%016x", hash)
	return s
}

// TestLongAwariEqualsTruth has all layers that are known, in short tests those of moderate size.
func TestLongAwariEqualsTruth(t *testing.T) {
	known, largest := readTruth(t), tries.More(20_000, 1<<30)
	for _, c := range []struct {
		rules     awari.Rules
		pits, top int
	}{{awari.Awari, 12, 12}, {awari.Strict, 12, 10}, {awari.Awari, 8, 16}, {awari.Strict, 8, 16}} {
		game, top := must.Get(awari.New(c.pits, c.rules))(t), c.top
		t.Run(game.Name(), func(t *testing.T) {
			t.Parallel()
			rows := known[game]
			must.Equal(t, len(rows), top+1, "layers known")
			space, table := must.Get(awari.NewSpace(game, top))(t), [][]int8{}
			for n, want := range rows {
				if want.positions > largest {
					t.Logf("layers %d to %d need GRENIER_LONG=1", n, top)
					return
				}
				scores, _, err := SolveLayer(t.Context(), space, table, n, nil)
				must.OK(t, err)
				should.Equal(t, summarise(n, scores), want, "layer %d", n)
				table = append(table, scores)
			}
		})
	}
}
