package solve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/tables/catalog"
)

// Share is a part of equal parts.
type Share struct{ Part, Of int } // Part is 1 to Of

// of returns which of n things, in order, the share has: those from begin on, before end.
func (s Share) of(n int) (begin, end int) { return (s.Part - 1) * n / s.Of, s.Part * n / s.Of }

// Task is what a step does: one of its fields is set.
type Task struct {
	Captures Share // of the segments of capture values
	Window   int   // from 1 on
	Seal     Share // of the pieces of the encoded layer
	Publish  bool
}

// StepOptions say of which layer a step is, and how it works.
type StepOptions struct {
	job.Job                // Memory is that of a plan; steps take what the plan says
	Seeds    int           // of the layer
	Program  string        // names this program in plans
	Bits     int           // of a score, for a plan; 0 chooses what fits
	Interval time.Duration // as in Options
}

// step is a process that works on a layer by a plan.
type step struct {
	run
	from  *rundir.Dir
	plan  StepPlan
	steps *halfboard.Steps
}

// lockRun locks a run directory that exists.
func lockRun(path string, n int) (*rundir.Locked, error) {
	d, err := rundir.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := catalog.Manifest(d)
	if err != nil {
		return nil, err
	}
	dir, err := rundir.Lock(path, m.Identity)
	if held, ok := errors.AsType[*rundir.LockedError](err); ok {
		return nil, &NotYetError{n, held.Error()}
	}
	return dir, err
}

// nextLayer looks at a run directory whose next layer is worked on. It reports whether that is sealed.
func nextLayer(d *rundir.Dir, o *StepOptions) (s *step, sealed bool, err error) {
	if o.Seeds < 0 || o.Seeds > awari.MaxSeeds {
		return nil, false, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, o.Seeds, awari.MaxSeeds)
	}
	m, err := catalog.Manifest(d)
	if err != nil {
		return nil, false, err
	}
	space, err := catalog.Space(d.ManifestPath(), m)
	if err != nil {
		return nil, false, err
	}
	if next := len(m.Layers); o.Seeds > next {
		return nil, false, &NotYetError{o.Seeds, fmt.Sprintf("%s lacks layer %d, and layers come one after the other", d.Path(), next)}
	}
	s = &step{from: d}
	s.options, s.game = Options{Job: o.Job, Seeds: o.Seeds, Interval: o.Interval}, space.Game
	s.path, s.manifest, s.resumed = d.Path(), m, true // what other processes have found is checked
	return s, o.Seeds < len(m.Layers), checkStale(d.Path(), m)
}

// StepReport says what a step did.
type StepReport struct {
	Plan   StepPlan
	Before bool   // it was done before
	Report Report // of a layer that was published
}

// Do does a step of a layer, by the plan of the run directory at path, or finds out that it was done before. When ctx ends, what
// was begun is kept for the same step to resume.
//
// It fails like Solve, but with a *NotYetError if what the step needs is not there yet, and with ErrPlan if the plan is
// not for this program, or for other layers below.
func (task Task) Do(ctx context.Context, path string, o StepOptions) (report StepReport, err error) {
	d, err := rundir.Open(path)
	if err != nil {
		return report, err
	}
	var locked *rundir.Locked
	if task.Publish {
		if locked, err = lockRun(path, o.Seeds); err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, locked.Unlock()) }()
	}
	s, sealed, err := nextLayer(d, &o)
	if err != nil || sealed {
		return StepReport{Before: sealed}, err
	}
	s.dir = locked
	err = s.open(ctx, &o)
	if err == nil {
		err = crew.Run(func() (err error) {
			report, err = s.do(ctx, task)
			return err
		})
	}
	err = errors.Join(err, s.Close())
	if s.work != nil {
		err = errors.Join(err, s.work.Close())
	}
	if err != nil && ctx.Err() == nil { // the same step may have been done elsewhere, and the layer be published, meanwhile
		if _, sealed, _ := nextLayer(d, &o); sealed {
			return StepReport{Plan: s.plan, Before: true}, nil
		}
	}
	return report, err
}

