package find

import (
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// TestWalk goes through small layers: every place must be that of its rank, and the effects of
// moves change with the row only.
func TestWalk(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		const most = 7
		space := testrun.Space(t, testrun.Game(t, pits, awari.Awari), most)
		r, err := newRules(pits/2, most)
		if err != nil {
			t.Fatal(err)
		}
		for n := range most + 1 {
			p := r.place(space.Unrank(n, 0))
			for rank := range space.Size(n) {
				if b := space.Unrank(n, rank); r.board(p) != b || p != r.place(b) {
					t.Fatalf("rank %d of layer %d is %s, not %s", rank, n, space.Text(b), space.Text(r.board(p)))
				}
				row := p.row
				if changed := p.step(r.q); rank+1 < space.Size(n) && changed != (p.row != row) {
					t.Fatalf("after rank %d of layer %d the row is said to change: %v", rank, n, changed)
				}
			}
		}
	}
}

// TestChildren compares children with those of the plain rules, up to the largest boards.
func TestChildren(t *testing.T) {
	rapid.Check(t, func(x *rapid.T) {
		pits := 2 * rapid.IntRange(awari.MinPits/2, awari.MaxPits/2).Draw(x, "half")
		n := rapid.IntRange(0, awari.MaxSeeds).Draw(x, "seeds")
		space := testrun.Space(t, testrun.Game(t, pits, awari.Strict), awari.MaxSeeds)
		r, err := newRules(pits/2, awari.MaxSeeds)
		if err != nil {
			t.Fatal(err)
		}
		b := space.Unrank(n, rapid.Uint64Range(0, space.Size(n)-1).Draw(x, "rank"))
		p := r.place(b)
		var e effects
		r.fill(&e, p.row)
		var got [maxHalf]child
		k := 0
		found := got[:r.children(&got, &e, p.own)]
		for pit, play := range space.Plays(b) {
			if !play.Legal {
				continue
			}
			seeds, rank := space.Rank(play.Child)
			if k == len(found) || found[k] != newChild(rank, play.Captured, pit) || seeds != n-play.Captured {
				x.Fatalf("%s, pit %d: rank %d, %d captured; children are %v", space.Text(b), pit, rank, play.Captured, found)
			}
			k++
		}
		if k != len(found) {
			x.Fatalf("%s: %d moves, %d children", space.Text(b), k, len(found))
		}
	})
}
