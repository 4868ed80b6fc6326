package verify

import (
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/kernels/bitset"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// TestSettle: what is answered is forgotten, and nothing else.
func TestSettle(t *testing.T) {
	game := must.Get(awari.New(6, awari.Awari))(t)
	const n = 9
	space := testrun.Space(t, game, n)
	d := must.Get(NewDraw(t.Context(), space, n, 2, 1))(t)
	see := func(m int, from, to uint64) { d.See(m, from, make([]int8, to-from)) }
	for m := range n {
		see(m, 0, space.Size(m)/2)
	}
	for m := range n {
		left := d.unanswered(m)
		must.Not(t, m == n-2 && len(left) == 0, "no question is left to a layer")
		d.Settle()
		if got := d.unanswered(m); !slices.Equal(got, left) || len(d.waiting[m]) > 1 {
			t.Errorf("layer %d: %d questions are left, %d before", m, len(got), len(left))
		}
	}
	should.Hold(t, d.Lacks(), "nothing is lacking")
	for m := range n {
		see(m, space.Size(m)/2, space.Size(m))
	}
	should.Not(t, d.Lacks(), "scores are lacking that came by")
	d.Settle()
	should.Not(t, slices.ContainsFunc(d.waiting[:n], func(a []*asking) bool { return len(a) > 0 }), "answered questions are kept")
}

// TestFrame looks every board up by its halves. What a move gives makes of each half of the opponent the one that a gain has in its place.
func TestFrame(t *testing.T) {
	extract := bitset.ExtractFor(cpu.Best())
	for _, c := range []struct{ pits, seeds int }{{4, 16}, {6, 11}, {8, 9}, {12, 7}} {
		s, space := sowingsOf(t, c.pits, c.seeds)
		for n := range c.seeds + 1 {
			f, q := must.Get(newFrame(s, space, n))(t), space.Half()
			for rank := range space.Size(n) {
				b := space.Unrank(n, rank)
				mover, opponent, kept := pack(b[:q]), pack(b[q:2*q]), 0
				for _, x := range b[q : 2*q] {
					kept += int(x)
				}
				got := f.starts[kept][f.rank(opponent)] + f.rank(mover)
				must.Hold(t, got == rank && f.halves[n-kept][f.rank(mover)] == mover, "%v: rank %d, want %d", b, got, rank)
			}
			for _, moves := range s.byPit {
				for i := range n {
					for opponent := range n - i {
						f.checkGain(t, extract, &moves[i], opponent)
					}
				}
			}
		}
	}
}

func (f *frame) checkGain(t *testing.T, extract bitset.ExtractFunc, w *move, opponent int) {
	t.Helper()
	for rank, h := range f.halves[opponent] {
		gain := &f.gains[w.effect][opponent][rank/64/chunkWords]
		seeds := 0
		for pit := range 8 {
			seeds += (h + w.given).pit(pit)
		}
		row := make([]uint64, f.words(seeds))
		after := f.rank(h + w.given)
		row[after/64] |= 1 << (after % 64)
		row = row[gain.first:][:gain.words]
		if !gain.all {
			children := make([]uint64, gain.mask.Extracted())
			extract(children, row, &gain.mask)
			row = children
		}
		for i, x := range row {
			if want := uint64(1) << (rank % 64); i == rank/64%chunkWords && x != want || i != rank/64%chunkWords && x != 0 {
				t.Fatalf("half %x of %d: word %d is %x", h, opponent, i, x)
			}
		}
	}
}

// TestTrace compares the moves that keep scores with each pair of them.
func TestTrace(t *testing.T) {
	column, row := make([]int8, 200), make([]int8, 300)
	for i := range column {
		if column[i] = int8(i%7 - 3); column[i] == 0 {
			column[i] = drawn
		}
	}
	for i := range row {
		row[i] = int8(i%5 - 2)
	}
	spans := []span{newSpan(3, 10) + 69<<(2*rankBits), newSpan(80, 7), newSpan(190, 290) + 9<<(2*rankBits)}
	bits := []uint64{1, 2, 3, 4}
	trace(bits, column, row, spans)
	for i, score := range column {
		want := false
		for _, r := range spans {
			if k := i - r.from(); k >= 0 && k < r.n() {
				want = score == -row[r.to()+k]
			}
		}
		got := bits[i/64]>>(i%64)&1 != 0
		should.Hold(t, got == want, "position %d: %v", i, got)
	}
}

// TestWindow marks ranks one by one and many at a time.
func TestWindow(t *testing.T) {
	var one, many window
	for from := uint64(0); from < 20; from++ {
		one.set(from, 200)
		many.set(from, 200)
		for start := from; start+64 <= 200; start += 31 {
			x := 0x9e3779b97f4a7c15 * (start + 1)
			many.add(start, x)
			for i := range uint64(64) {
				if x>>i&1 != 0 {
					one.mark(start + i)
				}
			}
		}
		if must.Same(t, "another window", one.bits, many.bits); one.empty() {
			t.Error("empty")
		}
	}
}

func sowingsOf(t *testing.T, pits, seeds int) (*sowings, *awari.Space) {
	t.Helper()
	game := awaritest.Game(t, pits, awari.Awari)
	s := must.Get(newSowings(t.Context(), game, seeds, 2))(t)
	space := testrun.Space(t, game, seeds)
	return s, space
}

// TestSpans: spans of more halves than one can have follow each other.
func TestSpans(t *testing.T) {
	var o outcome
	const from, to, more = 5, rankLimit - maxSpan - 2, 2
	for i := range uint64(maxSpan + more) {
		o.add(from+i, to+i)
	}
	for i, r := range o.spans {
		should.Hold(t, r.from() == from+i*maxSpan && r.to() == to+i*maxSpan && r.n() == []int{maxSpan, more}[i] && len(o.spans) == 2,
			"span %d of %d: %d from %d to %d", i, len(o.spans), r.n(), r.from(), r.to())
	}
}

// TestSowingBytes wants the memory for outcomes to stay within what was counted.
func TestSowingBytes(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 1}, {4, 48}, {6, 30}, {8, 20}, {10, 14}, {12, 3}, {12, 12}} {
		s, _ := sowingsOf(t, c.pits, c.seeds)
		got, most := 0, sowingBytes(s.game, c.seeds)
		for i := range s.effects {
			for _, o := range slices.Concat(s.effects[i].outcomes...) {
				got += 8 * cap(o.spans)
			}
		}
		should.Not(t, uint64(got) > most, "%d pits, %d seeds: %d bytes, more than %d", c.pits, c.seeds, got, most)
	}
}

