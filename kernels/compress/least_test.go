package compress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/guard"
	"grenier/kernels/internal/twins"
)

// randomMask returns masks of width bits that pick count scores, and the Mask
// made of them.
func randomMask(rng *rand.Rand, width, count int) (reach, quiet []uint64, m *Mask) {
	reach, quiet = make([]uint64, (width+63)/64), make([]uint64, (width+63)/64)
	for _, p := range rng.Perm(width)[:count] {
		reach[p/64] |= 1 << (p % 64)
	}
	for i := range quiet {
		quiet[i] = rng.Uint64() | rng.Uint64()
	}
	return reach, quiet, NewMask(reach, quiet)
}

// leastCase is a column, with what it should become.
type leastCase struct {
	offers, want []int8
	picks        []Pick
}

// randomColumn makes a column of n scores with some moves, each in one or more
// picks, and computes it score by score.
func randomColumn(rng *rand.Rand, n int, row func([]int8) []int8) leastCase {
	c := leastCase{offers: make([]int8, n)}
	twins.Fill(rng, c.offers)
	c.want = slices.Clone(c.offers)
	for range rng.IntN(7) {
		for at := 0; at < n || n == 0; {
			count := n - at
			if rng.IntN(3) == 0 {
				count = rng.IntN(count + 1)
			}
			width := count + rng.IntN(1+2*n) + rng.IntN(3)*rng.IntN(200)
			reach, quiet, mask := randomMask(rng, width, count)
			src := make([]int8, width+rng.IntN(2)*rng.IntN(70))
			twins.Fill(rng, src)
			for p := range width {
				if reach[p/64]>>(p%64)&1 == 0 {
					continue
				}
				x := src[p]
				if quiet[p/64]>>(p%64)&1 == 0 {
					x = Blocked
				}
				c.want[at] = min(c.want[at], x)
				at++
			}
			c.picks = append(c.picks, Pick{Src: row(src), Mask: mask, First: at == count})
			if n == 0 {
				break
			}
		}
	}
	fixFirst(c.picks, n)
	return c
}

// fixFirst marks the first pick of each move: empty picks make it ambiguous.
func fixFirst(picks []Pick, n int) {
	done := n
	for i := range picks {
		picks[i].First = done == n
		if picks[i].First {
			done = 0
		}
		done += picks[i].Mask.Count()
	}
}

func TestLeast(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := twins.Rand(t)
		for n := range 300 {
			checkLeast(t, rng, LeastFor(f), n)
		}
		for range 30 {
			checkLeast(t, rng, LeastFor(f), 300+rng.IntN(2000))
		}
	})
}

// checkLeast computes a few columns of n scores, written between canaries.
func checkLeast(t *testing.T, rng *rand.Rand, least LeastFunc, n int) {
	t.Helper()
	var columns []Column
	var picks []Pick
	var wants, outers [][]int8
	for range 1 + rng.IntN(5) {
		c := randomColumn(rng, n, slices.Clone)
		outer := slices.Repeat([]int8{canary}, n+2*border)
		columns = append(columns, Column{Dst: outer[border : border+n], Offers: c.offers, Picks: len(c.picks)})
		picks = append(picks, c.picks...)
		wants, outers = append(wants, c.want), append(outers, outer)
	}
	scratch := slices.Repeat([]int8{canary}, Scratch(n, 7)+border)
	least(columns, picks, scratch[:Scratch(n, 7)])
	for i, want := range wants {
		if !slices.Equal(columns[i].Dst, want) {
			t.Fatalf("%d scores, column %d of %d: got %v, want %v", n, i, len(wants), columns[i].Dst, want)
		}
		for _, edge := range [][]int8{outers[i][:border], outers[i][border+n:], scratch[Scratch(n, 7):]} {
			if slices.ContainsFunc(edge, func(x int8) bool { return x != canary }) {
				t.Fatalf("%d scores: written outside", n)
			}
		}
	}
}

// TestLeastStaysInside puts the rows, the offers and scratch at unreadable pages.
func TestLeastStaysInside(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := twins.Rand(t)
		rows := guard.New[int8](t, 3*maxRow)
		offers, dst := guard.New[int8](t, maxRow), guard.New[int8](t, maxRow)
		scratch := guard.New[int8](t, Scratch(maxRow, 1))
		for n := range maxRow / 2 {
			for _, end := range []bool{false, true} {
				width := n + rng.IntN(n+1)
				reach, quiet, mask := randomMask(rng, width, n)
				src := make([]int8, mask.width) // not one score more than needed
				twins.Fill(rng, src)
				low := make([]int8, n)
				compressGeneric(low, src, reach, quiet)
				c := Column{Dst: place(dst, low, end), Offers: place(offers, slices.Repeat([]int8{100}, n), end), Picks: 1}
				room := place(scratch, make([]int8, Scratch(n, 1)), end)
				LeastFor(f)([]Column{c}, []Pick{{Src: place(rows, src, end), Mask: mask, First: true}}, room)
				for i := range low {
					if c.Dst[i] != min(low[i], 100) {
						t.Fatalf("%d scores: score %d is %d, want %d", n, i, c.Dst[i], min(low[i], 100))
					}
				}
			}
		}
	})
}

func TestLeastRefuses(t *testing.T) {
	full := func(n int) Pick {
		mask := slices.Repeat([]uint64{^uint64(0)}, n/64)
		return Pick{Src: make([]int8, n), Mask: NewMask(mask, mask), First: true}
	}
	next := full(64)
	next.First = false
	short := full(64)
	short.Src = short.Src[:63]
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for name, picks := range map[string][]Pick{
			"too many": {full(128)}, "too few": {full(64), full(64)}, "more": {full(128), next}, "short row": {short},
		} {
			t.Run(name, func(t *testing.T) {
				n := 128
				if name == "too many" || name == "short row" {
					n = 64
				}
				c := Column{Dst: make([]int8, n), Offers: make([]int8, n), Picks: len(picks)}
				twins.MustPanic(t, func() { LeastFor(f)([]Column{c}, picks, make([]int8, Scratch(n, 7))) })
			})
		}
		c := Column{Dst: make([]int8, 64), Offers: make([]int8, 64), Picks: 1}
		twins.MustPanic(t, func() { LeastFor(f)([]Column{c}, []Pick{full(64)}, make([]int8, 64)) })
		c.Offers = c.Offers[:63:63]
		twins.MustPanic(t, func() { LeastFor(f)([]Column{c}, []Pick{full(64)}, make([]int8, Scratch(64, 1))) })
	})
}

func BenchmarkLeast(b *testing.B) {
	twins.Bench(b, func(b *testing.B, f cpu.Family) {
		for _, g := range [][2]int{{5, 1}, {8, 2}, {10, 1}} {
			b.Run(fmt.Sprintf("game%d-sow%d", g[0], g[1]), func(b *testing.B) {
				src, reach, quiet := gameRow(g[0], 0, g[1])
				pick := Pick{Src: src, Mask: NewMask(reach, quiet), First: true}
				n := pick.Mask.Count()
				c := Column{Dst: make([]int8, n), Offers: make([]int8, n), Picks: 4}
				scratch := make([]int8, Scratch(n, 4))
				b.SetBytes(int64(n))
				for b.Loop() {
					LeastFor(f)([]Column{c}, []Pick{pick, pick, pick, pick}, scratch)
				}
			})
		}
	})
}
