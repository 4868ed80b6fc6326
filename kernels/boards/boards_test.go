package boards

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/colex"
)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		pits, seeds int
		want        error
	}{{0, 3, colex.ErrRange}, {17, 3, colex.ErrRange}, {12, -1, colex.ErrRange}, {12, 65, colex.ErrRange}, {12, 53, colex.ErrOverflow}} {
		should.Be(t, must.Err(New(c.pits, c.seeds)), c.want, "%d pits, %d seeds", c.pits, c.seeds)
	}
	l := must.Get(New(4, 3))(t)
	boards := []uint8{9, 9, 9, 9, 9, 9, 9, 9}
	err := l.Unrank(boards, []uint64{0, l.Size()})
	should.Hold(t, errors.Is(err, colex.ErrRange) && boards[0] == 9, "rank %d: %v, boards %v", l.Size(), err, boards)
}

// check compares count boards from a rank on with colex, one by one.
func check(t *testing.T, pits, seeds int, rank uint64, count int) {
	t.Helper()
	l := must.Get(New(pits, seeds))(t)
	ranking := must.Get(colex.New(pits, seeds))(t)
	rank %= l.Size()
	count = int(min(uint64(count), l.Size()-rank))
	want, ranks := make([]uint8, count*pits), make([]uint64, count)
	for i := range ranks {
		ranks[i] = rank + uint64(i)
		must.OK(t, ranking.Unrank(seeds, ranks[i], want[i*pits:][:pits]))
	}
	got := make([]uint8, len(want))
	err := l.Unrank(got, ranks)
	must.Hold(t, err == nil && slices.Equal(got, want), "unranked %v, %v, want %v", got, err, want)
	if count == 0 {
		return
	}
	clear(got)
	following := l.Iterate(got, colex.ListToBV(want[:pits]))
	must.List(t, got, want, "boards from %d on", rank)
	last := want[len(want)-pits:]
	must.Not(t, pits > 1 && following != colex.NextBV(colex.ListToBV(last)), "%x comes after %v", following, last)
}

// TestEqualsColex lists and unranks whole layers, and random boards of others.
func TestEqualsColex(t *testing.T) {
	for _, c := range [][2]int{{1, 0}, {1, 40}, {2, 0}, {2, 62}, {3, 25}, {4, 12}, {6, 9}, {7, 8}, {8, 6}, {9, 6}, {12, 5}, {16, 4}} {
		check(t, c[0], c[1], 0, math.MaxInt)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for pits := 1; pits <= colex.MaxPits; pits++ {
		for range 20 {
			check(t, pits, rng.IntN(min(colex.MaxSeeds, maxBits-pits)+1), rng.Uint64(), rng.IntN(60))
		}
		check(t, pits, min(colex.MaxSeeds, maxBits-pits), rng.Uint64(), 60)
	}
}

func FuzzEqualsColex(f *testing.F) {
	f.Add(uint8(12), uint8(48), uint64(123456789012), uint8(20))
	f.Add(uint8(1), uint8(63), uint64(0), uint8(1))
	f.Add(uint8(16), uint8(48), uint64(1<<63), uint8(17))
	f.Fuzz(func(t *testing.T, pits, seeds uint8, rank uint64, count uint8) {
		p := int(pits)%colex.MaxPits + 1
		check(t, p, int(seeds)%(min(colex.MaxSeeds, maxBits-p)+1), rank, int(count))
	})
}

// bench runs one operation on 1024 boards and reports boards a second.
func bench(b *testing.B, one func(l *Layer, boards []uint8, random []uint64)) {
	const count = 1024
	for _, c := range [][2]int{{6, 24}, {8, 24}, {12, 16}, {12, 48}, {16, 32}} { // pits and seeds of games
		b.Run(fmt.Sprintf("%d-%d", c[0], c[1]), func(b *testing.B) {
			l := must.Get(New(c[0], c[1]))(b)
			ranks, boards := make([]uint64, count), make([]uint8, count*c[0])
			rng := rand.New(rand.NewPCG(5, 6))
			for i := range ranks {
				ranks[i] = rng.Uint64N(l.Size())
			}
			for b.Loop() {
				one(l, boards, ranks)
			}
			b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds()/1e6, "Mboards/s")
		})
	}
}

// BenchmarkIterate is next_bv and bv2list.
func BenchmarkIterate(b *testing.B) {
	bench(b, func(l *Layer, boards []uint8, _ []uint64) { l.Iterate(boards, l.First()) })
}

// BenchmarkUnrank takes random boards.
func BenchmarkUnrank(b *testing.B) {
	bench(b, func(l *Layer, boards []uint8, random []uint64) { must.OK(b, l.Unrank(boards, random)) })
}

// BenchmarkUnrankInOrder is the iteration that the document begins with: decode for one code after the other.
func BenchmarkUnrankInOrder(b *testing.B) {
	bench(b, func(l *Layer, boards []uint8, ranks []uint64) {
		for i := range ranks {
			ranks[i] = uint64(i)
		}
		must.OK(b, l.Unrank(boards, ranks))
	})
}
