package verify

import (
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// sowingsOf returns the sowings of a game.
func sowingsOf(t *testing.T, pits, seeds int) (*sowings, *awari.Space) {
	t.Helper()
	game := awaritest.Game(t, pits, awari.Awari)
	s := must.Get(newSowings(t.Context(), game, seeds, 2))(t)
	space := testrun.Space(t, game, seeds)
	return s, space
}

// TestSowings compares all moves of small layers, put together from halves, with what the rules say
// about whole boards.
func TestSowings(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 24}, {6, 14}, {12, 6}} {
		s, space := sowingsOf(t, c.pits, c.seeds)
		for n := range c.seeds + 1 {
			for rank := range space.Size(n) {
				b := space.Unrank(n, rank)
				for pit := range space.Half() {
					if b[pit] > 0 {
						s.checkMove(t, space, b, pit)
					}
				}
			}
		}
	}
}

// checkMove compares one move.
func (s *sowings) checkMove(t *testing.T, space *awari.Space, b awari.Board, pit int) {
	q, sown := s.game.Half(), s.game.Sow(b, pit)
	own, opponent := pack(b[:q]), pack(b[q:2*q])
	w := &s.byPit[pit][b[pit]-1]
	must.Equal(t, own+w.own-half(b[pit])<<(8*pit), pack(sown.Board[:q]), "%v, pit %d: the mover", b, pit)
	seeds := 0
	for _, x := range b[q : 2*q] {
		seeds += int(x)
	}
	want, found := s.half.Rank(sown.Board[q:2*q]), 0
	for _, o := range s.effects[w.effect].outcomes[seeds] {
		for _, r := range o.spans {
			at := int(s.rank(opponent)) - r.from()
			if at < 0 || at >= r.n() {
				continue
			}
			found++
			if o.captured != sown.Captured || r.to()+at != int(want) {
				t.Fatalf("%v, pit %d: %d captured, rank %d, want %d, %d", b, pit, o.captured, r.to()+at, sown.Captured, want)
			}
		}
	}
	must.Hold(t, found <= 1 && (found == 0) == sown.Starves, "%v, pit %d: %d outcomes", b, pit, found)
}

// TestSpans: spans of more halves than one can have follow each other.
func TestSpans(t *testing.T) {
	var o outcome
	const from, to, more = 5, rankLimit - maxSpan - 2, 2
	for i := range uint64(maxSpan + more) {
		o.add(from+i, to+i)
	}
	for i, r := range o.spans {
		if r.from() != from+i*maxSpan || r.to() != to+i*maxSpan || r.n() != []int{maxSpan, more}[i] || len(o.spans) != 2 {
			t.Errorf("span %d of %d: %d from %d to %d", i, len(o.spans), r.n(), r.from(), r.to())
		}
	}
}

// bytes returns the memory that the outcomes take.
func (s *sowings) bytes() uint64 {
	n := 0
	for i := range s.effects {
		for _, all := range s.effects[i].outcomes {
			for _, o := range all {
				n += 8 * cap(o.spans)
			}
		}
	}
	return uint64(n)
}

// TestSowingBytes wants the memory for outcomes to stay within what was counted.
func TestSowingBytes(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 1}, {4, 48}, {6, 30}, {8, 24}, {10, 20}, {12, 3}, {12, 16}} {
		s, _ := sowingsOf(t, c.pits, c.seeds)
		got, most := s.bytes(), sowingBytes(s.game, c.seeds)
		should.Not(t, got > most, "%d pits, %d seeds: %d bytes, more than %d", c.pits, c.seeds, got, most)
	}
}

// TestPanels wants the panels of a layer to hold each position once, and to be as small as
// asked for.
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
		r, err := newRun(t.Context(), tab, Options{Layers: []int{n}})
		must.OK(t, err)
		e := &r.sowings.effects[rng.IntN(len(r.sowings.effects))]
		all := e.outcomes[rng.IntN(len(e.outcomes))]
		if len(all) > 0 {
			o := &all[rng.IntN(len(all))]
			o.spans = o.spans[1:]
			lost++
		}
		err = r.each(t.Context(), func(Layer) {})
		got := err != nil && strings.Contains(err.Error(), "moves were looked at, not ")
		should.Hold(t, got == (len(all) > 0), "moves are missing: %v, and this is noticed: %v (%v)", len(all) > 0, got, err)
	}
}
