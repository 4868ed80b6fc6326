package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/spill"
	"grenier/kernels/planes"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
)

// windows is what a layer needs in addition when it is solved window by
// window.
type windows struct {
	codes      *window.Codes
	turn       window.TurnFunc
	digits     map[bool]window.DigitsFunc // signed or not
	planes     planes.Kernel
	negate     transpose.UpdateFunc // of bytes
	segments   [][]panelOf
	parts      [allParts]patches
	sample     string    // names that of parts
	base       int       // of the window in progress
	found      []foundIn // what the windows before it found
	all        bool      // nothing was at an end of the last of them
	kept       []uint64  // a bit for each half of the mover: an earlier run kept its capture values; nil for all or none
	traffic    atomicTraffic
	serving    [classes]int64 // open positions that the streams of capture values are written for
	positions  uint64         // of the layer
	ends       int64          // scores at an end of the window before
	openEnds   int64          // of these, those of open rows
	endsAt     int            // base of the window after it
	publishing background     // of streams that are complete
	loaded     loaded         // scores that windows add up to
	jobs       []*stripJob    // for one pass at a time
}

// foundIn names the streams of a window.
type foundIn struct {
	base  int
	codes *window.Codes
}

// atomicTraffic is Traffic that grows.
type atomicTraffic struct{ read, written [Stages + 1]atomic.Uint64 }

func (e *engine) traffic() (t Traffic) {
	if e.windows != nil {
		for stage := range t.Read {
			t.Read[stage] = e.windows.traffic.read[stage].Load()
			t.Written[stage] = e.windows.traffic.written[stage].Load()
		}
	}
	return t
}

// beginWindows lays out a layer that is solved window by window. Memory for scores is taken
// when the captures are known.
func (e *Engine) beginWindows(ctx context.Context, geo *geometry, codes *window.Codes) (*engine, error) {
	if e.options.Work == nil {
		return nil, fmt.Errorf("%w: scores of %d bits need a directory for streams", ErrOptions, codes.Bits)
	}
	if err := e.spare.close(); err != nil {
		return nil, err
	}
	w, err := e.layOut(ctx, geo, codes.Bits)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what making the tables has left
	family := e.options.Family
	w.windows = &windows{
		codes: codes, turn: window.TurnFor(family, codes),
		digits: map[bool]window.DigitsFunc{true: window.DigitsFor(family, codes, true), false: window.DigitsFor(family, codes, false)},
		planes: planes.For(family), negate: transpose.For(family, 8), segments: w.grid.segments(cmp.Or(e.options.segment, leastSegment)),
		jobs: spares[stripJob](w.workers),
	}
	positions := geo.halves.Board().Size(geo.n)
	w.windows.positions = positions
	w.windows.serving = [classes]int64{int64(positions), int64(positions)}
	var starts []uint64
	var length uint64
	if e.options.Sample != nil {
		starts, length = e.options.Sample(positions)
	}
	w.windows.parts, w.windows.sample = w.grid.parts(starts, length), whichSample(starts, length)
	w.keeper = newKeeper(codesBytes(geo.q, geo.n, codes.Bits))
	w.stats.Windows = 0
	return w, nil
}

// allocateCodes takes memory for the scores of open rows.
func (e *engine) allocateCodes() (err error) {
	size := codesBytes(e.grid.q, e.grid.n, e.windows.codes.Bits)
	if e.memory, err = newRegion(size); err != nil {
		return err
	}
	e.stats.Bytes = uint64(size)
	e.scores = e.memory.take(size)
	scores := e.scores
	for _, m := range e.grid.matrices {
		own := m.panels * m.stride()
		m.scores, scores = scores[:own], scores[own:]
		m.alive = make([]uint64, len(m.marks))
	}
	for _, m := range e.grid.matrices {
		e.grid.aim(m)
	}
	return nil
}

