// Package stream keeps a layer in streams of the work directory. It is the upper room of the engine (package halfboard
// tells the whole story): it reads and writes what packages board and fixpoint compute.
//
// There are two kinds of layers. Windows is one that does not fit into memory, solved window by window: its capture values
// are computed once and read by each window (captures.go, strippass.go), what windows find is added up in the end
// (found.go, patches.go), and scores are codes, of thin windows too (thin.go). Processes may share it (steps.go). Whole is one in memory: it writes
// checkpoints only (whole.go). Both have a Keeper, which says when a checkpoint is due (keep.go), and Streams, which
// knows whose streams are and which are damaged (streams.go, look.go). docs/format/spill.md describes the bytes.
package stream

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// Windows is a layer that is solved window by window: sweeps of one after the other, which windows there are, what is on
// disk, and what is in memory.
type Windows struct {
	*fixpoint.Sweeps
	sequence
	stored
	held
	code   codeKernels
	setup  Setup
	Keeper *Keeper
}

// stored is the part on disk.
type stored struct {
	*Streams
	segments   [][]board.PanelOf
	parts      [AllParts]patches
	sample     string                 // names the last of parts
	serving    [board.Classes]float64 // share of the scores that the streams of capture values are written for
	Kept       []uint64               // a bit for each half of the mover: an earlier run kept its capture values; nil for all or none
	publishing background             // of streams that are complete
}

// held is the part in memory.
type held struct {
	memory *board.Region // nil when all windows are found
	scores []int8        // codes of open rows
	loaded loaded        // scores that windows add up to
	jobs   []*stripJob   // for one pass at a time
}

// codeKernels are the kernels of streams.
type codeKernels struct {
	turn   window.TurnFunc
	digits map[bool]window.DigitsFunc // signed or not
	planes planes.Kernel
	negate transpose.UpdateFunc // of bytes
}

// Setup says how a layer is solved in windows.
type Setup struct {
	Game     awari.Game
	Family   cpu.Family
	Interval time.Duration // between checkpoints
	Room     Room
	Segment  uint64 // the least positions of a segment; 0 is leastSegment
	Alone    bool   // windows are solved apart: none knows what another one has found
	Thin     bool   // in tests: all windows but the first are thin, whatever memory that takes
	// Sample says what is read first of the layer; nil: nothing.
	Sample func(positions uint64) (starts []uint64, length uint64)
}

// Room is the memory of a layer in bytes: for pieces of lower layers and for offers, while captures are computed, and then
// for scores.
type Room struct{ Pieces, Offers, Scores int }

// NewWindows lays out a layer that is solved window by window. Memory for scores is taken
// when the captures are known.
func NewWindows(s *fixpoint.Sweeps, d *Streams, codes *window.Codes, o Setup) *Windows {
	w := &Windows{
		Sweeps: s, sequence: sequence{Codes: codes}, setup: o,
		stored: stored{Streams: d, segments: segmentsOf(s.Grid.Layer, cmp.Or(o.Segment, leastSegment)), serving: [board.Classes]float64{1, 1}},
		held:   held{jobs: spares[stripJob](s.Workers)},
		code: codeKernels{
			turn: window.TurnFor(o.Family, codes), planes: planes.For(o.Family), negate: transpose.For(o.Family, 8),
			digits: map[bool]window.DigitsFunc{true: window.DigitsFor(o.Family, codes, true), false: window.DigitsFor(o.Family, codes, false)},
		},
	}
	var starts []uint64
	var length uint64
	if o.Sample != nil {
		starts, length = o.Sample(s.Positions)
	}
	w.parts, w.sample = partsOf(s.Grid.Layer, starts, length), whichSample(starts, length)
	w.Keeper = newKeeper(d, o.Interval, w, board.CodesBytes(s.Grid.Q, s.Grid.N, codes.Bits))
	s.Between, s.Stats.Windows = w.Keeper.Due, 0
	s.Reports.Window = func() (base, values int, ends int64) { return w.base, w.Codes.Values, w.ends }
	return w
}

// allocate takes memory for the scores of open rows.
func (w *Windows) allocate() (err error) {
	size := board.CodesBytes(w.Grid.Q, w.Grid.N, w.Codes.Bits)
	if w.memory, err = board.NewRegion(size); err != nil {
		return err
	}
	w.Stats.Bytes = uint64(size)
	w.scores = w.memory.Take(size)
	scores := w.scores
	for _, m := range w.Grid.Matrices {
		own := m.Panels * m.Stride()
		m.Scores, scores = scores[:own], scores[own:]
		m.Alive = make([]uint64, len(m.Marks))
	}
	w.Grid.Aim()
	return nil
}

// Solve finds the scores of all windows, from the one on that comes after those found.
func (w *Windows) Solve(ctx context.Context) error {
	err := crew.Run(func() error { return w.eachWindow(ctx) })
	if err = errors.Join(err, w.publishing.wait()); err != nil {
		return err
	}
	err = w.memory.Close() // scores come from streams now
	w.memory, w.scores = nil, nil
	return errors.Join(err, w.removeOthers())
}

