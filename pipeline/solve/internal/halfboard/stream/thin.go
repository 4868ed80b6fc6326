package stream

import (
	"context"
	"errors"
	"math"
	"slices"
	"unsafe"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// When few scores of open rows are at an end of a window, the next one is thin: memory holds a
// mask for each line, and codes of 8 bits, which show 20 values, for these scores only
// (window.Thin). All others are known. What is at an end is seen from the codes of the window
// before, if they are in memory and it is enough, or read from its digits.

// ThinBlocks says where thin blocks are in memory: it begins with the places of all of them.
type ThinBlocks struct {
	blocks, Lines int // of open rows
	tables        int // bytes of the places
}

// ThinBlocks counts the blocks and lines of open rows.
func (w *Windows) ThinBlocks() (t ThinBlocks) {
	for _, m := range w.Grid.Matrices {
		t.Add(len(m.Marks), m.Panels*m.Rows[board.OpenRows])
	}
	return t
}

// Add adds the blocks and lines of a matrix.
func (t *ThinBlocks) Add(blocks, lines int) {
	t.blocks += blocks
	t.Lines += lines
	t.tables += (blocks + 1) * 8
}

// Most returns the most bytes of a window in which the given number of scores are searched.
func (t *ThinBlocks) Most(searched int) int {
	return t.tables + window.ThinBound(t.blocks, t.Lines, searched) + window.SlackThin
}

// saved is how many windows less make a thin window worth its sweeps, which take up to twice as
// long, and more with BMI2. Other families have no kernels of their own for thin blocks.
var saved = map[cpu.Family]int{cpu.Generic: 2, cpu.BMI2: 5, cpu.AVX512: 2}

// WorthThin reports whether a window with the given base, for values up to n, had better be thin: it saves windows, and
// another one of the codes before it would not leave one thin window less, with fewer scores to search.
func WorthThin(f cpu.Family, codes *window.Codes, base, n int) bool {
	least, quick := saved[f]
	thin := WindowsFrom(base, n, window.Eight)
	return quick && (codes == window.Eight ||
		WindowsFrom(base, n, codes) >= thin+least && WindowsFrom(base+codes.Values, n, window.Eight) == thin)
}

// ThinFits reports whether the window with the given base can be thin and is worth it, if that takes
// at most the given bytes.
func (w *Windows) ThinFits(most, base int) bool {
	return most <= w.setup.Room.Scores && WorthThin(w.setup.Family, w.Codes, base, w.Grid.N)
}

// useThin makes the window in progress thin if memory allows that and it is worth it: again is set
// if memory holds the scores of the one before.
func (w *Windows) useThin(ctx context.Context, again bool) error {
	t := w.ThinBlocks()
	most := (t.Most(int(w.openEnds)) + 7) / 8 * 8
	if w.base == 0 || w.setup.Alone || !w.setup.Thin && !w.ThinFits(most, w.base) {
		return nil
	}
	codes := w.scores
	inPlace := again && w.Codes != window.Eight && w.memory.Size() >= most
	if err := w.growTo(most); err != nil {
		return err
	}
	w.scores = w.memory.All()
	masks := asWords(w.scores[len(w.scores)/8*8-8*t.Lines:])[:t.Lines]
	see := w.readEnds
	if inPlace {
		see = func(ctx context.Context, masks []uint64) error { return w.seeEnds(ctx, masks, codes) }
	}
	if err := see(ctx, masks); err != nil {
		return err
	}
	return w.layThin(&t, masks)
}

// growTo takes other memory if there is less: what was in it is lost.
func (w *Windows) growTo(size int) (err error) {
	if w.memory.Size() >= size {
		return nil
	}
	err = w.memory.Close()
	if w.memory = nil; err == nil {
		w.memory, err = board.NewRegion(size)
	}
	w.Stats.Bytes = uint64(size)
	return err
}

// windowsLeft returns how many windows there will be, from the one in progress on, if fewer and
// fewer scores are beyond its base: by the same share with each value.
func (w *Windows) windowsLeft() (windows int) {
	t := w.ThinBlocks()
	if w.endsAt == 0 || w.openEnds == 0 {
		return WindowsFrom(w.base, w.Grid.N, w.Codes)
	}
	open, by := float64(w.openEnds), math.Pow(w.share(w.openEnds), 1/float64(w.endsAt))
	for base := w.base; base < w.Grid.N; base += w.Codes.Values {
		beyond := open * math.Pow(by, float64(base-w.endsAt))
		if base > 0 && w.ThinFits(t.Most(int(beyond)), base) {
			return windows + WindowsFrom(base, w.Grid.N, window.Eight)
		}
		windows++
	}
	return windows
}

// asWords shows the same memory, which starts at a multiple of 8 bytes.
func asWords(b []int8) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// seenLines is the number of lines that are seen together.
const seenLines = 1 << 12

// seeEnds is readEnds for codes that are still in memory. Masks end where the memory ends, the last ones come
// first, and none takes more than the codes that it comes from: so they overwrite codes of lines seen before.
func (w *Windows) seeEnds(ctx context.Context, masks []uint64, codes []int8) error {
	c := w.Codes
	line := c.Line()
	lines := func(i int) span { return span{max(0, len(masks)-(i+1)*seenLines), len(masks) - i*seenLines} }
	return crew.Ordered[*[seenLines]uint64]{
		Work: func(_, i int, ends *[seenLines]uint64) error {
			own := codes[lines(i).begin*line : lines(i).end*line]
			for k := range lines(i).size() {
				ends[k] = c.CodeEnds(own[k*line:][:line])
			}
			return nil
		},
		Write: func(i int, ends *[seenLines]uint64) error {
			copy(masks[lines(i).begin:lines(i).end], ends[:])
			return nil
		},
	}.Run(ctx, w.Workers, (len(masks)+seenLines-1)/seenLines, spares[[seenLines]uint64](w.Workers))
}

// readEnds sets masks, one for each line of open rows, to what was at an end of the window before.
func (w *Windows) readEnds(ctx context.Context, masks []uint64) error {
	if err := w.publishing.wait(); err != nil { // which stores what is read now
		return err
	}
	f := w.found[len(w.found)-1]
	line := f.line()
	own, rest := make([][]uint64, len(w.Grid.Matrices)), masks
	for sum, m := range w.Grid.Matrices {
		lines := m.Panels * m.Rows[board.OpenRows]
		own[sum], rest = rest[:lines], rest[lines:]
	}
	clear(masks)
	for part := range slabs {
		r, err := w.open(rundir.WindowName(f.base, part), w.foundHeader(f), w.Workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error {
			tell := func(share float64) { w.Tell(fixpoint.DenseStage, (float64(part)+share)/slabs) }
			return w.eachPatch(ctx, r, f, w.parts[part], tell, func(s strip, _ *patch, rows span, digits []int8) {
				if s.class != board.OpenRows {
					return
				}
				ends := own[s.matrix.Sum][s.panel*s.matrix.Rows[board.OpenRows]+rows.begin:][:rows.size()]
				for i := range ends {
					ends[i] |= f.codes.Ends(digits[i*line:][:line], f.signed()) & s.matrix.All(s.panel)
				}
			})
		})
		w.Traffic.Read[fixpoint.DenseStage].Add(uint64(r.Bytes()))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// errThin reports a bug: thinBlocks counted too few scores.
var errThin = errors.New("more scores at an end of a window than were counted")

// layThin lays out memory for a thin window, whose masks are in its end. They are used up from the
// first one on: a block takes more bytes than its masks, but what is in front of the next masks
// is enough for it, since memory is for all.
func (w *Windows) layThin(t *ThinBlocks, masks []uint64) error {
	scores := w.scores
	places, at, line := asWords(scores[:t.tables]), t.tables, 0
	room := len(scores)/8*8 - 8*t.Lines
	var own [board.Side]uint64
	for _, m := range w.Grid.Matrices {
		m.Scores, m.Blocks = scores, places[:len(m.Marks)+1]
		places = places[len(m.Marks)+1:]
		for i := range m.Marks {
			now := own[:m.Depth(board.OpenRows, i%m.Chunks[board.OpenRows])]
			line += copy(now, masks[line:])
			if at+window.ThinSize(now) > room+8*line {
				return errThin
			}
			m.Blocks[i] = uint64(at)
			at += len(window.NewThin(scores[at:], now))
		}
		m.Blocks[len(m.Marks)] = uint64(at)
	}
	w.Grid.Aim()
	w.Kernels = fixpoint.KernelsForThin(w.setup.Family)
	w.Codes = window.Eight
	w.code.turn = func(lines, captures []int8, base int, _ bool, sources *[board.Side]uint64) uint64 {
		return window.Thin(lines).Turn(captures, base, sources)
	}
	w.code.digits[false] = func(dst, src []int8) int { return window.Thin(src).Digits(dst) }
	return nil
}

// allSearched are masks of full rows: nobody knows which of their scores are at an end.
var allSearched = slices.Repeat([]uint64{^uint64(0)}, board.Side)
