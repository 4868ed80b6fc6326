package window

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
)

// fence holds lines and a byte for each of their places between unreadable pages.
type fence struct {
	lines, bytes *guard.Region[int8]
}

func newFence(tb testing.TB) fence {
	return fence{guard.New[int8](tb, Side*Side), guard.New[int8](tb, Side*Side)}
}

// place copies lines and bytes to an end of the memory.
func (m fence) place(end guard.End, lines, bytes []int8) (l, b []int8) {
	return m.lines.Copy(end, lines), m.bytes.Copy(end, bytes)
}

// intact reports whether nothing around lines and bytes was written.
func (m fence) intact() bool { return m.lines.Intact() && m.bytes.Intact() }

// checkTurn compares a kernel with the definition.
func (m fence) checkTurn(t *testing.T, f cpu.Family, c *Codes, lines, captures []int8, base int, again bool) {
	t.Helper()
	want, wantSources := slices.Clone(lines), [Side]uint64{}
	for i := range wantSources {
		wantSources[i] = 0x5555
	}
	sources := wantSources
	wantAlive := turnNaive(c, want, captures, base, again, &wantSources)
	turn := TurnFor(f, c)
	for _, end := range guard.Ends {
		l, b := m.place(end, lines, captures)
		sources := sources
		alive := turn(l, b, base, again, &sources)
		call := fmt.Sprintf("%v, %d bits, %d lines, base %d, again %v", f, c.Bits, len(lines)/c.Line(), base, again)
		must.List(t, l, want, "%s", call)
		must.Hold(t, alive == wantAlive && sources == wantSources,
			"%s: alive %x, sources %x, want %x, %x", call, alive, sources, wantAlive, wantSources)
		must.Hold(t, m.intact() && slices.Equal(b, captures), "%s: written outside", call)
	}
}

// codes turns any bytes into lines of codes; the more, the more of them are inside.
func codes(c *Codes, bytes []int8, inside int) []int8 {
	lines := make([]int8, len(bytes)/Side*c.Line())
	for i, x := range bytes {
		code := c.Zero
		if i/Side%3 >= inside || x == 0 {
			code = c.All[int(uint8(x))%len(c.All)]
		}
		c.Put(lines[i/Side*c.Line():], i%Side, code)
	}
	return lines
}

// TestTurnEveryCapture begins every capture value at every base, after every code: also bytes that stand for none are the same for all.
func TestTurnEveryCapture(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newFence(t)
		var captures []int8
		for x := -128; x < 128; x++ {
			captures = append(captures, int8(x))
		}
		for _, c := range widths {
			for base := range maxBase + 1 {
				lines := make([]int8, 4*c.Line())
				for i := range captures {
					c.Put(lines[i/Side*c.Line():], i%Side, c.All[(i+base)%len(c.All)])
				}
				m.checkTurn(t, f, c, lines, captures, base, false)
				m.checkTurn(t, f, c, lines, captures, base, true)
			}
		}
	})
}

// checkSum compares a kernel with what the digits say.
func (m fence) checkSum(t *testing.T, f cpu.Family, c *Codes, lines, scores []int8, signed bool) {
	t.Helper()
	want := slices.Clone(scores)
	for i, score := range scores {
		digit := c.Score[c.Get(lines[i/Side*c.Line():], i%Side)]
		if !signed {
			digit = max(digit, -digit) * int8(cmp.Compare(score, 0))
		}
		want[i] += digit
	}
	digits := make([]int8, len(lines)/c.Line()*c.DigitLine(signed))
	c.digitsGeneric(signed)(digits, lines)
	sum := SumFor(f, c, signed)
	for _, end := range guard.Ends {
		l, b := m.place(end, digits, scores)
		sum(b, l)
		call := fmt.Sprintf("%v, %d bits, signed %v, %d lines", f, c.Bits, signed, len(lines)/c.Line())
		must.List(t, b, want, "%s", call)
		must.Hold(t, m.intact() && slices.Equal(l, digits), "%s: written outside", call)
	}
}

// putDigit puts digit i into lines.
func (c *Codes) putDigit(lines []int8, i int, score int8, signed bool) {
	size := uint8(max(score, -score))
	switch line := lines[i/Side*c.DigitLine(signed):]; {
	case signed:
		c.Put(line, i%Side, uint8(score)&(1<<c.Bits-1))
	case c.half == nil:
		line[i%Side/8] |= int8(size << (i % 8))
	default:
		c.half.Put(line, i%Side, size)
	}
}

