package window

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/internal/shared"
)

// widths are the codes of all widths but the codes of thin blocks.
var widths = []*Codes{Two, Three, Four, Six}

// withThin are all codes.
var withThin = append(slices.Clone(widths), Eight)

// clip shows a score in the window with the given base, as the package comment says.
func (c *Codes) clip(score, base int) int {
	shown := min(max(max(score, -score)-base, 0), c.Values)
	if score < 0 {
		return -shown
	}
	return shown
}

// TestCodes takes every score and floor to its code and back.
func TestCodes(t *testing.T) {
	for _, c := range withThin {
		should.Hold(t, len(c.All) == c.Values+(c.Values+1)*(c.Values+2)/2 && int(c.All[len(c.All)-1]) < 1<<c.Bits,
			"%d bits: codes %v", c.Bits, c.All)
		var seen []uint8
		for score := -c.Values; score <= c.Values; score++ {
			for floor := -c.Values; floor <= score; floor++ {
				code := c.Code(score, floor)
				if score > 0 { // its own floor
					floor = score
				}
				must.Equal(t, [2]int{int(c.Score[code]), int(c.Floor[code])}, [2]int{score, floor}, "%d bits: score and floor of code %d", c.Bits, code)
				seen = append(seen, code)
			}
		}
		seen = slices.Compact(seen) // above 0 a score has one code
		ascend := func(x, y uint8) int { return int(int8(x)) - int(int8(y)) }
		should.Not(t, !slices.Equal(seen, c.All) || !slices.IsSortedFunc(seen, ascend) || slices.Contains(seen, None) ||
			c.Bits < 8 && slices.Contains(seen, None%64), "%d bits: codes are %v, not %v", c.Bits, c.All, seen)
		should.Hold(t, c.Score[c.Zero] == 0 && c.Floor[c.Zero] == 0, "%d bits: zero is %d", c.Bits, c.Zero)
	}
}

// TestNext compares with the scores of a position whose capture gives the floor.
func TestNext(t *testing.T) {
	for _, c := range withThin {
		for _, code := range c.All {
			floor := int(c.Floor[code])
			for _, least := range c.All {
				want := c.Code(max(floor, -int(c.Score[least])), floor)
				must.Equal(t, c.Next(code, least), want, "%d bits: code %d, least %d", c.Bits, code, least)
			}
			must.Equal(t, c.Next(code, None), c.Code(floor, floor), "%d bits: code %d without moves", c.Bits, code)
		}
	}
}

// stored returns how the value of a best capture is stored.
func stored(value int) int8 {
	if value < 0 {
		value--
	}
	return int8(value)
}

// TestBegin compares with clipped scores, for every capture value and base.
func TestBegin(t *testing.T) {
	for _, c := range withThin {
		for base := range maxBase + 1 {
			for value := -48; value <= 48; value++ {
				clipped := c.clip(value, base)
				must.Equal(t, c.Begin(stored(value), base), c.Code(max(0, clipped), clipped), "%d bits: capture %d, base %d", c.Bits, value, base)
				if value < 0 {
					got := c.Begin(stored(value)+OnlyCaptures, base)
					must.Equal(t, got, c.Code(clipped, clipped), "%d bits: only captures of %d, base %d", c.Bits, value, base)
				}
			}
			must.Equal(t, c.Begin(NoCapture, base), c.Code(0, -c.Values), "%d bits: no capture, base %d", c.Bits, base)
		}
	}
}

// TestLayout puts each code of a line alone, and finds it where the package comment says.
func TestLayout(t *testing.T) {
	for _, c := range widths {
		for i := range Side {
			line, ones := make([]int8, c.Line()), uint8(1<<c.Bits-1)
			c.Put(line, i, ones)
			want := make([]int8, Side*c.Bits/8)
			switch c.Bits {
			case 2:
				want[i%16] = 3 << (i / 16 * 2)
			case 3:
				want[i%16] = 3 << (i / 16 * 2)
			case 4:
				want[i%32] = 15 << (i / 32 * 4)
			case 6:
				want[i%32], want[32+i%16] = 15<<(i/32*4), 3<<(i/16*2)
			}
			should.Hold(t, slices.Equal(line, want) && c.Get(line, i) == ones, "%d bits: code %d is in %v", c.Bits, i, line)
			c.Put(line, i, 1)
			should.Hold(t, c.Get(line, i) == 1, "%d bits: code %d was not replaced", c.Bits, i)
			c.Put(line, i, 0)
			should.List(t, line, make([]int8, c.Line()), "%d bits: code %d left", c.Bits, i)
			if c != Three {
				continue
			}
			clear(want)
			want[16+i/8] = int8(uint8(1) << (i % 8))
			c.Put(line, i, 2)
			should.Hold(t, slices.Equal(line, want) && c.Get(line, i) == 2, "bit 1 of code %d is in %v", i, line)
		}
	}
}

