package prove

import (
	"slices"
	"testing"

	"grenier/layers/awari"
)

// movesOf returns the moves of a layer of a game.
func movesOf(t *testing.T, pits, seeds int) *moves {
	t.Helper()
	game, err := awari.New(pits, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	space, err := awari.NewSpace(game, seeds)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMoves(space, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMoves compares ranks, quiet moves and those that lead to a board with the plain rules.
func TestMoves(t *testing.T) {
	for _, c := range []struct{ pits, seeds, step int }{{4, 30, 1}, {4, 48, 7}, {6, 15, 3}, {8, 12, 11}, {12, 7, 1}, {12, 30, 700_000_377}} {
		m := movesOf(t, c.pits, c.seeds)
		p := part{layer: &layer{moves: m}}
		for rank := uint64(0); rank < m.space.Size(c.seeds); rank += uint64(c.step) {
			b, at := m.space.Unrank(c.seeds, rank), m.position(rank)
			if m.rank(at) != rank || p.board(at) != b {
				t.Fatalf("%v has rank %d, not %d", b, m.rank(at), rank)
			}
			p.checkMoves(t, b, at)
		}
	}
}

// checkMoves compares the moves of a board and those that lead there.
func (p *part) checkMoves(t *testing.T, b awari.Board, at position) {
	t.Helper()
	for pit := range p.space.Half() {
		child, ok := p.quiet(at, pit)
		if b[pit] == 0 {
			if ok {
				t.Fatalf("%v: pit %d is empty", b, pit)
			}
			continue
		}
		sown := p.space.Sow(b, pit)
		if quiet := sown.Captured == 0 && !sown.Starves; ok != quiet || ok && p.board(child) != p.space.Turn(sown.Board) {
			t.Fatalf("%v, pit %d: %v, %v, want %v", b, pit, ok, p.board(child), sown)
		}
	}
	var got []awari.Board
	for _, before := range p.before(nil, at) {
		got = append(got, p.board(before))
	}
	if want := p.space.Predecessors(nil, b); !slices.Equal(got, want) {
		t.Fatalf("%v: moves from %v lead there, want %v", b, got, want)
	}
}

// TestStates changes states one by one.
func TestStates(t *testing.T) {
	s := newStates(100)
	for i := range uint64(100) {
		if !s.change(i, open, candidate) || s.change(i, open, won) || !s.change(i, candidate, state(i%4)) && i%4 != uint64(candidate) {
			t.Fatalf("rank %d: %d", i, s.of(i))
		}
	}
	for w := range words(100) {
		bits := s.candidates(w)
		for i := perWord * w; i < min(100, perWord*(w+1)); i++ {
			if got := s.of(i); got != state(i%4) || (bits>>(i%perWord*stateBits)&1 != 0) != (got == candidate) {
				t.Errorf("rank %d: state %d, candidates %x", i, got, bits)
			}
		}
	}
	s.clear()
	if s.of(99) != open {
		t.Error("not clear")
	}
}
