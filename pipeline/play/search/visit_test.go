package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/job"
)

func TestNoAllocations(t *testing.T) {
	scores := newNumbered(t, -1) // nothing is solved
	b := must.Get(scores.game.Start(4))(t)
	e := New(NewBlocks(scores, 1), Options{Bytes: 1 << 20})
	e.begin(t.Context(), 0)
	w, p := e.workers[0], e.mover.Pack(b)
	should.Equal(t, testing.AllocsPerRun(3, func() { w.visit(p, 48, place{ply: 1, layer: 1}, 8, -48, 48) }), 0, "allocations")
	should.Not(t, w.counter.nodes < 1000, "only %d nodes", w.counter.nodes)
}

// TestRepeats knows a board of the same player since the last capture, and no other.
func TestRepeats(t *testing.T) {
	var w worker
	x, y := packed.Board{Own: 1}, packed.Board{Own: 2}
	w.path = [maxPly + 1]packed.Board{1: x, 2: y, 3: y, 4: x, 5: x}
	for at, want := range map[place]int{{5, 1}: 1, {5, 2}: nowhere, {4, 1}: nowhere, {6, 1}: 4, {2, 1}: nowhere} {
		should.Equal(t, w.repeats(x, at), want, "at %+v", at)
	}
}

// TestTableKeepsWhatIsProven stores about one code from different searches, in a table of one bucket that others want as well.
func TestTableKeepsWhatIsProven(t *testing.T) {
	table := newTable(1, 1<<tagBits)
	must.Equal(t, len(table.buckets), 1, "buckets")
	table.age()
	const code = 12345
	table.put(code, entry{lower: -2, upper: 6, depth: 9, pit: 1})
	table.put(code, entry{lower: -6, upper: 3, depth: 4, pit: 2})
	table.learn(code, interval{-1, 5}, noPit)
	s, ok := table.find(code)
	should.Hold(t, ok && s.interval() == (interval{-1, 3}) && s.pit == 2, "%+v", s)
	for i := range uint8(20) {
		table.put(uint64(i), entry{depth: i, pit: noPit})
	}
	_, mine := table.find(code)
	s, last := table.find(19)
	should.Hold(t, !mine && last && s == (entry{depth: 19, pit: noPit}), "a deeper search did not replace a shallow one")
}

// TestScramble wants the codes to be permuted: then bucket and tag name one code alone.
func TestScramble(t *testing.T) {
	for _, codes := range []uint64{1 << 1, 1 << 9, 1 << 16} {
		table := newTable(1<<12, codes)
		seen := make([]bool, codes)
		for code := range codes {
			h := table.scramble(code)
			must.Not(t, h >= codes || seen[h], "%d of %d becomes %d", code, codes, h)
			seen[h] = true
		}
	}
}

// TestWords packs entries.
func TestWords(t *testing.T) {
	for _, s := range []entry{
		{}, {lower: -48, upper: 48, estimate: -48, bound: equal, depth: MaxDepth, pit: noPit},
		{lower: 48, upper: -48, estimate: 48, bound: atMost, depth: 1, pit: 5},
	} {
		word := s.word(1<<tagBits-1, maxAge)
		should.Equal(t, unpack(word), s)
		should.Hold(t, ageOf(word) == maxAge && depthOf(word) == int(s.depth) && word>>dataBits == 1<<tagBits-1, "%+v becomes %x", s, word)
	}
}

// TestAppraisal compares guesses with the scores of positions without captures: they must be nearer than 0 is. It also guesses of pits that
// are fuller than any the weights know, and of games without weights.
func TestAppraisal(t *testing.T) {
	const n = 7
	game := testrun.Game(t, 12, awari.Awari)
	space, scores := testrun.Space(t, game, n), testrun.Solve(t, game, n)[n]
	m := newMover(game)
	guessed, zero := 0, 0
	for rank, score := range scores {
		b := space.Unrank(n, uint64(rank))
		p := m.Pack(b)
		var moves packed.Plays
		m.Plays(p, &moves)
		if moves.Legal == 0 || moves.Legal != moves.Quiet {
			continue
		}
		sum := 0
		for pit, seeds := range b[:game.Pits()] {
			sum += int(weights[pit][seeds])
		}
		guess := m.quiet(p, n)
		want := max(-n, min(n, (sum+8)>>4))
		must.Hold(t, guess == want, "board %s: %d, want %d", game.Text(b), guess, want)
		guessed += (int(score) - guess) * (int(score) - guess)
		zero += int(score) * int(score)
	}
	should.Not(t, 4*guessed > 3*zero, "squares of errors add up to %d, those of scores to %d", guessed, zero)
	guess := m.quiet(m.Pack(awari.Board{awari.MaxSeeds}), awari.MaxSeeds)
	should.Not(t, guess < -awari.MaxSeeds || guess > awari.MaxSeeds, "%d seeds in a pit: %d", awari.MaxSeeds, guess)
	m = newMover(testrun.Game(t, 8, awari.Awari))
	should.Equal(t, m.quiet(m.Pack(awari.Board{1, 2, 3, 4, 5, 6, 7, 8}), 36), 0, "8 pits")
}

// numbered has scores that follow from layer and rank, and counts how often it was asked.
type numbered struct {
	game   awari.Game
	seeds  int
	blocks int // reads of blocks
	ones   int // reads of single scores
}

func newNumbered(t *testing.T, seeds int) *numbered {
	return &numbered{game: testrun.Game(t, 12, awari.Awari), seeds: seeds}
}

