package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/kernels/ranks"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables/catalog"
)

// The names of tasks, in order.
const (
	PlanTask    = "plan"     // make the plan of the layer
	CaptureTask = "captures" // a share of the segments of capture values
	WindowTask  = "window"   // find a window
	SealTask    = "seal"     // encode a share of the pieces
	PublishTask = "publish"  // make the layer file
)

// Task is what a step does.
type Task struct {
	Name     string
	Part, Of int // share Part, from 1 on, of Of equal ones; Part is the window of WindowTask
}

// String returns the task in words.
func (t Task) String() string {
	switch t.Name {
	case PlanTask, PublishTask:
		return t.Name
	case WindowTask:
		return fmt.Sprintf("%s %d", t.Name, t.Part)
	}
	return fmt.Sprintf("%s %d/%d", t.Name, t.Part, t.Of)
}

// share returns which of n things, in order, the task is about: those from begin on, before end.
func (t Task) share(n int) (begin, end int) {
	from, to := t.part().Share(uint64(n))
	return int(from), int(to)
}

// part returns the share as a part of a run.
func (t Task) part() job.Part { return job.Part{Index: t.Part, Of: t.Of} }

// StepOptions say of which layer a step is, and how it works.
type StepOptions struct {
	job.Job                // Memory is that of a plan; steps take what the plan says
	Seeds    int           // of the layer
	Skip     int           // is as in Options, for a plan: its steps leave out the same layer
	Program  string        // names this program in plans
	Bits     int           // of a score, for a plan; 0 chooses what fits
	Interval time.Duration // as in Options
	// Calibration is as in Options.
	Calibration *plan.Calibration
}

// StepReport says what a step did.
type StepReport struct {
	Before bool      `json:"done_before"`
	Plan   *StepPlan `json:"plan,omitempty"` // nil if the layer was published before
}

// NotYetError reports a step whose needs are not there yet: the same one can be done later.
type NotYetError struct {
	Seeds int    // of the layer
	Needs string // what it waits for
}

// Error says what is missing.
func (e *NotYetError) Error() string { return fmt.Sprintf("layer %d: not yet: %s", e.Seeds, e.Needs) }

// Is makes it a pause.
func (e *NotYetError) Is(target error) bool { return target == fault.Pause }

// step is a process that works on a layer by a plan.
type step struct {
	run
	from   *rundir.Dir
	plan   StepPlan
	opened vfs.Dir // of the streams of the plan, or nil
	steps  *halfboard.Steps
}

// Do does a step of a layer in the run directory at path, or finds out that it was done before. When ctx ends, what was begun is
// kept for the same step to resume.
//
// It fails like Solve, but with a *NotYetError if what the step needs is not there yet, or another process has the directory, and
// with ErrPlan if there are streams of another plan, or the plan is not for this program, or for other layers below.
func (t Task) Do(ctx context.Context, path string, o StepOptions) (report StepReport, err error) {
	s, sealed, err := nextLayer(path, &o)
	if err != nil || sealed {
		return StepReport{Before: sealed}, err
	}
	report.Plan = &s.plan
	err = crew.Run(func() error {
		report.Before, err = s.do(ctx, t, &o)
		return err
	})
	err = errors.Join(err, s.Close())
	if err != nil && ctx.Err() == nil && (t.Name != PublishTask || errors.Is(err, fault.Pause)) {
		// Others may have done the step, and published the layer.
		if _, sealed, _ := nextLayer(path, &o); sealed {
			return StepReport{Before: true}, nil
		}
	}
	return report, err
}

