package planes

import (
	"bytes"
	"fmt"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/guard"
	"grenier/kernels/internal/twins"
)

// maxScores is the longest input of the twin tests: a few registers' worth.
const maxScores = 700

// fence holds the memory of both sides of a transform, so that it starts after
// or ends before an unreadable page.
type fence struct {
	scores, planes *guard.Region[uint8]
}

func newFence(tb testing.TB, n int) fence {
	return fence{guard.New[uint8](tb, n), guard.New[uint8](tb, Size(n))}
}

// check runs both directions on the scores x, at both ends of the memory, and
// compares with the generic kernel. noise is what dst holds before.
func (m fence) check(t *testing.T, k Kernel, x []byte, noise byte) {
	t.Helper()
	want := make([]byte, Size(len(x)))
	splitGeneric(want, x)
	for _, end := range []bool{false, true} {
		scores, planes := m.scores.Start(len(x)), m.planes.Start(len(want))
		if end {
			scores, planes = m.scores.End(len(x)), m.planes.End(len(want))
		}
		copy(scores, x)
		fill(planes, noise)
		k.Split(planes, scores)
		if !bytes.Equal(planes, want) {
			t.Fatalf("n=%d: planes % x, want % x", len(x), planes, want)
		}
		fill(scores, noise)
		k.Join(scores, planes)
		if !bytes.Equal(scores, x) {
			t.Fatalf("n=%d: scores % x, want % x", len(x), scores, x)
		}
	}
}

func fill(s []byte, b byte) {
	for i := range s {
		s[i] = b
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := twins.Rand(t)
		m := newFence(t, maxScores)
		x := make([]byte, maxScores)
		for n := range maxScores + 1 {
			twins.Fill(rng, x[:n])
			m.check(t, For(f), x[:n], byte(n))
		}
	})
}

// TestNoisyPadding sets the unused bits of the planes, which Join must ignore.
func TestNoisyPadding(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := For(f)
		for n := range 150 {
			x, p := bytes.Repeat([]byte{0xc3}, n), make([]byte, Size(n))
			k.Split(p, x)
			for i := n; i < 8*Stride(n); i++ {
				p[(i%8+1)*Stride(n)-1] |= 1 << (i % 8)
			}
			got := make([]byte, n)
			k.Join(got, p)
			if !bytes.Equal(got, x) {
				t.Fatalf("n=%d: got % x", n, got)
			}
		}
	})
}

func TestWrongLengthsPanic(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := For(f)
		for _, n := range []int{0, 7, 63, 65, 200} {
			for _, d := range []int{-1, 1, 8} {
				if Size(n)+d < 0 {
					continue
				}
				twins.MustPanic(t, func() { k.Split(make([]byte, Size(n)+d), make([]byte, n)) })
				twins.MustPanic(t, func() { k.Join(make([]byte, n), make([]byte, Size(n)+d)) })
			}
		}
	})
}

func FuzzTwins(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add([]byte{1, 0x80, 0x7f, 0xff}, byte(0xff))
	f.Add(bytes.Repeat([]byte{0, 0xff, 3}, 60), byte(7))
	f.Fuzz(func(t *testing.T, x []byte, noise byte) {
		x = x[:min(len(x), maxScores)]
		m := newFence(t, len(x))
		for _, f := range cpu.Available() {
			m.check(t, For(f), x, noise)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	bench(b, func(k Kernel, planes, scores []byte) { k.Split(planes, scores) })
}

func BenchmarkJoin(b *testing.B) {
	bench(b, func(k Kernel, planes, scores []byte) { k.Join(scores, planes) })
}

// bench measures one direction on a full storage block and a short one.
func bench(b *testing.B, op func(k Kernel, planes, scores []byte)) {
	for _, n := range []int{64 << 10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				k, scores, planes := For(f), make([]byte, n), make([]byte, Size(n))
				b.SetBytes(int64(n))
				for b.Loop() {
					op(k, planes, scores)
				}
			})
		})
	}
}
