package halfboard

import (
	"context"
	"errors"
	"math"
	"slices"
	"unsafe"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
)

// When few scores of open rows are at an end of a window, the next one is thin: memory holds a
// mask for each line, and codes of 8 bits, which show 20 values, for these scores only
// (window.Thin). All others are known. What is at an end is seen from the codes of the window
// before, if they are in memory and it is enough, or read from its digits.

// thinBlocks says where thin blocks are in memory: it begins with the places of all of them.
type thinBlocks struct {
	blocks, lines int // of open rows
	tables        int // bytes of the places
}

func (w *windows) thinBlocks() (t thinBlocks) {
	for _, m := range w.grid.matrices {
		t.add(len(m.marks), m.panels*m.rows[openRows])
	}
	return t
}

// add adds the blocks and lines of a matrix.
func (t *thinBlocks) add(blocks, lines int) {
	t.blocks += blocks
	t.lines += lines
	t.tables += (blocks + 1) * 8
}

// most returns the most bytes of a window in which the given number of scores are searched.
func (t *thinBlocks) most(searched int) int {
	return t.tables + window.ThinBound(t.blocks, t.lines, searched) + window.SlackThin
}

// saved is how many windows less make a thin window worth its sweeps, which take up to twice as
// long, and three times with BMI2. Other families have no kernels of their own for thin blocks.
var saved = map[cpu.Family]int{cpu.Generic: 2, cpu.BMI2: 6, cpu.AVX512: 2}

// worthThin reports whether a window with the given base, for values up to n, had better be thin.
func worthThin(f cpu.Family, codes *window.Codes, base, n int) bool {
	least, quick := saved[f]
	return quick && (codes == window.Eight || windowsFrom(base, n, codes) >= windowsFrom(base, n, window.Eight)+least)
}

// thinFits reports whether the window with the given base can be thin and is worth it, if that takes
// at most the given bytes.
func (w *windows) thinFits(most, base int) bool {
	return most <= w.setup.room.scores && worthThin(w.setup.family, w.codes, base, w.grid.n)
}

// useThin makes the window in progress thin if memory allows that and it is worth it: again is set
// if memory holds the scores of the one before.
func (w *windows) useThin(ctx context.Context, again bool) error {
	t := w.thinBlocks()
	most := (t.most(int(w.openEnds)) + 7) / 8 * 8
	if w.base == 0 || !w.setup.thin && !w.thinFits(most, w.base) {
		return nil
	}
	codes := w.scores
	inPlace := again && w.codes != window.Eight && len(w.memory.mapping) >= most
	if err := w.growTo(most); err != nil {
		return err
	}
	w.memory.reset()
	w.scores = w.memory.rest
	masks := asWords(w.scores[len(w.scores)/8*8-8*t.lines:])[:t.lines]
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
func (w *windows) growTo(size int) (err error) {
	if len(w.memory.mapping) >= size {
		return nil
	}
	err = w.memory.close()
	if w.memory = nil; err == nil {
		w.memory, err = newRegion(size)
	}
	w.stats.Bytes = uint64(size)
	return err
}

// windowsLeft returns how many windows there will be, from the one in progress on, if fewer and
// fewer scores are beyond its base: by the same share with each value.
func (w *windows) windowsLeft() (windows int) {
	t := w.thinBlocks()
	if w.endsAt == 0 || w.openEnds == 0 {
		return windowsFrom(w.base, w.grid.n, w.codes)
	}
	open := float64(w.openEnds)
	by := math.Pow(open/float64(t.lines*side), 1/float64(w.endsAt))
	for base := w.base; base < w.grid.n; base += w.codes.Values {
		beyond := open * math.Pow(by, float64(base-w.endsAt))
		if base > 0 && w.thinFits(t.most(int(beyond)), base) {
			return windows + windowsFrom(base, w.grid.n, window.Eight)
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
func (w *windows) seeEnds(ctx context.Context, masks []uint64, codes []int8) error {
	c := w.codes
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
	}.Run(ctx, w.workers, (len(masks)+seenLines-1)/seenLines, spares[[seenLines]uint64](w.workers))
}

// readEnds sets masks, one for each line of open rows, to what was at an end of the window before.
func (w *windows) readEnds(ctx context.Context, masks []uint64) error {
	if err := w.publishing.wait(); err != nil { // which stores what is read now
		return err
	}
	f := w.found[len(w.found)-1]
	line := f.line()
	own, rest := make([][]uint64, len(w.grid.matrices)), masks
	for sum, m := range w.grid.matrices {
		lines := m.panels * m.rows[openRows]
		own[sum], rest = rest[:lines], rest[lines:]
	}
	clear(masks)
	for part := range slabs {
		r, err := w.open(rundir.WindowName(f.base, part), w.foundHeader(f), w.workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error {
			return w.eachPatch(ctx, r, f, w.parts[part], func(s strip, _ *patch, rows span, digits []int8) {
				if s.class != openRows {
					return
				}
				ends := own[s.matrix.sum][s.panel*s.matrix.rows[openRows]+rows.begin:][:rows.size()]
				for i := range ends {
					ends[i] |= f.codes.Ends(digits[i*line:][:line], f.signed()) & s.matrix.all(s.panel)
				}
			})
		})
		w.traffic.read[DenseStage].Add(uint64(r.Bytes()))
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
func (w *windows) layThin(t *thinBlocks, masks []uint64) error {
	scores := w.scores
	places, at, line := asWords(scores[:t.tables]), t.tables, 0
	room := len(scores)/8*8 - 8*t.lines
	var own [side]uint64
	for _, m := range w.grid.matrices {
		m.scores, m.blocks = scores, places[:len(m.marks)+1]
		places = places[len(m.marks)+1:]
		for i := range m.marks {
			now := own[:m.depth(openRows, i%m.chunks[openRows])]
			line += copy(now, masks[line:])
			if at+window.ThinSize(now) > room+8*line {
				return errThin
			}
			m.blocks[i] = uint64(at)
			at += len(window.NewThin(scores[at:], now))
		}
		m.blocks[len(m.marks)] = uint64(at)
	}
	w.grid.aim()
	w.kernels = kernels{compress.ForThin(w.setup.family), compress.FetchThin, transpose.ForThin(w.setup.family), apartCodes}
	w.codes = window.Eight
	w.code.turn = func(lines, captures []int8, base int, _ bool, sources *[side]uint64) uint64 {
		return window.Thin(lines).Turn(captures, base, sources)
	}
	w.code.digits[false] = func(dst, src []int8) int { return window.Thin(src).Digits(dst) }
	return nil
}

// allSearched are masks of full rows: nobody knows which of their scores are at an end.
var allSearched = slices.Repeat([]uint64{^uint64(0)}, side)
