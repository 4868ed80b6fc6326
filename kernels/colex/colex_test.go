package colex

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestBinomialEqualsBigInt(t *testing.T) {
	for n := range 90 {
		for k := range n + 3 {
			want := new(big.Int).Binomial(int64(n), int64(k))
			got, err := Binomial(n, k)
			must.Not(t, err == nil && want.Cmp(new(big.Int).SetUint64(got)) != 0, "Binomial(%d, %d) = %d, want %s", n, k, got, want)
			must.Not(t, err != nil && (!errors.Is(err, ErrOverflow) || want.IsUint64()),
				"Binomial(%d, %d): %v, but it is %s", n, k, err, want)
		}
	}
	should.Be(t, must.Err(Binomial(-1, 2)), ErrRange, "Binomial(-1, 2)")
	should.Equal(t, must.Get(Binomial(math.MaxInt, math.MaxInt-1))(t), math.MaxInt, "Binomial(max, max-1)")
	should.Be(t, must.Err(Binomial(math.MaxInt, 2)), ErrOverflow, "Binomial(max, 2)")
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{0, 4}, {17, 4}, {12, -1}, {12, 65}} {
		should.Be(t, must.Err(New(c.pits, c.seeds)), ErrRange, "New(%d, %d)", c.pits, c.seeds)
	}
	// docs/sources.md, document 000: (0, ..., 0, n) has the smallest code of n seeds, (n, 0, ..., 0) the largest.
	r := must.Get(New(12, 48))(t)
	low, high := make([]uint8, 12), make([]uint8, 12)
	low[11], high[0] = 48, 48
	should.Equal(t, r.Code(low), new(big.Int).Binomial(59, 12).Uint64(), "code of (0, ..., 48)")
	should.Equal(t, r.Code(high), r.First(49)-1, "code of (48, 0, ...)")
	should.Equal(t, r.Size(48), 279871768995, "boards with 48 seeds")
	r = must.Get(New(MaxPits, MaxSeeds))(t)
	should.Equal(t, r.Size(MaxSeeds), new(big.Int).Binomial(79, 15).Uint64(), "16 pits, 64 seeds")
	should.Be(t, must.Err(r.Iterate(49)), ErrOverflow, "iterating over 65 bits")
	should.Be(t, must.Err(r.Iterate(48)), nil, "iterating over 64 bits")
	should.Be(t, r.Unrank(65, 0, make([]uint8, 16)), ErrRange, "unranking 65 seeds")
	should.Be(t, r.Unrank(3, r.Size(3), make([]uint8, 16)), ErrRange, "unranking past the end")
}

// colexOrder is the order the ranks must follow: fewer seeds first, then more seeds in the last pit that differs.
func colexOrder(a, b []uint8) int {
	order := cmp.Compare(sum(a), sum(b))
	for i := range a {
		if pit := len(a) - 1 - i; order == 0 {
			order = cmp.Compare(b[pit], a[pit])
		}
	}
	return order
}

func sum(board []uint8) int {
	n := 0
	for _, x := range board {
		n += int(x)
	}
	return n
}

// allBoards lists every board of n seeds by plain recursion, sorted by colexOrder: an enumeration that shares nothing with the ranking.
func allBoards(pits, n int) [][]uint8 {
	var boards [][]uint8
	board := make([]uint8, pits)
	var fill func(pit, left int)
	fill = func(pit, left int) {
		if pit == pits-1 {
			board[pit] = uint8(left)
			boards = append(boards, slices.Clone(board))
			return
		}
		for x := range left + 1 {
			board[pit] = uint8(x)
			fill(pit+1, left-x)
		}
	}
	fill(0, n)
	slices.SortFunc(boards, colexOrder)
	return boards
}

func TestRankOrderAndIteration(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{1, 9}, {2, 12}, {3, 10}, {4, 8}, {6, 7}, {8, 5}, {12, 4}, {16, 3}} {
		r := must.Get(New(c.pits, c.seeds))(t)
		code := uint64(0)
		for n := range c.seeds + 1 {
			boards := allBoards(c.pits, n)
			got := r.Size(n)
			must.Hold(t, got == uint64(len(boards)), "%d pits, %d seeds: size %d, want %d", c.pits, n, got, len(boards))
			iteration := must.Get(r.Iterate(n))(t)
			steps := 0
			for rank, got := range iteration {
				want := boards[rank]
				must.Hold(t, slices.Equal(got, want),
					"%d pits, %d seeds: iteration gives %v at rank %d, want %v", c.pits, n, got, rank, want)
				checkBoard(t, r, want, n, rank, code)
				code++
				steps++
			}
			must.Hold(t, steps == len(boards), "%d pits, %d seeds: %d steps, want %d", c.pits, n, steps, len(boards))
		}
	}
}

func checkBoard(t *testing.T, r *Ranking, board []uint8, n int, rank, code uint64) {
	must.Equal(t, r.Rank(board), rank, "rank of %v", board)
	got := r.Code(board)
	must.Hold(t, got == code && code == r.First(n)+rank, "code of %v is %d, want %d", board, got, code)
	back := make([]uint8, len(board))
	err := r.Unrank(n, rank, back)
	must.Hold(t, err == nil && slices.Equal(back, board), "unrank(%d, %d) = %v, %v, want %v", n, rank, back, err, board)
	clear(back)
	seeds, err := r.Decode(code, back)
	must.Hold(t, err == nil && seeds == n && slices.Equal(back, board), "decode(%d) = %v with %d seeds, %v, want %v", code, back, seeds, err, board)
}

func TestBijectionOnLargeLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pits := rapid.IntRange(1, MaxPits).Draw(t, "pits")
		n := rapid.IntRange(0, MaxSeeds).Draw(t, "seeds")
		r := must.Get(New(pits, MaxSeeds))(t)
		rank := rapid.Uint64Range(0, r.Size(n)-1).Draw(t, "rank")
		board := make([]uint8, pits)
		must.OK(t, r.Unrank(n, rank, board))
		must.Hold(t, sum(board) == n && r.Rank(board) == rank,
			"rank %d becomes %v, which has %d seeds and rank %d", rank, board, sum(board), r.Rank(board))
		if rank > 0 {
			below := make([]uint8, pits)
			err := r.Unrank(n, rank-1, below)
			must.Hold(t, err == nil && colexOrder(below, board) < 0, "%v comes before %v (%v)", below, board, err)
		}
	})
}

func TestNextBVKeepsWeightAndOrder(t *testing.T) {
	for width := 1; width <= 16; width++ {
		for ones := 1; ones <= width; ones++ {
			x, seen := uint64(1)<<ones-1, 0
			for next := x; next < 1<<width; next = NextBV(next) {
				must.Hold(t, bits.OnesCount64(next) == ones && (seen == 0 || next > x), "%b after %b", next, x)
				x = next
				seen++
			}
			want := new(big.Int).Binomial(int64(width), int64(ones)).Int64()
			must.Hold(t, int64(seen) == want, "%d words of %d bits with %d ones, want %d", seen, width, ones, want)
		}
	}
}

func TestRankFactorsOverHalves(t *testing.T) {
	for q := 1; q <= 6; q++ {
		seeds := 12 - q
		h := must.Get(NewHalves(q, seeds))(t)
		for n := range seeds + 1 {
			boards := must.Get(h.Board().Iterate(n))(t)
			for rank, board := range boards {
				must.Equal(t, h.RowStart(n, board[q:])+h.Half().Rank(board[:q]), rank, "%v: row start + half rank", board)
			}
		}
	}
}
