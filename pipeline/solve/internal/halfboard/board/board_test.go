package board

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/compress"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachGeometry calls check for halves of all sizes with a few hundred to a few thousand of them: of most sums there are several panels.
func eachGeometry(t *testing.T, check func(t *testing.T, g *Geometry)) {
	for q, n := range map[int]int{1: 5, 2: 20, 3: 18, 4: 14, 5: 11, 6: 10} {
		check(t, must.Get(NewGeometry(q, n))(t))
	}
}

// config is one layer of one game, and how many workers lay it out.
type config struct {
	game           awari.Game
	seeds, workers int
}

func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	return config{game, seeds, 1 + rng.IntN(5)}
}

// begin lays the layer of c out, and returns the memory of its scores too.
func (c config) begin(t testing.TB) (l *Layer, scores []int8) {
	t.Helper()
	l = NewLayer(must.Get(NewGeometry(c.game.Half(), c.seeds))(t), Side)
	must.OK(t, l.ListMoves(t.Context(), c.workers, NewPatterns(c.game.Rules())))
	size := LayoutOf(c.game.Half(), c.seeds)
	memory := must.Get(NewRegion(size.Total()))(t)
	t.Cleanup(func() { must.OK(t, memory.Close()) })
	_, scores = l.Allocate(memory, size)
	l.Aim()
	return l, scores
}

func (c config) prepare(t testing.TB, lower Lower) *Layer {
	t.Helper()
	l, scores := c.begin(t)
	must.OK(t, CaptureAll(t.Context(), l, c.game, c.workers, lower, scores, func(float64) {}))
	return l
}

// TestCodesNumberTheHalves looks every half up by its code, its place and its row, and counts columns and rows by the formulas.
func TestCodesNumberTheHalves(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		count := int(g.Halves.Half().First(g.N + 1))
		must.Hold(t, len(g.Pits) == count && len(g.places) == count, "%d pits: %d halves, %d places, want %d", g.Q, len(g.Pits), len(g.places), count)
		for code, h := range g.Pits {
			want := make([]uint8, g.Q)
			sum, err := g.Halves.Half().Decode(uint64(code), want)
			must.Hold(t, err == nil && slices.Equal(h[:g.Q], want) && h.Sum() == sum && g.Code(&h) == uint32(code),
				"code %d is %v, want %v (%v)", code, h, want, err)
			class := FullRows
			if slices.Contains(want, 0) {
				class = OpenRows
			}
			at := g.Place(uint32(code))
			must.Hold(t, at.Class == class && g.Rows[sum][class][at.Row] == uint32(code), "%v is not in row %d of class %d", want, at.Row, at.Class)
		}
		for sum := range g.N + 1 {
			want := [Classes]int{len(g.Rows[sum][OpenRows]), len(g.Rows[sum][FullRows])}
			rows, columns := RowsOf(g.Q, sum), ColumnsOf(g.Q, sum)
			should.Hold(t, rows == want && columns == want[OpenRows]+want[FullRows],
				"%d pits, sum %d: %d columns, rows %v, want %v", g.Q, sum, columns, rows, want)
		}
	})
}

// like returns the number of halves of a sum that hold the same as a and b behind
// the last pit in which these differ, and there what they hold or something between.
func (g *Geometry) like(sum int, a, b Half) int {
	pit := g.Q - 1
	for pit > 0 && a[pit] == b[pit] {
		pit--
	}
	n := 0
	for _, h := range g.Pits[g.first(sum):][:g.columns(sum)] {
		if h[pit] >= min(a[pit], b[pit]) && h[pit] <= max(a[pit], b[pit]) && slices.Equal(h[pit+1:], a[pit+1:]) {
			n++
		}
	}
	return n
}

