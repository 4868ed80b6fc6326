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
)

// What a window has found is written as digits (kernels/window), a stream for each part of
// the layer: the lines of its patches that are of open rows, and then those of full rows, in
// the order of strips. The digits of all windows add up to the scores.

const foundVersion = 1

// signed reports whether the digits of the window are signed: in others the windows before tell
// the signs.
func (f foundIn) signed() bool { return f.base == 0 }

// line returns the bytes of a line of digits.
func (f foundIn) line() int { return f.codes.DigitLine(f.signed()) }

// now is the window in progress.
func (w *windows) now() foundIn { return foundIn{w.base, w.codes} }

// foundHeader is that of the streams of a window.
func (e *engine) foundHeader(f foundIn) spill.Header {
	return spill.Header{
		Kind: fmt.Sprintf("awari-digits-%d", f.codes.Bits), Version: foundVersion,
		Identity: fmt.Appendf(e.whoseCaptures(), ", base %d, slabs of %d, %s", f.base, e.grid.slabSize(), e.windows.sample),
	}
}

// digits turns the codes of rows of a strip, 64 from the given one on, into digits, and returns how
// many scores are at an end of the window.
func (e *engine) digits(s strip, j *stripJob, row int, lines []int8) (ends int) {
	f := e.windows.now()
	size := (s.end - s.begin) * f.line()
	j.found = slices.Grow(j.found[:0], size)[:size]
	return e.windows.digits[f.signed()](asScores(j.found)[(row-s.begin)*f.line():], lines)
}

// createFound begins the streams of the window in progress, by part.
func (e *engine) createFound() (streams []*spill.Writer, err error) {
	w := e.windows
	for part := range allParts {
		s, err := e.create(rundir.WindowName(w.base, part), e.foundHeader(w.now()), w.packing())
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
func (e *engine) writeFound(streams []*spill.Writer, s strip, j *stripJob) error {
	line := e.windows.now().line()
	for part, patches := range e.windows.parts {
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
func (e *engine) load(ctx context.Context, part int) error {
	w := e.windows
	w.loaded.patches = nil
	if err := w.loaded.makeRoom(w.parts[part]); err != nil {
		return err
	}
	for _, f := range w.found {
		r, err := e.open(rundir.WindowName(f.base, part), e.foundHeader(f), e.workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error { return e.addUp(ctx, r, f, w.parts[part]) })
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
func (e *engine) addUp(ctx context.Context, r *spill.Reader, f foundIn, p patches) error {
	sum := window.SumFor(e.options.Family, f.codes, f.signed())
	return e.eachPatch(ctx, r, f, p, func(s strip, q *patch, rows span, digits []int8) {
		sum(q.scores[q.line(s.panel, rows.begin)*side:][:rows.size()*side], digits)
	})
}

// eachPatch reads a stream of a window to its end. It calls do, from several goroutines, with the
// digits of each part of a strip that patches have.
func (e *engine) eachPatch(ctx context.Context, r *spill.Reader, f foundIn, p patches, do func(s strip, q *patch, rows span, digits []int8)) error {
	line := f.line()
	for class := range classes {
		for _, panels := range e.windows.segments {
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
			}.Run(ctx, e.workers, len(strips), e.windows.jobs)
			if err != nil {
				return err
			}
		}
	}
	return atEnd(r)
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
func (e *engine) findStreams(ctx context.Context) (due []int, err error) {
	for found := true; found && !e.windows.complete(e.grid.n); {
		if found, err = e.findWindow(ctx); err != nil {
			return nil, err
		}
	}
	if e.windows.complete(e.grid.n) {
		return nil, nil // nobody needs capture values
	}
	for segment := range e.windows.segments {
		whole := true
		for class := range classes {
			name := rundir.CapturesName(segment, class == fullRows)
			ok, err := e.isWhole(name, e.capturesHeader(), func(r *spill.Reader) error {
				return e.lookAtCaptures(ctx, r, segment, class)
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
	if len(e.windows.found) == 0 && 0 < len(due) && len(due) < len(e.windows.segments) {
		e.keepColumns(due)
	}
	return due, nil
}

// keepColumns notes the columns whose capture values an earlier run kept: all but those of segments that
// are due.
func (e *engine) keepColumns(due []int) {
	w := e.windows
	w.kept = make([]uint64, (len(e.grid.pits)+63)/64)
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

// findWindow looks for the streams of the next window, of any width.
func (e *engine) findWindow(ctx context.Context) (found bool, err error) {
	for _, codes := range append([]*window.Codes{window.Eight}, widths...) {
		f := foundIn{e.windows.base, codes}
		if codes == window.Eight && f.signed() {
			continue // the first window is not thin
		}
		if found, err = e.lookAtWindow(ctx, f); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// lookAtWindow looks for the streams of a window, and continues behind it if there are.
func (e *engine) lookAtWindow(ctx context.Context, f foundIn) (found bool, err error) {
	var ends [classes]int
	for part := range allParts {
		lines := e.windows.parts[part].linesBy()
		found, err := e.isWhole(rundir.WindowName(f.base, part), e.foundHeader(f), func(r *spill.Reader) error {
			var now [classes]int
			for class := range classes {
				err := e.lookAtLines(ctx, r, lines[class]*f.line(), func(lines []int8) bool {
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
	w := e.windows
	w.openEnds, w.ends = int64(ends[openRows]), int64(ends[openRows]+ends[fullRows])
	w.endsAt = f.base + f.codes.Values
	w.add(f, w.ends > 0)
	e.stats.Windows++
	return true, nil
}

// add advances to the window after f: more says whether there can be one.
func (w *windows) add(f foundIn, more bool) {
	w.found = append(w.found, f)
	w.base += f.codes.Values
	w.all = !more
}

// complete reports whether all windows of a layer of n seeds are found.
func (w *windows) complete(n int) bool { return w.all || w.base >= max(1, n) }