// nextLayer looks at a run directory whose next layer is worked on. It reports whether that is sealed.
func nextLayer(path string, o *StepOptions) (s *step, sealed bool, err error) {
	d, err := rundir.Open(path)
	if err != nil {
		return nil, false, err
	}
	m, err := catalog.Manifest(d)
	if err != nil {
		return nil, false, err
	}
	space, err := catalog.Space(d.ManifestPath(), m)
	if err != nil {
		return nil, false, err
	}
	if err := cmp.Or((&Options{Seeds: o.Seeds, Skip: o.Skip}).checkLast(), checkSkip(path, m, o.Skip)); err != nil {
		return nil, false, err
	}
	next := len(m.Layers)
	if o.Seeds == next+1 && (o.Skip == next || planned(d, o.Seeds)) {
		next = o.Seeds
	}
	switch {
	case o.Seeds >= 0 && o.Seeds < next && !m.Has(o.Seeds):
		return nil, false, fmt.Errorf("%w: layer %d of %s is left out: solve it with grenier awari solve", ErrPlan, o.Seeds, path)
	case o.Seeds < 0 || o.Seeds > awari.MaxSeeds:
		return nil, false, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, o.Seeds, awari.MaxSeeds)
	case o.Seeds > next || len(m.Missing(o.Seeds-2)) > 0: // no move leads to the one below
		return nil, false, &NotYetError{o.Seeds, fmt.Sprintf("%s lacks layer %d, and layers come one after the other", path, append(m.Missing(o.Seeds-2), next)[0])}
	}
	s = &step{from: d}
	s.options, s.game = Options{Job: o.Job, Seeds: o.Seeds, Interval: o.Interval, Calibration: o.Calibration}, space.Game
	if o.Seeds > len(m.Layers) { // the one below it is left out
		s.options.Skip = o.Seeds - 1
	}
	s.path, s.manifest, s.resumed = path, m, true // what other processes have found is checked
	return s, o.Seeds < len(m.Layers), checkStale(path, m)
}

// planned reports whether there is a plan of layer n.
func planned(d *rundir.Dir, n int) bool {
	plan, _, err := readPlan(d)
	return err == nil && plan.Seeds == n
}

// do does a step.
func (s *step) do(ctx context.Context, t Task, o *StepOptions) (before bool, err error) {
	if t.Name == PlanTask || t.Name == PublishTask {
		err = s.lock()
	}
	if err == nil && t.Name != PlanTask {
		err = s.open(ctx, o)
	}
	if err != nil {
		return false, err
	}
	if t.Name == PlanTask {
		return s.makePlan(ctx, o)
	}
	if err := s.forecast(t); err != nil {
		return false, err
	}
	switch t.Name {
	case CaptureTask:
		return s.capture(ctx, t)
	case WindowTask:
		return s.findWindow(ctx, t)
	case SealTask:
		return s.sealPieces(ctx, t)
	}
	return false, s.publishLayer(ctx)
}

// forecast begins to follow the step: see Course.
func (s *step) forecast(t Task) error {
	if err := s.follow(s.plan.Seeds, s.plan.Memory); err != nil {
		return err
	}
	switch t.Name {
	case CaptureTask:
		s.course.Only(plan.Capture, 0, 1/float64(t.Of))
	case WindowTask:
		if bases := halfboard.Bases(s.plan.Seeds, s.plan.Bits); t.Part <= len(bases) {
			s.course.Only(plan.Sweep, bases[t.Part-1], 1)
		}
	case SealTask:
		s.course.Only(plan.Seal, 0, 1/float64(t.Of))
	case PublishTask:
		s.course.Only(plan.Seal, 0, 1)
		s.course.Resumed(resumedSample)
	}
	return nil
}

// lock locks the run directory.
func (s *step) lock() (err error) {
	s.dir, err = rundir.Lock(s.path, s.manifest.Identity)
	if held, ok := errors.AsType[*rundir.LockedError](err); ok {
		err = &NotYetError{s.options.Seeds, held.Error()}
	}
	if err != nil {
		return err
	}
	return s.unchanged()
}

// unchanged fails if a layer was published meanwhile.
func (s *step) unchanged() error {
	m, err := s.from.Manifest()
	if err == nil && len(m.Layers) != len(s.manifest.Layers) {
		err = &NotYetError{s.options.Seeds, "another process has published a layer meanwhile"}
	}
	return err
}