// TestRunsAreNatural: runs cover a sum, none is too long, each holds all halves with some content of the last pits, which is what they
// share, and no two neighbours could be one.
func TestRunsAreNatural(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			halves := g.Pits[g.first(sum):][:g.columns(sum)]
			for _, size := range []int{1, 2, 7, 56, 100, 1000, 1 << 20} {
				begin, before := 0, 0
				for _, count := range cut(g.Q, sum, size) {
					end := begin + count
					first, last := halves[begin], halves[end-1]
					n := g.like(sum, first, last)
					must.Not(t, n != count || n > size, "%d pits, at most %d: %v to %v are %d halves of %d", g.Q, size, first, last, count, n)
					must.Not(t, begin > 0 && end-before <= size && g.like(sum, halves[before], last) == end-before,
						"%d pits, at most %d: %v to %v are two runs", g.Q, size, halves[before], last)
					must.Equal(t, g.suffix(g.first(sum)+uint32(begin), count), shared(g.Q, halves[begin:end]),
						"%d pits, sum %d: %d halves from %v on share", g.Q, sum, count, first)
					begin, before = end, begin
				}
				must.Equal(t, begin, len(halves), "%d pits, sum %d, at most %d: runs end at", g.Q, sum, size)
			}
		}
	})
}

// shared returns what halves have in common: the last pits in which all agree, and of the pit before the least content.
func shared(q int, halves []Half) Half {
	common := halves[0]
	for pit := q - 1; pit >= 0; pit-- {
		same := true
		for _, h := range halves {
			same = same && h[pit] == common[pit]
			common[pit] = min(common[pit], h[pit])
		}
		if !same {
			clear(common[:pit])
			break
		}
	}
	return common
}

// TestLayoutIsThatOfTheMatrices adds up what the matrices of layers take, which are counted half by half.
func TestLayoutIsThatOfTheMatrices(t *testing.T) {
	for q, most := range map[int]int{2: 30, 3: 25, 4: 18, 5: 14, 6: 12} {
		for n := range most + 1 {
			g := must.Get(NewGeometry(q, n))(t)
			var want Layout
			for sum := range n + 1 {
				l := g.newMatrix(sum, Side).layout()
				want.Scores += l.Scores
				want.Offers[OpenRows] += l.Offers[OpenRows]
				want.Offers[FullRows] += l.Offers[FullRows]
			}
			got := LayoutOf(q, n)
			should.Hold(t, got == want && got.Total() == want.Scores+want.Offers[0]+want.Offers[1], "%d pits, %d seeds: %+v, want %+v", q, n, got, want)
		}
	}
}

// TestLongMatricesDoNotOverlap looks at where the scores and offers of layers stand:
// in the memory of the layer, at whole lines, apart from each other.
func TestLongMatricesDoNotOverlap(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		c := randomConfig(t, rng)
		size := LayoutOf(c.game.Half(), c.seeds)
		w, _ := c.begin(t)
		memory := must.Get(NewRegion(size.Total() + rng.IntN(1<<16)))(t)
		w.Allocate(memory, size)
		type part struct{ begin, size uintptr }
		var parts []part
		note := func(scores []int8, size int) {
			must.Not(t, len(scores) < size, "%+v: %d bytes, want %d", c, len(scores), size)
			if size > 0 {
				parts = append(parts, part{uintptr(unsafe.Pointer(&scores[0])), uintptr(size)})
			}
		}
		for _, m := range w.Matrices {
			l := m.layout()
			note(m.Scores, l.Scores)
			for class := range Classes {
				note(m.offers[class], l.Offers[class])
			}
		}
		slices.SortFunc(parts, func(a, b part) int { return int(a.begin) - int(b.begin) })
		start := uintptr(unsafe.Pointer(&memory.mapping[0]))
		end := start
		for _, p := range parts {
			must.Hold(t, p.begin >= end && p.begin%64 == 0, "%+v: %d bytes at %d after %d", c, p.size, p.begin-start, end-start)
			end = p.begin + p.size
		}
		must.Not(t, end != start+uintptr(size.Total()) || len(memory.mapping) < size.Total(),
			"%+v: %d bytes of memory, %d in use, %d counted", c, len(memory.mapping), end-start, size.Total())
		must.OK(t, memory.Close())
	}
}

