package search

import (
	"math/rand/v2"
	"testing"

	"grenier/layers/awari"
)

// TestMover compares moves and ranks with the rules, for random boards of all games.
func TestMover(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 48))
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		for _, rules := range []awari.Rules{awari.Awari, awari.Strict} {
			game, err := awari.New(pits, rules)
			if err != nil {
				t.Fatal(err)
			}
			space, err := awari.NewSpace(game, awari.MaxSeeds)
			if err != nil {
				t.Fatal(err)
			}
			m := newMover(game)
			for n := range awari.MaxSeeds + 1 {
				if m.size(n) != space.Size(n) {
					t.Fatalf("%d boards with %d seeds, want %d", m.size(n), n, space.Size(n))
				}
				for range 200 {
					checkMover(t, m, space, space.Unrank(n, random.Uint64N(space.Size(n))))
				}
			}
		}
	}
}

func checkMover(t *testing.T, m *mover, space *awari.Space, b awari.Board) {
	t.Helper()
	p := m.pack(&b)
	if got := m.board(p); got != b {
		t.Fatalf("%v becomes %v", b, got)
	}
	_, rank := space.Rank(b)
	if got := m.rank(p); got != rank {
		t.Fatalf("%v: rank %d, want %d", b, got, rank)
	}
	var moves plays
	m.plays(p, &moves)
	for pit, want := range space.Plays(b) {
		legal, quiet := moves.legal>>pit&1 == 1, moves.quiet>>pit&1 == 1
		if legal != want.Legal || quiet != (want.Legal && want.Captured == 0) {
			t.Fatalf("%v, pit %d: legal %v, quiet %v, want %+v", b, pit, legal, quiet, want)
		}
		if legal && (int(moves.captured[pit]) != want.Captured || m.board(moves.children[pit]) != want.Child) {
			t.Fatalf("%v, pit %d: captured %d, child %v, want %+v", b, pit, moves.captured[pit], m.board(moves.children[pit]), want)
		}
	}
}