// checkDigits compares a kernel with the definition.
func (m fence) checkDigits(t *testing.T, f cpu.Family, c *Codes, lines []int8, signed bool) {
	t.Helper()
	want, wantEnds := make([]int8, len(lines)/c.Line()*c.DigitLine(signed)), 0
	for i := range len(lines) / c.Line() * Side {
		score := c.Score[c.Get(lines[i/Side*c.Line():], i%Side)]
		c.putDigit(want, i, score, signed)
		if end := int8(c.Values); score == end || score == -end {
			wantEnds++
		}
	}
	digits := DigitsFor(f, c, signed)
	call := fmt.Sprintf("%v, %d bits, signed %v, %d lines", f, c.Bits, signed, len(lines)/c.Line())
	for _, end := range guard.Ends {
		src, dst := m.place(end, lines, make([]int8, len(want)))
		ends := digits(dst, src)
		must.Hold(t, ends == wantEnds && slices.Equal(dst, want), "%s: got %v, %d ends, want %v, %d", call, dst, ends, want, wantEnds)
		must.Hold(t, m.intact() && slices.Equal(src, lines), "%s: written outside", call)
		valid, ends := c.ValidDigits(dst, signed)
		must.Hold(t, valid && ends == wantEnds, "%s: valid %v, %d ends, want %d ends", call, valid, ends, wantEnds)
	}
}

// TestLongTwins: short runs have codes of one kind in four, and about every other number of lines.
func TestLongTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newFence(t)
		bytes, scores := make([]int8, Side*Side), make([]int8, Side*Side)
		for n := 0; n <= Side; n += 1 + rng.IntN(tries.More(3, 1)) {
			some := rng.IntN(4)
			for inside := range 4 {
				if !tries.Long() && inside != some {
					continue
				}
				twins.Fill(rng, bytes)
				twins.Fill(rng, scores)
				for _, c := range widths {
					lines := codes(c, bytes[:n*Side], inside)
					for _, yes := range []bool{false, true} {
						m.checkTurn(t, f, c, lines, scores[:n*Side], rng.IntN(maxBase+1), yes)
						m.checkSum(t, f, c, lines, scores[:n*Side], yes)
						m.checkDigits(t, f, c, lines, yes)
					}
				}
			}
		}
	})
}

func TestShortSlicesPanic(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, c := range widths {
			turn := TurnFor(f, c)
			lines, bytes := make([]int8, 65*c.Line()), make([]int8, 65*Side)
			var sources [Side]uint64
			must.Panic(t, func() { turn(lines[:2*c.Line()], bytes[:2*Side-1], 0, false, &sources) })
			must.Panic(t, func() { turn(lines, bytes, 0, false, &sources) })
			must.Panic(t, func() { turn(lines[:c.Line()], bytes, maxBase+1, false, &sources) })
			for _, signed := range []bool{false, true} {
				sum, digits, line := SumFor(f, c, signed), DigitsFor(f, c, signed), c.DigitLine(signed)
				must.Panic(t, func() { sum(bytes[:2*Side-1], lines[:2*line]) })
				must.Panic(t, func() { digits(bytes[:line:line], lines) })
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		for _, c := range widths {
			turn, lines, bytes := TurnFor(f, c), make([]int8, Side*c.Line()), make([]int8, Side*Side)
			var sources [Side]uint64
			for _, signed := range []bool{false, true} {
				sum, digits, found := SumFor(f, c, signed), DigitsFor(f, c, signed), make([]int8, Side*c.DigitLine(signed))
				n := testing.AllocsPerRun(10, func() {
					turn(lines, bytes, 3, true, &sources)
					digits(found, lines)
					sum(bytes, found)
				})
				should.Hold(t, n == 0, "%d bits, signed %v: %v allocations", c.Bits, signed, n)
			}
		}
	})
}

