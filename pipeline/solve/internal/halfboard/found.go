package halfboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// What a window has found is written as digits (kernels/window), a stream for each part of
// the layer: the lines of its patches that are of open rows, and then those of full rows, in
// the order of strips. The digits of all windows add up to the scores.

const foundVersion = 1

// foundHeader is that of the streams of a window.
func (w *windows) foundHeader(f foundIn) spill.Header {
	return spill.Header{
		Kind: fmt.Sprintf("awari-digits-%d", f.codes.Bits), Version: foundVersion,
		Identity: fmt.Appendf(w.whoseCaptures(), ", base %d, slabs of %d, %s", f.base, slabSize(w.grid.layer), w.sample),
	}
}

// toDigits turns the codes of rows of a strip, 64 from the given one on, into digits, and returns how
// many scores are at an end of the window.
func (w *windows) toDigits(s strip, j *stripJob, row int, lines []int8) (ends int) {
	f := w.now()
	size := (s.end - s.begin) * f.line()
	j.found = slices.Grow(j.found[:0], size)[:size]
	return w.code.digits[f.signed()](asScores(j.found)[(row-s.begin)*f.line():], lines)
}

// createFound begins the streams of the window in progress, by part.
func (w *windows) createFound() (streams []*spill.Writer, err error) {
	for part := range allParts {
		s, err := w.create(rundir.WindowName(w.base, part), w.foundHeader(w.now()), w.packing())
		if err != nil {
			return nil, errors.Join(err, abort(streams))
		}
		streams = append(streams, s)
	}
	return streams, nil
}

// dense is the share of scores at an end of a window from which on LZ4 finds nothing in the sizes
// of the next one: of layer 22, those with a share of 0.34 took 0.85 of their bytes, those with
// 0.5 took 0.99.
const dense = 0.4

// packing returns how digits of the window in progress are stored.
func (w *windows) packing() spill.Packing {
	if !w.now().signed() && w.codes != window.Eight && float64(w.ends) > dense*float64(w.positions) {
		return spill.Stored
	}
	return spill.LZ4
}

// writeFound writes the digits of a strip.
func (w *windows) writeFound(streams []*spill.Writer, s strip, j *stripJob) error {
	line := w.now().line()
	for part, patches := range w.parts {
		for _, rows := range patches.of(s) {
			if _, err := streams[part].Write(j.found[(rows.begin-s.begin)*line : (rows.end-s.begin)*line]); err != nil {
				return err
			}
		}
	}
	return nil
}

// loaded holds the scores of a part of the layer, which windows add up to.
type loaded struct {
	mu      sync.RWMutex
	memory  *region
	patches patches // nil if nothing is in memory
}

