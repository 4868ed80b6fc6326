package compress

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
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

// fence holds the memory of all arguments, so that each starts after or ends
// before an unreadable page.
type fence struct {
	dst, src     *guard.Region[int8]
	reach, quiet *guard.Region[uint64]
}

func newFence(tb testing.TB) fence {
	return fence{
		guard.New[int8](tb, maxRow+2*border), guard.New[int8](tb, maxRow),
		guard.New[uint64](tb, maxRow/64+3), guard.New[uint64](tb, maxRow/64+3),
	}
}

// check runs a kernel at both ends of the memory, with some room beyond the
// count, and compares with the generic one.
func (m fence) check(t *testing.T, k rowFunc, src []int8, reach, quiet []uint64, room int) {
	t.Helper()
	want := make([]int8, len(src))
	want = want[:compressGeneric(want, src, reach, quiet)]
	n := len(want) + room
	for _, end := range []bool{false, true} {
		s, r, q := place(m.src, src, end), place(m.reach, reach, end), place(m.quiet, quiet, end)
		outer := m.dst.Start(n + border)
		dst, beyond := outer[:n:n], outer[n:]
		if end {
			outer = m.dst.End(border + n)
			dst, beyond = outer[border:], outer[:border]
		}
		fill(outer, canary)
		got := k(dst, s, r, q)
		if got != len(want) || !slices.Equal(dst[:got], want) {
			t.Fatalf("%d scores, room %d: got %d %v, want %d %v", len(src), n, got, dst[:got], len(want), want)
		}
		if slices.ContainsFunc(beyond, func(x int8) bool { return x != canary }) {
			t.Fatalf("%d scores, room %d: written outside: %v", len(src), n, beyond)
		}
	}
}

// place copies x to the start or the end of a region.
func place[T int8 | uint8 | uint64](r *guard.Region[T], x []T, end bool) []T {
	s := r.Start(len(x))
	if end {
		s = r.End(len(x))
	}
	copy(s, x)
	return s
}

func fill(s []int8, x int8) {
	for i := range s {
		s[i] = x
	}
}

func TestTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := twins.Rand(t), newFence(t)
		for n := 0; n <= maxRow; n += 1 + n/130*rng.IntN(8) {
			for range 12 {
				src, reach, quiet := randomRow(rng, n)
				m.check(t, rowFor(f), src, reach, quiet, rng.IntN(3)*rng.IntN(70))
			}
		}
	})
}

// TestGameMasks uses the masks that occur in a game.
func TestGameMasks(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newFence(t)
		for seeds := range 7 {
			for sown := range 7 {
				src, reach, quiet := gameRow(seeds, 0, sown)
				m.check(t, rowFor(f), src, reach, quiet, 0)
			}
		}
	})
}

func TestShortDestinationPanics(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := rowFor(f)
		for _, n := range []int{1, 8, 63, 64, 65, 128, 200} {
			reach := slices.Repeat([]uint64{^uint64(0)}, (n+63)/64)
			for _, room := range []int{0, n / 2, n - 1} {
				twins.MustPanic(t, func() { k(make([]int8, room), make([]int8, n), reach, reach) })
			}
		}
		twins.MustPanic(t, func() { k(make([]int8, 64), make([]int8, 64), make([]uint64, 1), nil) })
	})
}

func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k := rowFor(f)
		src, reach, quiet := gameRow(6, 0, 3)
		dst := make([]int8, len(src))
		if n := testing.AllocsPerRun(10, func() { k(dst, src, reach, quiet) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func FuzzTwins(f *testing.F) {
	f.Add([]byte{}, []byte{}, []byte{}, uint8(0))
	f.Add([]byte("0123456789"), []byte{0xff, 0x03}, []byte{0x55, 1}, uint8(1))
	f.Add(make([]byte, 200), []byte("masks of any kind, three words"), []byte("and more"), uint8(64))
	f.Fuzz(func(t *testing.T, row, reach, quiet []byte, room uint8) {
		src := make([]int8, min(len(row), maxRow))
		for i := range src {
			src[i] = int8(row[i])
		}
		r := words(reach, min((len(reach)+7)/8, maxRow/64+3))
		q := words(quiet, len(r))
		m := newFence(t)
		for _, f := range cpu.Available() {
			m.check(t, rowFor(f), src, r, q, min(int(room), border))
		}
	})
}

// words makes n words of the bytes b, cut or filled up with zeros.
func words(b []byte, n int) []uint64 {
	full := make([]byte, 8*n)
	copy(full, b)
	w := make([]uint64, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(full[8*i:])
	}
	return w
}

// gameRow returns a row of scores of all halves with the given seeds and the
// masks of a move that sows laps seeds into every pit and one more into the
// first sown ones.
func gameRow(seeds, laps, sown int) (src []int8, reach, quiet []uint64) {
	rng := rand.New(rand.NewPCG(uint64(seeds), uint64(sown)))
	bit := 0
	eachHalf(seeds, func(half [6]int) {
		if bit%64 == 0 {
			reach, quiet = append(reach, 0), append(quiet, 0)
		}
		reached := true
		for i, x := range half {
			need := laps
			if i < sown {
				need++
			}
			reached = reached && x >= need
		}
		last := half[(sown+5)%6]
		if reached {
			reach[bit/64] |= 1 << (bit % 64)
		}
		if last != 2 && last != 3 {
			quiet[bit/64] |= 1 << (bit % 64)
		}
		src = append(src, int8(rng.IntN(2*seeds+1)-seeds))
		bit++
	})
	return src, reach, quiet
}

// eachHalf calls f with the halves of the given seeds in rank order: more seeds
// in the last pits first.
func eachHalf(seeds int, f func([6]int)) {
	var half [6]int
	var walk func(pit, left int)
	walk = func(pit, left int) {
		if pit == 0 {
			half[0] = left
			f(half)
			return
		}
		for x := left; x >= 0; x-- {
			half[pit] = x
			walk(pit-1, left-x)
		}
	}
	walk(5, seeds)
}

// benchRow is one row to measure.
type benchRow struct {
	name         string
	src          []int8
	reach, quiet []uint64
}

// benchRows has rows with masks of a game and with random ones.
func benchRows() (rows []benchRow) {
	for _, g := range [][2]int{{5, 1}, {8, 2}, {10, 1}, {10, 3}, {10, 5}} {
		src, reach, quiet := gameRow(g[0], 0, g[1])
		rows = append(rows, benchRow{fmt.Sprintf("game%d-sow%d", g[0], g[1]), src, reach, quiet})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{200, 1000, 3000} {
		for _, density := range []int{2, 4, 6} {
			src, _, _ := randomRow(rng, n)
			r := benchRow{name: fmt.Sprintf("random%d-d%d", n, density*100/8), src: src}
			for range (n + 63) / 64 {
				r.reach = append(r.reach, randomBits(rng, density))
				r.quiet = append(r.quiet, randomBits(rng, 6))
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// BenchmarkCompress counts bytes of the source row; ns/out is the time for a
// byte of output.
func BenchmarkCompress(b *testing.B) {
	for _, r := range benchRows() {
		b.Run(r.name, func(b *testing.B) {
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				k, dst := rowFor(f), make([]int8, len(r.src))
				n := k(dst, r.src, r.reach, r.quiet)
				b.SetBytes(int64(len(r.src)))
				for b.Loop() {
					k(dst, r.src, r.reach, r.quiet)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(n, 1)), "ns/out")
			})
		})
	}
}