// solveWindows finds the scores of all windows, from that on which comes after those found.
func (e *engine) solveWindows(ctx context.Context) error {
	err := crew.Run(func() error { return e.eachWindow(ctx) })
	if err = errors.Join(err, e.windows.publishing.wait()); err != nil {
		return err
	}
	err = e.memory.close() // scores come from streams now
	e.memory, e.scores = nil, nil
	return err
}

func (e *engine) eachWindow(ctx context.Context) error {
	w := e.windows
	if w.complete(e.grid.n) {
		e.tell(FullStage, 1) // earlier runs found all
	}
	for again := false; !w.complete(e.grid.n); again = true {
		stage, err := e.beginWindow(ctx, again)
		if err == nil {
			e.keeper.sweeping = true
			if err = e.sweepAll(ctx, stage); err == nil {
				err = e.settled() // codes are going to change
			}
			e.keeper.sweeping = err != nil
		}
		if err != nil {
			return err
		}
		e.enter(FullStage)
		if err := e.storeWindow(ctx); err != nil {
			return err
		}
		e.stats.Windows++
		w.add(w.now(), w.ends > 0)
		e.enter(DenseStage)
	}
	return nil
}

// beginWindow begins the window in progress: again is set if memory holds the scores of the
// one before. It returns the stage of the first sweep.
func (e *engine) beginWindow(ctx context.Context, again bool) (Stage, error) {
	stage := DenseStage
	if err := e.useThin(ctx, again); err != nil {
		return stage, err
	}
	if again && e.worthMarkingFirst() {
		stage = SparseStage
	}
	if err := e.turnAll(ctx, again, stage); err != nil {
		return stage, err
	}
	if !again {
		if err := e.readCodes(ctx); err != nil {
			return stage, err
		}
	}
	if stage == DenseStage {
		e.expire()
	}
	return stage, nil
}

// worthMarkingFirst reports whether the first sweep of a window should compute only what
// captures make out of date: they are at most what was at an end of the window before.
func (e *engine) worthMarkingFirst() bool {
	ends := int(e.windows.ends)
	return e.ledger.known().worthMarking(work{blocks: min(ends, e.blocks()), scores: ends}, e.columns(), apartCodes)
}

// blocks returns the number of blocks of open rows.
func (e *engine) blocks() (blocks int) {
	for _, m := range e.grid.matrices {
		blocks += len(m.marks)
	}
	return blocks
}

// turnAll sets all scores to the clipped best capture values of the window in progress.
// If the first sweep is sparse, it marks what that makes out of date.
func (e *engine) turnAll(ctx context.Context, again bool, first Stage) error {
	w := e.windows
	prune := again && e.worthPruning(openRows, w.ends)
	return e.goOver(ctx, pass{stage: DenseStage, class: openRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
		e.tell(first, 0)
		for row := s.begin; row < s.end; row += side {
			at := s.panel*s.matrix.chunks[openRows] + row/side
			lines := s.matrix.lines(s.panel, row/side)
			captures, sources := j.captures[(row-s.begin)*side:], &j.changes.Columns
			if prune {
				w.codes.Prune(captures, lines)
			}
			alive := w.turn(lines, captures, j.base, again, sources)
			s.matrix.alive[at] = alive & s.matrix.all(s.panel)
			if first == SparseStage {
				j.changes.Rows = nonZero(sources[:s.matrix.depth(openRows, row/side)])
				e.grid.markBlock(s.matrix, s.panel, row/side, &j.changes)
			}
		}
		return nil
	}})
}

// What captures give to scores that are not at an end of a window is worth removing from the
// streams if so many windows read them again, and if the others are fewer than that share of
// what they were when the streams were written.
const (
	prunedWindows = 3
	pruned        = 0.6
)

// worthPruning reports whether capture values of a class should be written again when so
// many scores of open rows are at an end of a window.
func (e *engine) worthPruning(class rowClass, ends int64) bool {
	w := e.windows
	if e.windowsLeft() <= prunedWindows || float64(ends) > pruned*float64(w.serving[class]) {
		return false
	}
	w.serving[class] = ends
	return true
}

