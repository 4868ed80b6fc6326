package transpose

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/guard"
	"grenier/kernels/internal/twins"
)

// maxSide is the longest side of the twin tests.
const maxSide = 150

// shape is the shape of a block and how much longer its strides are than they
// need to be.
type shape struct {
	rows, cols, srcGap, dstGap int
}

func (s shape) strides() (src, dst int) { return s.cols + s.srcGap, s.rows + s.dstGap }

// lengths returns the least lengths of src and dst.
func (s shape) lengths() (src, dst int) {
	if s.rows == 0 || s.cols == 0 {
		return 0, 0
	}
	srcStride, dstStride := s.strides()
	return (s.rows-1)*srcStride + s.cols, (s.cols-1)*dstStride + s.rows
}

// fence holds src and dst so that they start after or end before an unreadable
// page.
type fence struct {
	src, dst *guard.Region[int8]
}

func newFence(tb testing.TB) fence {
	const most = maxSide * (maxSide + 16)
	return fence{guard.New[int8](tb, most), guard.New[int8](tb, most)}
}

// check compares a kernel with the generic one. The canaries in the gaps of dst
// must survive, since they do so in the generic kernel.
func (m fence) check(t *testing.T, k Func, s shape, x []int8) {
	t.Helper()
	srcStride, dstStride := s.strides()
	n, size := s.lengths()
	want := slices.Repeat([]int8{canary}, size)
	negateGeneric(want, dstStride, x[:n], srcStride, s.rows, s.cols)
	for _, end := range []bool{false, true} {
		src, dst := m.src.Start(n), m.dst.Start(size)
		if end {
			src, dst = m.src.End(n), m.dst.End(size)
		}
		copy(src, x)
		for i := range dst {
			dst[i] = canary
		}
		k(dst, dstStride, src, srcStride, s.rows, s.cols)
		if !slices.Equal(dst, want) {
			t.Fatalf("%+v: got %v, want %v", s, dst, want)
		}
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := twins.Rand(t), newFence(t)
		x := make([]int8, maxSide*(maxSide+16))
		twins.Fill(rng, x)
		for range 3000 {
			s := shape{rng.IntN(maxSide + 1), rng.IntN(maxSide + 1), rng.IntN(16), rng.IntN(16)}
			m.check(t, For(f), s, x)
		}
		for side := range maxSide {
			for _, s := range []shape{
				{rows: side, cols: 64}, {rows: 64, cols: side}, {rows: side, cols: side},
				{rows: 1, cols: side, dstGap: 1}, {rows: side, cols: 1, srcGap: 1},
			} {
				m.check(t, For(f), s, x)
			}
		}
	})
}

func TestBadShapesPanic(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k, block := For(f), make([]int8, 64*64)
		for _, n := range []int{8, 16, 64} {
			twins.MustPanic(t, func() { k(block, n-1, block, n, n, n) })
			twins.MustPanic(t, func() { k(block, n, block, n-1, n, n) })
			twins.MustPanic(t, func() { k(block[:n*n-1], n, block, n, n, n) })
			twins.MustPanic(t, func() { k(block, n, block[:n*n-1], n, n, n) })
		}
		const huge = 1 << (bits.UintSize / 2) // its square overflows
		twins.MustPanic(t, func() { k(block, 64, block, huge, huge, 64) })
		twins.MustPanic(t, func() { k(block, huge, block, 64, 64, huge) })
		k(nil, 0, nil, 0, 0, 5)
		k(nil, 0, nil, 0, 5, 0)
	})
}

func FuzzTwins(f *testing.F) {
	f.Add(uint8(64), uint8(100), uint8(0), uint8(3), []byte{0x80, 1, 2})
	f.Add(uint8(5), uint8(17), uint8(1), uint8(0), []byte{0xff})
	f.Fuzz(func(t *testing.T, rows, cols, srcGap, dstGap uint8, pattern []byte) {
		s := shape{int(rows) % maxSide, int(cols) % maxSide, int(srcGap) % 16, int(dstGap) % 16}
		n, _ := s.lengths()
		x := make([]int8, n)
		for i := range x {
			x[i] = int8(i)
			if len(pattern) > 0 {
				x[i] = int8(pattern[i%len(pattern)]) + int8(i/len(pattern))
			}
		}
		m := newFence(t)
		for _, f := range cpu.Available() {
			m.check(t, For(f), s, x)
		}
	})
}

// BenchmarkNegate has stripes of columns as a solver makes them, to be put into
// the longer rows of a tile: with odd strides, with one that is a multiple of
// 64, with the worst ones, and of less than the full height.
func BenchmarkNegate(b *testing.B) {
	for _, s := range []shape{
		{64, 252, 4, 200}, {64, 1000, 88, 1000}, {64, 1000, 88, 1024}, {64, 4000, 32, 2939},
		{64, 4000, 96, 4096 - 64}, {37, 1000, 88, 1000}, {5, 1000, 88, 1000},
	} {
		b.Run(fmt.Sprintf("%dx%d-to%d", s.rows, s.cols, s.rows+s.dstGap), func(b *testing.B) {
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				k := For(f)
				srcStride, dstStride := s.strides()
				n, size := s.lengths()
				src, dst := make([]int8, n), make([]int8, size)
				b.SetBytes(int64(s.rows * s.cols))
				for b.Loop() {
					k(dst, dstStride, src, srcStride, s.rows, s.cols)
				}
			})
		})
	}
}
