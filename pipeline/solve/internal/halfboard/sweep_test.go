package halfboard

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"grenier/kernels/compress"
	"grenier/kernels/transpose"
)

// randomScores gives every position of an open row any score.
func (e *engine) randomScores(rng *rand.Rand) {
	for i := range e.whole.scores {
		e.whole.scores[i] = e.randomScore(rng)
	}
}

func (e *engine) randomScore(rng *rand.Rand) int8 { return int8(rng.IntN(2*e.grid.n+1) - e.grid.n) }

// anyBlock draws a block of open rows.
func (e *engine) anyBlock(rng *rand.Rand) (m *matrix, panel, chunk int) {
	m = e.grid.matrices[rng.IntN(len(e.grid.matrices))]
	return m, rng.IntN(m.panels), rng.IntN(m.chunks[openRows])
}

// anyMask draws none to all of the bits.
func anyMask(rng *rand.Rand) uint64 {
	mask := rng.Uint64()
	for range rng.IntN(6) {
		mask &= rng.Uint64()
	}
	return []uint64{mask, ^mask, ^uint64(0)}[rng.IntN(3)]
}

// disturb changes some of the scores of a block, and returns what the kernel says
// about it and the positions that changed.
func (e *engine) disturb(rng *rand.Rand, m *matrix, panel, chunk int) (changes *transpose.Changes, changed []position) {
	var next compress.Block
	var before [side * side]int8
	e.grid.inBlock(m, panel, chunk, func(_ position, s spot) {
		before[s.col*side+s.line] = *s.score()
		next[s.col*side+s.line] = -e.randomScore(rng)
	})
	changes = &transpose.Changes{}
	for line := range changes.Columns {
		changes.Columns[line] = rng.Uint64() // from a call before
	}
	e.kernels.update(m.lines(panel, chunk), &next, anyMask(rng)&m.all(panel), anyMask(rng), changes)
	e.grid.inBlock(m, panel, chunk, func(p position, s spot) {
		if *s.score() != before[s.col*side+s.line] {
			changed = append(changed, p)
		}
	})
	return changes, changed
}

// readers returns the positions of open rows that have a quiet move to p.
func (j *judge) readers(p position) (all []position) {
	for _, board := range j.space.Predecessors(nil, j.board(p)) {
		if q := j.engine.grid.position(board); j.engine.grid.place(q.opponent).class == openRows {
			all = append(all, q)
		}
	}
	return all
}

// TestLongReadersAreMarked changes scores of random blocks: all positions that read one
// of them are marked, and no column of a block without such a position.
func TestLongReadersAreMarked(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		j := c.judge(t, w)
		w.randomScores(rng)
		m, panel, chunk := w.anyBlock(rng)
		changes, changed := w.disturb(rng, m, panel, chunk)
		w.grid.markBlock(m, panel, chunk, changes)
		columns := map[block]uint64{}
		for _, p := range changed {
			for _, reader := range j.readers(p) {
				s := w.grid.find(reader)
				columns[s.at()] |= 1 << s.col
				if !s.marked() {
					t.Fatalf("%+v: %v is not marked, although %v has changed", c, j.board(reader), j.board(p))
				}
			}
		}
		w.eachBlock(func(m *matrix, panel, chunk int) {
			at := block{m.sum, panel, chunk}
			if got := m.marks[panel*m.chunks[openRows]+chunk].columns.Load(); got != columns[at] {
				t.Fatalf("%+v: %d changes in panel %d, chunk %d of %d seeds mark columns %x of %+v, want %x",
					c, len(changed), panel, chunk, m.sum, got, at, columns[at])
			}
		})
	}
}

// TestLongReadersHaveQuietMoves: what the test above knows about readers agrees with
// what moves lead to.
func TestLongReadersHaveQuietMoves(t *testing.T) {
	rng := newRand(t)
	for range runs(20) {
		c := randomConfig(t, rng)
		w := c.begin(t)
		j := c.judge(t, w)
		moves := 0
		w.eachPosition(openRows, func(p position) {
			for _, child := range w.quietChildren(p) {
				if !slices.Contains(j.readers(child), p) {
					t.Fatalf("%+v: %v is no reader of %v", c, j.board(p), j.board(child))
				}
				moves++
			}
			moves -= len(j.readers(p))
		})
		if moves != 0 {
			t.Fatalf("%+v: %d more moves than readers", c, moves)
		}
	}
}

