package stream

import (
	"math/bits"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// TestLongMasksDoNotOverlapBlocks lays thin blocks out over their own masks, in as little memory as the
// bound says, and refuses more scores than fit.
func TestLongMasksDoNotOverlapBlocks(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		w := windows(randomLayer(t, rng), window.Two)
		want := make([]uint64, w.ThinBlocks().Lines)
		searched, share := 0, rng.Float64()
		for i := range want {
			if rng.Float64() < share {
				want[i] = rng.Uint64()
			}
			searched += bits.OnesCount64(want[i])
		}
		layOut := func(size int) error {
			blocks := w.ThinBlocks()
			var err error
			w.memory, err = board.NewRegion((size + 7) / 8 * 8)
			must.Hold(t, err == nil, "%v", err)
			w.scores = w.memory.All()
			masks := asWords(w.scores[len(w.scores)-8*blocks.Lines:])
			copy(masks, want)
			return w.layThin(&blocks, masks)
		}
		blocks := w.ThinBlocks()
		must.Be(t, layOut(max(blocks.Most(searched), blocks.tables+8*blocks.Lines)), nil, "%d scores", searched)
		line := 0
		eachBlock(w.Grid.Layer, func(m *board.Matrix, panel, chunk int) {
			b := window.Thin(m.Lines(panel, chunk))
			for i := range b.Lines() {
				if b.Mask(i) != want[line] {
					t.Fatalf("line %d has mask %x, want %x", line, b.Mask(i), want[line])
				}
				line++
			}
		})
		must.Hold(t, line == len(want), "%d lines, want %d", line, len(want))
		must.OK(t, w.memory.Close())
		if less := blocks.Most(0) - blocks.blocks*14 - window.SlackThin + searched - 8; searched > 8 && less > blocks.tables+8*blocks.Lines {
			must.Be(t, layOut(less), errThin, "%d scores in %d bytes", searched, less)
			must.OK(t, w.memory.Close())
		}
	}
}

// TestWindowsFrom: as many as there are bases.
func TestWindowsFrom(t *testing.T) {
	for _, c := range AllCodes {
		for n := range 49 {
			if got, bases := max(1, WindowsFrom(0, n, c)), Bases(n, c); got != len(bases) {
				t.Errorf("%d seeds, %d bits: %d windows with bases %v", n, c.Bits, got, bases)
			}
		}
	}
}

// TestSeenEnds: masks of what is at an end take the place of the codes.
func TestSeenEnds(t *testing.T) {
	rng := tries.Rand(t)
	for _, c := range AllCodes {
		for _, lines := range []int{1, 100, seenLines, 2*seenLines + 77} {
			for _, more := range []int{0, 8, 100_000} {
				memory := make([]int8, lines*c.Line()+more)
				codes, want := memory[:lines*c.Line()], make([]uint64, lines)
				for i := range want {
					line := codes[i*c.Line():][:c.Line()]
					for k := range board.Side {
						code := c.All[rng.IntN(len(c.All))]
						c.Put(line, k, code)
						if score := int(c.Score[code]); score == c.Values || score == -c.Values {
							want[i] |= 1 << k
						}
					}
				}
				w, masks := &Windows{Sweeps: &fixpoint.Sweeps{Workers: 3}, sequence: sequence{Codes: c}}, asWords(memory[len(memory)-8*lines:])
				must.OK(t, w.seeEnds(t.Context(), masks, codes))
				should.Hold(t, slices.Equal(masks, want), "%d bits, %d lines, %d bytes more: not the ends", c.Bits, lines, more)
			}
		}
	}
}
