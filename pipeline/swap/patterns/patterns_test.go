package patterns_test

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/swaptest"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
)

var mustGrid = swaptest.Grid

func mustTiles(tb testing.TB, g *swap.Grid, numbers ...int) heuristic.Tiles {
	tb.Helper()
	return must.Get(heuristic.TilesOf(g, numbers))(tb)
}

// relax returns the costs of all placements of tiles by relaxing every swap until
// nothing changes: no queue, no order, no table of steps.
func relax(g *swap.Grid, tiles heuristic.Tiles, cost heuristic.Cost) []uint8 {
	n, k := g.Cells(), tiles.Len()
	values := make([]uint8, perm.Arrangements(n, k))
	for i := range values {
		values[i] = 0xff
	}
	home := make([]uint8, k)
	for i, t := range tiles.Numbers() {
		home[i] = uint8(t)
	}
	values[perm.RankArrangement(home, n)] = 0
	at, to := make([]uint8, k), make([]uint8, k)
	for changed := true; changed; {
		changed = false
		for rank := range values {
			if values[rank] == 0xff {
				continue
			}
			perm.UnrankArrangement(at, n, uint64(rank))
			for _, m := range g.Swaps() {
				moved := exchange(to, at, m)
				if cost == heuristic.Unit {
					moved = min(moved, 1)
				}
				if r := perm.RankArrangement(to, n); int(values[r]) > int(values[rank])+moved {
					values[r] = values[rank] + uint8(moved)
					changed = true
				}
			}
		}
	}
	return values
}

func exchange(to, at []uint8, m swap.Swap) (moved int) {
	for i, c := range at {
		switch int(c) {
		case m.A:
			to[i] = uint8(m.B)
			moved++
		case m.B:
			to[i] = uint8(m.A)
			moved++
		default:
			to[i] = c
		}
	}
	return moved
}

var shapes = [][2]int{{1, 1}, {1, 2}, {2, 1}, {1, 5}, {5, 1}, {2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {3, 3}}

func equal(t *testing.T, what string, got, want []uint8) {
	t.Helper()
	must.Hold(t, len(got) == len(want), "%s: %d entries, want %d", what, len(got), len(want))
	for i := range got {
		must.Equal(t, got[i], want[i], "%s: entry %d", what, i)
	}
}

func TestStatic(t *testing.T) {
	for _, shape := range shapes {
		g := mustGrid(t, shape[0], shape[1])
		for set := heuristic.Tiles(1); int(set) < 1<<g.Cells(); set = set*3 + 1 {
			if perm.Arrangements(g.Cells(), set.Len()) > 20000 {
				continue
			}
			for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
				p := must.Get(patterns.Static(t.Context(), g, set, patterns.Options{Job: job.Job{Workers: 2}, Cost: cost}))(t)
				equal(t, fmt.Sprint(shape, set, cost), p.Values, relax(g, set, cost))
			}
		}
	}
}

func TestDynamic(t *testing.T) {
	for _, shape := range shapes {
		g := mustGrid(t, shape[0], shape[1])
		for size := 1; size <= min(heuristic.MaxSet, g.Cells()); size++ {
			for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
				table := must.Get(patterns.Dynamic(t.Context(), g, size, patterns.Options{Job: job.Job{Workers: 2}, Cost: cost}))(t)
				entries := int(heuristic.Entries(g, size))
				for i, set := range heuristic.Sets(g, size) {
					if i%7 == 0 {
						equal(t, fmt.Sprint(shape, set, cost), table.Values[i*entries:(i+1)*entries], relax(g, set, cost))
					}
				}
			}
		}
	}
}

func benchmarkStatic(b *testing.B, rows, cols int, numbers ...int) {
	g := mustGrid(b, rows, cols)
	for b.Loop() {
		must.OK(b, must.Err(patterns.Static(b.Context(), g, mustTiles(b, g, numbers...), patterns.Options{Job: job.Job{Workers: 2}, Cost: heuristic.Unit})))
	}
}

func BenchmarkStatic3x3(b *testing.B)   { benchmarkStatic(b, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8) }
func BenchmarkStatic4x4x5(b *testing.B) { benchmarkStatic(b, 4, 4, 0, 1, 2, 4, 5) }
func BenchmarkStatic4x4x6(b *testing.B) { benchmarkStatic(b, 4, 4, 8, 9, 12, 13, 14, 15) }
func BenchmarkStatic4x4x7(b *testing.B) { benchmarkStatic(b, 4, 4, 0, 1, 2, 3, 4, 5, 6) }

func BenchmarkDynamic(b *testing.B) {
	for size := 3; size <= 4; size++ {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				must.OK(b, must.Err(patterns.Dynamic(b.Context(), mustGrid(b, 4, 4), size, patterns.Options{Job: job.Job{Workers: 2}, Cost: heuristic.Unit})))
			}
		})
	}
}
