package fixpoint

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/transpose"
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

// eachLayer calls do for a layer with many tiles, and for random ones, laid out. Half of them have the smallest tiles there are.
func eachLayer(t *testing.T, n int, lay func(c config, t testing.TB) *laidOut, do func(rng *rand.Rand, c config, w *laidOut)) {
	rng := tries.Rand(t)
	for i := range tries.Runs(n) {
		game, seeds := awaritest.Layer(t, rng)
		family := awaritest.Shuffled(rng, cpu.Available())[0]
		c := config{game, seeds, 1 + rng.IntN(5), int(math.Exp(rng.Float64() * math.Log(2000))), family}
		if i == 0 {
			c.game, c.seeds, c.tileSize = awaritest.Game(t, 12, awari.Awari), 7, 1
		}
		do(rng, c, lay(c, t))
	}
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
				must.Not(t, tiles[at] != nil, "block %+v is in two tiles", at)
				tiles[at] = x
			}
		}
	}
	return tiles
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

// TestLongOrderFollowsTheWave sorts shuffled tiles: none is lost, and those of later waves come later. Each block of open rows is in one.
func TestLongOrderFollowsTheWave(t *testing.T) {
	eachLayer(t, 150, config.begin, func(rng *rand.Rand, c config, w *laidOut) {
		g, of, blocks := w.Grid, w.Grid.byBlock(t), 0
		w.eachBlock(func(m *board.Matrix, panel, chunk int) {
			x := of[block{m.Sum, panel, chunk}]
			must.Not(t, x == nil || x.matrix != m, "%+v: %d seeds, panel %d, chunk %d is in no tile", c, m.Sum, panel, chunk)
			blocks++
		})
		must.Hold(t, len(of) == blocks, "%+v: %d blocks in tiles, %d in all", c, len(of), blocks)
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
	timed := b.costs.compute
	should.Not(t, timed.count < 5 || timed.count > 3*5 || timed.seconds < 0 || timed.mean() != timed.seconds/timed.count,
		"%d blocks of 5 columns cost %+v", 3*sampled, timed)
	// What others had to do meanwhile is no cost of ours.
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	var c cost
	c.add(ago(time.Second), 10)
	before := c
	c.add(ago(time.Minute), 10)
	should.Hold(t, c == before && c.mean() >= 0.1, "after a second for 10, a minute for 10: %+v", c)
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

// TestLongParents: a tile knows those of all positions that read one of its own.
func TestLongParents(t *testing.T) {
	eachLayer(t, 40, config.begin, func(rng *rand.Rand, c config, w *laidOut) {
		j, tiles := c.judge(t, w), w.Grid.byBlock(t)
		w.eachPosition(board.OpenRows, func(p position) {
			if rng.IntN(20) > 0 {
				return
			}
			parents := tiles[w.Grid.find(p).at()].parents
			for _, reader := range j.readers(p) {
				x := tiles[w.Grid.find(reader).at()]
				knows := slices.ContainsFunc(parents, func(i int32) bool { return w.Grid.tiles[i] == x })
				must.Hold(t, knows, "%+v: the tile of %v does not know that of %v", c, j.board(p), j.board(reader))
			}
		})
	})
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
		must.Panic(t, do)
		should.Equal(t, columns[0], 0, "columns")
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

// TestLongAnyOrderGivesTheSame sweeps over shuffled tiles in units of random sizes, and recomputes every position after the last sweep.
func TestLongAnyOrderGivesTheSame(t *testing.T) {
	eachLayer(t, 120, config.prepare, func(rng *rand.Rand, c config, w *laidOut) {
		w.randomScores(rng) // sweeps do not begin with them
		// Random costs, whatever it measures: so that sweeps mark tiles as a whole, or block by block, as it happens.
		const many = 1e15
		w.ledger.add(costs{cost{many * rng.Float64(), many}, cost{many * rng.Float64() * float64(rng.IntN(100)), many}})
		w.units = nil
		for rest := awaritest.Shuffled(rng, w.Grid.tiles); len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 2*unit))
			w.units, rest = append(w.units, rest[:n]), rest[n:]
		}
		w.Expire()
		must.OK(t, errors.Join(w.Clear(t.Context(), w.scores), w.SweepAll(t.Context(), DenseStage)))
		w.upToDate(t, c, c.judge(t, w))
		should.Not(t, w.Stage == CaptureStage, "%+v: sweeps count as %v", c, w.Stage)
		must.Hold(t, slices.Equal(w.read(t), awaritest.Oracle(t, c.game, c.seeds)[c.seeds]), "%+v: not the scores of the oracle", c)
	})
}

// TestStageTimes: the time of a stage counts for it until another one is entered.
func TestStageTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, want := &Account{}, [Stages]time.Duration{}
		for _, s := range []Stage{CaptureStage, DenseStage, SparseStage, DenseStage, FullStage} {
			a.Enter(s)
			took := time.Duration(1+s) * time.Second
			time.Sleep(took)
			want[s] += took
		}
		a.Pass()
		should.Equal(t, a.Stats.Stages, want)
	})
}

// TestLongSweepsCountTheirWork compares statistics with what sweeps change. Who marks shows its scores first.
func TestLongSweepsCountTheirWork(t *testing.T) {
	eachLayer(t, 40, config.prepare, func(_ *rand.Rand, c config, w *laidOut) {
		must.OK(t, w.Clear(t.Context(), w.scores))
		want, shown := work{}, func(b *bench) bool { return b.fence.Load() != 0 }
		w.marking = true
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
		should.Equal(t, slices.ContainsFunc(w.benches, shown), done.lines > 0)
	})
}
