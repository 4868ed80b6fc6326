package board

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/kernels/compress"
)

// TestLongOffersFollowTheRules asks the rules about every position of random layers, of
// open and of full rows.
func TestLongOffersFollowTheRules(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(60) {
		c := randomConfig(t, rng)
		w := c.prepare(t, awaritest.LowerOf(t, c.game, c.seeds))
		j := awaritest.NewJudge(t, c.game, c.seeds)
		for class := range Classes {
			w.eachPosition(class, func(p position) {
				want, ok := j.Offer(w.Board(p.mover, p.opponent))
				if got := w.find(p).offer(); ok && int(got) != -want || !ok && got != w.Blocked() {
					t.Fatalf("%+v: %v is offered %d, want %d (%v)", c, w.Board(p.mover, p.opponent), got, -want, ok)
				}
			})
		}
	}
}

// TestLongOffersCoverAllPositions: each position of the layer is in one block.
func TestLongOffersCoverAllPositions(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(60) {
		c := randomConfig(t, rng)
		w := c.layer(t)
		positions := uint64(0)
		for class := range Classes {
			w.eachPosition(class, func(p position) {
				s := w.find(p)
				if s.class != class || s.col >= s.m.Width(s.panel) || s.line >= s.m.Depth(class, s.chunk) {
					t.Fatalf("%+v: %v stands at %+v", c, w.Board(p.mover, p.opponent), s)
				}
				positions++
			})
		}
		if want := w.Halves.Board().Size(c.seeds); positions != want {
			t.Fatalf("%+v: %d positions, want %d", c, positions, want)
		}
	}
}

// TestLongOffersDoNotDependOnRounds computes offers in rounds, with any memory for offers and
// for pieces of lower layers.
func TestLongOffersDoNotDependOnRounds(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(60) {
		c := randomConfig(t, rng)
		want, w := c.prepare(t, awaritest.LowerOf(t, c.game, c.seeds)), c.layer(t)
		pieces := NewPieces(w, awaritest.LowerOf(t, c.game, c.seeds), make([]int8, rng.IntN(40)*PieceLength))
		least := (w.columns(c.seeds) + 2*Side) * Side
		round := NewRound(w, c.game, c.workers, false, pieces, make([]int8, least+rng.IntN(4*least)))
		panels := w.PanelsInOrder()
		for n := 0; len(panels) > 0; panels = panels[n:] {
			if n = round.Fit(panels); n == 0 {
				t.Fatalf("%+v: no panel fits into %d bytes", c, len(round.memory))
			}
			if err := round.Run(t.Context(), panels[:n], func(float64) {}); err != nil {
				t.Fatal(err)
			}
			for _, p := range panels[:n] {
				round.compare(t, c, want.Matrices[p.Matrix.Sum], p)
			}
		}
		for _, k := range pieces.clock {
			if k.refs != 0 {
				t.Fatalf("%+v: piece %+v is held %d times in the end", c, k.name, k.refs)
			}
		}
	}
}

// compare compares offers of a panel, when its games are ended, with those of m.
func (r *Round) compare(t *testing.T, c config, m *Matrix, of PanelOf) {
	t.Helper()
	for class := range Classes {
		for chunk := range m.Chunks[class] {
			var block compress.Block
			r.Block(&block, of.Matrix, class, of.Panel, chunk, r.Offers[m.Sum][of.Panel][class])
			if block != *m.Block(class, of.Panel, chunk) {
				t.Fatalf("%+v: %d seeds, panel %d: not the same offers of chunk %d, class %d", c, m.Sum, of.Panel, chunk, class)
			}
		}
	}
}

// TestLongLeaves: every open half that a capture can leave is in one part, in the order of rows.
func TestLongLeaves(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(60) {
		g := randomConfig(t, rng).layer(t)
		all := slices.Concat(g.leaves()...)
		for i, code := range all {
			h := g.Pits[code]
			if !h.hasEmpty(g.Q) || h.Sum() > g.N-2 {
				t.Fatalf("%d pits, %d seeds: half %v is listed", 2*g.Q, g.N, h)
			}
			if i > 0 && g.RowStart(g.N, all[i-1]) >= g.RowStart(g.N, code) {
				t.Fatalf("%d pits, %d seeds: half %v after %v", 2*g.Q, g.N, h, g.Pits[all[i-1]])
			}
		}
		want := 0
		for sum := range max(0, g.N-1) {
			want += len(g.Rows[sum][OpenRows])
		}
		if len(all) != want {
			t.Fatalf("%d pits, %d seeds: %d halves, want %d", 2*g.Q, g.N, len(all), want)
		}
	}
}

// TestLongOnlyReachableLayersAreRead: a capture takes 2 seeds at least and 3 from every pit of the
// opponent at most. One worker reads no piece twice.
func TestLongOnlyReachableLayersAreRead(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(60) {
		c := randomConfig(t, rng)
		lower := &awaritest.Counting{Lower: awaritest.LowerOf(t, c.game, c.seeds)}
		w := c.prepare(t, lower)
		for n := range lower.Scores {
			read, most := lower.Scores[n].Load(), uint64(0)
			if n <= c.seeds-2 && n >= c.seeds-3*c.game.Half() {
				most = w.Halves.Board().Size(n)
			}
			if read > most && (most == 0 || c.workers == 1) {
				t.Fatalf("%+v: %d scores of layer %d are read, of which %d are needed", c, read, n, most)
			}
		}
	}
}