// FuzzTwins holds every family against the definitions.
func FuzzTwins(f *testing.F) {
	f.Add(uint8(64), uint8(0), uint8(0), []byte{1, 2, 3, 0x80})
	f.Add(uint8(5), uint8(7), uint8(3), []byte("captures"))
	f.Fuzz(func(t *testing.T, n, base, inside uint8, pattern []byte) {
		m, bytes, captures := newFence(t), make([]int8, int(n)%(Side+1)*Side), make([]int8, int(n)%(Side+1)*Side)
		pattern = append(pattern, 0)
		for i := range bytes {
			bytes[i], captures[i] = int8(pattern[i%len(pattern)]), int8(pattern[i*7%len(pattern)])
		}
		for _, family := range cpu.Available() {
			for _, c := range widths {
				lines := codes(c, bytes, int(inside%4))
				m.checkTurn(t, family, c, lines, captures, int(base)%(maxBase+1), inside&4 != 0)
				m.checkSum(t, family, c, lines, bytes, inside&8 != 0)
				m.checkDigits(t, family, c, lines, inside&8 != 0)
			}
		}
	})
}

// benchLines makes a block of lines of codes, all of them inside if so asked.
func benchLines(c *Codes, inside bool) []int8 {
	lines := make([]int8, Side*c.Line())
	for i := range Side * Side {
		code := c.Zero
		if !inside && i%3 == 0 {
			code = c.All[len(c.All)-1]
		}
		c.Put(lines[i/Side*c.Line():], i%Side, code)
	}
	return lines
}

// bench reports the time for a place, for all widths.
func bench(b *testing.B, prepare func(f cpu.Family, c *Codes) func()) {
	for _, c := range widths {
		b.Run(fmt.Sprint(c.Bits), func(b *testing.B) {
			twins.Bench(b, func(b *testing.B, f cpu.Family) {
				run := prepare(f, c)
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(Side*Side), "ns/place")
			})
		})
	}
}

// BenchmarkTurn begins the first window, and one again for lines of which a third is at an
// end or nothing is. All but the first copy the lines as well.
func BenchmarkTurn(b *testing.B) {
	captures := make([]int8, Side*Side)
	for i := range captures {
		captures[i] = []int8{NoCapture, 0, 5, -3, -70}[i*i%31%5]
	}
	for _, s := range []struct {
		name          string
		again, inside bool
	}{{"first", false, false}, {"again", true, false}, {"inside", true, true}} {
		b.Run(s.name, func(b *testing.B) {
			bench(b, func(f cpu.Family, c *Codes) func() {
				turn, from := TurnFor(f, c), benchLines(c, s.inside)
				lines := slices.Clone(from)
				var sources [Side]uint64
				return func() {
					if s.again {
						copy(lines, from)
					}
					turn(lines, captures, 1, s.again, &sources)
				}
			})
		})
	}
}

// BenchmarkSum adds lines of which a third is not 0, and lines of zeros.
func BenchmarkSum(b *testing.B) {
	for name, zeros := range map[string]bool{"some": false, "zeros": true} {
		b.Run(name, func(b *testing.B) {
			bench(b, func(f cpu.Family, c *Codes) func() {
				sum, lines, scores := SumFor(f, c, true), make([]int8, Side*c.DigitLine(true)), make([]int8, Side*Side)
				DigitsFor(f, c, true)(lines, benchLines(c, zeros))
				return func() { sum(scores, lines) }
			})
		})
	}
}

// BenchmarkDigits takes lines of which a third is at an end.
func BenchmarkDigits(b *testing.B) {
	bench(b, func(f cpu.Family, c *Codes) func() {
		digits, lines, dst := DigitsFor(f, c, true), benchLines(c, false), make([]int8, Side*c.DigitLine(true))
		return func() { digits(dst, lines) }
	})
}

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
		must.Hold(t, b.Lines() == lines && len(b)%8 == 0, "%d lines: block has %d, %d bytes", lines, b.Lines(), len(b))
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
		captures, want := make([]int8, lines*Side), make([]int8, lines*Side)
		twins.Fill(rng, captures)
		for i, x := range captures {
			if b.Mask(i/Side)>>(i%Side)&1 != 0 {
				want[i] = x
			}
		}
		b.Prune(captures)
		should.List(t, captures, want, "%d lines: what is searched", lines)
		most := ThinBound(1, lines, searched)
		should.Not(t, len(b) > most, "%d bytes, the bound is %d", len(b), most)
		valid, n := Eight.ValidDigits(digits, false)
		should.Hold(t, valid && n == ends && Eight.Valid(b.Codes()), "digits are valid: %v, with %d ends, want %d; or codes are not", valid, n, ends)
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
			want[i] += digits[i] * int8(cmp.Compare(score, 0))
		}
		SumFor(f, Eight, false)(scores, digits)
		should.Hold(t, slices.Equal(scores, want), "got %v, want %v", scores, want)
	})
}
