package fixpoint

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type config struct {
	game              awari.Game
	seeds             int
	workers, tileSize int
	family            cpu.Family
}

type laidOut struct {
	*Sweeps
	scores []int8
}

func (c config) begin(t testing.TB) *laidOut {
	t.Helper()
	geo := must.Get(board.NewGeometry(c.game.Half(), c.seeds))(t)
	l := board.NewLayer(geo, board.Side)
	must.OK(t, l.ListMoves(t.Context(), c.workers, board.NewPatterns(c.game.Rules())))
	size := board.LayoutOf(geo.Q, c.seeds)
	memory := must.Get(board.NewRegion(size.Total()))(t)
	t.Cleanup(func() { must.OK(t, memory.Close()) })
	_, scores := l.Allocate(memory, size)
	l.Aim()
	a := &Account{Seeds: c.seeds, Positions: geo.Halves.Board().Size(c.seeds)}
	w := &laidOut{NewSweeps(a, l, c.workers, KernelsFor(c.family, 8), &Ledger{}), scores}
	w.Cut(c.tileSize)
	w.Between = func() error { return nil }
	return w
}

// prepare lays the layer of c out and computes its offers. All scores are 0.
func (c config) prepare(t testing.TB) *laidOut {
	t.Helper()
	w := c.begin(t)
	lower := awaritest.LowerOf(t, c.game, c.seeds)
	err := board.CaptureAll(t.Context(), w.Grid.Layer, c.game, c.workers, lower, w.scores, func(float64) {})
	must.OK(t, errors.Join(err, w.Clear(t.Context(), w.scores)))
	return w
}

// eachLayer calls do for random layers, laid out. Half of them have the smallest tiles there are.
func eachLayer(t *testing.T, n int, lay func(c config, t testing.TB) *laidOut, do func(rng *rand.Rand, c config, w *laidOut)) {
	rng := tries.Rand(t)
	for range tries.Runs(n) {
		game, seeds := awaritest.Layer(t, rng)
		family := awaritest.Shuffled(rng, cpu.Available())[0]
		c := config{game, seeds, 1 + rng.IntN(5), int(math.Exp(rng.Float64() * math.Log(2000))), family}
		do(rng, c, lay(c, t))
	}
}

// sweepWhole sweeps from scores of 0 on.
func (e *laidOut) sweepWhole(ctx context.Context) error {
	e.Expire()
	return errors.Join(e.Clear(ctx, e.scores), e.SweepAll(ctx, DenseStage))
}

// read fills in the full rows and returns all scores in colex order.
func (e *laidOut) read(t testing.TB) []int8 {
	must.OK(t, e.Fill(t.Context()))
	scores := make([]int8, e.Positions)
	parts := must.Get(e.Grid.RowParts(0, len(scores)))(t)
	rest := scores
	for _, p := range parts {
		lines, stride := p.Matrix.Row(p.At, p.Skip/board.Side)
		rest = p.Copy(rest, lines, stride)
	}
	return scores
}

// position names a position by the codes of its halves.
type position struct{ mover, opponent uint32 }

func positionOf(g *board.Geometry, b awari.Board) position {
	var mover, opponent board.Half
	copy(mover[:], b[:g.Q])
	copy(opponent[:], b[g.Q:2*g.Q])
	return position{g.Code(&mover), g.Code(&opponent)}
}

// A spot is where a position stands: in a column and row of a block.
type spot struct {
	m           *board.Matrix
	class       board.RowClass
	panel, col  int
	chunk, line int
}

func (g *Grid) find(p position) spot {
	m := g.Matrices[g.Pits[p.mover].Sum()]
	column, at := int(p.mover-m.First), g.Place(p.opponent)
	return spot{m, at.Class, column / board.Side, column % board.Side, int(at.Row) / board.Side, int(at.Row) % board.Side}
}

func (s spot) score() *int8 { return &s.m.Lines(s.panel, s.chunk)[s.line*board.Side+s.col] }

