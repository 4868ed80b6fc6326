package fixpoint

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is one layer of one game and a way to sweep it.
type config struct {
	game              awari.Game
	seeds             int
	workers, tileSize int
	family            cpu.Family
}

// randomConfig draws a configuration. Half of them have the smallest tiles there are.
func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	families := cpu.Available()
	return config{game, seeds, 1 + rng.IntN(5), int(math.Exp(rng.Float64() * math.Log(2000))), families[rng.IntN(len(families))]}
}

// laidOut is a layer in memory.
type laidOut struct {
	*Sweeps
	game   awari.Game
	scores []int8
}

// begin lays the layer of c out.
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
	w := &laidOut{NewSweeps(a, l, c.workers, KernelsFor(c.family, 8), &Ledger{}), c.game, scores}
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

// positionOf returns the codes of the halves of board.
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

// find returns where p stands.
func (g *Grid) find(p position) spot {
	m := g.Matrices[g.Pits[p.mover].Sum()]
	column, at := int(p.mover-m.First), g.Place(p.opponent)
	return spot{m, at.Class, column / board.Side, column % board.Side, int(at.Row) / board.Side, int(at.Row) % board.Side}
}

// score returns the score of a position of an open row.
func (s spot) score() *int8 { return &s.m.Lines(s.panel, s.chunk)[s.line*board.Side+s.col] }

// mark returns the mark of the block.
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

// eachBlock calls do for all blocks of open rows.
func (e *laidOut) eachBlock(do func(m *board.Matrix, panel, chunk int)) {
	for _, m := range e.Grid.Matrices {
		for panel := range m.Panels {
			for chunk := range m.Chunks[board.OpenRows] {
				do(m, panel, chunk)
			}
		}
	}
}

// inBlock calls do for all positions of a block.
func (g *Grid) inBlock(m *board.Matrix, panel, chunk int, do func(p position, s spot)) {
	for col := range m.Width(panel) {
		for line := range m.Depth(board.OpenRows, chunk) {
			opponent := g.Rows[g.N-m.Sum][board.OpenRows][chunk*board.Side+line]
			do(position{m.First + uint32(panel*board.Side+col), opponent}, spot{m, board.OpenRows, panel, col, chunk, line})
		}
	}
}