// TestTakeDividesMemory: what is taken is in order, and cannot grow into what follows; reset takes it back.
func TestTakeDividesMemory(t *testing.T) {
	r := must.Get(NewRegion(1000))(t)
	for range 2 {
		a, b := r.Take(128), r.Take(872)
		must.Hold(t, len(a) == 128 && cap(a) == 128 && len(b) == 872 && uintptr(unsafe.Pointer(&b[0])) == uintptr(unsafe.Pointer(&a[0]))+128,
			"%d of %d and %d bytes", len(a), cap(a), len(b))
		a[127], b[0], b[871] = 1, 2, 3
		r.Reset()
	}
	must.OK(t, r.Close())
}

func (s *Spare) mustGet(t *testing.T, size int) *Region {
	t.Helper()
	r := must.Get(s.Get(size))(t)
	must.Not(t, len(r.rest) < size, "%d bytes, want %d", len(r.rest), size)
	return r
}

func TestSpareReuses(t *testing.T) {
	var s Spare
	first := s.mustGet(t, 100_000)
	first.Take(100_000)
	second := s.mustGet(t, 100_000)
	must.Not(t, second == first, "memory in use is given away")
	for _, r := range []*Region{first, second} { // the second one is returned
		must.OK(t, s.Put(r))
	}
	again := s.mustGet(t, 50_000)
	should.Hold(t, again == first, "spare memory is not used again")
	must.OK(t, s.Put(again))
	larger := s.mustGet(t, 200_000)
	should.Not(t, larger == first, "memory has grown")
	must.OK(t, s.Put(larger))
	for range 2 { // the second time there is nothing
		must.OK(t, s.Close())
	}
	none, err := s.Get(1 << 60) // more than any machine has
	should.Not(t, err == nil || none != nil, "%v, %v", none, err)
	must.OK(t, s.Close())
}

func TestSpareReturnsMemory(t *testing.T) {
	const size = 16 << 20
	for name, f := range map[string]func(s *Spare) error{
		"replaced by a larger one": func(s *Spare) error { return s.Put(s.mustGet(t, 2*size)) },
		"two put back":             func(s *Spare) error { return s.Put(must.Get(NewRegion(size))(t)) },
		"closed":                   func(*Spare) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			awaritest.ReturnsMemory(t, size, func() {
				var s Spare
				must.OK(t, s.Put(s.mustGet(t, size)))
				must.OK(t, f(&s))
				must.OK(t, s.Close())
			})
		})
	}
}

// TestStepsFit: the columns of any matrix and the links of any origins have room in a step.
func TestStepsFit(t *testing.T) {
	columns := ColumnsOf(maxHalf, awari.MaxSeeds)
	should.Not(t, columns > 1<<columnBits, "%d columns", columns)
	// A pit and the seeds in it say what the opponent receives, hence which matrix of an origins a link is of.
	links := maxHalf * awari.MaxSeeds
	should.Not(t, links > 1<<(32-columnBits), "%d links", links)
}

// play is a half and a pit of it that is not empty.
type play struct {
	half Half
	pit  int
}

func (p play) move(q int) halves.Move { return halves.Sow(p.half[:q], p.pit) } // p is a copy

// anyPlay draws a play of a half with 1 to g.n seeds.
func (g *Geometry) anyPlay(rng *rand.Rand) play {
	sum := 1 + rng.IntN(g.N)
	h := g.Pits[int(g.first(sum))+rng.IntN(g.columns(sum))]
	for {
		if pit := rng.IntN(g.Q); h[pit] > 0 {
			return play{h, pit}
		}
	}
}

// outcome is what a move does to a row: it captures seeds, or it is quiet if these are 0, and child is the rank of the half that it leaves.
// If there is no ordinary move, seeds is -1.
type outcome struct {
	seeds int
	child uint32
}

var noMove = outcome{seeds: -1}

// ruled plays seed by seed.
func (g *Geometry) ruled(game awari.Game, p play, opponent uint32) outcome {
	var board awari.Board
	copy(board[:g.Q], p.half[:g.Q])
	copy(board[g.Q:], g.Pits[opponent][:g.Q])
	sown := game.Sow(board, p.pit)
	if sown.Starves {
		return noMove
	}
	return outcome{sown.Captured, uint32(g.Halves.Half().Rank(sown.Board[g.Q : 2*g.Q]))}
}

