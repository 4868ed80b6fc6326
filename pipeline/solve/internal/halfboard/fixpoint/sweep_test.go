package fixpoint

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/compress"
	"grenier/kernels/transpose"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// A judge knows by the rules what the positions of a layer should be.
type judge struct {
	*awaritest.Judge
	laidOut *laidOut
}

// judge returns a judge of the layer of c, which w lays out.
func (c config) judge(t testing.TB, w *laidOut) *judge {
	t.Helper()
	return &judge{awaritest.NewJudge(t, c.game, c.seeds), w}
}

func (j *judge) board(p position) awari.Board { return j.laidOut.Grid.Board(p.mover, p.opponent) }

// score returns the score of p, given those of the positions that its quiet moves lead to.
func (j *judge) score(p position) int8 {
	score, ok := j.Offer(j.board(p))
	if !ok {
		score = -100
	}
	for _, child := range j.Quiet(j.board(p)) {
		score = max(score, -int(*j.laidOut.Grid.find(positionOf(j.laidOut.Grid.Geometry, child)).score()))
	}
	return int8(score)
}

func (e *laidOut) randomScores(rng *rand.Rand) {
	for i := range e.scores {
		e.scores[i] = e.randomScore(rng)
	}
}

func (e *laidOut) randomScore(rng *rand.Rand) int8 { return int8(rng.IntN(2*e.Grid.N+1) - e.Grid.N) }

func (e *laidOut) anyBlock(rng *rand.Rand) (m *board.Matrix, panel, chunk int) {
	m = e.Grid.Matrices[rng.IntN(len(e.Grid.Matrices))]
	return m, rng.IntN(m.Panels), rng.IntN(m.Chunks[board.OpenRows])
}

// anyMask draws none to all of the bits.
func anyMask(rng *rand.Rand) uint64 {
	mask := rng.Uint64()
	for range rng.IntN(6) {
		mask &= rng.Uint64()
	}
	return []uint64{mask, ^mask, ^uint64(0)}[rng.IntN(3)]
}

// disturb changes some of the scores of a block, and returns what the kernel says about it and the positions that changed.
func (e *laidOut) disturb(rng *rand.Rand, m *board.Matrix, panel, chunk int) (changes *transpose.Changes, changed []position) {
	var next compress.Block
	var before [board.Side * board.Side]int8
	e.Grid.inBlock(m, panel, chunk, func(_ position, s spot) {
		before[s.col*board.Side+s.line] = *s.score()
		next[s.col*board.Side+s.line] = -e.randomScore(rng)
	})
	changes = &transpose.Changes{}
	for line := range changes.Columns {
		changes.Columns[line] = rng.Uint64() // from a call before
	}
	e.Kernels.Update(m.Lines(panel, chunk), &next, anyMask(rng)&m.All(panel), anyMask(rng), changes)
	e.Grid.inBlock(m, panel, chunk, func(p position, s spot) {
		if *s.score() != before[s.col*board.Side+s.line] {
			changed = append(changed, p)
		}
	})
	return changes, changed
}

func (j *judge) readers(p position) (all []position) {
	for _, b := range j.Space.Predecessors(nil, j.board(p)) {
		if q := positionOf(j.laidOut.Grid.Geometry, b); j.laidOut.Grid.Place(q.opponent).Class == board.OpenRows {
			all = append(all, q)
		}
	}
	return all
}

// TestLongReadersAreMarked changes scores of random blocks: all positions that read one
// of them are marked, and no column of a block without such a position.
func TestLongReadersAreMarked(t *testing.T) {
	eachLayer(t, 150, config.begin, func(rng *rand.Rand, c config, w *laidOut) {
		j := c.judge(t, w)
		w.randomScores(rng)
		m, panel, chunk := w.anyBlock(rng)
		changes, changed := w.disturb(rng, m, panel, chunk)
		w.Grid.MarkBlock(m, panel, chunk, changes)
		columns := map[block]uint64{}
		for _, p := range changed {
			for _, reader := range j.readers(p) {
				s := w.Grid.find(reader)
				columns[s.at()] |= 1 << s.col
				if !s.marked() {
					t.Fatalf("%+v: %v is not marked, although %v has changed", c, j.board(reader), j.board(p))
				}
			}
		}
		w.eachBlock(func(m *board.Matrix, panel, chunk int) {
			at := block{m.Sum, panel, chunk}
			got := m.Marks[panel*m.Chunks[board.OpenRows]+chunk].Columns.Load()
			must.Hold(t, got == columns[at],
				"%+v: %d changes in panel %d, chunk %d of %d seeds mark columns %x of %+v, want %x", c, len(changed), panel, chunk, m.Sum, got, at, columns[at])
		})
	})
}

