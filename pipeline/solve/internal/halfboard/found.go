package halfboard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"unsafe"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/window"
)

// What a window has found is written as digits (kernels/window), one stream for each slab
// of the layer, all strips of open rows and then all of full rows: those rows of each that
// the slab has. The digits of all windows add up to the scores.

const foundVersion = 1

// foundHeader is that of the streams of a window.
func (e *engine) foundHeader(f foundIn) spill.Header {
	return spill.Header{
		Kind: fmt.Sprintf("awari-window-%d", f.codes.Bits), Version: foundVersion,
		Identity: fmt.Appendf(whoseCaptures(e.game, e.grid.n), ", base %d, slabs of %d", f.base, e.grid.slabSize()),
	}
}

// digits turns lines of codes into digits and returns how many scores are at an end of the
// window.
func (j *stripJob) digits(e *engine, lines []int8) int {
	j.found = slices.Grow(j.found[:0], len(lines))[:len(lines)]
	return e.windows.digits(asScores(j.found), lines)
}

// slabRows lists the rows of a slab, by matrix and class.
type slabRows [][classes]rowRange

// rowsOfSlab returns the rows that have ranks in a slab.
func (g *grid) rowsOfSlab(slab int) slabRows {
	begin := uint64(slab) * g.slabSize()
	return g.rowsOfRanks(begin, begin+g.slabSize())
}

// rowsOfRanks returns the rows that have ranks from begin to end.
func (g *grid) rowsOfRanks(begin, end uint64) slabRows {
	rows := make(slabRows, len(g.matrices))
	for sum, m := range g.matrices {
		for class := range classes {
			rows[sum][class] = g.rowsIn(m, class, begin, end)
		}
	}
	return rows
}

// of returns the rows of a strip that the slab has.
func (r slabRows) of(s strip) rowRange {
	rows := r[s.matrix.sum][s.class]
	return rowRange{max(rows.begin, s.begin), min(rows.end, s.end)}
}

// foundWriter writes the streams of a window.
type foundWriter struct {
	engine  *engine
	writers []*spill.Writer
	rows    []slabRows
}

// createFound begins the streams of the window in progress.
func (e *engine) createFound() (f *foundWriter, err error) {
	w := e.windows
	f = &foundWriter{engine: e}
	for slab := range slabs {
		name := rundir.WindowName(w.base, slab)
		out, err := spill.Create(w.options.Work, name, e.foundHeader(foundIn{w.base, w.codes}), spill.LZ4, e.workers)
		if err != nil {
			return nil, errors.Join(err, f.abort())
		}
		f.writers, f.rows = append(f.writers, out), append(f.rows, e.grid.rowsOfSlab(slab))
		if err := e.writeHistory(out); err != nil {
			return nil, errors.Join(err, f.abort())
		}
	}
	return f, nil
}

