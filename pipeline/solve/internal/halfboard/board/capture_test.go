package board

import (
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/kernels/compress"
)

// TestLongOffersFollowTheRules asks the rules about every position of random layers, of
// open and of full rows.
func TestLongOffersFollowTheRules(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(60) {
		c := randomConfig(t, rng)
		w := c.prepare(t, awaritest.LowerOf(t, c.game, c.seeds))
		j := awaritest.NewJudge(t, c.game, c.seeds)
		for class := range Classes {
			for _, m := range w.Matrices {
				for column := range m.Columns {
					for row, opponent := range w.Rows[w.N-m.Sum][class] {
						board := w.Board(m.First+uint32(column), opponent)
						want, ok := j.Offer(board)
						got := m.Block(class, column/Side, row/Side)[column%Side*Side+row%Side]
						if ok && int(got) != -want || !ok && got != w.Blocked() {
							t.Fatalf("%+v: %v is offered %d, want %d (%v)", c, board, got, -want, ok)
						}
					}
				}
			}
		}
	}
}

// TestLongOffersDoNotDependOnRounds computes offers in rounds, with any memory for offers and
// for pieces of lower layers.
func TestLongOffersDoNotDependOnRounds(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(60) {
		c := randomConfig(t, rng)
		want, w := c.prepare(t, awaritest.LowerOf(t, c.game, c.seeds)), c.layer(t)
		pieces := NewPieces(w, awaritest.LowerOf(t, c.game, c.seeds), make([]int8, rng.IntN(40)*PieceLength))
		least := (w.columns(c.seeds) + 2*Side) * Side
		round := NewRound(w, c.game, c.workers, false, pieces, make([]int8, least+rng.IntN(4*least)))
		panels := w.PanelsInOrder()
		for n := 0; len(panels) > 0; panels = panels[n:] {
			n = round.Fit(panels)
			must.Not(t, n == 0, "%+v: no panel fits into %d bytes", c, len(round.memory))
			must.OK(t, round.Run(t.Context(), panels[:n], func(float64) {}))
			for _, p := range panels[:n] {
				round.compare(t, c, want.Matrices[p.Matrix.Sum], p)
			}
		}
		for _, k := range pieces.clock {
			must.Hold(t, k.refs == 0, "%+v: piece %+v is held %d times in the end", c, k.name, k.refs)
		}
	}
}

// compare compares offers of a panel, when its games are ended, with those of m.
func (r *Round) compare(t *testing.T, c config, m *Matrix, of PanelOf) {
	for class := range Classes {
		for chunk := range m.Chunks[class] {
			var block compress.Block
			r.Block(&block, of.Matrix, class, of.Panel, chunk, r.Offers[m.Sum][of.Panel][class])
			must.Hold(t, block == *m.Block(class, of.Panel, chunk),
				"%+v: %d seeds, panel %d: not the same offers of chunk %d, class %d", c, m.Sum, of.Panel, chunk, class)
		}
	}
}

// TestLongOnlyReachableLayersAreRead: a capture takes 2 seeds at least and 3 from every pit of the
// opponent at most. One worker reads no piece twice.
func TestLongOnlyReachableLayersAreRead(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(60) {
		c := randomConfig(t, rng)
		lower := &awaritest.Counting{Lower: awaritest.LowerOf(t, c.game, c.seeds)}
		w := c.prepare(t, lower)
		for n := range lower.Scores {
			read, most := lower.Scores[n].Load(), uint64(0)
			if n <= c.seeds-2 && n >= c.seeds-3*c.game.Half() {
				most = w.Halves.Board().Size(n)
			}
			must.Not(t, read > most && (most == 0 || c.workers == 1),
				"%+v: %d scores of layer %d are read, of which %d are needed", c, read, n, most)
		}
	}
}
