package board

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/compress"
)

// A library is lower layers in memory that counts how often each piece is read.
type library struct {
	awaritest.Lower
	layer *Layer
	mu    sync.Mutex
	reads map[pieceName]int
	fail  func() error
}

// libraryTops are layers of several pieces, by half the number of pits.
var libraryTops = map[int]int{2: 48, 3: 27, 4: 15, 5: 12, 6: 9}

// newLibrary makes layers, of any scores, up to one of several pieces.
func newLibrary(t *testing.T, rng *rand.Rand) *library {
	t.Helper()
	q := 2 + rng.IntN(5)
	l := &library{layer: &Layer{Geometry: must.Get(NewGeometry(q, libraryTops[q]))(t)}, reads: map[pieceName]int{}}
	for n := range l.layer.N + 1 {
		layer := make([]int8, l.layer.Halves.Board().Size(n))
		for i := range layer {
			layer[i] = int8((i + n) * 0x9e3779b1 >> 20)
		}
		l.Layers = append(l.Layers, layer)
	}
	return l
}

func (l *library) Read(n int, start uint64, dst []int8) error {
	l.mu.Lock()
	l.reads[pieceName{n, start / PieceLength}]++
	l.mu.Unlock()
	if l.fail != nil {
		if err := l.fail(); err != nil {
			return err
		}
	}
	return l.Lower.Read(n, start, dst)
}

func (l *library) pieceCount() (all int) {
	for _, layer := range l.Layers {
		all += (len(layer) + PieceLength - 1) / PieceLength
	}
	return all
}

func (l *library) look(t *testing.T, r *rows, n int, code uint32) error {
	columns := ColumnsOf(l.layer.Q, n-l.layer.Pits[code].Sum())
	want := l.Layers[n][l.layer.RowStart(n, code):]
	r.leave()
	got, err := r.row(n, code)
	if err != nil {
		return err
	}
	should.Not(t, len(got) < columns || !slices.Equal(got[:columns], want[:columns]),
		"%d pits, layer %d, half %v: not the row of the layer", 2*l.layer.Q, n, l.layer.Pits[code])
	return nil
}

// lookAround reads rows at random, and sometimes those that follow.
func (l *library) lookAround(t *testing.T, r *rows, rng *rand.Rand) error {
	defer r.close()
	for range 300 {
		n := l.layer.N - rng.IntN(min(3, l.layer.N))
		code := rng.IntN(len(l.layer.Pits))
		for range 1 + rng.IntN(5) {
			if code == len(l.layer.Pits) || l.layer.Pits[code].Sum() > n {
				break
			}
			if err := l.look(t, r, n, uint32(code)); err != nil {
				return err
			}
			code++
		}
	}
	return nil
}

func (l *library) together(t *testing.T, p *Pieces, workers int, rng *rand.Rand) []error {
	t.Helper()
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		group.Go(func() { errs[w] = l.lookAround(t, newRows(p), rng) })
	}
	tries.Within(t, "reading rows", group.Wait)
	return errs
}

// TestLongRowsOfPieces compares rows with those of layers in memory, whatever there is room for.
func TestLongRowsOfPieces(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(24) {
		l := newLibrary(t, rng)
		all, workers := l.pieceCount(), 1+rng.IntN(5)
		most := rng.IntN(all + 2)
		p := NewPieces(l.layer, l, make([]int8, most*PieceLength))
		must.OK(t, errors.Join(l.together(t, p, workers, rng)...))
		should.Not(t, len(p.clock) > max(most, 3*workers) || len(p.where) > len(p.clock),
			"%d pieces in memory, %d of them known, want %d at most with %d workers in 3 layers", len(p.clock), len(p.where), most, workers)
		for _, k := range p.clock {
			should.Hold(t, k.refs == 0, "piece %+v is held %d times in the end", k.name, k.refs)
		}
		for name, reads := range l.reads {
			should.Not(t, most >= all && reads > 1, "piece %+v is read %d times", name, reads)
		}
	}
}

// TestAllRowsOnce: every row of every layer, in order, takes every piece once, even if there is room for one only.
func TestAllRowsOnce(t *testing.T) {
	l := newLibrary(t, tries.Rand(t))
	r := newRows(NewPieces(l.layer, l, make([]int8, PieceLength)))
	defer r.close()
	for n := l.layer.N - 1; n <= l.layer.N; n++ {
		codes := []uint32{}
		for code := range l.layer.Pits {
			if l.layer.Pits[code].Sum() <= n {
				codes = append(codes, uint32(code))
			}
		}
		slices.SortFunc(codes, func(x, y uint32) int { return int(l.layer.RowStart(n, x)) - int(l.layer.RowStart(n, y)) })
		for _, code := range codes {
			must.OK(t, l.look(t, r, n, code))
		}
	}
	for name, reads := range l.reads {
		should.Hold(t, reads == 1, "piece %+v is read %d times", name, reads)
	}
}

// TestLongPiecesFail: who wants a piece that cannot be read gets the error, even if somebody else is reading it, and nobody hangs.
func TestLongPiecesFail(t *testing.T) {
	rng := tries.Rand(t)
	bad := errors.New("disk on fire")
	for range tries.Runs(16) {
		l := newLibrary(t, rng)
		var failed atomic.Bool
		later := awaritest.FailAt(bad, 1+rng.IntN(6))
		l.fail = func() error {
			err := later()
			if err != nil {
				failed.Store(true)
			}
			return err
		}
		p := NewPieces(l.layer, l, make([]int8, rng.IntN(l.pieceCount()+1)*PieceLength))
		met := 0
		for _, err := range l.together(t, p, 1+rng.IntN(5), rng) {
			if err != nil {
				met++
			}
			should.Not(t, err != nil && !errors.Is(err, bad), "%v, want %v", err, bad)
		}
		should.Not(t, failed.Load() && met == 0, "a read fails and no error comes")
	}
}

// TestLongOffersFollowTheRules asks the rules about every position of random layers, of open and of full rows.
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

// TestLongOffersDoNotDependOnRounds computes offers in rounds, with any memory for offers and for pieces of lower layers.
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
