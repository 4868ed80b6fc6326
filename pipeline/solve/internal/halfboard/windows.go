package halfboard

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/spill"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// windows is a layer that is solved window by window: sweeps of one after the other, which windows there are, what is on
// disk, and what is in memory.
type windows struct {
	*sweeps
	sequence
	stored
	held
	code   codeKernels
	setup  setup
	keeper *keeper
}

// stored is what is on disk.
type stored struct {
	*streams
	segments   [][]panelOf
	parts      [allParts]patches
	sample     string         // names the last of parts
	serving    [classes]int64 // open positions that the streams of capture values are written for
	kept       []uint64       // a bit for each half of the mover: an earlier run kept its capture values; nil for all or none
	publishing background     // of streams that are complete
}

// held is what is in memory.
type held struct {
	memory *region     // nil when all windows are found
	scores []int8      // codes of open rows
	loaded loaded      // scores that windows add up to
	jobs   []*stripJob // for one pass at a time
}

// codeKernels are the kernels of streams.
type codeKernels struct {
	turn   window.TurnFunc
	digits map[bool]window.DigitsFunc // signed or not
	planes planes.Kernel
	negate transpose.UpdateFunc // of bytes
}

// setup says how a layer is solved in windows.
type setup struct {
	game     awari.Game
	family   cpu.Family
	interval time.Duration // between checkpoints
	room     room
	segment  uint64                                                  // in tests: the least positions of a segment; 0 is leastSegment
	thin     bool                                                    // in tests: all windows but the first are thin, whatever memory that takes
	sample   func(positions uint64) (starts []uint64, length uint64) // what is read first of the layer; nil: nothing
}

// room is the memory of a layer in bytes: for pieces of lower layers and for offers, while captures are computed, and then
// for scores.
type room struct{ pieces, offers, scores int }

// newWindows lays out a layer that is solved window by window. Memory for scores is taken
// when the captures are known.
func newWindows(s *sweeps, d *streams, codes *window.Codes, o setup) *windows {
	all := int64(s.positions)
	w := &windows{
		sweeps: s, sequence: sequence{codes: codes}, setup: o,
		stored: stored{streams: d, segments: segmentsOf(s.grid.layer, cmp.Or(o.segment, leastSegment)), serving: [classes]int64{all, all}},
		held:   held{jobs: spares[stripJob](s.workers)},
		code: codeKernels{
			turn: window.TurnFor(o.family, codes), planes: planes.For(o.family), negate: transpose.For(o.family, 8),
			digits: map[bool]window.DigitsFunc{true: window.DigitsFor(o.family, codes, true), false: window.DigitsFor(o.family, codes, false)},
		},
	}
	var starts []uint64
	var length uint64
	if o.sample != nil {
		starts, length = o.sample(s.positions)
	}
	w.parts, w.sample = partsOf(s.grid.layer, starts, length), whichSample(starts, length)
	w.keeper = newKeeper(d, o.interval, w, codesBytes(s.grid.q, s.grid.n, codes.Bits))
	s.between, s.stats.Windows = w.keeper.due, 0
	s.reports.window = func() (base, values int) { return w.base, w.codes.Values }
	return w
}

// allocate takes memory for the scores of open rows.
func (w *windows) allocate() (err error) {
	size := codesBytes(w.grid.q, w.grid.n, w.codes.Bits)
	if w.memory, err = newRegion(size); err != nil {
		return err
	}
	w.stats.Bytes = uint64(size)
	w.scores = w.memory.take(size)
	scores := w.scores
	for _, m := range w.grid.matrices {
		own := m.panels * m.stride()
		m.scores, scores = scores[:own], scores[own:]
		m.alive = make([]uint64, len(m.marks))
	}
	w.grid.aim()
	return nil
}

// solve finds the scores of all windows, from the one on that comes after those found.
func (w *windows) solve(ctx context.Context) error {
	err := crew.Run(func() error { return w.eachWindow(ctx) })
	if err = errors.Join(err, w.publishing.wait()); err != nil {
		return err
	}
	err = w.memory.close() // scores come from streams now
	w.memory, w.scores = nil, nil
	return err
}

func (w *windows) eachWindow(ctx context.Context) error {
	if w.complete(w.grid.n) {
		w.tell(FullStage, 1) // earlier runs found all
	}
	for again := false; !w.complete(w.grid.n); again = true {
		stage, err := w.beginWindow(ctx, again)
		if err == nil {
			w.keeper.sweeping = true
			if err = w.sweepAll(ctx, stage); err == nil {
				err = w.keeper.settled() // codes are going to change
			}
			w.keeper.sweeping = err != nil
		}
		if err != nil {
			return err
		}
		w.enter(FullStage)
		if err := w.storeWindow(ctx); err != nil {
			return err
		}
		w.stats.Windows++
		w.add(w.now(), w.ends > 0)
		w.enter(DenseStage)
	}
	return nil
}

