package rows

import (
	"fmt"
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/guard"
	"grenier/kernels/internal/twins"
)

const (
	maxRow = 700 // the longest row of the twin tests
	border = 64  // canaries on the open side of dst
	canary = 0x5a
)

// fence holds two rows that start after or end before an unreadable page.
type fence struct {
	a, b *guard.Region[int8]
}

func newFence(tb testing.TB) fence {
	return fence{guard.New[int8](tb, maxRow+border), guard.New[int8](tb, maxRow)}
}

// place returns copies of x and y, and canaries next to the first.
func (m fence) place(x, y []int8, end bool) (a, b, beyond []int8) {
	n := len(x)
	outer, b := m.a.Start(n+border), m.b.Start(n)
	a, beyond = outer[:n:n], outer[n:]
	if end {
		outer, b = m.a.End(border+n), m.b.End(n)
		a, beyond = outer[border:], outer[:border]
	}
	for i := range beyond {
		beyond[i] = canary
	}
	copy(a, x)
	copy(b, y)
	return a, b, beyond
}

// check compares a kernel with the generic one on the equally long x and y.
func (m fence) check(t *testing.T, k Kernel, x, y []int8) {
	t.Helper()
	diff := countDiffGeneric(x, y)
	want := slices.Clone(x)
	minGeneric(want, y)
	for _, end := range []bool{false, true} {
		a, b, beyond := m.place(x, y, end)
		if got := k.CountDiff(a, b); got != diff {
			t.Fatalf("n=%d: %d differences, want %d", len(x), got, diff)
		}
		k.Min(a, b)
		if !slices.Equal(a, want) || !slices.Equal(b, y) {
			t.Fatalf("n=%d: minimum %v, want %v", len(x), a, want)
		}
		if slices.ContainsFunc(beyond, func(x int8) bool { return x != canary }) {
			t.Fatalf("n=%d: written outside: %v", len(x), beyond)
		}
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := twins.Rand(t), newFence(t)
		x, y := make([]int8, maxRow), make([]int8, maxRow)
		for n := range maxRow + 1 {
			twins.Fill(rng, x[:n])
			twins.Fill(rng, y[:n])
			if n > 0 {
				copy(y[:rng.IntN(n)], x)
			}
			m.check(t, For(f), x[:n], y[:n])
		}
	})
}

func TestLengths(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := For(f)
		dst := slices.Repeat([]int8{5}, 70)
		k.Min(dst, slices.Repeat([]int8{4}, 90))
		if dst[69] != 4 {
			t.Error("a longer second row is not used to the end of the first")
		}
		twins.MustPanic(t, func() { k.Min(make([]int8, 70), make([]int8, 69)) })
		twins.MustPanic(t, func() { k.CountDiff(make([]int8, 70), make([]int8, 69)) })
		twins.MustPanic(t, func() { k.CountDiff(nil, make([]int8, 1)) })
	})
}

func FuzzTwins(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0x80, 0x7f, 0}, []byte{0x7f, 0x80, 0xff})
	f.Add(make([]byte, 200), []byte("shorter"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a := make([]int8, min(len(x), maxRow))
		b := make([]int8, len(a))
		for i := range a {
			a[i] = int8(x[i])
			if i < len(y) {
				b[i] = int8(y[i])
			}
		}
		m := newFence(t)
		for _, f := range cpu.Available() {
			m.check(t, For(f), a, b)
		}
	})
}

func BenchmarkMin(b *testing.B) {
	bench(b, func(k Kernel, x, y []int8) { k.Min(x, y) })
}

func BenchmarkCountDiff(b *testing.B) {
	bench(b, func(k Kernel, x, y []int8) { k.CountDiff(x, y) })
}

// bench measures rows of halves with few and with many seeds.
func bench(b *testing.B, op func(k Kernel, x, y []int8)) {
	for _, n := range []int{252, 1287, 3003} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				k, x, y := For(f), make([]int8, n), make([]int8, n)
				rng := twins.Rand(b)
				twins.Fill(rng, x)
				twins.Fill(rng, y)
				b.SetBytes(int64(n))
				for b.Loop() {
					op(k, x, y)
				}
			})
		})
	}
}