// TestReadWhileWritten changes each code to each that a search can make of it, in one step or more: the first part of a
// line is the new one and the second the old one. The code seen shows a score between 0 and the new one.
func TestReadWhileWritten(t *testing.T) {
	for c, first := range map[*Codes]int{Three: Two.Line(), Six: Four.Line()} {
		changes := 0
		for _, old := range c.All {
			for _, code := range c.All {
				from, to := c.Score[old], c.Score[code]
				up := 0 <= from && from <= to && to > 0
				down := 0 >= from && from >= to && c.Floor[old] == c.Floor[code]
				if !up && !down {
					continue
				}
				changes++
				line, now := make([]int8, c.Line()), make([]int8, c.Line())
				c.Put(line, 37, old)
				c.Put(now, 37, code)
				copy(line[:first], now)
				seen := c.Get(line, 37)
				score := c.Score[seen]
				should.Hold(t, slices.Contains(c.All, seen) && score >= min(0, to) && score <= max(0, to),
					"%d bits: code %d becomes %d: %d is seen, of score %d", c.Bits, old, code, seen, score)
			}
		}
		least := 2 * len(c.All)
		should.Not(t, changes < least, "%d bits: %d changes, want %d at least", c.Bits, changes, least)
	}
}

// TestResume resumes from each code that a search can find, of lines that begin with each code: the
// score is the one that was found, but none below the floor, which stays.
func TestResume(t *testing.T) {
	for _, c := range withThin {
		lines, copied, clean := zeros(c, 3), zeros(c, 3), zeros(c, 3)
		for _, begin := range c.All {
			for _, found := range c.All {
				c.Put(lines[c.Line():], 37, begin)
				c.Put(copied[c.Line():], 37, found)
				c.Resume(lines, copied)
				want := c.Code(int(max(c.Score[found], c.Floor[begin])), int(c.Floor[begin]))
				if c == Eight {
					want = found
				}
				must.Equal(t, c.Get(lines[c.Line():], 37), want, "%d bits: %d found, %d at first", c.Bits, found, begin)
				c.Put(lines[c.Line():], 37, c.Zero)
				must.Hold(t, slices.Equal(lines, clean), "%d bits: other codes have changed", c.Bits)
			}
		}
	}
}

// zeros returns lines of scores that are known to be 0.
func zeros(c *Codes, lines int) []int8 {
	all := make([]int8, lines*c.Line())
	for i := range lines * Side {
		c.Put(all[i/Side*c.Line():], i%Side, c.Zero)
	}
	return all
}

// TestCopy copies words that are being written, the first ones first: none is newer than one before.
func TestCopy(t *testing.T) {
	words := make([]uint64, 3*Side/8)
	src := unsafe.Slice((*int8)(unsafe.Pointer(&words[0])), 3*Side)
	const last = 50_000
	var writer sync.WaitGroup
	writer.Go(func() {
		for value := range uint64(last) {
			for i := range words {
				atomic.StoreUint64(&words[i], value+1)
			}
		}
	})
	dst := make([]int8, len(src))
	for seen := uint64(0); seen < last; {
		Copy(dst, src)
		copied := unsafe.Slice((*uint64)(unsafe.Pointer(&dst[0])), len(words))
		for i, value := range copied {
			must.Not(t, i > 0 && value > copied[i-1] || value < seen, "%d, after %d were seen", copied, seen)
		}
		seen = copied[len(copied)-1]
		runtime.Gosched()
	}
	writer.Wait()
}

// TestValid puts each number of the width of a code at each place; of bytes only 251 are codes.
func TestValid(t *testing.T) {
	for x := range 256 {
		codes := []int8{int8(Eight.Zero), int8(x), int8(Eight.Zero)}
		should.Equal(t, Eight.Valid(codes), slices.Contains(Eight.All, uint8(x)), "code %d is valid", x)
	}
	for _, c := range widths {
		lines := zeros(c, 3)
		c.Put(lines, 5, c.Code(c.Values, 0))
		for x := range uint8(1 << c.Bits) {
			for i := range Side {
				c.Put(lines[c.Line():], i, x)
				should.Equal(t, c.Valid(lines), slices.Contains(c.All, x), "%d bits: %d as code %d is valid", c.Bits, x, i)
				c.Put(lines[c.Line():], i, c.Zero)
			}
		}
	}
}

// turnNaive follows the definition, code by code.
func turnNaive(c *Codes, lines, captures []int8, base int, again bool, sources *[Side]uint64) (alive uint64) {
	for i := range len(lines) / c.Line() {
		line := lines[i*c.Line():][:c.Line()]
		sources[i] = 0
		for k := range Side {
			score := int(c.Score[c.Get(line, k)])
			code := c.Zero
			if end := score == c.Values || score == -c.Values; end || !again {
				alive |= 1 << k
				code = c.Begin(captures[i*Side+k], base)
			}
			c.Put(line, k, code)
			if c.Score[code] != 0 {
				sources[i] |= 1 << k
			}
		}
	}
	if !again {
		return ^uint64(0)
	}
	return alive
}

