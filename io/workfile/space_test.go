package workfile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func mark(taken []bool, s span, as bool) {
	for i := s.offset; i < s.end(); i++ {
		if taken[i] == as {
			panic("overlap")
		}
		taken[i] = as
	}
}

// bestFit returns where n bytes go: the first one of the shortest runs of free
// bytes that have room, else the last run if it ends at the end, else the end.
func bestFit(taken []bool, n int) int {
	best, shortest, start := -1, 0, -1
	for i := range len(taken) + 1 {
		switch {
		case i < len(taken) && !taken[i]:
			if start < 0 {
				start = i
			}
		case start >= 0:
			length := i - start
			if length >= n && (best < 0 || length < shortest) {
				best, shortest = start, length
			}
			if i == len(taken) && best < 0 {
				best = start
			}
			start = -1
		}
	}
	if best < 0 {
		return len(taken)
	}
	return best
}

func TestTaken(t *testing.T) {
	s := newSpace()
	s.take(30, 30)
	s.give(span{10, 10})
	for g, want := range map[span]bool{
		{0, 10}: true, {0, 11}: false, {9, 2}: false, {10, 10}: false, {12, 2}: false, {19, 2}: false, {20, 10}: true,
		{0, 30}: false, {20, 11}: false, {-1, 2}: false, {30, 1}: false,
	} {
		should.Hold(t, s.taken(g) == want, "%v", g)
	}
}

// TestPlace compares where extents go with what place promises.
func TestPlace(t *testing.T) {
	divided := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newSpace()
		var taken []bool
		var live []span
		for range 100 {
			for range rng.IntN(60) {
				if len(live) > 0 {
					i := rng.IntN(len(live))
					s.give(live[i])
					mark(taken, live[i], false)
					live = slices.Delete(live, i, i+1)
				}
			}
			extents := make([]Extent, rng.IntN(40))
			total, longest, most := 0, 0, 1+rng.IntN(20)
			for i := range extents {
				n := rng.IntN(most)
				extents[i].Length = uint32(n)
				total, longest = total+n, max(longest, n)
			}
			longestGap, end := longestRun(taken), len(taken)
			before := slices.Clone(taken)
			s.place(extents)
			count, first, next := 0, 0, int64(-1) // runs, and where they begin and end
			for _, e := range extents {
				if e.Length == 0 && !e.IsZero() {
					t.Fatalf("seed %d: %+v", seed, e)
				}
				if e.Length > 0 {
					for len(taken) < int(e.span().end()) {
						taken = append(taken, false)
					}
					if e.Offset != next {
						count++
					}
					if next < 0 {
						first = int(e.Offset)
					}
					next = e.span().end()
					mark(taken, e.span(), true)
					live = append(live, e.span())
				}
			}
			switch {
			case longestGap >= total || longestGap < max(longest, total/mostGaps):
				want := bestFit(before, total)
				must.Not(t, total > 0 && (count != 1 || first != want), "seed %d: %v; want one run at %d", seed, extents, want)
			case count > 2*(mostGaps+1): // two runs fill at least one gap
				t.Fatalf("seed %d: %d runs", seed, count)
			case len(taken)-end >= total-(longestGap-longest):
				t.Fatalf("seed %d: a gap of %d bytes is not used for %v", seed, longestGap, extents)
			default:
				divided++
			}
			for i, b := range taken {
				if s.taken(span{int64(i), 1}) != b {
					t.Fatalf("seed %d: byte %d is taken: %v", seed, i, !b)
				}
			}
			free := slices.DeleteFunc(slices.Clone(taken), func(b bool) bool { return b })
			if s.end != int64(len(taken)) || s.free() != int64(len(free)) {
				t.Fatalf("seed %d: %d of %d bytes free, want %d of %d", seed, s.free(), s.end, len(free), len(taken))
			}
		}
	}
	should.Not(t, divided < 1000, "divided %d times", divided)
}

// longestRun returns the number of bytes of the longest run of free bytes.
func longestRun(taken []bool) (longest int) {
	n := 0
	for _, b := range taken {
		if n++; b {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