func (s spot) mark() *board.Mark { return &s.m.Marks[s.panel*s.m.Chunks[board.OpenRows]+s.chunk] }

// eachPosition calls do for all positions whose row is of class.
func (e *laidOut) eachPosition(class board.RowClass, do func(p position)) {
	for _, m := range e.Grid.Matrices {
		for column := range m.Columns {
			for _, opponent := range e.Grid.Rows[e.Grid.N-m.Sum][class] {
				do(position{m.First + uint32(column), opponent})
			}
		}
	}
}

func (e *laidOut) eachBlock(do func(m *board.Matrix, panel, chunk int)) {
	for _, m := range e.Grid.Matrices {
		for panel := range m.Panels {
			for chunk := range m.Chunks[board.OpenRows] {
				do(m, panel, chunk)
			}
		}
	}
}

func (g *Grid) inBlock(m *board.Matrix, panel, chunk int, do func(p position, s spot)) {
	for col := range m.Width(panel) {
		for line := range m.Depth(board.OpenRows, chunk) {
			opponent := g.Rows[g.N-m.Sum][board.OpenRows][chunk*board.Side+line]
			do(position{m.First + uint32(panel*board.Side+col), opponent}, spot{m, board.OpenRows, panel, col, chunk, line})
		}
	}
}

func (s spot) at() block { return block{s.m.Sum, s.panel, s.chunk} }

type block struct{ sum, panel, chunk int }

// byBlock returns the tile of each block, which must be in one only.
func (g *Grid) byBlock(t *testing.T) map[block]*tile {
	t.Helper()
	tiles := map[block]*tile{}
	for _, x := range g.tiles {
		for panel := x.panels.Begin; panel < x.panels.End; panel++ {
			for chunk := x.chunks.Begin; chunk < x.chunks.End; chunk++ {
				at := block{x.matrix.Sum, panel, chunk}
				if tiles[at] != nil {
					t.Fatalf("block %+v is in two tiles", at)
				}
				tiles[at] = x
			}
		}
	}
	return tiles
}

// TestLongTilesCoverAllBlocks: each block of open rows is in one tile.
func TestLongTilesCoverAllBlocks(t *testing.T) {
	eachLayer(t, 150, config.begin, func(_ *rand.Rand, c config, w *laidOut) {
		tiles, blocks := w.Grid.byBlock(t), 0
		w.eachBlock(func(m *board.Matrix, panel, chunk int) {
			x := tiles[block{m.Sum, panel, chunk}]
			must.Not(t, x == nil || x.matrix != m, "%+v: %d seeds, panel %d, chunk %d is in no tile", c, m.Sum, panel, chunk)
			blocks++
		})
		must.Hold(t, len(tiles) == blocks, "%+v: %d blocks in tiles, %d in all", c, len(tiles), blocks)
	})
}

// wave is what sorts a tile: for each pit, from the last one on, the seeds that both halves have in it and those of the half with fewer;
// then those of the side that has less, then those of the mover.
func (g *Grid) wave(t *tile) (key []int) {
	for pit := g.Q - 1; pit >= 0; pit-- {
		a, b := int(t.panels.Suffix[pit]), int(t.chunks.Suffix[pit])
		key = append(key, -a-b, -min(a, b))
	}
	return append(key, min(t.matrix.Sum, g.N-t.matrix.Sum), t.matrix.Sum)
}

