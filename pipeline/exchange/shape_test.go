package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// everyShape calls check for all layers of few seeds, of boards of 4 to 12 pits.
func everyShape(t *testing.T, check func(t *testing.T, game awari.Game, n int)) {
	for pits, last := range map[int]int{4: 12, 6: 9, 8: 8, 10: 7, 12: 8} {
		for n := range last + 1 {
			t.Run(fmt.Sprintf("%d pits, %d seeds", pits, n), func(t *testing.T) {
				check(t, testrun.Game(t, pits, awari.Awari), n)
			})
		}
	}
}

// boardsOf lists all boards of a layer, in no particular order.
func boardsOf(pits, n int) []awari.Board {
	var all []awari.Board
	var fill func(b awari.Board, pit, left int)
	fill = func(b awari.Board, pit, left int) {
		if pit == pits-1 {
			b[pit] = uint8(left)
			all = append(all, b)
			return
		}
		for seeds := range left + 1 {
			b[pit] = uint8(seeds)
			fill(b, pit+1, left-seeds)
		}
	}
	fill(awari.Board{}, 0, n)
	return all
}

// published lists the boards of a vu file as the database describes it.
func published(pits, n int) []awari.Board {
	boards := slices.DeleteFunc(boardsOf(pits, n), func(b awari.Board) bool { return !slices.Contains(b[pits/2:pits], 0) })
	slices.SortFunc(boards, func(a, b awari.Board) int {
		for pit := pits - 1; pit >= 0; pit-- {
			if c := cmp.Compare(a[pit], b[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
	return boards
}

// TestPublishedOrder: a vu file has the boards of the layer in colex order,
// backwards, without the full ones; and shape knows their places.
func TestPublishedOrder(t *testing.T) {
	everyShape(t, func(t *testing.T, game awari.Game, n int) {
		s, space := must.Get(newShape(game, n))(t), testrun.Space(t, game, n)
		boards := published(game.Pits(), n)
		if s.reachable() != uint64(len(boards)) {
			t.Fatalf("%d boards, want %d", s.reachable(), len(boards))
		}
		for i, b := range boards {
			_, rank := space.Rank(b)
			before := must.Get(s.fullBefore(rank))(t)
			if place := s.reachable() - 1 - (rank - before); place != uint64(i) {
				t.Fatalf("board %s is number %d, want %d", game.Text(b), place, i)
			}
		}
	})
}

// TestPublishedCounts: the sizes of the first files, and the sum of all of them. There is no
// file of 47 seeds, and the 889,063,398,406 positions of the published solution
// include the one at the start, which is full.
func TestPublishedCounts(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	counts := []uint64{1, 12, 78, 364, 1365, 4368, 12375, 31812}
	total := uint64(1)
	for n := range awari.MaxSeeds + 1 {
		got := must.Get(newShape(game, n))(t).reachable()
		should.Not(t, n < len(counts) && got != counts[n], "layer %d: %d positions", n, got)
		if n != 47 {
			total += got
		}
	}
	should.Equal(t, total, 889_063_398_406, "positions in all")
}

// TestSpans compares spans and counts with a look at each board.
func TestSpans(t *testing.T) {
	everyShape(t, func(t *testing.T, game awari.Game, n int) {
		s, space := must.Get(newShape(game, n))(t), testrun.Space(t, game, n)
		full := make([]bool, s.Positions())
		before := uint64(0)
		for rank := range s.Positions() {
			b := space.Unrank(n, rank)
			full[rank] = !slices.Contains(b[s.q:2*s.q], 0)
			got, err := s.fullBefore(rank)
			must.Hold(t, err == nil && got == before, "%d full boards before rank %d, want %d; error %v", got, rank, before, err)
			if full[rank] {
				before++
			}
		}
		got, err := s.fullBefore(s.Positions())
		must.Hold(t, err == nil && got == before && got == s.full(), "%d full boards, want %d; error %v", got, before, err)
		for _, piece := range []uint64{1, 2, 7, 64, 1000, s.Positions()} {
			for from := uint64(0); from < s.Positions(); from += 1 + s.Positions()/40 {
				checkSpans(t, s, full, from, min(from+piece, s.Positions()))
			}
		}
	})
}

func checkSpans(t *testing.T, s *shape, full []bool, from, to uint64) {
	next := from
	err := s.spans(from, to, func(x span) {
		must.Hold(t, x.from == next && x.to > x.from && x.to <= to, "span %+v of %d to %d follows %d", x, from, to, next)
		for rank := x.from; rank < x.to; rank++ {
			must.Hold(t, full[rank] == x.full, "span %+v: wrong at rank %d", x, rank)
		}
		next = x.to
	})
	must.Hold(t, err == nil && next == to, "spans of %d to %d end at %d, error %v", from, to, next, err)
}