// open opens what a step needs: the plan, and the directory of its streams.
func (s *step) open(ctx context.Context, o *StepOptions) error {
	n := o.Seeds
	plan, number, err := readPlan(s.from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && plan.Seeds < n {
		return &NotYetError{n, "it has no plan"}
	}
	if err == nil {
		s.plan, err = plan, s.obey(plan, o.Program)
	}
	if err != nil {
		return err
	}
	if s.work, err = s.from.Steps(number); errors.Is(err, fs.ErrNotExist) {
		return &NotYetError{n, "its plan is being made, or given up"}
	}
	if err != nil {
		return err
	}
	if err := s.layOut(ctx, number); err != nil {
		return err
	}
	if s.steps.Segments() != plan.Segments {
		return corrupt.New(s.from.PlanPath(), "", "%d segments instead of %d", plan.Segments, s.steps.Segments())
	}
	return nil
}

// do does a step.
func (s *step) do(ctx context.Context, task Task) (r StepReport, err error) {
	r.Plan = s.plan
	switch {
	case task.Publish:
		r.Report, err = s.publishLayer(ctx)
	case task.Window > s.plan.Windows:
		err = fmt.Errorf("%w: window %d: the plan of layer %d has windows 1 to %d", errTask, task.Window, s.plan.Seeds, s.plan.Windows)
	case task.Window > 0:
		r.Before, err = s.findWindow(ctx, task.Window)
	case task.Seal.Of > 0:
		r.Before, err = s.sealPieces(ctx, task.Seal)
	case task.Captures.Of > 0:
		r.Before, err = s.capture(ctx, task.Captures)
	default:
		err = fmt.Errorf("%w: %+v", errTask, task)
	}
	return r, err
}

// errTask reports a part of a layer that its plan does not have.
var errTask = fault.New(fault.Usage, "no such step")

// capture computes the capture values of a share of the segments.
func (s *step) capture(ctx context.Context, share Share) (before bool, err error) {
	begin, end := share.of(s.plan.Segments)
	due, err := s.steps.Due(ctx, begin, end)
	if err != nil || len(due) == 0 {
		return err == nil, err
	}
	lower, err := s.lower(ctx, s.plan.Seeds)
	if err != nil {
		return false, err
	}
	return false, s.steps.Capture(ctx, due, &seen{lower, nil})
}

// findWindow finds a window.
func (s *step) findWindow(ctx context.Context, window int) (before bool, err error) {
	base := halfboard.Bases(s.plan.Seeds, s.plan.Bits)[window-1]
	if before, err = s.steps.IsFound(ctx, base); err != nil || before {
		return before, err
	}
	if err := s.needs("segments of capture values", "--captures", s.steps.LacksCaptures(), s.plan.Segments); err != nil {
		return false, err
	}
	return false, s.steps.Find(ctx, base)
}

// needs fails with a *NotYetError if some of all things are missing, numbered from 0; flag is that of the step that makes one.
func (s *step) needs(what, flag string, missing []int, all int) error {
	if len(missing) == 0 {
		return nil
	}
	first := fmt.Sprint(missing[0] + 1)
	if flag != windowFlag {
		first += fmt.Sprintf("/%d", all)
	}
	return &NotYetError{s.plan.Seeds, fmt.Sprintf("%d of %d %s are missing, %s %s first", len(missing), all, what, flag, first)}
}

const windowFlag = "--window"

// found returns the layer, all windows of which are found.
func (s *step) found() (*halfboard.Layer, error) {
	layer, lacks := s.steps.Layer()
	return layer, s.needs("windows", windowFlag, lacks, s.plan.Windows)
}

// piece returns a piece of the encoded layer, and its blocks, from first on, before end.
func (s *step) piece(number int) (piece halfboard.Piece, first, end int) {
	blocks := s.blocks(s.plan.Seeds)
	first, end = Share{number + 1, s.plan.Pieces}.of(blocks)
	return s.steps.Piece(number, fmt.Sprintf("blocks %d to %d", first, end-1)), first, end
}

// sealPieces encodes a share of the pieces.
func (s *step) sealPieces(ctx context.Context, share Share) (before bool, err error) {
	begin, end := share.of(s.plan.Pieces)
	var due []int
	for number := begin; number < end; number++ {
		_, first, _ := s.piece(number)
		s.checking(s.plan.Seeds, uint64(first)*layerfile.MaxBlockSize)
		whole, err := s.isWhole(ctx, number)
		if err != nil {
			return false, err
		}
		if !whole {
			due = append(due, number)
		}
	}
	if len(due) == 0 {
		return true, nil
	}
	layer, err := s.found()
	if err != nil {
		return false, err
	}
	sealing, err := s.newSealing(ctx, layer)
	for _, number := range due {
		if err == nil {
			err = s.sealPiece(ctx, sealing, number)
		}
	}
	return false, err
}

// isWhole reports whether a piece is there, which it reads to its end.
func (s *step) isWhole(ctx context.Context, number int) (bool, error) {
	piece, first, end := s.piece(number)
	var packed []byte
	return piece.IsWhole(func(r io.Reader) (err error) {
		for ; first < end && err == nil; first++ {
			if err = ctx.Err(); err == nil {
				packed, err = layerfile.ReadPacked(r, packed)
			}
		}
		return err
	})
}

// sealPiece encodes a piece.
func (s *step) sealPiece(ctx context.Context, sealing *sealing, number int) error {
	piece, first, end := s.piece(number)
	var packed []byte
	return piece.Write(func(w io.Writer) error {
		return sealing.stream(ctx, first, end, func(b *layerfile.Block) error {
			packed = b.Packed(packed[:0])
			_, err := w.Write(packed)
			return err
		})
	})
}

// publishLayer makes the file of the layer of its pieces and publishes it.
func (s *step) publishLayer(ctx context.Context) (report Report, err error) {
	layer, err := s.found()
	if err != nil {
		return report, err
	}
	var missing []int
	for number := range s.plan.Pieces {
		if piece, _, _ := s.piece(number); !piece.IsThere() {
			missing = append(missing, number)
		}
	}
	if err := s.needs("pieces of the encoded layer", "--seal", missing, s.plan.Pieces); err != nil {
		return report, err
	}
	report, file, err := s.sealSolved(ctx, layer, time.Now(), s.join)
	if err != nil {
		return report, err
	}
	report.Layer.Seconds = 0                                                      // nobody has added up what all steps took
	if m, err := s.from.Manifest(); err != nil || len(m.Layers) != s.plan.Seeds { // where locks do not hold
		return report, errors.Join(err, &NotYetError{s.plan.Seeds, "another process publishes it"}, file.Abort())
	}
	if err := s.publish(file, report.Layer); err != nil {
		return report, err
	}
	return report, s.dir.ClearSteps()
}

// join appends the blocks of all pieces to the layer file.
func (s *step) join(ctx context.Context, sealing *sealing, w *layerfile.Writer) error {
	unpackers := make([]*layerfile.Unpacker, s.options.Workers)
	for i := range unpackers {
		var err error
		if unpackers[i], err = layerfile.NewUnpacker(s.work.Path(""), sealing.header, s.plan.Seeds, s.options.Family); err != nil {
			return err
		}
	}
	jobs := sealing.flights(len(unpackers))
	for number := range s.plan.Pieces {
		piece, first, end := s.piece(number)
		err := piece.Read(func(r io.Reader) error {
			return crew.Ordered[*flight]{
				Read: func(_ int, j *flight) (err error) {
					j.packed, err = layerfile.ReadPacked(r, j.packed)
					return err
				},
				Work: func(worker, i int, j *flight) error {
					if err := unpackers[worker].Unpack(&j.block, first+i, j.packed, j.scores); err != nil {
						return err
					}
					return sealing.see(uint64(first+i)*uint64(sealing.header.BlockSize), j.scores[:sealing.header.BlockLen(first+i)])
				},
				Write: func(i int, j *flight) error { return sealing.append(w.Append, first+i, j) },
			}.Run(ctx, len(unpackers), end-first, jobs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layOut lays out the layer of the plan with the given number.
func (s *step) layOut(ctx context.Context, number uint32) error {
	s.options.Memory, s.options.Bits = s.plan.Memory, s.plan.Bits
	s.segment, s.number = s.plan.Segment, fmt.Sprintf("%08x", number)
	e, err := s.newSweeps(s.work)
	if err != nil {
		return err
	}
	s.engine = sweeps{e}
	s.steps, err = e.Steps(ctx, s.plan.Seeds, s.identify(s.plan.Seeds))
	return err
}

// Close returns the memory of the step.
func (s *step) Close() (err error) {
	if s.steps != nil {
		err = s.steps.Close()
	}
	if s.engine != nil {
		err = errors.Join(err, s.engine.Close())
	}
	return err
}