// TestLongOrderFollowsTheWave sorts shuffled tiles: none is lost, and those of later waves come later.
func TestLongOrderFollowsTheWave(t *testing.T) {
	eachLayer(t, 150, config.begin, func(rng *rand.Rand, c config, w *laidOut) {
		g := w.Grid
		tiles := awaritest.Shuffled(rng, g.tiles)
		before := slices.Clone(tiles)
		g.sortByWave(tiles)
		place := map[*tile]int{}
		for i, x := range tiles {
			place[x] = i
			if i == 0 {
				continue
			}
			last := tiles[i-1]
			must.Not(t, slices.Compare(g.wave(last), g.wave(x)) > 0, "%+v: a tile of wave %v comes after %v", c, g.wave(x), g.wave(last))
		}
		for i, x := range before {
			if at, found := place[x]; !found {
				t.Fatalf("%+v: a tile is lost", c)
			} else if i > 0 && slices.Equal(g.wave(before[i-1]), g.wave(x)) && at < place[before[i-1]] {
				t.Fatalf("%+v: tiles of wave %v change places", c, g.wave(x))
			}
		}
		must.Hold(t, len(tiles) == len(place), "%+v: %d tiles in order, %d of them different", c, len(tiles), len(place))
	})
}

// TestWorthMarking: a sweep is worth marking when few scores change, in few lines, and when marks are cheap.
func TestWorthMarking(t *testing.T) {
	const micro = 1e-6
	measured := costs{compute: cost{100 * micro, 100}, mark: cost{500 * micro, 50}} // 1 and 10 microseconds each
	for _, c := range []struct {
		name    string
		costs   costs
		work    work
		columns int
		want    bool
	}{
		{"no change", measured, work{}, 1000, true},
		{"100 changes in 57 lines", measured, work{lines: 57, scores: 100}, 1000, true}, // make 165 columns out of date
		{"100 changes in 60 lines", measured, work{lines: 60, scores: 100}, 1000, false},
		{"1000 changes", measured, work{lines: 1, scores: 1000}, 1000, false},
		{"marks cost nothing", costs{measured.compute, cost{0, 1}}, work{lines: 1000, scores: 200}, 1000, true},
		{"nothing known", costs{}, work{lines: 150, scores: 180}, 1000, true}, // save 308 columns, cost 300
		{"nothing known, more changes", costs{}, work{lines: 180, scores: 180}, 1000, false},
		{"marks not known", costs{compute: measured.compute}, work{lines: 150, scores: 180}, 1000, true},
		{"computing not known", costs{mark: measured.mark}, work{lines: 150, scores: 180}, 1000, true},
	} {
		should.Equal(t, c.costs.worthMarking(c.work, c.columns, apart), c.want, "%s", c.name)
	}
}

// TestCostsAreMeans: only what is timed counts.
func TestCostsAreMeans(t *testing.T) {
	var b bench
	for range 3 * sampled {
		b.costs.compute.add(b.sample(), 5)
	}
	if c := b.costs.compute; c.count < 5 || c.count > 3*5 || c.seconds < 0 || c.mean() != c.seconds/c.count {
		t.Errorf("%d blocks of 5 columns cost %+v", 3*sampled, c)
	}
}

// TestSlowSamplesDoNotCount: what others had to do meanwhile is no cost of ours.
func TestSlowSamplesDoNotCount(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	var c cost
	c.add(ago(time.Second), 10)
	before := c
	c.add(ago(time.Minute), 10)
	should.Hold(t, c == before, "after a second for 10, a minute for 10: %+v", c)
	c.add(ago(time.Millisecond), 10)
	should.Not(t, c.count != 10 || c.mean() > 0.05, "after a second for 10, a millisecond for 10: %+v", c)
}

// TestLedgerForgets: what was learned last counts most, and a sweep without samples changes no mean.
func TestLedgerForgets(t *testing.T) {
	var l Ledger
	for range 100 {
		l.add(costs{compute: cost{1, 1}, mark: cost{3, 1}})
	}
	for range 20 {
		l.add(costs{compute: cost{2, 1}})
	}
	all := l.add(costs{})
	mean := all.compute.mean()
	should.Not(t, mean < 1.8 || mean > 2, "computing costs %v after it cost 1, then 2", mean)
	mean = all.mark.mean()
	should.Not(t, mean < 2.999 || mean > 3.001, "marking costs %v after it cost 3", mean)
}