// TestLongBlocksAreComputedByTheRules computes parts of random blocks out of any scores:
// each position gets the best score that its moves offer, the others keep theirs.
func TestLongBlocksAreComputedByTheRules(t *testing.T) {
	eachLayer(t, 100, config.prepare, func(rng *rand.Rand, c config, w *laidOut) {
		j := c.judge(t, w)
		for range 5 {
			w.randomScores(rng)
			m, panel, chunk := w.anyBlock(rng)
			next := job{panel, chunk, anyMask(rng) & m.All(panel), anyMask(rng), m.Block(board.OpenRows, panel, chunk)}
			want := w.expect(j, m, next)
			expected, lines := work{computed: bits.OnesCount64(next.columns)}, uint64(0)
			w.Grid.inBlock(m, panel, chunk, func(p position, s spot) {
				if *s.score() != want[p] {
					expected.scores++
					lines |= 1 << s.line
				}
			})
			expected.lines = bits.OnesCount64(lines)
			var b bench
			w.compute(&b, &tile{matrix: m}, next)
			w.Grid.inBlock(m, panel, chunk, func(p position, s spot) {
				if *s.score() != want[p] {
					t.Fatalf("%+v: %+v: %v is %d, want %d", c, next, j.board(p), *s.score(), want[p])
				}
			})
			must.Equal(t, b.done, expected, "%+v: %+v", c, next)
		}
	})
}

func (e *laidOut) expect(j *judge, m *board.Matrix, next job) map[position]int8 {
	want := map[position]int8{}
	e.Grid.inBlock(m, next.panel, next.chunk, func(p position, s spot) {
		want[p] = *s.score()
		if next.columns>>s.col&1 == 1 && next.rows>>s.line&1 == 1 {
			want[p] = j.score(p)
		}
	})
	return want
}

// TestLongTilesTellTheirReaders computes a tile of which everything is out of date: it
// marks what reads its changes, or the tiles that do so.
func TestLongTilesTellTheirReaders(t *testing.T) {
	eachLayer(t, 80, config.prepare, func(rng *rand.Rand, c config, w *laidOut) {
		j := c.judge(t, w)
		w.randomScores(rng)
		before := slices.Clone(w.scores)
		x := w.Grid.tiles[rng.IntN(len(w.Grid.tiles))]
		w.marking = rng.IntN(2) == 0
		x.all.Store(true)
		var b bench
		w.sweepTile(&b, x)
		must.Equal(t, b.done.computed, x.columns(), "%+v", c)
		tiles := w.Grid.byBlock(t)
		w.eachPosition(board.OpenRows, func(p position) {
			if s := w.Grid.find(p); *s.score() == before[s.index(w)] {
				return
			}
			for _, reader := range j.readers(p) {
				s := w.Grid.find(reader)
				inside := tiles[s.at()] == x && *s.score() == j.score(reader) // computed after the change
				if !inside && !s.marked() && !tiles[s.at()].all.Load() {
					t.Fatalf("%+v, marking: %v: %v is not out of date, although %v has changed", c, w.marking, j.board(reader), j.board(p))
				}
			}
		})
	})
}

func (t *tile) columns() int {
	width := min(t.panels.End*board.Side, t.matrix.Columns) - t.panels.Begin*board.Side
	return width * (t.chunks.End - t.chunks.Begin)
}

// marked reports whether the mark of its block says that a position is out of date.
func (s spot) marked() bool {
	return s.mark().Columns.Load()>>s.col&1 == 1 && s.mark().Rows.Load()>>s.line&1 == 1
}

func (s spot) index(e *laidOut) int {
	at := 0
	for _, m := range e.Grid.Matrices {
		if m == s.m {
			break
		}
		at += len(m.Scores)
	}
	return at + (s.panel*s.m.Rows[board.OpenRows]+s.chunk*board.Side+s.line)*board.Side + s.col
}

// TestMarksAreTaken: a mark is there until it is taken, once; rows may be taken again until it settles.
func TestMarksAreTaken(t *testing.T) {
	var m board.Mark
	for _, add := range [][2]uint64{{1, 2}, {1 << 63, 2}, {4, 8}} {
		m.Add(add[0], add[1])
	}
	for i, want := range [][2]uint64{{1<<63 | 5, 10}, {0, 0}} {
		columns, rows := m.Take()
		should.Hold(t, columns == want[0] && rows == want[1], "taken for the %d. time: columns %x, rows %x, want %x", i+1, columns, rows, want)
	}
	m.Settle()
	m.Add(1, 4)
	m.Settle() // it is in use
	columns, rows := m.Take()
	should.Hold(t, columns == 1 && rows == 4, "after settling: columns %x, rows %x", columns, rows)
}

// TestMarkOrder: rows are added before columns, and taken after them. What is second here meets an unreadable page.
func TestMarkOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pages are not protected")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	columns := guard.New[uint8](t, 8).At(guard.High, 8)
	m := (*board.Mark)(unsafe.Pointer(&columns[0]))
	for _, do := range []func(){func() { m.Add(1, 1) }, func() { columns[0] = 1; m.Take() }} {
		func() {
			defer func() {
				should.Not(t, recover() == nil || columns[0] != 0, "columns %x", columns)
			}()
			do()
		}()
	}
}

