package halfboard

import (
	"slices"
	"sync/atomic"
	"testing"

	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// A judge plays moves by the rules of package awari.
type judge struct {
	engine *engine
	space  *awari.Space
	layers [][]int8 // below that of the engine
}

// judge returns a judge of the layer of c, which w lays out.
func (c config) judge(t testing.TB, w *engine) *judge {
	t.Helper()
	space, err := awari.NewSpace(c.game, c.seeds)
	if err != nil {
		t.Fatal(err)
	}
	return &judge{w, space, c.lower(t).layers}
}

// board returns the board of p.
func (j *judge) board(p position) awari.Board { return j.engine.grid.board(p.mover, p.opponent) }

// offer returns the score of the best move of p that captures, or that of the end of
// the game if there is no ordinary move; false if there is neither.
func (j *judge) offer(p position) (score int, ok bool) {
	board := j.board(p)
	score, quiet := j.space.Terminal(board), false
	for _, play := range j.space.Plays(board) {
		switch {
		case !play.Legal:
		case play.Starves: // takes all
			score = max(score, play.Captured)
		case play.Captured == 0:
			quiet = true
		default:
			n, rank := j.space.Rank(play.Child)
			score, ok = max(score, play.Captured-int(j.layers[n][rank])), true
		}
	}
	return score, ok || !quiet
}

// score returns the score of p, given those of the positions that its quiet moves
// lead to.
func (j *judge) score(p position) int8 {
	score, ok := j.offer(p)
	if !ok {
		score = -100
	}
	for _, child := range j.engine.quietChildren(p) {
		score = max(score, -int(*j.engine.grid.find(child).score()))
	}
	return int8(score)
}

// TestLongOffersFollowTheRules asks the rules about every position of random layers, of
// open and of full rows.
func TestLongOffersFollowTheRules(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		j := c.judge(t, w)
		for class := range classes {
			w.eachPosition(class, func(p position) {
				want, ok := j.offer(p)
				if got := w.grid.find(p).offer(); ok && int(got) != -want || !ok && got != w.grid.blocked() {
					t.Fatalf("%+v: %v is offered %d, want %d (%v)", c, j.board(p), got, -want, ok)
				}
			})
		}
	}
}

// TestLongOffersCoverAllPositions: each position of the layer is in one block.
func TestLongOffersCoverAllPositions(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		positions := uint64(0)
		for class := range classes {
			w.eachPosition(class, func(p position) {
				s := w.grid.find(p)
				if s.class != class || s.col >= s.m.width(s.panel) || s.line >= s.m.depth(class, s.chunk) {
					t.Fatalf("%+v: %v stands at %+v", c, w.grid.board(p.mover, p.opponent), s)
				}
				positions++
			})
		}
		if want := w.ranking().Size(c.seeds); positions != want {
			t.Fatalf("%+v: %d positions, want %d", c, positions, want)
		}
	}
}

// TestLongOffersDoNotDependOnRounds computes offers in rounds, with any memory for offers and
// for pieces of lower layers.
func TestLongOffersDoNotDependOnRounds(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		want, w := c.prepare(t), c.begin(t)
		pieces := newPieces(w.grid.layer, c.lower(t), make([]int8, rng.IntN(40)*pieceLength))
		least := int(leastOffers(w.grid.q, c.seeds))
		round := newRound(w.grid.layer, w.game, c.options.Workers, false, pieces, make([]int8, least+rng.IntN(4*least)))
		panels := w.grid.panelsInOrder()
		for n := 0; len(panels) > 0; panels = panels[n:] {
			if n = round.fit(panels); n == 0 {
				t.Fatalf("%+v: no panel fits into %d bytes", c, len(round.memory))
			}
			if err := round.run(t.Context(), panels[:n], func(float64) {}); err != nil {
				t.Fatal(err)
			}
			for _, p := range panels[:n] {
				round.compare(t, c, want.grid.matrices[p.matrix.sum], p)
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
func (r *round) compare(t *testing.T, c config, m *matrix, of panelOf) {
	t.Helper()
	for class := range classes {
		for chunk := range m.chunks[class] {
			var block compress.Block
			r.block(&block, of.matrix, class, of.panel, chunk, r.offers[m.sum][of.panel][class])
			if block != *m.block(class, of.panel, chunk) {
				t.Fatalf("%+v: %d seeds, panel %d: not the same offers of chunk %d, class %d", c, m.sum, of.panel, chunk, class)
			}
		}
	}
}

// TestLongLeaves: every open half that a capture can leave is in one part, in the order of rows.
func TestLongLeaves(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		w := randomConfig(t, rng).begin(t)
		g, all := w.grid, slices.Concat(w.grid.leaves()...)
		for i, code := range all {
			h := g.pits[code]
			if !h.hasEmpty(g.q) || h.sum() > g.n-2 {
				t.Fatalf("%d pits, %d seeds: half %v is listed", 2*g.q, g.n, h)
			}
			if i > 0 && g.rowStart(g.n, all[i-1]) >= g.rowStart(g.n, code) {
				t.Fatalf("%d pits, %d seeds: half %v after %v", 2*g.q, g.n, h, g.pits[all[i-1]])
			}
		}
		want := 0
		for sum := range max(0, g.n-1) {
			want += len(g.rows[sum][openRows])
		}
		if len(all) != want {
			t.Fatalf("%d pits, %d seeds: %d halves, want %d", 2*g.q, g.n, len(all), want)
		}
	}
}

// counting notes what is read of the layers below.
type counting struct {
	*tower
	read   [awari.MaxSeeds + 1]atomic.Uint64
	closed atomic.Int64
}

func (l *counting) Read(n int, start uint64, dst []int8) error {
	l.read[n].Add(uint64(len(dst)))
	return l.tower.Read(n, start, dst)
}

func (l *counting) Close() error {
	l.closed.Add(1)
	return l.tower.Close()
}

// TestLongOnlyReachableLayersAreRead: a capture takes 2 seeds at least and 3 from every pit of the
// opponent at most. One worker reads no piece twice.
func TestLongOnlyReachableLayersAreRead(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		c := randomConfig(t, rng)
		lower := &counting{tower: c.lower(t)}
		if err := c.begin(t).captureAll(t.Context(), lower); err != nil {
			t.Fatal(err)
		}
		for n := range lower.read {
			read, most := lower.read[n].Load(), uint64(0)
			if n <= c.seeds-2 && n >= c.seeds-3*c.game.Half() {
				most = Positions(c.game, n)
			}
			if read > most && (most == 0 || c.options.Workers == 1) {
				t.Fatalf("%+v: %d scores of layer %d are read, of which %d are needed", c, read, n, most)
			}
		}
		if closed := lower.closed.Load(); closed != 1 {
			t.Fatalf("%+v: the layers below are closed %d times", c, closed)
		}
	}
}