// beginWindow begins the window in progress: again is set if memory holds the scores of the
// one before. It returns the stage of the first sweep.
func (w *windows) beginWindow(ctx context.Context, again bool) (Stage, error) {
	stage := DenseStage
	if err := w.useThin(ctx, again); err != nil {
		return stage, err
	}
	if again && w.worthMarkingFirst() {
		stage = SparseStage
	}
	if err := w.turnAll(ctx, again, stage); err != nil {
		return stage, err
	}
	if !again {
		if err := w.readCodes(ctx); err != nil {
			return stage, err
		}
	}
	if stage == DenseStage {
		w.expire()
	}
	return stage, nil
}

// worthMarkingFirst reports whether the first sweep of a window should compute only what
// captures make out of date: they are at most what was at an end of the window before.
func (w *windows) worthMarkingFirst() bool {
	ends := int(w.ends)
	return w.ledger.known().worthMarking(work{blocks: min(ends, w.blocks()), scores: ends}, w.columns(), apartCodes)
}

// turnAll sets all scores to the clipped best capture values of the window in progress.
// If the first sweep is sparse, it marks what that makes out of date.
func (w *windows) turnAll(ctx context.Context, again bool, first Stage) error {
	prune := again && w.worthPruning(openRows, w.ends)
	return w.goOver(ctx, pass{stage: DenseStage, class: openRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
		w.tell(first, 0)
		for row := s.begin; row < s.end; row += side {
			at := s.panel*s.matrix.chunks[openRows] + row/side
			lines := s.matrix.lines(s.panel, row/side)
			captures, sources := j.captures[(row-s.begin)*side:], &j.changes.Columns
			if prune {
				w.codes.Prune(captures, lines)
			}
			alive := w.code.turn(lines, captures, j.base, again, sources)
			s.matrix.alive[at] = alive & s.matrix.all(s.panel)
			if first == SparseStage {
				j.changes.Rows = nonZero(sources[:s.matrix.depth(openRows, row/side)])
				w.grid.markBlock(s.matrix, s.panel, row/side, &j.changes)
			}
		}
		return nil
	}})
}

// What captures give to scores that are not at an end of a window is worth removing from the
// streams if prunedWindows read them again, and if the others are at most this share of
// what they were when the streams were written.
const (
	prunedWindows = 3
	pruned        = 0.6
)

// worthPruning reports whether capture values of a class should be written again when the given
// number of scores of open rows are at an end of a window.
func (w *windows) worthPruning(class rowClass, ends int64) bool {
	if w.windowsLeft() <= prunedWindows || float64(ends) > pruned*float64(w.serving[class]) {
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
func (w *windows) storeWindow(ctx context.Context) error {
	began := time.Since(w.began)
	var ends [classes]atomic.Int64
	streams, err := w.createFound()
	if err != nil {
		return err
	}
	done, strips := 0, w.strips()
	write := func(s strip, j *stripJob) error {
		done++
		w.tell(FullStage, float64(done)/float64(strips))
		return w.writeFound(streams, s, j)
	}
	err = w.goOver(ctx, pass{class: openRows, work: func(s strip, j *stripJob) error {
		ends[openRows].Add(int64(w.openStrip(s, j)))
		return nil
	}, write: write})
	w.openEnds, w.endsAt = ends[openRows].Load(), w.base+w.codes.Values
	if err == nil {
		prune := w.worthPruning(fullRows, w.openEnds)
		err = w.goOver(ctx, pass{stage: FullStage, class: fullRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
			ends[fullRows].Add(int64(w.fillStrip(s, j)))
			return nil
		}, write: write})
	}
	w.ends = w.openEnds + ends[fullRows].Load()
	if err != nil {
		return errors.Join(err, abort(streams))
	}
	return w.publish(FullStage, func() { w.keeper.window.Store(int64(began)) }, streams...)
}

// publish stores streams of a stage, when those before are stored, and then calls done. Nobody waits for the
// disk: a failure is reported by the next publish, before a checkpoint, or at the end.
func (w *stored) publish(stage Stage, done func(), streams ...*spill.Writer) error {
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
func (w *windows) strips() (n int) {
	for _, panels := range w.segments {
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
func (w *windows) openStrip(s strip, j *stripJob) (ends int) {
	for row := s.begin; row < s.end; row += side {
		ends += w.toDigits(s, j, row, s.matrix.lines(s.panel, row/side))
	}
	return ends
}

// fillStrip computes full rows, which no sweep reads, and turns them into digits. It returns how many
// scores are at an end of the window.
func (w *windows) fillStrip(s strip, j *stripJob) (ends int) {
	m := s.matrix
	for row := s.begin; row < s.end; row += side {
		lines := w.fullCodes(j, min(side, s.end-row))
		w.code.turn(lines, j.captures[(row-s.begin)*side:], j.base, false, &j.changes.Columns)
		w.kernels.least(&j.block, nil, m.all(s.panel), &m.programs[s.panel], m.targets[fullRows], row/side, nil)
		w.kernels.update(lines, &j.block, m.all(s.panel), ^uint64(0), &j.changes)
		ends += w.toDigits(s, j, row, lines)
	}
	return ends
}

// fullCodes returns memory for the codes of up to 64 full rows.
func (w *windows) fullCodes(j *stripJob, rows int) []int8 {
	if j.codes == nil {
		j.codes = make([]int8, window.MostThin)
	}
	if w.codes == window.Eight {
		return window.NewThin(j.codes, allSearched[:rows])
	}
	return j.codes[:rows*w.codes.Line()]
}