// nonZero returns a bit for each word that is not 0.
func nonZero(words []uint64) (set uint64) {
	for i, word := range words {
		if word != 0 {
			set |= 1 << i
		}
	}
	return set
}

// storeWindow computes the full rows of the window in progress and writes all that it has
// found. It counts the scores at an end of the window: if there are none, it is the last one.
func (e *engine) storeWindow(ctx context.Context) error {
	w, began := e.windows, time.Since(e.began)
	var ends [classes]atomic.Int64
	streams, err := e.createFound()
	if err != nil {
		return err
	}
	done, strips := 0, e.strips()
	write := func(s strip, j *stripJob) error {
		done++
		e.tell(FullStage, float64(done)/float64(strips))
		return e.writeFound(streams, s, j)
	}
	err = e.goOver(ctx, pass{class: openRows, work: func(s strip, j *stripJob) error {
		ends[openRows].Add(int64(e.openStrip(s, j)))
		return nil
	}, write: write})
	w.openEnds, w.endsAt = ends[openRows].Load(), w.base+w.codes.Values
	if err == nil {
		prune := e.worthPruning(fullRows, w.openEnds)
		err = e.goOver(ctx, pass{stage: FullStage, class: fullRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
			ends[fullRows].Add(int64(e.fillStrip(s, j)))
			return nil
		}, write: write})
	}
	w.ends = w.openEnds + ends[fullRows].Load()
	if err != nil {
		return errors.Join(err, abort(streams))
	}
	return w.publish(FullStage, func() { e.keeper.window.Store(int64(began)) }, streams...)
}

// publish stores streams of a stage, when those before are stored, and then calls done. Nobody waits for the
// disk: a failure is reported by the next publish, before a checkpoint, or at the end.
func (w *windows) publish(stage Stage, done func(), streams ...*spill.Writer) error {
	if err := w.publishing.wait(); err != nil {
		return errors.Join(err, abort(streams))
	}
	w.publishing.begin(func() error {
		for _, s := range streams {
			if err := s.Publish(); err != nil {
				return errors.Join(err, abort(streams))
			}
			w.traffic.written[stage].Add(uint64(s.Bytes()))
		}
		done()
		return nil
	})
	return nil
}

// strips returns the number of strips of the layer.
func (e *engine) strips() (n int) {
	for _, panels := range e.windows.segments {
		for class := range classes {
			for range stripsOf(panels, class) {
				n++
			}
		}
	}
	return n
}

// openStrip turns the codes of a strip of open rows into digits and returns how many scores are
// at an end of the window.
func (e *engine) openStrip(s strip, j *stripJob) (ends int) {
	for row := s.begin; row < s.end; row += side {
		ends += e.digits(s, j, row, s.matrix.lines(s.panel, row/side))
	}
	return ends
}

// fillStrip computes full rows, which no sweep reads, and turns them into digits. It returns how many
// scores are at an end of the window.
func (e *engine) fillStrip(s strip, j *stripJob) (ends int) {
	m, w := s.matrix, e.windows
	for row := s.begin; row < s.end; row += side {
		lines := e.fullCodes(j, min(side, s.end-row))
		w.turn(lines, j.captures[(row-s.begin)*side:], j.base, false, &j.changes.Columns)
		e.kernels.least(&j.block, nil, m.all(s.panel), &m.programs[s.panel], m.targets[fullRows], row/side, nil)
		e.kernels.update(lines, &j.block, m.all(s.panel), ^uint64(0), &j.changes)
		ends += e.digits(s, j, row, lines)
	}
	return ends
}

// fullCodes returns memory for the codes of up to 64 full rows.
func (e *engine) fullCodes(j *stripJob, rows int) []int8 {
	if j.codes == nil {
		j.codes = make([]int8, window.MostThin)
	}
	if e.windows.codes == window.Eight {
		return window.NewThin(j.codes, allSearched[:rows])
	}
	return j.codes[:rows*e.windows.codes.Line()]
}
