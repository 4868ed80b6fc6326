package window

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
)

// randomThin returns a block with random masks and codes.
func randomThin(rng *rand.Rand, lines int) Thin {
	masks := make([]uint64, lines)
	for i := range masks {
		masks[i] = rng.Uint64() & rng.Uint64() >> rng.IntN(64)
	}
	masks[rng.IntN(lines)] = []uint64{0, ^uint64(0)}[rng.IntN(2)]
	b := NewThin(make([]int8, MostThin), masks)
	for i := range masks {
		for k := range bits.OnesCount64(masks[i]) {
			b[b.At(i)+k] = int8(Eight.All[rng.IntN(len(Eight.All))])
		}
	}
	return b
}

// get returns the code of a position.
func (b Thin) get(line, column int) uint8 {
	mask := b.Mask(line)
	if mask>>column&1 == 0 {
		return Eight.Zero
	}
	return uint8(b[b.At(line)+bits.OnesCount64(mask&(1<<column-1))])
}

// TestThin compares blocks of each number of lines with the definition, position by position.
func TestThin(t *testing.T) {
	rng := tries.Rand(t)
	for lines := 1; lines <= Side; lines++ {
		b := randomThin(rng, lines)
		if b.Lines() != lines || len(b)%8 != 0 {
			t.Fatalf("%d lines: block has %d, %d bytes", lines, b.Lines(), len(b))
		}
		searched, ends := 0, 0
		digits := make([]int8, lines*Side)
		twins.Fill(rng, digits)
		got := b.Digits(digits)
		for line := range lines {
			searched += bits.OnesCount64(b.Mask(line))
			var codes shared.Line
			b.Load(line, &codes)
			for column, code := range codes.Scores() {
				score := Eight.Score[b.get(line, column)]
				size := max(score, -score)
				if uint8(code) != b.get(line, column) || digits[line*Side+column] != size {
					t.Fatalf("line %d, column %d: code %d, digit %d, want %d, %d", line, column, code, digits[line*Side+column], b.get(line, column), size)
				}
				if int(size) == Eight.Values {
					ends++
				}
			}
		}
		should.Hold(t, got == ends, "%d ends, want %d", got, ends)
		most := ThinBound(1, lines, searched)
		should.Not(t, len(b) > most, "%d bytes, the bound is %d", len(b), most)
		if valid, n := Eight.ValidDigits(digits, false); !valid || n != ends || !Eight.Valid(b.Codes()) {
			t.Errorf("digits are valid: %v, with %d ends, want %d; codes: %v", valid, n, ends, Eight.Valid(b.Codes()))
		}
	}
}

// TestThinTurn begins every capture value at every base.
func TestThinTurn(t *testing.T) {
	captures := make([]int8, 4*Side)
	for i := range captures {
		captures[i] = int8(i)
	}
	for base := range maxBase + 1 {
		const searched = ^uint64(1 << 9)
		masks := []uint64{searched, 0x5555555555555555 & searched, 0, searched}
		b := NewThin(make([]int8, MostThin), masks)
		var sources [Side]uint64
		must.Equal(t, b.Turn(captures, base, &sources), searched, "alive")
		for i, value := range captures {
			want := Eight.Zero
			if masks[i/Side]>>(i%Side)&1 != 0 {
				want = Eight.Begin(value, base)
			}
			if got := b.get(i/Side, i%Side); got != want || sources[i/Side]>>(i%Side)&1 != 0 != (Eight.Score[want] != 0) {
				t.Fatalf("base %d, capture %d: code %d, want %d; sources %x", base, value, got, want, sources[i/Side])
			}
		}
	}
}

// TestThinSum adds sizes up to scores.
func TestThinSum(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng := tries.Rand(t)
		digits, scores := make([]int8, 3*Side), make([]int8, 3*Side)
		for i := range digits {
			digits[i], scores[i] = int8(rng.IntN(Eight.Values+1)), int8(rng.IntN(57)-28)
		}
		want := slices.Clone(scores)
		for i, score := range scores {
			switch {
			case score > 0:
				want[i] += digits[i]
			case score < 0:
				want[i] -= digits[i]
			}
		}
		SumFor(f, Eight, false)(scores, digits)
		should.Hold(t, slices.Equal(scores, want), "got %v, want %v", scores, want)
	})
}

// TestThinCodesInvalid: only 251 bytes are codes.
func TestThinCodesInvalid(t *testing.T) {
	for x := range 256 {
		codes := []int8{int8(Eight.Zero), int8(x), int8(Eight.Zero)}
		should.Equal(t, Eight.Valid(codes), slices.Contains(Eight.All, uint8(x)), "code %d is valid", x)
	}
}