// open opens the plan, and the directory of its streams.
func (s *step) open(ctx context.Context, o *StepOptions) error {
	plan, number, err := readPlan(s.from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && plan.Seeds < o.Seeds {
		return &NotYetError{o.Seeds, "it has no plan"}
	}
	if err == nil {
		s.plan = plan
		err = s.obey(o.Program)
	}
	if err == nil {
		s.opened, err = s.from.Steps(number)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &NotYetError{o.Seeds, "its plan is being made, or given up"}
	}
	if err != nil {
		return err
	}
	s.work = s.opened
	if err := s.layOut(number); err != nil {
		return err
	}
	if s.steps.Segments() != plan.Segments {
		return corrupt.New(s.from.PlanPath(), "", "%d segments instead of %d", plan.Segments, s.steps.Segments())
	}
	return nil
}

// layOut lays out the layer of the plan with the given number.
func (s *step) layOut(number uint32) error {
	s.options.Memory, s.options.Bits = s.plan.Memory, s.plan.Bits
	s.segment, s.number = s.plan.Segment, fmt.Sprintf("%08x", number)
	e, err := s.newSweeps(s.work)
	if err != nil {
		return err
	}
	s.engine = sweeps{e}
	s.steps, err = e.Steps(s.plan.Seeds, s.identify(s.plan.Seeds))
	return err
}

// Close ends the step.
func (s *step) Close() (err error) {
	if s.steps != nil {
		err = s.steps.Close()
	}
	if s.engine != nil {
		err = errors.Join(err, s.engine.Close())
	}
	if s.opened != nil {
		err = errors.Join(err, s.opened.Close())
	}
	if s.dir != nil {
		err = errors.Join(err, s.dir.Unlock())
	}
	return err
}

// capture computes the capture values of a share of the segments.
func (s *step) capture(ctx context.Context, t Task) (before bool, err error) {
	begin, end := t.share(s.plan.Segments)
	due, err := s.steps.DueAlone(ctx, begin, end)
	if err != nil || len(due) == 0 {
		return true, err
	}
	for n := range s.manifest.Layers { // all shares together look at the scores of the layers below
		if !t.part().Takes(n) {
			s.trust(&s.manifest.Layers[n])
		}
	}
	lower, err := s.lower(ctx, s.plan.Seeds)
	if err != nil {
		return false, err
	}
	return false, s.steps.Compute(ctx, due, &seen{lower, nil})
}

// findWindow finds a window.
func (s *step) findWindow(ctx context.Context, t Task) (before bool, err error) {
	if t.Part > s.plan.Windows {
		return false, fmt.Errorf("%w %d: the plan of layer %d has windows 1 to %d", errWindow, t.Part, s.plan.Seeds, s.plan.Windows)
	}
	base := halfboard.Bases(s.plan.Seeds, s.plan.Bits)[t.Part-1]
	if before, err = s.steps.IsFound(ctx, base); err != nil || before {
		return before, err
	}
	if err := s.needs("segments of capture values", CaptureTask, s.steps.LacksCaptures(), s.plan.Segments); err != nil {
		return false, err
	}
	return false, s.steps.Find(ctx, base)
}

// needs fails with a *NotYetError if some of all things are missing, numbered from 0: the task of that name makes one.
func (s *step) needs(what, name string, missing []int, all int) error {
	if len(missing) == 0 {
		return nil
	}
	first := Task{name, missing[0] + 1, all}
	return &NotYetError{s.plan.Seeds, fmt.Sprintf("%d of %d %s are missing, --%v first", len(missing), all, what, first)}
}

// found returns the layer, all windows of which are found.
func (s *step) found() (*halfboard.Layer, error) {
	layer, lacks := s.steps.Layer()
	return layer, s.needs("windows", WindowTask, lacks, s.plan.Windows)
}

// blocksOf returns the blocks of a piece of the encoded layer, from first on, before end.
func (s *step) blocksOf(piece int) (first, end int) {
	return Task{Part: piece + 1, Of: s.plan.Pieces}.share(s.blocks())
}

// headerOf returns the header of the file of a piece: that of a layer with its blocks alone.
func (s *step) headerOf(h layerfile.Header, piece int) layerfile.Header {
	first, end := s.blocksOf(piece)
	h.Positions = min(h.Positions, uint64(end*h.BlockSize)) - uint64(first*h.BlockSize)
	return h
}

// sealPieces encodes a share of the pieces.
func (s *step) sealPieces(ctx context.Context, t Task) (before bool, err error) {
	var sealing *sealing
	begin, end := t.share(s.plan.Pieces)
	for piece := begin; piece < end && err == nil; piece++ {
		whole := false
		if whole, err = s.isWhole(ctx, piece); err != nil || whole {
			continue
		}
		if sealing == nil {
			var layer *halfboard.Layer
			if layer, err = s.found(); err == nil {
				sealing = s.newSealing(layer)
				sealing.header.Model, err = s.model(ctx, sealing)
			}
		}
		if err == nil {
			err = s.sealPiece(ctx, sealing, piece)
		}
	}
	return sealing == nil, err
}

// model returns the model of the layer: that of a piece which is there, or else as counted. Publication counts it in any case.
func (s *step) model(ctx context.Context, sealing *sealing) (ranks.Model, error) {
	for piece := range s.plan.Pieces {
		f, err := layerfile.OpenSparing(s.work.Path(rundir.PieceName(piece)))
		if err != nil {
			continue
		}
		h := sealing.header
		h.Model = f.Header().Model
		same := f.Header() == s.headerOf(h, piece)
		if err := f.Close(); err != nil {
			return "", err
		}
		if same {
			return h.Model, nil
		}
	}
	return sealing.model(ctx)
}

// isWhole reports whether the file of a piece is there, all of which it reads. The user is told of a damaged one, which counts as
// not there.
func (s *step) isWhole(ctx context.Context, piece int) (bool, error) {
	first, _ := s.blocksOf(piece)
	s.checking(s.plan.Seeds, uint64(first)*layerfile.MaxBlockSize)
	o, path := &s.options, s.work.Path(rundir.PieceName(piece))
	_, err := layerfile.CheckSparing(ctx, path, o.Family, o.Workers, func(int64) {}, func(error) {})
	if errors.Is(err, corrupt.ErrCorrupt) {
		o.Notef("layer %d: piece %d is encoded again: %v", s.plan.Seeds, piece, err)
	}
	if errors.Is(err, corrupt.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// sealPiece encodes a piece.
func (s *step) sealPiece(ctx context.Context, sealing *sealing, piece int) error {
	p, err := vfs.NewPending(s.work, rundir.PieceName(piece))
	if err != nil {
		return err
	}
	w, err := layerfile.CreateSparing(p, s.headerOf(sealing.header, piece), s.options.Family)
	if err != nil {
		return err
	}
	first, end := s.blocksOf(piece)
	if err = sealing.stream(ctx, first, end, w.Append); err == nil {
		_, err = w.Finish()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Publish()
}

// publishLayer makes the file of the layer of its pieces and publishes it.
func (s *step) publishLayer(ctx context.Context) error {
	layer, err := s.found()
	if err != nil {
		return err
	}
	var missing []int
	for piece := range s.plan.Pieces {
		if there, _ := vfs.Exists(s.work, rundir.PieceName(piece)); !there {
			missing = append(missing, piece)
		}
	}
	if err := s.needs("pieces of the encoded layer", SealTask, missing, s.plan.Pieces); err != nil {
		return err
	}
	report, file, err := s.sealSolved(ctx, layer, time.Now(), s.join)
	if err != nil {
		return err
	}
	if err := s.unchanged(); err != nil { // where locks do not hold
		return errors.Join(err, file.Abort())
	}
	report.Layer.Seconds = 0 // nobody has added up what all steps took
	if err := s.publish(file, report.Layer); err != nil {
		return err
	}
	return s.dir.ClearSteps()
}

// join appends the blocks of all pieces to the layer file.
func (s *step) join(ctx context.Context, sealing *sealing, w *layerfile.Writer) error {
	jobs := sealing.flights(s.options.Workers)
	for piece := range s.plan.Pieces {
		f, err := layerfile.OpenSparing(s.work.Path(rundir.PieceName(piece)))
		if err != nil {
			return err
		}
		if f.Header() != s.headerOf(sealing.header, piece) {
			err = corrupt.New(f.Path(), "header", "%w: not piece %d of this layer", corrupt.ErrMismatch, piece)
		}
		if err == nil {
			err = s.joinPiece(ctx, sealing, w, f, piece, jobs)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// joinPiece appends the blocks of a piece.
func (s *step) joinPiece(ctx context.Context, sealing *sealing, w *layerfile.Writer, f *layerfile.File, piece int, jobs []*flight) error {
	f.Bound(s.plan.Seeds)
	decoders := make([]*layerfile.Decoder, s.options.Workers)
	for i := range decoders {
		decoders[i] = f.NewDecoder(s.options.Family)
	}
	first, end := s.blocksOf(piece)
	return crew.Ordered[*flight]{
		Work: func(worker, i int, j *flight) error {
			return sealing.copy(ctx, decoders[worker], i, first+i, j)
		},
		Write: func(i int, j *flight) error { return sealing.append(w.Append, first+i, j) },
	}.Run(ctx, len(decoders), end-first, jobs)
}