// TestLongBlocksAreComputedByTheRules computes parts of random blocks out of any scores:
// each position gets the best score that its moves offer, the others keep theirs.
func TestLongBlocksAreComputedByTheRules(t *testing.T) {
	rng := newRand(t)
	for range runs(100) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		j := c.judge(t, w)
		for range 5 {
			w.randomScores(rng)
			m, panel, chunk := w.anyBlock(rng)
			next := job{panel, chunk, anyMask(rng) & m.all(panel), anyMask(rng), m.block(openRows, panel, chunk)}
			want := w.expect(j, m, next)
			expected := work{computed: bits.OnesCount64(next.columns)}
			w.grid.inBlock(m, panel, chunk, func(p position, s spot) {
				if *s.score() != want[p] {
					expected.scores++
				}
			})
			expected.blocks = min(1, expected.scores)
			var b bench
			w.compute(&b, &tile{matrix: m}, next)
			w.grid.inBlock(m, panel, chunk, func(p position, s spot) {
				if *s.score() != want[p] {
					t.Fatalf("%+v: %+v: %v is %d, want %d", c, next, j.board(p), *s.score(), want[p])
				}
			})
			if b.done != expected {
				t.Fatalf("%+v: %+v: %+v, want %+v", c, next, b.done, expected)
			}
		}
	}
}