// removeOthers removes what nobody needs when all windows are found: their place is for the layer file.
func (w *Windows) removeOthers() error {
	err := vfs.RemoveIfThere(w.Work, w.codesName())
	for segment := range w.segments {
		for class := range board.Classes {
			err = errors.Join(err, vfs.RemoveIfThere(w.Work, rundir.CapturesName(segment, class == board.FullRows)))
		}
	}
	return err
}

func (w *Windows) eachWindow(ctx context.Context) error {
	if w.complete(w.Grid.N) {
		w.Tell(fixpoint.FullStage, 1) // earlier runs found all
	}
	for again := false; !w.complete(w.Grid.N); again = true {
		if err := w.solveWindow(ctx, again); err != nil {
			return err
		}
		w.Stats.Windows++
		w.add(w.now(), w.ends > 0)
		w.Enter(fixpoint.DenseStage)
	}
	return nil
}

// solveWindow finds and stores the window in progress: again is set if memory holds the scores of the one before.
func (w *Windows) solveWindow(ctx context.Context, again bool) error {
	stage, err := w.beginWindow(ctx, again)
	if err == nil {
		w.Keeper.Sweeping = true
		if err = w.SweepAll(ctx, stage); err == nil {
			err = w.Keeper.Settled() // codes are going to change
		}
		w.Keeper.Sweeping = err != nil
	}
	if err != nil {
		return err
	}
	w.Enter(fixpoint.FullStage)
	return w.storeWindow(ctx)
}

// beginWindow begins the window in progress: again is set if memory holds the scores of the
// one before. It returns the stage of the first sweep.
func (w *Windows) beginWindow(ctx context.Context, again bool) (fixpoint.Stage, error) {
	stage := fixpoint.DenseStage
	w.Turning.Store(true)
	defer w.Turning.Store(false)
	w.Tell(stage, 0)
	if err := w.useThin(ctx, again); err != nil {
		return stage, err
	}
	if again && w.WorthMarking(int(w.ends)) { // at most these scores have other captures
		stage = fixpoint.SparseStage
	}
	if err := w.turnAll(ctx, again, stage); err != nil {
		return stage, err
	}
	if !again {
		if err := w.readCodes(ctx); err != nil {
			return stage, err
		}
	}
	if stage == fixpoint.DenseStage {
		w.Expire()
	}
	return stage, nil
}

// turnAll sets all scores to the clipped best capture values of the window in progress.
// If the first sweep is sparse, it marks what that makes out of date.
func (w *Windows) turnAll(ctx context.Context, again bool, first fixpoint.Stage) error {
	prune := again && w.worthPruning(board.OpenRows, w.share(w.openEnds))
	var done atomic.Int64
	strips := w.strips(board.OpenRows)
	return w.goOver(ctx, pass{stage: fixpoint.DenseStage, class: board.OpenRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
		w.Tell(first, float64(done.Add(1))/float64(strips))
		for row := s.begin; row < s.end; row += board.Side {
			at := s.panel*s.matrix.Chunks[board.OpenRows] + row/board.Side
			lines := s.matrix.Lines(s.panel, row/board.Side)
			captures, sources := j.captures[(row-s.begin)*board.Side:], &j.changes.Columns
			switch {
			case prune && w.Codes == window.Eight:
				window.Thin(lines).Prune(captures)
			case prune:
				w.Codes.Prune(captures, lines)
			}
			alive := w.code.turn(lines, captures, j.base, again, sources)
			s.matrix.Alive[at] = alive & s.matrix.All(s.panel)
			if first == fixpoint.SparseStage {
				j.changes.Rows = nonZero(sources[:s.matrix.Depth(board.OpenRows, row/board.Side)])
				w.Grid.MarkBlock(s.matrix, s.panel, row/board.Side, &j.changes)
			}
		}
		return nil
	}})
}

// Shrunk returns how long streams of capture values are that serve a share of the scores, for those that serve all: of
// layers 22 and 26, those that served 0.20, 0.34, 0.54 and 0.59 took 0.30, 0.48, 0.63 and 0.74.
func Shrunk(share float64) float64 { return min(0.08+1.13*share, 1) }

// WorthPruning reports whether streams of capture values that serve a share of the scores had better be written again, without
// those that no later window needs, when another share is left. That they are shorter for one later window does not repay the time
// of packing them: the others must read less by a part of what is written. While more than most are left, the next window leaves
// fewer.
func WorthPruning(later int, serving, left float64) bool {
	const most, part = 0.65, 0.3
	return left < most*serving && float64(later-1)*(Shrunk(serving)-Shrunk(left)) > part*Shrunk(left)
}

