package halfboard

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/retro"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var seed = flag.Uint64("seed", 0, "seed of random tests; 0 picks one")

// newRand returns a random source and logs its seed; the flag -seed repeats a
// run.
func newRand(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// runs returns how often to repeat a random test: n times if there is much time, an eighth of that in
// a long test, and a fortieth in others.
func runs(n int) int {
	switch {
	case full():
		return n
	case long():
		return (n + 7) / 8
	}
	return (n + 39) / 40
}

// long says that there is time for long tests, full that there is much.
func long() bool { return os.Getenv("GRENIER_LONG") != "" }
func full() bool { return os.Getenv("GRENIER_LONG") == "full" }

// mustGame returns a game that exists.
func mustGame(t testing.TB, pits int, rules awari.Rules) awari.Game {
	t.Helper()
	game, err := awari.New(pits, rules)
	if err != nil {
		t.Fatal(err)
	}
	return game
}

// mustGeometry numbers halves of q pits with up to n seeds.
func mustGeometry(t testing.TB, q, n int) *geometry {
	t.Helper()
	g, err := newGeometry(q, n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// oracles are the layers that the document's algorithm has solved so far, for
// all tests together.
var oracles = struct {
	mu     sync.Mutex
	layers map[awari.Game][][]int8
}{layers: map[awari.Game][][]int8{}}

// oracle returns layers 0 to n, or more of them.
func oracle(t testing.TB, game awari.Game, n int) [][]int8 {
	t.Helper()
	oracles.mu.Lock()
	defer oracles.mu.Unlock()
	space, err := awari.NewSpace(game, awari.MaxSeeds)
	if err != nil {
		t.Fatal(err)
	}
	layers := oracles.layers[game]
	for len(layers) <= n {
		scores, _, err := retro.SolveLayer(t.Context(), space, layers, len(layers), nil)
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, scores)
	}
	oracles.layers[game] = layers
	return layers
}

// config is one layer of one game and a way to solve it.
type config struct {
	game    awari.Game
	seeds   int
	options Options
}

// top is the largest layer of random configurations of a number of pits: far enough on
// small boards for sowings of several laps.
func top(pits int) int {
	if long() {
		return map[int]int{4: 30, 6: 19, 8: 13, 10: 9, 12: 8}[pits]
	}
	return map[int]int{4: 25, 6: 17, 8: 11, 10: 8, 12: 7}[pits]
}

// randomConfig draws a configuration. Half of them have the smallest tiles there are.
func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	pits := awari.MinPits + 2*rng.IntN(5)
	families := cpu.Available()
	return config{
		game:  mustGame(t, pits, awari.Rules(rng.IntN(2))),
		seeds: rng.IntN(top(pits) + 1),
		options: Options{
			Workers:  1 + rng.IntN(5),
			Family:   families[rng.IntN(len(families))],
			TileSize: int(math.Exp(rng.Float64() * math.Log(2000))),
		},
	}
}

// lower gives the layers below that of c, by the oracle.
func (c config) lower(t testing.TB) *tower {
	t.Helper()
	return &tower{layers: oracle(t, c.game, c.seeds)[:c.seeds]}
}

// begin lays the layer of c out.
func (c config) begin(t testing.TB) *engine {
	t.Helper()
	c.options.often = true
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.begin(t.Context(), c.seeds, testBelow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.spare.put(w.memory); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// prepare lays the layer of c out and computes its offers. All scores are 0.
func (c config) prepare(t testing.TB) *engine {
	t.Helper()
	w := c.begin(t)
	if err := w.captureAll(t.Context(), c.lower(t)); err != nil {
		t.Fatal(err)
	}
	return w
}

// read fills in the full rows and returns all scores in colex order.
func (e *engine) read(t testing.TB) []int8 {
	t.Helper()
	if err := e.fullAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := &Layer{engine: e}
	scores := make([]int8, l.Positions())
	if err := l.Read(0, scores); err != nil {
		t.Fatal(err)
	}
	return scores
}

// ranking returns the ranking of whole boards of e.
func (e *engine) ranking() *colex.Ranking { return e.grid.halves.Board() }

// position names a position by the codes of its halves.
type position struct{ mover, opponent uint32 }

// position returns the codes of the halves of board.
func (g *geometry) position(board awari.Board) position {
	var a, b half
	copy(a[:], board[:g.q])
	copy(b[:], board[g.q:2*g.q])
	return position{g.code(&a), g.code(&b)}
}

// A spot is where a position stands: in a column and row of a block.
type spot struct {
	m           *matrix
	class       rowClass
	panel, col  int
	chunk, line int
}

// find returns where p stands.
func (g *grid) find(p position) spot {
	m := g.matrices[g.pits[p.mover].sum()]
	column, at := int(p.mover-m.first), g.place(p.opponent)
	return spot{m, at.class, column / side, column % side, int(at.row) / side, int(at.row) % side}
}

// score returns the score of a position of an open row.
func (s spot) score() *int8 { return &s.m.lines(s.panel, s.chunk)[s.line*side+s.col] }

// offer returns the offer to a position.
func (s spot) offer() int8 { return s.m.block(s.class, s.panel, s.chunk)[s.col*side+s.line] }

// mark returns the mark of the block.
func (s spot) mark() *mark { return &s.m.marks[s.panel*s.m.chunks[openRows]+s.chunk] }

// eachPosition calls do for all positions whose row is of class.
func (e *engine) eachPosition(class rowClass, do func(p position)) {
	for _, m := range e.grid.matrices {
		for column := range m.columns {
			for _, opponent := range e.grid.rows[e.grid.n-m.sum][class] {
				do(position{m.first + uint32(column), opponent})
			}
		}
	}
}

// eachBlock calls do for all blocks of open rows.
func (e *engine) eachBlock(do func(m *matrix, panel, chunk int)) {
	for _, m := range e.grid.matrices {
		for panel := range m.panels {
			for chunk := range m.chunks[openRows] {
				do(m, panel, chunk)
			}
		}
	}
}

// inBlock calls do for all positions of a block.
func (g *grid) inBlock(m *matrix, panel, chunk int, do func(p position, s spot)) {
	for col := range m.width(panel) {
		for line := range m.depth(openRows, chunk) {
			opponent := g.rows[g.n-m.sum][openRows][chunk*side+line]
			do(position{m.first + uint32(panel*side+col), opponent}, spot{m, openRows, panel, col, chunk, line})
		}
	}
}

// eachGeometry calls check for halves of all sizes with a few hundred to a few
// thousand of them: of most sums there are several panels.
func eachGeometry(t *testing.T, check func(t *testing.T, g *geometry)) {
	for q, n := range map[int]int{1: 5, 2: 20, 3: 18, 4: 14, 5: 11, 6: 10} {
		check(t, mustGeometry(t, q, n))
	}
}