// expect returns what the scores of a block should be after a job.
func (e *engine) expect(j *judge, m *matrix, next job) map[position]int8 {
	want := map[position]int8{}
	e.grid.inBlock(m, next.panel, next.chunk, func(p position, s spot) {
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
	rng := newRand(t)
	for range runs(80) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		j := c.judge(t, w)
		w.randomScores(rng)
		before := slices.Clone(w.whole.scores)
		x := w.grid.tiles[rng.IntN(len(w.grid.tiles))]
		w.marking = rng.IntN(2) == 0
		x.all.Store(true)
		var b bench
		w.sweepTile(&b, x)
		if b.done.computed != x.columns() {
			t.Fatalf("%+v: %d columns of blocks computed of a tile with %d", c, b.done.computed, x.columns())
		}
		tiles := w.grid.byBlock(t)
		w.eachPosition(openRows, func(p position) {
			if s := w.grid.find(p); *s.score() == before[s.index(w)] {
				return
			}
			for _, reader := range j.readers(p) {
				s := w.grid.find(reader)
				inside := tiles[s.at()] == x && *s.score() == j.score(reader) // computed after the change
				if !inside && !s.marked() && !tiles[s.at()].all.Load() {
					t.Fatalf("%+v, marking: %v: %v is not out of date, although %v has changed", c, w.marking, j.board(reader), j.board(p))
				}
			}
		})
	}
}

// columns returns the number of columns of blocks of a tile.
func (t *tile) columns() int {
	width := min(t.panels.end*side, t.matrix.columns) - t.panels.begin*side
	return width * (t.chunks.end - t.chunks.begin)
}

// marked reports whether the mark of its block says that a position is out of date.
func (s spot) marked() bool {
	return s.mark().columns.Load()>>s.col&1 == 1 && s.mark().rows.Load()>>s.line&1 == 1
}

// index returns where the score of a spot is among all.
func (s spot) index(e *engine) int {
	at := 0
	for _, m := range e.grid.matrices {
		if m == s.m {
			break
		}
		at += len(m.scores)
	}
	return at + (s.panel*s.m.rows[openRows]+s.chunk*side+s.line)*side + s.col
}

// TestMarksAreTaken: a mark is there until it is taken, once; rows may be taken again
// until it settles.
func TestMarksAreTaken(t *testing.T) {
	var m mark
	for _, add := range [][2]uint64{{1, 2}, {1 << 63, 2}, {4, 8}} {
		m.add(add[0], add[1])
	}
	for i, want := range [][2]uint64{{1<<63 | 5, 10}, {0, 0}} {
		if columns, rows := m.take(); columns != want[0] || rows != want[1] {
			t.Errorf("taken for the %d. time: columns %x, rows %x, want %x", i+1, columns, rows, want)
		}
	}
	m.settle()
	m.add(1, 4)
	m.settle() // it is in use
	if columns, rows := m.take(); columns != 1 || rows != 4 {
		t.Errorf("after settling: columns %x, rows %x", columns, rows)
	}
}

// marked is what was added to a mark, or what was taken of it, by column.
type marked [side]uint64

func (m *marked) add(columns, rows uint64) {
	for ; columns != 0; columns &= columns - 1 {
		m[bits.TrailingZeros64(columns)] |= rows
	}
}

// TestLongNoMarkIsLost adds to marks from several goroutines while one takes them, as in
// a sweep, and takes the rest after that, as the next sweep does.
func TestLongNoMarkIsLost(t *testing.T) {
	const adders, marks = 2, 1000
	rng := newRand(t)
	for round := range runs(800) {
		var all [marks]mark
		var added, taken [marks]marked
		var adds [1 + adders][marks]struct{ columns, rows uint64 }
		for i := range adds {
			for k := range adds[i] {
				a := &adds[i][k]
				a.columns, a.rows = 1<<rng.IntN(side), 1<<rng.IntN(side)
				added[k].add(a.columns, a.rows)
			}
		}
		var group sync.WaitGroup
		add := func(i int) {
			for k, a := range adds[i] {
				all[k].add(a.columns, a.rows)
			}
		}
		add(0) // so that there is something to take
		for i := range adders {
			group.Go(func() { add(1 + i) })
		}
		for range 2 {
			for k := range all {
				taken[k].add(all[k].take())
			}
			group.Wait()
			for k := range all {
				all[k].settle()
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

// upToDate fails unless every position of an open row has the score that its moves
// offer, and nothing is marked.
func (e *engine) upToDate(t *testing.T, c config, j *judge) {
	t.Helper()
	e.eachPosition(openRows, func(p position) {
		if got, want := *e.grid.find(p).score(), j.score(p); got != want {
			t.Fatalf("%+v: %v is %d, want %d", c, j.board(p), got, want)
		}
	})
	for _, x := range e.grid.tiles {
		if x.all.Load() {
			t.Fatalf("%+v: a tile is out of date", c)
		}
	}
	e.eachBlock(func(m *matrix, panel, chunk int) {
		if columns := m.marks[panel*m.chunks[openRows]+chunk].columns.Load(); columns != 0 {
			t.Fatalf("%+v: columns %x of panel %d, chunk %d of %d seeds are out of date", c, columns, panel, chunk, m.sum)
		}
	})
}

// TestLongNothingIsOutOfDateInTheEnd recomputes every position after the last sweep.
func TestLongNothingIsOutOfDateInTheEnd(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		w.randomScores(rng) // sweeps do not begin with them
		w.bias(rng)
		if err := w.sweepWhole(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.upToDate(t, c, c.judge(t, w))
	}
}

// bias makes an engine believe in random costs, whatever it measures: so that
// sweeps mark tiles as a whole, or block by block, as it happens.
func (e *engine) bias(rng *rand.Rand) {
	const many = 1e15
	e.ledger.add(costs{
		compute: cost{many * rng.Float64(), many},
		mark:    cost{many * rng.Float64() * float64(rng.IntN(100)), many},
	})
}

// TestLongAnyOrderGivesTheSame sweeps over shuffled tiles in units of random sizes.
func TestLongAnyOrderGivesTheSame(t *testing.T) {
	rng := newRand(t)
	for range runs(120) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		w.bias(rng)
		w.units = nil
		for rest := shuffled(rng, w.grid.tiles); len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 2*unit))
			w.units, rest = append(w.units, rest[:n]), rest[n:]
		}
		if err := w.sweepWhole(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.read(t), oracle(t, c.game, c.seeds)[c.seeds]) {
			t.Fatalf("%+v: not the scores of the oracle", c)
		}
	}
}

// TestLongSweepsCountTheirWork compares statistics with what sweeps change.
func TestLongSweepsCountTheirWork(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		if err := w.clear(t.Context(), w.whole.scores); err != nil {
			t.Fatal(err)
		}
		want := work{}
		for _, x := range w.grid.tiles {
			x.all.Store(true)
			want.computed += x.columns()
		}
		done, err := w.sweep(t.Context(), DenseStage)
		if err != nil {
			t.Fatal(err)
		}
		w.eachPosition(openRows, func(p position) {
			if *w.grid.find(p).score() != 0 {
				want.scores++
			}
		})
		// The first sweep meets every tile once: no score changes twice.
		want.blocks = done.blocks
		if done != want || done.blocks > want.scores || w.changed.Load() != uint64(want.scores) {
			t.Fatalf("%+v: %+v, %d changes, want %+v", c, done, w.changed.Load(), want)
		}
	}
}

// TestLongFullRowsFollowTheRules fills the full rows of layers in which the open ones
// have any scores.
func TestLongFullRowsFollowTheRules(t *testing.T) {
	rng := newRand(t)
	full := 0
	for tries := 0; tries < runs(100) || full == 0; tries++ {
		c := randomConfig(t, rng)
		w := c.prepare(t)
		j := c.judge(t, w)
		w.randomScores(rng)
		before := slices.Clone(w.whole.scores)
		if err := w.fullAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.eachPosition(fullRows, func(p position) {
			m := w.grid.find(p).m
			column := int(p.mover - m.first)
			scores, _ := m.row(w.grid.place(p.opponent), column/side)
			got := scores[column%side]
			if want := j.score(p); got != want {
				t.Fatalf("%+v: %v is %d, want %d", c, j.board(p), got, want)
			}
			full++
		})
		if !slices.Equal(w.whole.scores, before) {
			t.Fatalf("%+v: open rows changed", c)
		}
	}
}
