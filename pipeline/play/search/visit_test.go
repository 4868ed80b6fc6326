package search

import (
	"context"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// noScores has no layers.
type noScores struct{ game awari.Game }

func (s noScores) Game() awari.Game                                 { return s.game }
func (noScores) MaxSeeds() int                                      { return -1 }
func (noScores) Read(context.Context, int, uint64, []int8) error    { panic("nothing is solved") }
func (noScores) ReadOne(context.Context, int, uint64) (int8, error) { panic("nothing is solved") }

func TestNoAllocations(t *testing.T) {
	game := must.Get(awari.New(12, awari.Awari))(t)
	b := must.Get(game.Start(4))(t)
	e := New(NewBlocks(noScores{game}, 1), Options{Bytes: 1 << 20})
	e.begin(t.Context(), 0)
	w, p := e.workers[0], e.mover.Pack(b)
	should.Equal(t, testing.AllocsPerRun(3, func() {
		w.visit(p, 48, place{ply: 1, layer: 1}, 8, -48, 48)
	}), 0, "allocations")
	should.Not(t, w.counter.nodes < 1000, "only %d nodes", w.counter.nodes)
}

// TestRepeats knows a board of the same player since the last capture, and no other.
func TestRepeats(t *testing.T) {
	var w worker
	x, y := packed.Board{Own: 1}, packed.Board{Own: 2}
	w.path = [maxPly + 1]packed.Board{1: x, 2: y, 3: y, 4: x, 5: x}
	for _, c := range []struct {
		at   place
		want int
	}{
		{place{5, 1}, 1}, {place{5, 2}, nowhere}, {place{4, 1}, nowhere}, {place{6, 1}, 4}, {place{2, 1}, nowhere},
	} {
		should.Equal(t, w.repeats(x, c.at), c.want, "at %+v", c.at)
	}
}

// TestTableKeepsWhatIsProven stores about one code from different searches, in a table
// of one bucket that others want as well.
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
		if got := unpack(word); got != s || ageOf(word) != maxAge || depthOf(word) != int(s.depth) || word>>dataBits != 1<<tagBits-1 {
			t.Errorf("%+v becomes %+v", s, got)
		}
	}
}

// TestAppraisal compares guesses with the scores of positions without captures: they must be nearer than 0 is.
func TestAppraisal(t *testing.T) {
	const n = 8
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
}

// TestAppraisalOfMany guesses of pits that are fuller than any the weights know, and of games without weights.
func TestAppraisalOfMany(t *testing.T) {
	m := newMover(testrun.Game(t, 12, awari.Awari))
	b := awari.Board{awari.MaxSeeds}
	guess := m.quiet(m.Pack(b), awari.MaxSeeds)
	should.Not(t, guess < -awari.MaxSeeds || guess > awari.MaxSeeds, "%d seeds in a pit: %d", awari.MaxSeeds, guess)
	m = newMover(testrun.Game(t, 8, awari.Awari))
	b = awari.Board{1, 2, 3, 4, 5, 6, 7, 8}
	should.Equal(t, m.quiet(m.Pack(b), b.Seeds()), 0, "8 pits")
}
