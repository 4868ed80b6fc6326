package boards

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/twins"
	"grenier/kernels/colex"
	"grenier/kernels/cpu"
)

func mustLayer(t testing.TB, f cpu.Family, pits, seeds int) *Layer {
	t.Helper()
	l, err := For(f, pits, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestEqualsColex lists, ranks and unranks whole layers.
func TestEqualsColex(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, c := range [][2]int{{1, 0}, {1, 40}, {2, 0}, {2, 62}, {3, 25}, {4, 12}, {6, 9}, {7, 8}, {8, 6}, {9, 6}, {12, 5}, {16, 4}} {
			pits, seeds := c[0], c[1]
			l := mustLayer(t, f, pits, seeds)
			ranking, err := colex.New(pits, seeds)
			if err != nil {
				t.Fatal(err)
			}
			want, err := ranking.Iterate(seeds)
			if err != nil {
				t.Fatal(err)
			}
			boards := make([]uint8, int(l.Size())*pits)
			l.Iterate(boards, l.First())
			ranks, again := make([]uint64, l.Size()), make([]uint8, len(boards))
			l.Rank(ranks, boards)
			if err := l.Unrank(again, ranks); err != nil || !slices.Equal(again, boards) {
				t.Fatalf("%v: boards do not come back, %v", c, err)
			}
			for rank, board := range want {
				if got := boards[int(rank)*pits:][:pits]; !slices.Equal(got, board) || ranks[rank] != rank {
					t.Fatalf("%v: board %d is %v, of rank %d, want %v", c, rank, got, ranks[rank], board)
				}
			}
		}
	})
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		pits, seeds int
		want        error
	}{{0, 3, colex.ErrRange}, {17, 3, colex.ErrRange}, {12, -1, colex.ErrRange}, {12, 65, colex.ErrRange}, {12, 53, colex.ErrOverflow}} {
		if _, err := For(cpu.Generic, c.pits, c.seeds); !errors.Is(err, c.want) {
			t.Errorf("%d pits, %d seeds: %v, want %v", c.pits, c.seeds, err, c.want)
		}
	}
	l := mustLayer(t, cpu.Generic, 4, 3)
	boards := []uint8{9, 9, 9, 9, 9, 9, 9, 9}
	if err := l.Unrank(boards, []uint64{0, l.Size()}); !errors.Is(err, colex.ErrRange) || boards[0] != 9 {
		t.Errorf("rank %d: %v, boards %v", l.Size(), err, boards)
	}
}

// check compares a family with the generic kernels for count boards from a rank on, at both
// ends of fenced memory.
func check(t *testing.T, f cpu.Family, pits, seeds int, rank uint64, count int) {
	t.Helper()
	l, want := mustLayer(t, f, pits, seeds), mustLayer(t, cpu.Generic, pits, seeds)
	rank %= want.Size()
	count = int(min(uint64(count), want.Size()-rank))
	board := make([]uint8, pits)
	if err := want.Unrank(board, []uint64{rank}); err != nil {
		t.Fatal(err)
	}
	first := colex.ListToBV(board)
	boards := make([]uint8, count*pits)
	following := want.Iterate(boards, first)
	memory := guard.New[uint8](t, len(boards))
	for _, at := range [][]uint8{memory.Start(len(boards)), memory.End(len(boards))} {
		if got := l.Iterate(at, first); got != following || !slices.Equal(at, boards) {
			t.Fatalf("%v: boards from %x on are %v, then comes %x; want %v, %x", f, first, at, got, boards, following)
		}
		ranks := make([]uint64, count)
		l.Rank(ranks, at)
		for i := range ranks {
			if ranks[i] != rank+uint64(i) {
				t.Fatalf("%v: rank %d, want %d", f, ranks[i], rank+uint64(i))
			}
		}
		clear(at)
		if err := l.Unrank(at, ranks); err != nil || !slices.Equal(at, boards) {
			t.Fatalf("%v: unranked %v, %v, want %v", f, at, err, boards)
		}
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := twins.Rand(t)
		for pits := 1; pits <= colex.MaxPits; pits++ {
			for range 20 {
				check(t, f, pits, rng.IntN(min(colex.MaxSeeds, maxBits-pits)+1), rng.Uint64(), rng.IntN(60))
			}
			check(t, f, pits, min(colex.MaxSeeds, maxBits-pits), rng.Uint64(), 60)
		}
	})
}

func FuzzTwins(f *testing.F) {
	f.Add(uint8(12), uint8(48), uint64(123456789012), uint8(20))
	f.Add(uint8(1), uint8(63), uint64(0), uint8(1))
	f.Add(uint8(16), uint8(48), uint64(1<<63), uint8(17))
	f.Fuzz(func(t *testing.T, pits, seeds uint8, rank uint64, count uint8) {
		p := int(pits)%colex.MaxPits + 1
		for _, f := range cpu.Available() {
			check(t, f, p, int(seeds)%(min(colex.MaxSeeds, maxBits-p)+1), rank, int(count))
		}
	})
}

// layersOfGames are what the benchmarks list.
var layersOfGames = [][2]int{{6, 24}, {8, 24}, {12, 16}, {12, 48}, {16, 32}}

// bench runs one operation on 1024 boards that follow a random one, for all families and
// layers, and reports boards a second.
func bench(b *testing.B, one func(l *Layer, ranks []uint64, boards []uint8)) {
	const count = 1024
	twins.Bench(b, func(b *testing.B, f cpu.Family) {
		for _, c := range layersOfGames {
			b.Run(fmt.Sprintf("%d-%d", c[0], c[1]), func(b *testing.B) {
				l := mustLayer(b, f, c[0], c[1])
				ranks, boards := make([]uint64, count), make([]uint8, count*c[0])
				rng := rand.New(rand.NewPCG(5, 6))
				for i := range ranks {
					ranks[i] = rng.Uint64N(l.Size())
				}
				if err := l.Unrank(boards, ranks); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					one(l, ranks, boards)
				}
				b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds()/1e6, "Mboards/s")
			})
		}
	})
}

// BenchmarkIterate is next_bv and bv2list.
func BenchmarkIterate(b *testing.B) {
	bench(b, func(l *Layer, _ []uint64, boards []uint8) { l.Iterate(boards, l.First()) })
}

// BenchmarkRank and BenchmarkUnrank take random boards.
func BenchmarkRank(b *testing.B) {
	bench(b, func(l *Layer, ranks []uint64, boards []uint8) { l.Rank(ranks, boards) })
}

func BenchmarkUnrank(b *testing.B) {
	bench(b, func(l *Layer, ranks []uint64, boards []uint8) {
		if err := l.Unrank(boards, ranks); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkUnrankInOrder is the iteration that the document begins with: decode for one code
// after the other.
func BenchmarkUnrankInOrder(b *testing.B) {
	bench(b, func(l *Layer, ranks []uint64, boards []uint8) {
		for i := range ranks {
			ranks[i] = uint64(i)
		}
		if err := l.Unrank(boards, ranks); err != nil {
			b.Fatal(err)
		}
	})
}