// marked is what was added to a mark, or what was taken of it, by column.
type marked [board.Side]uint64

func (m *marked) add(columns, rows uint64) {
	for ; columns != 0; columns &= columns - 1 {
		m[bits.TrailingZeros64(columns)] |= rows
	}
}

// TestLongNoMarkIsLost adds to marks from several goroutines while one takes them, as in
// a sweep, and takes the rest after that, as the next sweep does.
func TestLongNoMarkIsLost(t *testing.T) {
	const adders, marks = 2, 1000
	rng := tries.Rand(t)
	for round := range tries.Runs(800) {
		var all [marks]board.Mark
		var added, taken [marks]marked
		var adds [1 + adders][marks]struct{ columns, rows uint64 }
		for i := range adds {
			for k := range adds[i] {
				a := &adds[i][k]
				a.columns, a.rows = 1<<rng.IntN(board.Side), 1<<rng.IntN(board.Side)
				added[k].add(a.columns, a.rows)
			}
		}
		var group sync.WaitGroup
		add := func(i int) {
			for k, a := range adds[i] {
				all[k].Add(a.columns, a.rows)
			}
		}
		add(0) // so that there is something to take
		for i := range adders {
			group.Go(func() { add(1 + i) })
		}
		for range 2 {
			for k := range all {
				taken[k].add(all[k].Take())
			}
			group.Wait()
			for k := range all {
				all[k].Settle()
			}
		}
		for k := range added {
			for column, rows := range added[k] {
				if lost := rows &^ taken[k][column]; lost != 0 {
					t.Fatalf("round %d, mark %d: rows %x of column %d are lost", round, k, lost, column)
				}
			}
		}
	}
}

// upToDate fails unless every position of an open row has the score that its moves offer, and nothing is marked.
func (e *laidOut) upToDate(t *testing.T, c config, j *judge) {
	e.eachPosition(board.OpenRows, func(p position) {
		if got, want := *e.Grid.find(p).score(), j.score(p); got != want {
			t.Fatalf("%+v: %v is %d, want %d", c, j.board(p), got, want)
		}
	})
	for _, x := range e.Grid.tiles {
		must.Not(t, x.all.Load(), "%+v: a tile is out of date", c)
	}
	e.eachBlock(func(m *board.Matrix, panel, chunk int) {
		columns := m.Marks[panel*m.Chunks[board.OpenRows]+chunk].Columns.Load()
		must.Hold(t, columns == 0, "%+v: columns %x of panel %d, chunk %d of %d seeds are out of date", c, columns, panel, chunk, m.Sum)
	})
}

// bias makes an engine believe in random costs, whatever it measures: so that
// sweeps mark tiles as a whole, or block by block, as it happens.
func (e *laidOut) bias(rng *rand.Rand) {
	const many = 1e15
	e.ledger.add(costs{
		compute: cost{many * rng.Float64(), many},
		mark:    cost{many * rng.Float64() * float64(rng.IntN(100)), many},
	})
}

// TestLongAnyOrderGivesTheSame sweeps over shuffled tiles in units of random sizes, and recomputes every position after the last sweep.
func TestLongAnyOrderGivesTheSame(t *testing.T) {
	eachLayer(t, 120, config.prepare, func(rng *rand.Rand, c config, w *laidOut) {
		w.randomScores(rng) // sweeps do not begin with them
		w.bias(rng)
		w.units = nil
		for rest := awaritest.Shuffled(rng, w.Grid.tiles); len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 2*unit))
			w.units, rest = append(w.units, rest[:n]), rest[n:]
		}
		must.OK(t, w.sweepWhole(t.Context()))
		w.upToDate(t, c, c.judge(t, w))
		must.Hold(t, slices.Equal(w.read(t), awaritest.Oracle(t, c.game, c.seeds)[c.seeds]), "%+v: not the scores of the oracle", c)
	})
}

// TestLongSweepsCountTheirWork compares statistics with what sweeps change.
func TestLongSweepsCountTheirWork(t *testing.T) {
	eachLayer(t, 40, config.prepare, func(_ *rand.Rand, c config, w *laidOut) {
		must.OK(t, w.Clear(t.Context(), w.scores))
		want := work{}
		for _, x := range w.Grid.tiles {
			x.all.Store(true)
			want.computed += x.columns()
		}
		done := must.Get(w.sweep(t.Context(), DenseStage))(t)
		w.eachPosition(board.OpenRows, func(p position) {
			if *w.Grid.find(p).score() != 0 {
				want.scores++
			}
		})
		// The first sweep meets every tile once: no score changes twice.
		want.lines = done.lines
		must.Hold(t, done == want && done.lines <= want.scores && w.changed.Load() == uint64(want.scores),
			"%+v: %+v, %d changes, want %+v", c, done, w.changed.Load(), want)
	})
}