// worthPruning is WorthPruning for capture values of a class, when a share of the scores is left. It notes what they serve from
// then on.
func (w *Windows) worthPruning(class board.RowClass, left float64) bool {
	if w.setup.Alone || !WorthPruning(w.windowsLeft()-1, w.serving[class], left) {
		return false
	}
	w.serving[class] = left
	return true
}

// share returns the share of some scores of open rows in all of them, those that fill up lines included.
func (w *Windows) share(open int64) float64 {
	return float64(open) / float64(w.ThinBlocks().Lines*board.Side)
}

// shown returns about the share of scores that are not 0 in a window, of which a share came into it, and another is at an end:
// as much of them is left with each value.
func shown(before, ends float64, values int) float64 {
	return before * math.Pow(ends/before, 1/float64(values))
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
func (w *Windows) storeWindow(ctx context.Context) error {
	began := time.Since(w.Began)
	var ends [board.Classes]atomic.Int64
	streams, err := w.createFound()
	if err != nil {
		return err
	}
	done, strips := 0, w.strips(board.OpenRows)+w.strips(board.FullRows)
	write := func(s strip, j *stripJob) error {
		done++
		w.Tell(fixpoint.FullStage, float64(done)/float64(strips))
		return w.writeFound(streams, s, j)
	}
	before := 1.0
	if w.base > 0 {
		before = w.share(w.openEnds)
	}
	err = w.goOver(ctx, pass{class: board.OpenRows, work: func(s strip, j *stripJob) error {
		ends[board.OpenRows].Add(int64(w.openStrip(s, j)))
		return nil
	}, write: write})
	w.openEnds, w.endsAt = ends[board.OpenRows].Load(), w.base+w.Codes.Values
	if err == nil {
		prune := w.Codes != window.Eight && w.worthPruning(board.FullRows, shown(before, w.share(w.openEnds), w.Codes.Values))
		err = w.goOver(ctx, pass{stage: fixpoint.FullStage, class: board.FullRows, reads: true, prune: prune, work: func(s strip, j *stripJob) error {
			ends[board.FullRows].Add(int64(w.fillStrip(s, j, prune)))
			return nil
		}, write: write})
	}
	w.ends = w.openEnds + ends[board.FullRows].Load()
	if err != nil {
		return errors.Join(err, abort(streams))
	}
	return w.publish(fixpoint.FullStage, func() { w.Keeper.window.Store(int64(began)) }, streams...)
}

// publish stores streams of a stage, when those before are stored, and then calls done. Nobody waits for the
// disk: a failure is reported by the next publish, before a checkpoint, or at the end.
func (w *stored) publish(stage fixpoint.Stage, done func(), streams ...*spill.Writer) error {
	if err := w.publishing.wait(); err != nil {
		return errors.Join(err, abort(streams))
	}
	w.publishing.begin(func() error {
		for _, s := range streams {
			if err := s.Publish(); err != nil {
				return errors.Join(err, abort(streams))
			}
			w.Traffic.Written[stage].Add(uint64(s.Bytes()))
		}
		done()
		return nil
	})
	return nil
}

// strips returns the number of strips of a class of rows.
func (w *Windows) strips(class board.RowClass) (n int) {
	for _, panels := range w.segments {
		for range stripsOf(panels, class) {
			n++
		}
	}
	return n
}

// openStrip turns the codes of a strip of open rows into digits and returns how many scores are
// at an end of the window.
func (w *Windows) openStrip(s strip, j *stripJob) (ends int) {
	for row := s.begin; row < s.end; row += board.Side {
		ends += w.toDigits(s, j, row, s.matrix.Lines(s.panel, row/board.Side))
	}
	return ends
}

// fillStrip computes full rows, which no sweep reads, and turns them into digits. It returns how many
// scores are at an end of the window. It prunes their capture values if they are written again.
func (w *Windows) fillStrip(s strip, j *stripJob, prune bool) (ends int) {
	m := s.matrix
	for row := s.begin; row < s.end; row += board.Side {
		lines := w.fullCodes(j, min(board.Side, s.end-row))
		captures := j.captures[(row-s.begin)*board.Side:]
		w.code.turn(lines, captures, j.base, false, &j.changes.Columns)
		w.Kernels.Least(j.scratch, &j.block, nil, m.All(s.panel), &m.Programs[s.panel], m.Targets[board.FullRows], row/board.Side, nil)
		w.Kernels.Update(lines, &j.block, m.All(s.panel), ^uint64(0), &j.changes)
		ends += w.toDigits(s, j, row, lines)
		if prune {
			w.Codes.PruneZeros(captures, lines)
		}
	}
	return ends
}

// fullCodes returns memory for the codes of up to 64 full rows.
func (w *Windows) fullCodes(j *stripJob, rows int) []int8 {
	if j.codes == nil {
		j.codes = make([]int8, window.MostThin)
	}
	if w.Codes == window.Eight {
		return window.NewThin(j.codes, allSearched[:rows])
	}
	return j.codes[:rows*w.Codes.Line()]
}