// write writes the digits of a strip.
func (f *foundWriter) write(s strip, j *stripJob) error {
	line := s.matrix.line
	for slab, rows := range f.rows {
		if r := rows.of(s); r.begin < r.end {
			if _, err := f.writers[slab].Write(j.found[(r.begin-s.begin)*line : (r.end-s.begin)*line]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *foundWriter) abort() (err error) {
	for _, w := range f.writers {
		err = errors.Join(err, w.Abort())
	}
	return err
}

func (f *foundWriter) publish() error {
	for _, w := range f.writers {
		if err := w.Publish(); err != nil {
			return errors.Join(err, f.abort())
		}
		f.engine.windows.traffic.written[FullStage].Add(uint64(w.Bytes()))
	}
	return nil
}

// eachFound calls do for the parts of the strips of a slab that a window found, with their
// digits.
func (e *engine) eachFound(ctx context.Context, f foundIn, slab int, rows slabRows, do func(strip, rowRange, []int8) error) error {
	r, err := spill.Open(e.windows.options.Work, rundir.WindowName(f.base, slab), e.foundHeader(f), e.workers)
	if err != nil {
		return err
	}
	err = crew.Run(func() error { return e.readFoundStrips(ctx, r, f, rows, do) })
	e.windows.traffic.read[Stages].Add(uint64(r.Bytes()))
	return errors.Join(err, r.Close())
}

func (e *engine) readFoundStrips(ctx context.Context, r *spill.Reader, f foundIn, rows slabRows, do func(strip, rowRange, []int8) error) error {
	if _, err := readHistory(r); err != nil {
		return err
	}
	spare, line := spares[stripJob](e.workers), f.codes.Line()
	for class := range classes {
		for _, panels := range e.windows.segments {
			strips := slices.Collect(stripsOf(panels, class))
			strips = slices.DeleteFunc(strips, func(s strip) bool { in := rows.of(s); return in.begin >= in.end })
			err := stages[*stripJob]{
				read: func(i int, j *stripJob) error {
					in := rows.of(strips[i])
					size := (in.end - in.begin) * line
					j.found = slices.Grow(j.found[:0], size)[:size]
					return readFull(r, r.Path(), j.found)
				},
				work: func(i int, j *stripJob) error { return do(strips[i], rows.of(strips[i]), asScores(j.found)) },
			}.run(ctx, e.workers, len(strips), spare)
			if err != nil {
				return err
			}
		}
	}
	return atEnd(r)
}

// loaded holds scores that windows add up to, of some rows.
type loaded struct {
	mu     sync.RWMutex
	memory *region
	parts  [][classes][]loadedRows // by matrix; in order; nil if nothing is in memory
}

// loadedRows are rows in memory: line r of panel p is lines[p*(end-begin) + r-begin].
type loadedRows struct {
	rowRange
	lines []int8
}

// asScores and asBytes show the same memory.
func asScores(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func asBytes(b []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// find returns the part that has a row, nil if none has.
func (l *loaded) find(sum int, class rowClass, row int) *loadedRows {
	if l.parts == nil {
		return nil
	}
	parts := l.parts[sum][class]
	i, _ := slices.BinarySearchFunc(parts, row, func(p loadedRows, row int) int {
		if p.end <= row {
			return -1
		}
		return 1
	})
	if i == len(parts) || parts[i].begin > row {
		return nil
	}
	return &parts[i]
}

// load fills memory with the scores of the rows of some ranges of ranks, in order. If it
// fails, nothing is in memory.
func (e *engine) load(ctx context.Context, ranges []rankRange) error {
	err := e.makeRoom(ranges)
	if err == nil {
		err = e.addUp(ctx, ranges)
	}
	if err != nil {
		e.windows.loaded.parts = nil
	}
	return err
}

// addUp adds what all windows found to the scores in memory.
func (e *engine) addUp(ctx context.Context, ranges []rankRange) error {
	l := &e.windows.loaded
	added := make(slabRows, len(e.grid.matrices)) // of the slab before: the two may share rows
	for slab := range slabs {
		begin := uint64(slab) * e.grid.slabSize()
		slabEnd := begin + e.grid.slabSize()
		if !slices.ContainsFunc(ranges, func(r rankRange) bool { return r.begin < slabEnd && begin < r.end }) {
			continue
		}
		rows := e.grid.rowsOfSlab(slab)
		for _, f := range e.windows.found {
			sum := window.SumFor(e.windows.options.Family, f.codes)
			err := e.eachFound(ctx, f, slab, rows, func(s strip, in rowRange, digits []int8) error {
				l.add(s, in, added[s.matrix.sum][s.class].end, digits, f.codes.Line(), sum)
				return nil
			})
			if err != nil {
				return err
			}
		}
		added = rows
	}
	return nil
}

// rankRange is a range of ranks.
type rankRange struct{ begin, end uint64 }

// makeRoom takes memory for the rows of some ranges of ranks, all 0.
func (e *engine) makeRoom(ranges []rankRange) error {
	l := &e.windows.loaded
	parts := make([][classes][]loadedRows, len(e.grid.matrices))
	size := 0
	for _, r := range ranges {
		for sum, rows := range e.grid.rowsOfRanks(r.begin, r.end) {
			for class, in := range rows {
				own := &parts[sum][class]
				if n := len(*own); n > 0 {
					in.begin = max(in.begin, (*own)[n-1].end)
				}
				if in.begin < in.end {
					*own = append(*own, loadedRows{rowRange: in})
					size += (in.end - in.begin) * e.grid.matrices[sum].panels * side
				}
			}
		}
	}
	if l.memory != nil && len(l.memory.mapping) < size {
		if err := l.close(); err != nil {
			return err
		}
	}
	if l.memory == nil {
		var err error
		if l.memory, err = newRegion(size); err != nil {
			return err
		}
	}
	l.memory.reset()
	for sum := range parts {
		for class := range parts[sum] {
			for i := range parts[sum][class] {
				p := &parts[sum][class][i]
				p.lines = l.memory.take((p.end - p.begin) * e.grid.matrices[sum].panels * side)
				clear(p.lines)
			}
		}
	}
	l.parts = parts
	return nil
}

// add adds digits, those of the given rows of a strip, to what is in memory of them, from
// row first on.
func (l *loaded) add(s strip, in rowRange, first int, digits []int8, line int, sum window.SumFunc) {
	for _, p := range l.parts[s.matrix.sum][s.class] {
		begin, end := max(p.begin, in.begin, first), min(p.end, in.end)
		if begin < end {
			at := s.panel*(p.end-p.begin) - p.begin
			sum(p.lines[(at+begin)*side:(at+end)*side], digits[(begin-in.begin)*line:(end-in.begin)*line])
		}
	}
}

func (l *loaded) close() error {
	if l.memory == nil {
		return nil
	}
	err := l.memory.close()
	l.memory, l.parts = nil, nil
	return err
}

// findStreams looks for what earlier runs left: it begins with the first window that was
// not found, and returns the segments whose capture values must be computed. Note is told
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
		for slab := 0; slab < slabs && found; slab++ {
			found, err = e.isWhole(rundir.WindowName(f.base, slab), e.foundHeader(f), func(r *spill.Reader) error {
				return e.lookAtLines(ctx, r, e.grid.rowsOfSlab(slab).bytes(e.grid, codes), func(lines []int8) bool {
					valid, end := codes.ValidDigits(lines)
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

// add goes on to the window after f: more says whether there can be one.
func (w *windows) add(f foundIn, more bool) {
	w.found = append(w.found, f)
	w.base += f.codes.Values
	w.all = !more
}

// complete reports whether all windows of a layer of n seeds are found.
func (w *windows) complete(n int) bool { return w.all || w.base >= max(1, n) }

// isWhole takes over the history of a stream and lets look read the rest. It returns no
// error, and false, if there is none that is of use: note is told if it is damaged.
func (e *engine) isWhole(name string, h spill.Header, look func(*spill.Reader) error) (bool, error) {
	r, err := spill.Open(e.windows.options.Work, name, h, 1)
	if err == nil {
		err = crew.Run(func() error { return e.lookAt(r, look) })
		e.windows.traffic.read[CaptureStage].Add(uint64(r.Bytes()))
		err = errors.Join(err, r.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, corrupt.ErrMismatch), errors.Is(err, errPruned):
		return false, nil
	case errors.Is(err, corrupt.ErrCorrupt):
		if !e.windows.told[name] {
			e.windows.options.note("layer %d: what was kept as %q is computed again: %v", e.grid.n, name, err)
		}
		e.windows.told[name] = true
		return false, nil
	}
	return err == nil, err
}

// lookAt reads a stream to its end.
func (e *engine) lookAt(r *spill.Reader, look func(*spill.Reader) error) error {
	h, err := readHistory(r)
	if err != nil {
		return err
	}
	if err := look(r); err != nil {
		return err
	}
	if h.Elapsed > e.stats.Before {
		e.rememberSweeps(&h)
	}
	return nil
}
