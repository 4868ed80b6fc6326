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
		Identity: fmt.Appendf(whoseCaptures(e.game, e.grid.n), ", base %d, slabs of %d, %s", f.base, e.grid.slabSize(), e.windows.sample),
	}
}

// digits turns lines of codes into digits and returns how many scores are at an end of the
// window.
func (j *stripJob) digits(e *engine, lines []int8) int {
	w := e.windows
	size := len(lines) / w.codes.Line() * w.now().line()
	j.found = slices.Grow(j.found[:0], size)[:size]
	return w.digits[w.now().signed()](asScores(j.found), lines)
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
	if !w.now().signed() && float64(w.ends) > dense*float64(w.positions) {
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
	sum, line := window.SumFor(e.options.Family, f.codes, f.signed()), f.line()
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
						at, size := q.line(strips[i].panel, rows.begin), rows.size()
						sum(q.scores[at*side:][:size*side], digits[:size*line])
						digits = digits[size*line:]
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
	return due, nil
}

// findWindow looks for the streams of the next window, of any width.
func (e *engine) findWindow(ctx context.Context) (found bool, err error) {
	for _, codes := range widths {
		f := foundIn{e.windows.base, codes}
		found, ends := true, false
		for part := 0; part < allParts && found; part++ {
			found, err = e.isWhole(rundir.WindowName(f.base, part), e.foundHeader(f), func(r *spill.Reader) error {
				return e.lookAtLines(ctx, r, e.windows.parts[part].lines()*f.line(), func(lines []int8) bool {
					valid, end := codes.ValidDigits(lines, f.signed())
					ends = ends || end
					return valid
				})
			})
			if err != nil {
				return false, err
			}
		}
		if found {
			e.windows.add(f, ends)
			e.stats.Windows++
			return true, nil
		}
	}
	return false, nil
}

// add advances to the window after f: more says whether there can be one.
func (w *windows) add(f foundIn, more bool) {
	w.found = append(w.found, f)
	w.base += f.codes.Values
	w.all = !more
}

// complete reports whether all windows of a layer of n seeds are found.
func (w *windows) complete(n int) bool { return w.all || w.base >= max(1, n) }
