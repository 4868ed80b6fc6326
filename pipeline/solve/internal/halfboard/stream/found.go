package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// What a window has found is written as digits (kernels/window), a stream for each part of
// the layer: the lines of its patches in open rows, and then in full rows, in
// the order of strips. The digits of all windows add up to the scores.

const foundVersion = 1

// foundHeader is the header of the streams of a window.
func (w *Windows) foundHeader(f foundIn) spill.Header {
	return spill.Header{
		Kind: fmt.Sprintf("awari-digits-%d", f.codes.Bits), Version: foundVersion,
		Identity: fmt.Appendf(w.whoseCaptures(), ", base %d, slabs of %d, %s", f.base, SlabSize(w.Grid.Layer), w.sample),
	}
}

// toDigits turns the codes of rows of a strip, 64 from the given one on, into digits, and returns how
// many scores are at an end of the window.
func (w *Windows) toDigits(s strip, j *stripJob, row int, lines []int8) (ends int) {
	f := w.now()
	size := (s.end - s.begin) * f.line()
	j.found = slices.Grow(j.found[:0], size)[:size]
	return w.code.digits[f.signed()](asScores(j.found)[(row-s.begin)*f.line():], lines)
}

// FoundWorkers returns how many goroutines pack each of the streams of a window, for some workers: all are written at once.
func FoundWorkers(workers int) int { return (workers + 1) / 2 }

// createFound begins the streams of the window in progress, by part.
func (w *Windows) createFound() (streams []*spill.Writer, err error) {
	for part := range AllParts {
		s, err := w.createBy(FoundWorkers(w.Workers), rundir.WindowName(w.base, part), w.foundHeader(w.now()), w.packing())
		if err != nil {
			return nil, errors.Join(err, abort(streams))
		}
		streams = append(streams, s)
	}
	return streams, nil
}

// dense is the share of scores at an end of a window from which on lz4 finds hardly anything in the sizes of the next
// one: of layer 22, those with a share of 0.34 and more took 0.97 to 1.01 times as much by a code alone as by both.
const dense = 0.4

// packing returns how digits of the window in progress are stored.
func (w *Windows) packing() spill.Packing {
	if w.now().signed() || w.Codes != window.Eight && float64(w.ends) > dense*float64(w.Positions) {
		return spill.Huffman
	}
	return spill.LZ4
}

// writeFound writes the digits of a strip.
func (w *Windows) writeFound(streams []*spill.Writer, s strip, j *stripJob) error {
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
	memory  *board.Region
	patches patches // nil if nothing is in memory
}

