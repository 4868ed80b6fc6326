package window

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
				if int(c.Score[code]) != score || int(c.Floor[code]) != floor {
					t.Errorf("%d bits: code %d of score %d, floor %d says %d, %d",
						c.Bits, code, score, floor, c.Score[code], c.Floor[code])
				}
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
			floor := c.Floor[code]
			for _, least := range c.All {
				next := c.Next(code, least)
				if want := max(floor, -c.Score[least]); c.Score[next] != want || want <= 0 && c.Floor[next] != floor {
					t.Errorf("%d bits: code %d, least %d: got score %d, floor %d, want %d, %d",
						c.Bits, code, least, c.Score[next], c.Floor[next], want, floor)
				}
			}
			if next := c.Next(code, None); c.Score[next] != floor || c.Floor[next] != floor {
				t.Errorf("%d bits: code %d without moves: score %d", c.Bits, code, c.Score[next])
			}
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
				code := c.Begin(stored(value), base)
				if int(c.Score[code]) != max(0, clipped) || int(c.Floor[code]) != clipped {
					t.Fatalf("%d bits: capture %d, base %d: score %d, floor %d, want floor %d",
						c.Bits, value, base, c.Score[code], c.Floor[code], clipped)
				}
				if value < 0 {
					code = c.Begin(stored(value)+OnlyCaptures, base)
					if int(c.Score[code]) != clipped || int(c.Floor[code]) != clipped {
						t.Fatalf("%d bits: only captures of %d, base %d: score %d, floor %d, want %d",
							c.Bits, value, base, c.Score[code], c.Floor[code], clipped)
					}
				}
			}
			if code := c.Begin(NoCapture, base); c.Score[code] != 0 || int(c.Floor[code]) != -c.Values {
				t.Fatalf("%d bits: no capture, base %d: score %d, floor %d", c.Bits, base, c.Score[code], c.Floor[code])
			}
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
				if score := c.Score[seen]; !slices.Contains(c.All, seen) || score < min(0, to) || score > max(0, to) {
					t.Errorf("%d bits: code %d becomes %d: %d is seen, of score %d", c.Bits, old, code, seen, score)
				}
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
				got := c.Get(lines[c.Line():], 37)
				score, floor := max(c.Score[found], c.Floor[begin]), c.Floor[begin]
				if c == Eight {
					score, floor = c.Score[found], c.Floor[found]
				}
				if c.Score[got] != score || score <= 0 && c.Floor[got] != floor {
					t.Fatalf("%d bits: %d found, %d at first: %d with score %d and floor %d, want %d and %d",
						c.Bits, found, begin, got, c.Score[got], c.Floor[got], score, floor)
				}
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
				if got, want := c.Valid(lines), slices.Contains(c.All, x); got != want {
					t.Errorf("%d bits: %d as code %d is valid: %v", c.Bits, x, i, got)
				}
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
	if want := -c.Values <= digit && digit <= c.Values; valid != want {
		t.Errorf("%d bits, signed %v: digit %d is valid: %v", c.Bits, signed, digit, valid)
	}
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