// asScores and asBytes show the same memory.
func asScores(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func asBytes(b []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// readSlab copies parts of rows of a slab, which is loaded if they are not in memory.
func (w *windows) readSlab(dst []int8, slab int, parts []rowPart) error {
	l := &w.loaded
	l.mu.RLock()
	done := l.copy(dst, parts)
	l.mu.RUnlock()
	if done {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.copy(dst, parts) {
		return nil // somebody else has loaded it
	}
	err := w.load(context.Background(), slab)
	if err == nil && !l.copy(dst, parts) {
		panic("a slab lacks rows of its own")
	}
	return err
}

// copy copies parts of rows, unless some are not in memory.
func (l *loaded) copy(dst []int8, parts []rowPart) bool {
	for _, p := range parts {
		q := l.find(p)
		if q == nil {
			return false
		}
		dst = p.copy(dst, q.scores[q.line(p.skip/side, int(p.at.row))*side:], q.rows.size()*side)
	}
	return true
}

// find returns the patch that has a part of a row, nil if none has.
func (l *loaded) find(p rowPart) *patch {
	if l.patches == nil {
		return nil
	}
	row, last := int(p.at.row), (p.skip+p.length-1)/side
	for q := range l.patches.of(strip{p.matrix, p.at.class, p.skip / side, row, row + 1}) {
		if last < q.panels.end {
			return q
		}
	}
	return nil
}

// load fills memory with the scores of a part of the layer. If it fails, nothing is in memory.
func (w *windows) load(ctx context.Context, part int) error {
	w.loaded.patches = nil
	if err := w.loaded.makeRoom(w.parts[part]); err != nil {
		return err
	}
	for _, f := range w.found {
		r, err := w.open(rundir.WindowName(f.base, part), w.foundHeader(f), w.workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error { return w.addUp(ctx, r, f, w.parts[part]) })
		w.traffic.read[Stages].Add(uint64(r.Bytes()))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	w.loaded.patches = w.parts[part]
	return nil
}

// makeRoom takes memory for the scores of patches, all 0.
func (l *loaded) makeRoom(p patches) (err error) {
	size := p.lines() * side
	if l.memory != nil && len(l.memory.mapping) < size {
		if err := l.close(); err != nil {
			return err
		}
	}
	if l.memory == nil {
		if l.memory, err = newRegion(size); err != nil {
			return err
		}
	}
	l.memory.reset()
	for _, own := range p {
		for i := range own {
			own[i].scores = l.memory.take(own[i].lines() * side)
			clear(own[i].scores)
		}
	}
	return nil
}

// addUp adds the digits of a stream of a window to the scores of patches.
func (w *windows) addUp(ctx context.Context, r *spill.Reader, f foundIn, p patches) error {
	sum := window.SumFor(w.setup.family, f.codes, f.signed())
	return w.eachPatch(ctx, r, f, p, func(s strip, q *patch, rows span, digits []int8) {
		sum(q.scores[q.line(s.panel, rows.begin)*side:][:rows.size()*side], digits)
	})
}

// eachPatch reads a stream of a window to its end. It calls do, from several goroutines, with the
// digits of each part of a strip that patches have.
func (w *windows) eachPatch(ctx context.Context, r *spill.Reader, f foundIn, p patches, do func(s strip, q *patch, rows span, digits []int8)) error {
	line := f.line()
	for class := range classes {
		for _, panels := range w.segments {
			strips := slices.Collect(stripsOf(panels, class))
			strips = slices.DeleteFunc(strips, func(s strip) bool { return p.linesOf(s) == 0 })
			err := crew.Ordered[*stripJob]{
				Read: func(i int, j *stripJob) error {
					size := p.linesOf(strips[i]) * line
					j.found = slices.Grow(j.found[:0], size)[:size]
					return readFull(r, j.found)
				},
				Work: func(_, i int, j *stripJob) error {
					digits := asScores(j.found)
					for q, rows := range p.of(strips[i]) {
						size := rows.size() * line
						do(strips[i], q, rows, digits[:size])
						digits = digits[size:]
					}
					return nil
				},
			}.Run(ctx, w.workers, len(strips), w.jobs)
			if err != nil {
				return err
			}
		}
	}
	return atEnd(r)
}

// close returns all memory.
func (h *held) close() error {
	err := h.loaded.close()
	if h.memory != nil {
		err = errors.Join(err, h.memory.close())
	}
	return err
}

func (l *loaded) close() error {
	if l.memory == nil {
		return nil
	}
	err := l.memory.close()
	l.memory, l.patches = nil, nil
	return err
}

// findStreams looks for what earlier runs left: it begins with the first window that was
// not found, and returns the segments whose capture values must be computed. Note gets
// what is damaged.
func (w *windows) findStreams(ctx context.Context) (due []int, err error) {
	for found := true; found && !w.complete(w.grid.n); {
		if found, err = w.findWindow(ctx); err != nil {
			return nil, err
		}
	}
	if w.complete(w.grid.n) {
		return nil, nil // nobody needs capture values
	}
	for segment := range w.segments {
		whole := true
		for class := range classes {
			name := rundir.CapturesName(segment, class == fullRows)
			ok, err := w.isWhole(name, w.capturesHeader(), func(r *spill.Reader) error {
				return w.lookAtCaptures(ctx, r, segment, class)
			})
			if err != nil {
				return nil, err
			}
			whole = whole && ok
		}
		if !whole {
			due = append(due, segment)
		}
	}
	if len(w.found) == 0 && 0 < len(due) && len(due) < len(w.segments) {
		w.keepColumns(due)
	}
	return due, nil
}

// keepColumns notes the columns whose capture values an earlier run kept: all but those of segments that
// are due.
func (w *windows) keepColumns(due []int) {
	w.kept = make([]uint64, (len(w.grid.pits)+63)/64)
	for segment, panels := range w.segments {
		if slices.Contains(due, segment) {
			continue
		}
		for _, p := range panels {
			for c := range p.matrix.width(p.panel) {
				code := p.matrix.first + uint32(p.panel*side+c)
				w.kept[code/64] |= 1 << (code % 64)
			}
		}
	}
}

// isKept reports whether the score of a board rests on capture values that an earlier run kept.
func (w *windows) isKept(b awari.Board) bool {
	var mover half
	copy(mover[:w.grid.q], b[:])
	code := w.grid.code(&mover)
	return w.kept[code/64]>>(code%64)&1 != 0
}

// findWindow looks for the streams of the next window, of any width.
func (w *windows) findWindow(ctx context.Context) (found bool, err error) {
	for _, codes := range append([]*window.Codes{window.Eight}, widths...) {
		f := foundIn{w.base, codes}
		if codes == window.Eight && f.signed() {
			continue // the first window is not thin
		}
		if found, err = w.lookAtWindow(ctx, f); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// lookAtWindow looks for the streams of a window, and continues behind it if there are.
func (w *windows) lookAtWindow(ctx context.Context, f foundIn) (found bool, err error) {
	var ends [classes]int
	for part := range allParts {
		lines := w.parts[part].linesBy()
		found, err := w.isWhole(rundir.WindowName(f.base, part), w.foundHeader(f), func(r *spill.Reader) error {
			var now [classes]int
			for class := range classes {
				err := w.lookAtLines(ctx, r, lines[class]*f.line(), func(lines []int8) bool {
					valid, n := f.codes.ValidDigits(lines, f.signed())
					now[class] += n
					return valid
				})
				if err != nil {
					return err
				}
			}
			if part != samplePart {
				ends[openRows], ends[fullRows] = ends[openRows]+now[openRows], ends[fullRows]+now[fullRows]
			}
			return atEnd(r)
		})
		if !found || err != nil {
			return false, err
		}
	}
	w.openEnds, w.ends = int64(ends[openRows]), int64(ends[openRows]+ends[fullRows])
	w.endsAt = f.base + f.codes.Values
	w.add(f, w.ends > 0)
	w.stats.Windows++
	return true, nil
}