// asScores and asBytes show the same memory.
func asScores(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func asBytes(b []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// ReadSlab copies parts of rows of a slab, which is loaded if they are not in memory.
func (w *Windows) ReadSlab(dst []int8, slab int, parts []board.RowPart) error {
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
	err := w.Load(context.Background(), slab, func(float64) {})
	if err == nil && !l.copy(dst, parts) {
		panic("a slab lacks rows of its own")
	}
	return err
}

// copy copies parts of rows, unless some are not in memory.
func (l *loaded) copy(dst []int8, parts []board.RowPart) bool {
	for _, p := range parts {
		q := l.find(p)
		if q == nil {
			return false
		}
		dst = p.Copy(dst, q.scores[q.line(p.Skip/board.Side, int(p.At.Row))*board.Side:], q.rows.size()*board.Side)
	}
	return true
}

// find returns the patch that has a part of a row, nil if none has.
func (l *loaded) find(p board.RowPart) *patch {
	if l.patches == nil {
		return nil
	}
	row, last := int(p.At.Row), (p.Skip+p.Length-1)/board.Side
	for q := range l.patches.of(strip{p.Matrix, p.At.Class, p.Skip / board.Side, row, row + 1}) {
		if last < q.panels.end {
			return q
		}
	}
	return nil
}

// Load fills memory with the scores of a part of the layer. If it fails, nothing is in memory. It tells the share that
// is done.
func (w *Windows) Load(ctx context.Context, part int, tell func(share float64)) error {
	w.loaded.patches = nil
	if err := w.loaded.makeRoom(w.parts[part]); err != nil {
		return err
	}
	for i, f := range w.found {
		r, err := w.open(rundir.WindowName(f.base, part), w.foundHeader(f), w.Workers)
		if err != nil {
			return err
		}
		err = crew.Run(func() error {
			return w.addUp(ctx, r, f, w.parts[part], func(share float64) { tell((float64(i) + share) / float64(len(w.found))) })
		})
		w.Traffic.Read[fixpoint.Stages].Add(uint64(r.Bytes()))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	w.loaded.patches = w.parts[part]
	return nil
}

// makeRoom takes memory for the scores of patches, all 0.
func (l *loaded) makeRoom(p patches) (err error) {
	size := p.lines() * board.Side
	if l.memory != nil && l.memory.Size() < size {
		if err := l.close(); err != nil {
			return err
		}
	}
	if l.memory == nil {
		if l.memory, err = board.NewRegion(size); err != nil {
			return err
		}
	}
	l.memory.Reset()
	for _, own := range p {
		for i := range own {
			own[i].scores = l.memory.Take(own[i].lines() * board.Side)
			clear(own[i].scores)
		}
	}
	return nil
}

// addUp adds the digits of a stream of a window to the scores of patches.
func (w *Windows) addUp(ctx context.Context, r *spill.Reader, f foundIn, p patches, tell func(share float64)) error {
	sum := window.SumFor(w.setup.Family, f.codes, f.signed())
	return w.eachPatch(ctx, r, f, p, tell, func(s strip, q *patch, rows span, digits []int8) {
		sum(q.scores[q.line(s.panel, rows.begin)*board.Side:][:rows.size()*board.Side], digits)
	})
}

// eachPatch reads a stream of a window to its end. It calls do, from several goroutines, with the
// digits of each part of a strip that patches have, and tells the share that is done.
func (w *Windows) eachPatch(ctx context.Context, r *spill.Reader, f foundIn, p patches, tell func(share float64), do func(s strip, q *patch, rows span, digits []int8)) error {
	line := f.line()
	var strips []strip
	for class := range board.Classes {
		for segment, panels := range w.segments {
			tell((float64(class) + float64(segment)/float64(len(w.segments))) / float64(board.Classes))
			strips = strips[:0]
			for s := range stripsOf(panels, class) {
				if p.linesOf(s) > 0 {
					strips = append(strips, s)
				}
			}
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
			}.Run(ctx, w.Workers, len(strips), w.jobs)
			if err != nil {
				return err
			}
		}
	}
	return atEnd(r)
}

// Close returns all memory.
func (h *held) Close() error {
	err := h.loaded.close()
	if h.memory != nil {
		err = errors.Join(err, h.memory.Close())
	}
	return err
}

func (l *loaded) close() error {
	if l.memory == nil {
		return nil
	}
	err := l.memory.Close()
	l.memory, l.patches = nil, nil
	return err
}

// findStreams looks for what earlier runs left: it begins with the first window that was
// not found, and returns the segments whose capture values must be computed. Note gets
// what is damaged.
func (w *Windows) findStreams(ctx context.Context) (due []int, err error) {
	defer w.look(w.kept())()
	for found := true; found && !w.complete(w.Grid.N); {
		if found, err = w.findWindow(ctx); err != nil {
			return nil, err
		}
	}
	if w.complete(w.Grid.N) {
		return nil, nil // nobody needs capture values
	}
	due, err = w.Due(ctx, 0, len(w.segments))
	if err == nil && len(w.found) == 0 && 0 < len(due) && len(due) < len(w.segments) {
		w.keepColumns(due)
	}
	return due, err
}

// Due returns those of the segments from begin on, before end, whose capture values must be computed for the window in
// progress.
func (w *Windows) Due(ctx context.Context, begin, end int) (due []int, err error) {
	for segment := begin; segment < end; segment++ {
		whole := true
		for class := range board.Classes {
			name := rundir.CapturesName(segment, class == board.FullRows)
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
	return due, nil
}

// keepColumns notes the columns whose capture values an earlier run kept: all but the segments that
// are due.
func (w *Windows) keepColumns(due []int) {
	w.Kept = make([]uint64, (len(w.Grid.Pits)+63)/64)
	for segment, panels := range w.segments {
		if slices.Contains(due, segment) {
			continue
		}
		for _, p := range panels {
			for c := range p.Matrix.Width(p.Panel) {
				code := p.Matrix.First + uint32(p.Panel*board.Side+c)
				w.Kept[code/64] |= 1 << (code % 64)
			}
		}
	}
}

// IsKept reports whether the score of a board rests on capture values that an earlier run kept.
func (w *Windows) IsKept(b awari.Board) bool {
	var mover board.Half
	copy(mover[:w.Grid.Q], b[:])
	code := w.Grid.Code(&mover)
	return w.Kept[code/64]>>(code%64)&1 != 0
}

// findWindow looks for the streams of the next window, of any width.
func (w *Windows) findWindow(ctx context.Context) (found bool, err error) {
	for _, codes := range codesOf(w.base) {
		f := foundIn{w.base, codes}
		if found, err = w.lookAtWindow(ctx, f); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// codesOf returns the codes that the window with a base may have: the first window is not thin.
func codesOf(base int) []*window.Codes {
	if base == 0 {
		return AllCodes
	}
	return append([]*window.Codes{window.Eight}, AllCodes...)
}

// partNames returns the names of the streams of a window.
func partNames(base int) (names []string) {
	for part := range AllParts {
		names = append(names, rundir.WindowName(base, part))
	}
	return names
}

// lookAtWindow looks for the streams of a window, and continues behind it if there are.
func (w *Windows) lookAtWindow(ctx context.Context, f foundIn) (found bool, err error) {
	var ends [board.Classes]atomic.Int64
	for part, name := range partNames(f.base) {
		lines := w.parts[part].linesBy()
		found, err := w.isWhole(name, w.foundHeader(f), func(r *spill.Reader) error {
			var now [board.Classes]atomic.Int64
			later := (lines[board.OpenRows] + lines[board.FullRows]) * f.line()
			all := float64(max(later, 1))
			for class := range board.Classes {
				later -= lines[class] * f.line()
				err := w.lookAtLines(ctx, r, lines[class]*f.line(), func(lines []int8) bool {
					valid, n := f.codes.ValidDigits(lines, f.signed())
					now[class].Add(int64(n))
					return valid
				}, func(left int) { w.tellLook(float64(r.Bytes()) * (1 - float64(later+left)/all)) })
				if err != nil {
					return err
				}
			}
			if part != SamplePart {
				for class := range ends {
					ends[class].Add(now[class].Load())
				}
			}
			return atEnd(r)
		})
		if !found || err != nil {
			return false, err
		}
	}
	w.openEnds = ends[board.OpenRows].Load()
	w.ends = w.openEnds + ends[board.FullRows].Load()
	w.endsAt = f.base + f.codes.Values
	w.add(f, w.ends > 0)
	w.Stats.Windows++
	return true, nil
}
