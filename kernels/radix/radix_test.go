package radix

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
)

// check compares Sort with the definition.
func check(t *testing.T, numbers []uint64, bits int) {
	t.Helper()
	want := slices.Clone(numbers)
	slices.Sort(want)
	want = slices.Compact(want)
	got := Sort(numbers, make([]uint64, len(numbers)), bits)
	must.Hold(t, slices.Equal(got, want), "%d numbers of %d bits: %d sorted, want %d", len(numbers), bits, len(got), len(want))
}

func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, few - 1, few, few + 1, 5000} {
		for _, bits := range []int{1, 10, 11, 12, 33, 37, 63, 64} {
			numbers := make([]uint64, n)
			for i := range numbers {
				numbers[i] = random.Uint64() >> (64 - bits)
			}
			check(t, numbers, bits)
		}
	}
	must.Panic(t, func() { Sort(make([]uint64, 2), make([]uint64, 1), 64) }, "scratch")
}

func FuzzSort(f *testing.F) {
	f.Add([]byte("some numbers"), uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, times uint8) {
		var numbers []uint64
		for word := range slices.Chunk(raw, 8) {
			var x [8]byte
			copy(x[:], word)
			numbers = append(numbers, binary.LittleEndian.Uint64(x[:]))
		}
		check(t, slices.Repeat(numbers, int(times)), 64)
	})
}

func BenchmarkSort(b *testing.B) {
	for _, bits := range []int{33, 37, 64} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			fresh := make([]uint64, 1<<20)
			for i := range fresh {
				fresh[i] = random.Uint64() >> (64 - bits)
			}
			numbers, scratch := make([]uint64, len(fresh)), make([]uint64, len(fresh))
			b.SetBytes(int64(8 * len(fresh)))
			for b.Loop() {
				copy(numbers, fresh)
				Sort(numbers, scratch, bits)
			}
		})
	}
}