func (s *numbered) Game() awari.Game { return s.game }
func (s *numbered) MaxSeeds() int    { return s.seeds }

func numberedScore(n int, rank uint64) int8 {
	return int8(int(rank*0x9e3779b97f4a7c15>>40)%(2*n+1) - n)
}

func (s *numbered) Read(_ context.Context, n int, rank uint64, dst []int8) error {
	s.blocks++
	for i := range dst {
		dst[i] = numberedScore(n, rank+uint64(i))
	}
	return nil
}

func (s *numbered) ReadOne(_ context.Context, n int, rank uint64) (int8, error) {
	s.ones++
	return numberedScore(n, rank), nil
}

// TestBlocksGiveWay reads more blocks than fit: a score is right wherever it comes from, also from a place asked for before its block gave way.
func TestBlocksGiveWay(t *testing.T) {
	for _, blocks := range []int{1, 3, 20} {
		s := NewBlocks(newNumbered(t, 11), int64(blocks)*BlockBytes)
		random := rand.New(rand.NewPCG(7, uint64(blocks)))
		type asked struct {
			at    *int8
			score int8
		}
		var before []asked
		for range 200 {
			n := 9 + random.IntN(3)
			rank := random.Uint64N(s.mover.size(n))
			want := numberedScore(n, rank)
			if at := s.peek(n, rank); at != nil {
				must.Equal(t, *at, want, "%d blocks: rank %d of layer %d in memory", blocks, rank, n)
				before = append(before, asked{at, want})
				continue
			}
			must.Equal(t, must.Get(s.read(t.Context(), n, rank))(t), want, "%d blocks: rank %d of layer %d", blocks, rank, n)
		}
		for _, x := range before {
			must.Equal(t, *x.at, x.score, "%d blocks: a place has another score", blocks)
		}
		should.Not(t, len(before) == 0 && blocks > 1, "%d blocks: no score was found in memory", blocks)
	}
}

// TestBlocksAllFit: as much memory as all scores take is enough for none to give way, and no more is taken; each block is read once.
func TestBlocksAllFit(t *testing.T) {
	scores := newNumbered(t, 11)
	s := NewBlocks(scores, 1<<40)
	blocks, bytes := 0, s.Bytes()
	s = NewBlocks(scores, bytes)
	for n := range 12 {
		blocks += int(s.count(n))
	}
	for range 2 {
		for n := range 12 {
			for rank := uint64(0); rank < s.mover.size(n); rank += BlockBytes {
				at := s.peek(n, rank)
				if at == nil {
					at = new(must.Get(s.read(t.Context(), n, rank))(t))
				}
				must.Equal(t, *at, numberedScore(n, rank), "rank %d of layer %d", rank, n)
			}
		}
	}
	should.Hold(t, scores.blocks == blocks && scores.ones == 0, "%d of %d blocks were read, and %d scores", scores.blocks, blocks, scores.ones)
	chunk := int(chunkOf(int64(blocks)))
	chunks := (blocks + chunk - 1) / chunk * chunk
	should.Not(t, int64(chunks)*BlockBytes > bytes || s.Bytes() != bytes,
		"%d blocks in chunks of %d take more than %d bytes; %d", blocks, chunk, bytes, s.Bytes())
	less := NewBlocks(scores, bytes-1)
	should.Not(t, less.patience == 1 || less.Bytes() >= bytes, "with a byte less: patience %d, %d bytes", less.patience, less.Bytes())
}

// TestBlocksPatience: a block is decoded once enough of its scores were asked for, and again after it has given way.
func TestBlocksPatience(t *testing.T) {
	scores := newNumbered(t, 11)
	s := NewBlocks(scores, BlockBytes)
	for round := 1; round <= 3; round++ {
		for range onePrice {
			must.Hold(t, s.peek(11, 70000) == nil, "round %d: in memory already", round)
			must.Equal(t, must.Get(s.read(t.Context(), 11, 70000))(t), numberedScore(11, 70000))
		}
		must.Hold(t, s.peek(11, 70001) != nil && scores.blocks == 2*round-1 && scores.ones == (2*round-1)*(onePrice-1),
			"round %d: %d blocks, %d scores", round, scores.blocks, scores.ones)
		for range onePrice { // another one takes its place
			must.OK(t, must.Err(s.read(t.Context(), 10, 7)))
		}
	}
}

// TestBlocksAreGivenUp searches with fewer blocks than it reads: those that gave way are garbage, so that as much is left as the store was given.
func TestBlocksAreGivenUp(t *testing.T) {
	const room = 32 * BlockBytes
	scores := newNumbered(t, 16)
	stop := context.CancelFunc(nil)
	e := New(NewBlocks(scores, room), Options{Bytes: 4 << 20, Job: job.Job{Progress: func(job.Step) {
		if scores.blocks > 300 {
			stop()
		}
	}}})
	before := awaritest.HeapInUse()
	for b := (awari.Board{2, 1, 3, 0, 2, 1, 1, 4, 0, 2, 3, 1}); scores.blocks <= 300; b[0]++ {
		var ctx context.Context
		ctx, stop = context.WithCancel(t.Context())
		err := must.Err(e.Search(ctx, b, Limits{}))
		stop()
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	}
	grown := awaritest.HeapInUse() - before
	should.Not(t, grown > room+1<<20, "%d bytes more after %d blocks were read, the store has %d", grown, scores.blocks, room)
	runtime.KeepAlive(e)
}