func (p *pattern) outcomes(t *testing.T, class RowClass, rows int) []outcome {
	all := slices.Repeat([]outcome{noMove}, rows)
	note := func(row int, o outcome) {
		must.Hold(t, row < rows && all[row] == noMove, "row %d of %d: %+v, or it has another one", row, rows, o)
		all[row] = o
	}
	for chunk := range len(p.First[class]) - 1 {
		for _, w := range p.Words[class][p.First[class][chunk]:p.First[class][chunk+1]] {
			must.Hold(t, int(w.Chunk) == chunk && w.Pick != 0 && bits.OnesCount64(w.Pick) == bits.OnesCount64(w.Place),
				"chunk %d has the word %+v", chunk, w)
			place := w.Place
			for pick := w.Pick; pick != 0; pick, place = pick&(pick-1), place&(place-1) {
				note(chunk*Side+bits.TrailingZeros64(place), outcome{0, w.Panel*Side + uint32(bits.TrailingZeros64(pick))})
			}
		}
	}
	for _, c := range p.captures[class] {
		for _, pair := range c.pairs {
			must.Not(t, c.seeds <= 0, "a capture of %d seeds in row %d", c.seeds, pair.row)
			note(int(pair.row), outcome{c.seeds, pair.child})
		}
	}
	return all
}

// eachPattern calls check for random patterns, with an example of the move.
func eachPattern(t *testing.T, check func(g *Geometry, rules awari.Rules, sum int, example play, p *pattern)) {
	rng := tries.Rand(t)
	for q, n := range map[int]int{2: 60, 3: 40, 4: 25, 5: 18, 6: 14} {
		g := must.Get(NewGeometry(q, n))(t)
		for range tries.Runs(150) {
			example := g.anyPlay(rng)
			sum := n - example.half.Sum()
			if rng.IntN(2) == 0 {
				sum = rng.IntN(sum + 1)
			}
			rules := awaritest.AnyRules(rng)
			check(g, rules, sum, example, g.newPattern(rules, sum, example.move(q)))
		}
	}
}

// TestLongPatternsFollowTheRules plays random moves against all halves of a sum, seed by seed.
func TestLongPatternsFollowTheRules(t *testing.T) {
	eachPattern(t, func(g *Geometry, rules awari.Rules, sum int, example play, p *pattern) {
		game := awaritest.Game(t, 2*g.Q, rules)
		for class := range Classes {
			rows := g.Rows[sum][class]
			must.Not(t, len(rows)%Side != 0 && p.quiet[class][len(rows)/Side]>>(len(rows)%Side) != 0,
				"pit %d of %v, sum %d: rows beyond the last one are quiet", example.pit, example.half, sum)
			for row, got := range p.outcomes(t, class, len(rows)) {
				if want := g.ruled(game, example, rows[row]); got != want {
					t.Fatalf("pit %d of %v against %v: %+v, want %+v", example.pit, example.half, g.Pits[rows[row]], got, want)
				}
				if quiet := p.quiet[class][row/Side]>>(row%Side)&1 == 1; quiet != (got.seeds == 0) {
					t.Fatalf("pit %d of %v against %v: %+v, quiet: %v", example.pit, example.half, g.Pits[rows[row]], got, quiet)
				}
			}
		}
	})
}

// TestPatternsAreBuiltOnce asks for the same patterns from several goroutines, in layers of their own.
func TestPatternsAreBuiltOnce(t *testing.T) {
	const askers, sums = 4, 8
	moves := []halves.Move{{Ones: 1, Last: 0}, {Ones: 2, Last: 1}, {Ones: 2, Last: -1}, {Laps: 1, Last: -1}}
	kept := NewPatterns(awari.Abapa)
	var got [askers][]*pattern
	var wg sync.WaitGroup
	for i := range askers {
		g := must.Get(NewGeometry(3, 14+i))(t)
		wg.Go(func() {
			for sum := range sums {
				for _, move := range moves {
					got[i] = append(got[i], kept.get(g, sum, move))
				}
			}
		})
	}
	wg.Wait()
	for i := range askers {
		should.Hold(t, slices.Equal(got[i], got[0]), "asker %d has patterns of its own", i)
	}
	different := map[*pattern]bool{}
	for _, p := range got[0] {
		different[p] = true
	}
	should.Hold(t, len(different) == sums*len(moves), "%d patterns for %d keys", len(different), sums*len(moves))
}

