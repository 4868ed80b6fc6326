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

func (e *engine) thinBlocks() (t thinBlocks) {
	for _, m := range e.grid.matrices {
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

// most returns the most bytes of a window in which so many scores are searched.
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
// so many bytes at most.
func (e *engine) thinFits(most, base int) bool {
	return most <= e.options.roomForScores(e.grid.q, e.grid.n, e.stats.Bits) && worthThin(e.options.Family, e.windows.codes, base, e.grid.n)
}

// useThin makes the window in progress thin if memory allows that and it is worth it: again is set
// if memory holds the scores of the one before.
func (e *engine) useThin(ctx context.Context, again bool) error {
	w, t := e.windows, e.thinBlocks()
	most := (t.most(int(w.openEnds)) + 7) / 8 * 8
	if w.base == 0 || !e.options.thin && !e.thinFits(most, w.base) {
		return nil
	}
	codes := e.scores
	inPlace := again && w.codes != window.Eight && len(e.memory.mapping) >= most
	if err := e.growTo(most); err != nil {
		return err
	}
	e.memory.reset()
	e.scores = e.memory.rest
	masks := asWords(e.scores[len(e.scores)/8*8-8*t.lines:])[:t.lines]
	see := e.readEnds
	if inPlace {
		see = func(ctx context.Context, masks []uint64) error { return e.seeEnds(ctx, masks, codes) }
	}
	if err := see(ctx, masks); err != nil {
		return err
	}
	return e.layThin(&t, masks)
}

// growTo takes other memory if there is less: what was in it is lost.
func (e *engine) growTo(size int) (err error) {
	if len(e.memory.mapping) >= size {
		return nil
	}
	err = e.memory.close()
	if e.memory = nil; err == nil {
		e.memory, err = newRegion(size)
	}
	e.stats.Bytes = uint64(size)
	return err
}

// windowsLeft returns how many windows there will be, from the one in progress on, if fewer and
// fewer scores are beyond its base: by the same share with each value.
func (e *engine) windowsLeft() (windows int) {
	w, t := e.windows, e.thinBlocks()
	if w.endsAt == 0 || w.openEnds == 0 {
		return windowsFrom(w.base, e.grid.n, w.codes)
	}
	open := float64(w.openEnds)
	by := math.Pow(open/float64(t.lines*side), 1/float64(w.endsAt))
	for base := w.base; base < e.grid.n; base += w.codes.Values {
		beyond := open * math.Pow(by, float64(base-w.endsAt))
		if base > 0 && e.thinFits(t.most(int(beyond)), base) {
			return windows + windowsFrom(base, e.grid.n, window.Eight)
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

// seeEnds is readEnds for codes that are still in memory. Masks end where this does, the last ones come
// first, and none takes more than the codes that it comes from: so they overwrite codes of lines seen before.
func (e *engine) seeEnds(ctx context.Context, masks []uint64, codes []int8) error {
	c := e.windows.codes
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
	}.Run(ctx, e.workers, (len(masks)+seenLines-1)/seenLines, spares[[seenLines]uint64](e.workers))
}

// readEnds sets masks, one for each line of open rows, to what was at an end of the window before.
func (e *engine) readEnds(ctx context.Context, masks []uint64) error {
	w := e.windows
	if err := w.publishing.wait(); err != nil { // which stores what is read now
		return err
	}
	f := w.found[len(w.found)-1]
	line := f.line()
	own, rest := make([][]uint64, len(e.grid.matrices)), masks
	for sum, m := range e.grid.matrices {
		lines := m.panels * m.rows[openRows]
		own[sum], rest = rest[:lines], rest[lines:]
	}
	clear(masks)
	for part := range slabs {
		r, err := e.open(rundir.WindowName(f.base, part), e.foundHeader(f), e.workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error {
			return e.eachPatch(ctx, r, f, w.parts[part], func(s strip, _ *patch, rows span, digits []int8) {
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

// errThin reports a defect: the bound of thinBlocks is none.
var errThin = errors.New("more scores at an end of a window than were counted")

// layThin lays out memory for a thin window, whose masks are in its end. They are used up from the
// first one on: a block takes more bytes than its masks, but what is in front of the next masks
// is enough for it, since memory is for all.
func (e *engine) layThin(t *thinBlocks, masks []uint64) error {
	scores := e.scores
	places, at, line := asWords(scores[:t.tables]), t.tables, 0
	room := len(scores)/8*8 - 8*t.lines
	var own [side]uint64
	for _, m := range e.grid.matrices {
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
	for _, m := range e.grid.matrices {
		e.grid.aim(m)
	}
	e.kernels = kernels{compress.ForThin(e.options.Family), compress.FetchThin, transpose.ForThin(e.options.Family)}
	w := e.windows
	w.codes = window.Eight
	w.turn = func(lines, captures []int8, base int, _ bool, sources *[side]uint64) uint64 {
		return window.Thin(lines).Turn(captures, base, sources)
	}
	w.digits[false] = func(dst, src []int8) int { return window.Thin(src).Digits(dst) }
	return nil
}

// allSearched are masks of full rows: nobody knows which of their scores are at an end.
var allSearched = slices.Repeat([]uint64{^uint64(0)}, side)
