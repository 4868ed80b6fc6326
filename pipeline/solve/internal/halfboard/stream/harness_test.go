package stream

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// randomLayer lays out a random layer, without memory for scores.
func randomLayer(t testing.TB, rng *rand.Rand) *board.Layer {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	return layOut(t, game.Half(), seeds)
}

// layOut lays out the layer of n seeds with halves of q pits.
func layOut(t testing.TB, q, n int) *board.Layer {
	t.Helper()
	l := board.NewLayer(must.Get(board.NewGeometry(q, n))(t), board.Side)
	must.OK(t, l.ListMoves(t.Context(), 1, board.NewPatterns(awari.Awari)))
	return l
}

// windows returns a layer in windows with the given codes, of which nothing is known yet.
func windows(l *board.Layer, codes *window.Codes) *Windows {
	w := &Windows{Sweeps: &fixpoint.Sweeps{Grid: &fixpoint.Grid{Layer: l}}, sequence: sequence{Codes: codes}}
	w.code.digits = map[bool]window.DigitsFunc{}
	return w
}

// eachBlock calls do for all blocks of open rows.
func eachBlock(l *board.Layer, do func(m *board.Matrix, panel, chunk int)) {
	for _, m := range l.Matrices {
		for panel := range m.Panels {
			for chunk := range m.Chunks[board.OpenRows] {
				do(m, panel, chunk)
			}
		}
	}
}
