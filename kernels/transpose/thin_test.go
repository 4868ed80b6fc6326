package transpose

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// newThinFence returns memory for a thin block in front of an unreadable page.
func newThinFence(tb testing.TB) thinFence { return thinFence{guard.New[int8](tb, window.MostThin)} }

type thinFence struct{ *guard.Region[int8] }

// block makes a block with masks; its codes are those that next draws.
func (m thinFence) block(masks []uint64, next func() uint64) window.Thin {
	b := window.NewThin(m.At(guard.High, window.ThinSize(masks)), masks)
	for line, mask := range masks {
		for i := range bits.OnesCount64(mask) {
			b[b.At(line)+i] = int8(window.Eight.All[next()%uint64(len(window.Eight.All))])
		}
	}
	return b
}

// updateThinNaive does what UpdateFunc says, position by position.
func updateThinNaive(b window.Thin, block *Block, columns, rows uint64) (changed [Side]uint64) {
	for line := range b.Lines() {
		at := b.At(line)
		for c := range Side {
			if b.Mask(line)>>c&1 == 0 {
				continue
			}
			if columns>>c&1 != 0 && rows>>line&1 != 0 {
				old := uint8(b[at])
				b[at] = int8(window.Eight.Next(old, uint8(block[c*Side+line])))
				if uint8(b[at]) != old {
					changed[line] |= 1 << c
				}
			}
			at++
		}
	}
	return changed
}

// check compares a kernel with the definition.
func (m thinFence) check(t *testing.T, f cpu.Family, masks []uint64, block *Block, columns, rows uint64, next func() uint64) {
	t.Helper()
	b := m.block(masks, next)
	want := slices.Clone(b)
	changed := updateThinNaive(want, block, columns, rows)
	got, before := Changes{Rows: 0x5555}, *block
	ForThin(f)(b, block, columns, rows, &got)
	must.List(t, b, want, "%v, columns %x, rows %x, masks %x", f, columns, rows, masks)
	for r := range changed {
		if got.Rows>>r&1 != 0 != (changed[r] != 0) || changed[r] != 0 && got.Columns[r] != changed[r] {
			t.Fatalf("%v: line %d changed in %x (%v), want %x", f, r, got.Columns[r], got.Rows>>r&1 != 0, changed[r])
		}
	}
	must.Hold(t, *block == before, "%v: block written", f)
}

// leastThinCodes fills a block with codes and window.None.
func leastThinCodes(block *Block, next func() uint64) {
	for i := range block {
		block[i] = window.None
		if x := next(); x%8 != 0 {
			block[i] = int8(window.Eight.All[x/8%uint64(len(window.Eight.All))])
		}
	}
}

func TestThinTwins(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		rng, m := tries.Rand(t), newThinFence(t)
		var block Block
		for range 30 {
			leastThinCodes(&block, rng.Uint64)
			for lines := 1; lines <= Side; lines += 1 + rng.IntN(5) {
				masks := make([]uint64, lines)
				for i := range masks {
					masks[i] = rng.Uint64() & rng.Uint64() >> rng.IntN(64) << rng.IntN(64)
				}
				masks[rng.IntN(lines)] = ^uint64(0)
				columns := []uint64{rng.Uint64(), 1 << rng.IntN(64), ^uint64(0), 0}[rng.IntN(4)]
				m.check(t, f, masks, &block, columns, []uint64{^uint64(0), rng.Uint64(), 0}[rng.IntN(3)], rng.Uint64)
			}
		}
	})
}

// TestThinEveryCode updates each code by each least one.
func TestThinEveryCode(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		m := newThinFence(t)
		for _, least := range append(slices.Clone(window.Eight.All), window.None) {
			var block Block
			for i := range block {
				block[i] = int8(least)
			}
			code := uint64(0)
			m.check(t, f, []uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}, &block, ^uint64(0), ^uint64(0), func() uint64 {
				code++
				return code
			})
		}
	})
}

// FuzzThinTwins holds every family against the definition.
func FuzzThinTwins(f *testing.F) {
	f.Add(uint64(1), uint8(64), ^uint64(0), ^uint64(0))
	f.Add(uint64(2), uint8(3), uint64(5), uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64, lines uint8, columns, rows uint64) {
		for _, family := range cpu.Available() {
			rng := rand.New(rand.NewPCG(seed, 0))
			masks := make([]uint64, 1+lines%Side)
			for i := range masks {
				masks[i] = rng.Uint64() & rng.Uint64()
			}
			var block Block
			leastThinCodes(&block, rng.Uint64)
			newThinFence(t).check(t, family, masks, &block, columns, rows, rng.Uint64)
		}
	})
}