// A library is lower layers in memory that counts how often each piece is read.
type library struct {
	awaritest.Lower
	layer *Layer
	mu    sync.Mutex
	reads map[pieceName]int
	fail  func() error
}

var errFire = errors.New("disk on fire")

// libraryTops are layers of several pieces, by half the number of pits.
var libraryTops = map[int]int{2: 48, 3: 27, 4: 15, 5: 12, 6: 9}

// newLibrary makes layers, of any scores, up to one of several pieces.
func newLibrary(t *testing.T, rng *rand.Rand) *library {
	t.Helper()
	q := 2 + rng.IntN(5)
	l := &library{layer: &Layer{Geometry: must.Get(NewGeometry(q, libraryTops[q]))(t)}, reads: map[pieceName]int{}, fail: func() error { return nil }}
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
	if err := l.fail(); err != nil {
		return err
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

// TestHeldPieces: a piece takes the place of one that nobody holds, wherever that is.
func TestHeldPieces(t *testing.T) {
	l := newLibrary(t, tries.Rand(t))
	for held := range 2 {
		p := NewPieces(l.layer, l, make([]int8, 2*PieceLength))
		for i := range 2 {
			if k := must.Get(p.get(pieceName{l.layer.N - i, 0}))(t); i != held {
				p.put(k)
			}
		}
		p.put(must.Get(p.get(pieceName{0, 0}))(t))
		should.Equal(t, len(p.clock), 2, "pieces in memory, when that of layer %d is held", l.layer.N-held)
	}
}

// lookAtAll reads every row of the two largest layers, in order, with room for a single piece.
func (l *library) lookAtAll(t *testing.T) error {
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
			if err := l.look(t, r, n, code); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestAllRowsOnce: this takes every piece once, and fails if one cannot be read.
func TestAllRowsOnce(t *testing.T) {
	l := newLibrary(t, tries.Rand(t))
	must.OK(t, l.lookAtAll(t))
	for name, reads := range l.reads {
		should.Hold(t, reads == 1, "piece %+v is read %d times", name, reads)
	}
	for k := range len(l.reads) {
		l.fail = awaritest.FailAt(errFire, 1+k)
		should.Be(t, l.lookAtAll(t), errFire, "read %d", 1+k)
	}
}

// TestLongPiecesFail: who wants a piece that cannot be read gets the error, even if somebody else is reading it, and nobody hangs.
func TestLongPiecesFail(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(16) {
		l := newLibrary(t, rng)
		var failed atomic.Bool
		later := awaritest.FailAt(errFire, 1+rng.IntN(6))
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
			should.Not(t, err != nil && !errors.Is(err, errFire), "%v, want %v", err, errFire)
		}
		should.Not(t, failed.Load() && met == 0, "a read fails and no error comes")
	}
}

// TestLongOffersFollowTheRules asks the rules about every position of random layers, of open and of full rows. A capture takes 2 seeds at
// least and 3 from every pit of the opponent at most: no other layers are read. One worker reads no piece twice.
func TestLongOffersFollowTheRules(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(60) {
		c := randomConfig(t, rng)
		lower := &awaritest.Counting{Lower: awaritest.LowerOf(t, c.game, c.seeds)}
		w, j := c.prepare(t, lower), awaritest.NewJudge(t, c.game, c.seeds)
		for n := range lower.Scores {
			read, most := lower.Scores[n].Load(), uint64(0)
			if n <= c.seeds-2 && n >= c.seeds-3*c.game.Half() {
				most = w.Halves.Board().Size(n)
			}
			must.Not(t, read > most && (most == 0 || c.workers == 1),
				"%+v: %d scores of layer %d are read, of which %d are needed", c, read, n, most)
		}
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
		want := c.prepare(t, awaritest.LowerOf(t, c.game, c.seeds))
		w, _ := c.begin(t)
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