// TestPanels wants the panels of a layer to hold each position once, and to be as small as asked for.
func TestPanels(t *testing.T) {
	s, space := sowingsOf(t, 8, 16)
	for n := range 17 {
		for _, bytes := range []uint64{1, 30_000, 100_000, 1 << 30} {
			count, sum := s.panels(n, space.Size(n), bytes), uint64(0)
			for i := range count {
				p := s.newPanel(n, i, count, nil)
				sum += uint64(len(p.best))
				least := Least(s.game, n)
				should.Not(t, uint64(len(p.best)) > max(bytes, least), "layer %d, %d bytes: a panel of %d", n, bytes, len(p.best))
			}
			should.Hold(t, sum == space.Size(n), "layer %d, %d bytes: %d positions in %d panels", n, bytes, sum, count)
		}
	}
}

// TestMovesAreCounted: a move that is not in the lists is missed, whatever the scores.
func TestMovesAreCounted(t *testing.T) {
	const n = 7
	game, rng := awaritest.Game(t, 6, awari.Awari), tries.Rand(t)
	tab := must.Get(tables.Open(t.Context(), testrun.Write(t, game, testrun.Solve(t, game, n), 1<<16)))(t)
	defer tab.Close()
	for lost := 0; lost < 10; {
		r := must.Get(newRun(t.Context(), tab, Options{Layers: []int{n}}))(t)
		e := &r.sowings.effects[rng.IntN(len(r.sowings.effects))]
		all := e.outcomes[rng.IntN(len(e.outcomes))]
		if len(all) > 0 {
			o := &all[rng.IntN(len(all))]
			o.spans = o.spans[1:]
			lost++
		}
		err := r.each(t.Context(), func(Layer) {})
		got := err != nil && strings.Contains(err.Error(), "moves were looked at, not ")
		should.Hold(t, got == (len(all) > 0), "moves are missing: %v, and this is noticed: %v (%v)", len(all) > 0, got, err)
	}
}
