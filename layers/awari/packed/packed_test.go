package packed

import (
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

func newRules(t testing.TB, pits int, rules awari.Rules) (*Rules, *awari.Space) {
	t.Helper()
	game := must.Get(awari.New(pits, rules))(t)
	return New(game), testrun.Space(t, game, awari.MaxSeeds)
}

// TestBoards compares all boards of small layers, random ones of others, and some from all of a few larger layers, with the plain rules.
func TestBoards(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 48))
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		for _, rules := range awari.RuleSets() {
			r, space := newRules(t, pits, rules)
			for n := range awari.MaxSeeds + 1 {
				for range 12 {
					check(t, r, space, space.Unrank(n, random.Uint64N(space.Size(n))))
				}
			}
			for _, b := range testrun.Boards(space, 0, 4) {
				check(t, r, space, b)
			}
		}
	}
	for _, c := range []struct{ pits, seeds, step int }{{4, 30, 3}, {4, 48, 19}, {6, 15, 11}, {8, 12, 31}, {12, 7, 17}} {
		for _, rules := range []awari.Rules{awari.Awari, awari.Abapa} {
			r, space := newRules(t, c.pits, rules)
			for rank := uint64(0); rank < space.Size(c.seeds); rank += uint64(c.step) {
				check(t, r, space, space.Unrank(c.seeds, rank))
			}
		}
	}
}

func check(t *testing.T, r *Rules, space *awari.Space, b awari.Board) {
	t.Helper()
	p := r.Pack(b)
	must.Equal(t, r.Unpack(p), b, "%v", b)
	n, rank := space.Rank(b)
	must.Equal(t, r.Rank(p), rank, "%v: rank", b)
	must.Equal(t, p.Own.Seeds()+p.Other.Seeds(), n, "%v: seeds", b)
	if rank+1 < space.Size(n) {
		must.Equal(t, r.Unpack(p.Next(r.half)), space.Unrank(n, rank+1), "after %v comes", b)
	}
	checkPlays(t, r, b)
	checkRow(t, r, space, b)

	var before []awari.Board
	var ranks []uint64
	for _, p := range r.Before(nil, p) {
		before, ranks = append(before, r.Unpack(p)), append(ranks, r.Rank(p))
	}
	must.List(t, before, r.Game().Predecessors(nil, b), "%v: moves lead there from", b)
	past := r.NewPast()
	past.Set(p)
	must.List(t, past.Before(nil, p.Own), ranks, "%v: ranks before", b)
}

func checkPlays(t *testing.T, r *Rules, b awari.Board) {
	p := r.Pack(b)
	var moves Plays
	r.Plays(p, &moves)
	for pit, want := range r.game.Plays(b) {
		legal, quiet := moves.Legal>>pit&1 == 1, moves.Quiet>>pit&1 == 1
		must.Hold(t, legal == want.Legal && quiet == (want.Legal && want.Captured == 0),
			"%v, pit %d: legal %v, quiet %v, want %+v", b, pit, legal, quiet, want)
		must.Not(t, legal && (int(moves.Captured[pit]) != want.Captured || r.Unpack(moves.Children[pit]) != want.Child),
			"%v, pit %d: captured %d, child %v, want %+v", b, pit, moves.Captured[pit], moves.Children[pit], want)
		child, ok := r.Quiet(p, pit)
		must.Not(t, ok != quiet || ok && r.Unpack(child) != want.Child, "%v, pit %d: quiet %v, child %v, want %+v", b, pit, ok, child, want)
	}
}

func checkRow(t *testing.T, r *Rules, space *awari.Space, b awari.Board) {
	var got [MaxHalf]Child
	row := r.NewRow()
	row.Set(r.Pack(b))
	list := got[:row.Children(&got, r.Pack(b))]
	for pit, want := range r.game.Plays(b) {
		if want.Legal {
			_, rank := space.Rank(want.Child)
			must.Hold(t, len(list) > 0 && list[0] == newChild(rank, want.Captured, pit), "%v, pit %d: children %v from here on, want %+v", b, pit, list, want)
			list = list[1:]
		}
	}
	must.Not(t, len(list) > 0, "%v: no moves lead to %v", b, list)
}

// FuzzBoard compares any board with the plain rules.
func FuzzBoard(f *testing.F) {
	f.Add(uint8(4), uint8(awari.Awari), []byte{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4})
	f.Add(uint8(2), uint8(awari.Strict), []byte{0, 0, 0, 48})
	for rules := range awari.RuleSets() {
		f.Add(uint8(4), uint8(rules), []byte{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, size, rules uint8, pits []byte) {
		sets := awari.RuleSets()
		r, space := newRules(t, awari.MinPits+2*int(size%5), sets[int(rules)%len(sets)])
		var b awari.Board
		left := uint8(awari.MaxSeeds)
		for i, x := range pits[:min(len(pits), space.Pits())] {
			b[i] = x % (left + 1)
			left -= b[i]
		}
		check(t, r, space, b)
	})
}

// Benchmark plays the moves of boards, and takes quiet moves back: of any boards, and of those of one row.
func Benchmark(b *testing.B) {
	r, space := newRules(b, 12, awari.Awari)
	random := rand.New(rand.NewPCG(24, 12))
	all := make([]Board, 1024) // of 24 seeds
	for i := range all {
		all[i] = r.Pack(space.Unrank(24, random.Uint64N(space.Size(24))))
	}
	var moves Plays
	var list []Board
	var children [MaxHalf]Child
	var ranks []uint64
	row, past, p := r.NewRow(), r.NewPast(), all[0]
	row.Set(p)
	past.Set(p)
	for name, run := range map[string]func(i int){
		"plays":  func(i int) { r.Plays(all[i%len(all)], &moves) },
		"before": func(i int) { list = r.Before(list[:0], all[i%len(all)]) },
		"row":    func(int) { row.Children(&children, p) },
		"past":   func(int) { ranks = past.Before(ranks[:0], p.Own) },
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				run(i)
				if p.Own = p.Own.Next(); p.Own>>8 == 0 {
					p = all[0]
				}
			}
		})
	}
}