// TestValidDigits puts each number of the width of a code at each place.
func TestValidDigits(t *testing.T) {
	for _, c := range widths {
		for x := range 1 << c.Bits {
			digit := int(int8(uint8(x)<<(8-c.Bits)) >> (8 - c.Bits))
			for i := range 2 * Side {
				lines := make([]int8, 2*c.Line())
				c.Put(lines[i/Side*c.Line():], i%Side, uint8(x))
				c.mustBe(t, lines, true, digit, -c.Values)
			}
		}
		for x := range 1 << (c.DigitLine(false) * 8 / Side) {
			for i := range 2 * Side {
				lines := make([]int8, 2*c.DigitLine(false))
				c.putDigit(lines, i, int8(x), false)
				c.mustBe(t, lines, false, x, c.Values)
			}
		}
	}
	for x := range 256 {
		for _, i := range []int{0, 5, Side - 1, Side} {
			lines := make([]int8, 2*Side)
			lines[i] = int8(x)
			Eight.mustBe(t, lines, false, x, Eight.Values)
		}
	}
}

// mustBe fails unless ValidDigits finds that the digit among zeros is valid, between -v and v, and whether it is v or the other end.
func (c *Codes) mustBe(t *testing.T, lines []int8, signed bool, digit, other int) {
	t.Helper()
	valid, ends := c.ValidDigits(lines, signed)
	should.Equal(t, valid, -c.Values <= digit && digit <= c.Values, "%d bits, signed %v: digit %d is valid", c.Bits, signed, digit)
	all := 0
	for ; len(lines) > 0; lines = lines[c.DigitLine(signed):] {
		all += bits.OnesCount64(c.Ends(lines, signed))
	}
	want := 0
	if digit == c.Values || digit == other {
		want = 1
	}
	should.Hold(t, ends == want && all == want, "%d bits, signed %v: digit %d is an end: %d, %d", c.Bits, signed, digit, ends, all)
}

// TestClip begins windows with the part of every capture value of up to 48 seeds beyond every base below theirs.
func TestClip(t *testing.T) {
	var captures []int8
	for v := -49; v <= 48; v++ {
		if captures = append(captures, int8(v)); v < NoCapture {
			captures = append(captures, int8(v+OnlyCaptures))
		}
	}
	captures = append(captures, make([]int8, Side-len(captures)%Side)...)
	for clipped := range maxBase + 1 {
		left := slices.Clone(captures)
		Clip(left, clipped)
		for _, c := range withThin {
			for base := clipped; base <= maxBase; base++ {
				for i, stored := range captures {
					if got, want := c.Begin(left[i], base-clipped), c.Begin(stored, base); got != want {
						t.Fatalf("%d bits, %d clipped by %d is %d: base %d begins with %d, want %d", c.Bits, stored, clipped, left[i], base, got, want)
					}
				}
			}
		}
	}
}

// TestPrune leaves the capture values of scores at an end, at the upper one those above 0; PruneZeros those of scores that are not 0.
func TestPrune(t *testing.T) {
	for _, c := range widths {
		for shift := range len(c.All) { // every code with every value
			lines, captures := make([]int8, 4*c.Line()), make([]int8, 4*Side)
			want, shown, zeros := make([]int8, len(captures)), make([]int8, len(captures)), make([]int8, len(captures))
			for i := range captures {
				captures[i], zeros[i] = int8(i), int8(i)
				code := c.All[(i+shift)%len(c.All)]
				c.Put(lines[i/Side*c.Line():], i%Side, code)
				if score := int(c.Score[code]); score == -c.Values || score == c.Values && captures[i] > 0 {
					want[i] = captures[i]
				}
				if c.Score[code] != 0 {
					shown[i] = captures[i]
				}
			}
			c.Prune(captures, lines)
			c.PruneZeros(zeros, lines)
			should.List(t, zeros, shown, "%d bits: beyond 0", c.Bits)
			should.Hold(t, slices.Equal(captures, want), "%d bits: got %v, want %v", c.Bits, captures, want)
		}
	}
}

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
		for n := 0; n <= Side; n += 1 + rng.IntN(tries.More(7, 1)) {
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
		for _, f := range cpu.Available() { // adds sizes up to scores
			scores := slices.Repeat([]int8{-28, 0, 28, 1}, len(digits)/4)
			want := slices.Clone(scores)
			for i, score := range scores {
				want[i] += digits[i] * int8(cmp.Compare(score, 0))
			}
			SumFor(f, Eight, false)(scores, digits)
			must.List(t, scores, want, "%v", f)
		}
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
