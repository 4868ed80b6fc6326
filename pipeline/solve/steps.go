package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/crc32c"
	"grenier/kernels/fault"
	"grenier/pipeline/solve/internal/halfboard"
)

// A layer can be solved in steps, by processes that someone else starts, on several machines that share the run directory.
// A plan says how, and binds all of them. docs/format/steps.md describes plan and streams.

var planHeader = jsonfile.Header{Format: "grenier-steps", Version: 1}

// StepPlan is the plan of a layer that is solved in steps.
type StepPlan struct {
	jsonfile.Header
	Program  string `json:"program"` // that made it: steps of another one are refused
	Rules    string `json:"rules"`
	Pits     int    `json:"pits"`
	Seeds    int    `json:"seeds"`             // of the layer
	Below    string `json:"below"`             // identifies the layers below, 16 hexadecimal digits
	Memory   uint64 `json:"memory_bytes"`      // of each step, at most
	Bits     int    `json:"bits"`              // of a score in memory
	Windows  int    `json:"windows"`           // all with these bits
	Segment  uint64 `json:"segment_positions"` // the least of a segment of capture values
	Segments int    `json:"segments"`
	Pieces   int    `json:"pieces"` // of the encoded layer
}

// A planned layer has about mostSegments segments, of at least leastSegment positions, and mostPieces pieces of whole blocks,
// or one for each block.
const (
	mostSegments = 64
	leastSegment = 1 << 14
	mostPieces   = 64
)

var (
	// ErrPlan says that a step is of another plan than the one that the directory has.
	ErrPlan = fault.New(fault.Usage, "another plan")
	// ErrSteps says that a layer is being solved in steps.
	ErrSteps = fault.New(fault.Usage, "solved in steps")
)

// NotYetError reports a step whose needs are not there yet: the same one can be done later.
type NotYetError struct {
	Seeds int    // of the layer
	Needs string // what it waits for
}

// Error says what is missing.
func (e *NotYetError) Error() string { return fmt.Sprintf("layer %d: not yet: %s", e.Seeds, e.Needs) }

// Is makes it a pause.
func (e *NotYetError) Is(target error) bool { return target == fault.Pause }

// PlanSteps makes the plan of the layer that comes next in the run directory at path, and replaces one of which there are no
// streams yet. It reports whether there was the same plan already; or that the layer is sealed, with no plan.
//
// It fails like Solve, but with a *NotYetError while another process has the directory, or if layers below are missing; and with ErrPlan if there are streams of another plan.
func PlanSteps(ctx context.Context, path string, o StepOptions) (plan StepPlan, before bool, err error) {
	dir, err := lockRun(path, o.Seeds)
	if err != nil {
		return plan, false, err
	}
	defer func() { err = errors.Join(err, dir.Unlock()) }()
	s, sealed, err := nextLayer(&dir.Dir, &o)
	if err != nil || sealed {
		return plan, sealed, err
	}
	s.dir, s.work = dir, dir.Work()
	if err := errors.Join(s.makePlan(ctx, &o), s.Close()); err != nil {
		return plan, false, err
	}
	before, err = s.savePlan()
	return s.plan, before, err
}

// makePlan makes the plan of the next layer.
func (s *step) makePlan(ctx context.Context, o *StepOptions) error {
	bits, err := s.formOf(o.Memory, o.Bits)
	if err != nil {
		return err
	}
	s.plan = s.newPlan(o.Program, o.Memory, bits)
	if err := s.layOut(ctx, 0); err != nil {
		return err
	}
	s.plan.Segments = s.steps.Segments()
	if n, same := s.engine.Checkpointed(s.identify); n == s.plan.Seeds && same {
		return fmt.Errorf("%w: %s has what grenier awari solve has found of layer %d: go on with that, or remove it", ErrPlan, s.work.Path(""), n)
	}
	return nil
}

// savePlan makes the plan that of the directory. It reports whether it was so before.
func (s *step) savePlan() (before bool, err error) {
	data, number, err := s.plan.encode()
	if err != nil {
		return false, err
	}
	old, oldNumber, err := readPlan(s.from)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && old.Seeds < s.plan.Seeds:
	case err != nil:
		return false, err
	case old == s.plan:
		return true, nil
	default:
		if err := s.notBegun(oldNumber); err != nil {
			return false, err
		}
	}
	if err := s.dir.ClearSteps(); err != nil {
		return false, err
	}
	return false, s.dir.SavePlan(number, data)
}

// notBegun fails with ErrPlan if there are streams of a plan.
func (s *step) notBegun(number uint32) error {
	work, err := s.from.Steps(number)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := work.Entries()
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%w of layer %d has streams: go on with it, or give it up: remove %s", ErrPlan, s.plan.Seeds, s.from.PlanPath())
	}
	return errors.Join(err, work.Close())
}

// newPlan returns the plan of the layer that comes next, but for the number of its segments.
func (s *step) newPlan(program string, memory uint64, bits int) StepPlan {
	n := len(s.manifest.Layers)
	return StepPlan{
		Header: planHeader, Program: program, Rules: s.game.Rules().String(), Pits: s.game.Pits(), Seeds: n,
		Below: fmt.Sprintf("%016x", uint64(s.identify(n))), Memory: memory, Bits: bits, Windows: len(halfboard.Bases(n, bits)),
		Segment: max(leastSegment, halfboard.Positions(s.game, n)/mostSegments), Pieces: min(mostPieces, s.blocks(n)),
	}
}

// blocks returns the number of blocks of the file of layer n.
func (s *step) blocks(n int) int {
	h := layerfile.Header{BlockSize: layerfile.MaxBlockSize, Positions: halfboard.Positions(s.game, n)}
	return h.Blocks()
}

// formOf returns the bits of a score in windows of the next layer within memory, the most that fit; bits, if not 0, forces
// them. It fails with a *memory.Error.
func (s *step) formOf(allowed uint64, bits int) (int, error) {
	n, need := len(s.manifest.Layers), uint64(0)
	for _, width := range halfboard.Widths[1:] {
		if bits != 0 && bits != width {
			continue
		}
		if need = halfboard.Narrow(s.game, n, s.options.Workers, width); need <= allowed {
			return width, nil
		}
	}
	return 0, &memory.Error{What: fmt.Sprintf("a step of layer %d", n), Need: need, Allowed: allowed}
}

// encode returns the contents of the file of a plan, and its number.
func (p *StepPlan) encode() (data []byte, number uint32, err error) {
	data, err = jsonfile.EncodeSealed(p)
	return data, crc32c.Of(data), err
}

// PlanOf returns the plan of the run directory at path. It fails with fs.ErrNotExist if there is none, or as ParseSealed of
// package jsonfile does.
func PlanOf(path string) (StepPlan, error) {
	d, err := rundir.Open(path)
	if err != nil {
		return StepPlan{}, err
	}
	plan, _, err := readPlan(d)
	return plan, err
}

// readPlan reads the plan of a run directory, and returns its number. It fails with fs.ErrNotExist if there is none, and with
// an error that matches corrupt.ErrCorrupt.
func readPlan(d *rundir.Dir) (plan StepPlan, number uint32, err error) {
	data, err := d.Plan(jsonfile.MaxBytes)
	if err == nil {
		err = jsonfile.ParseSealed(d.PlanPath(), data, planHeader, &plan)
	}
	return plan, crc32c.Of(data), err
}

// checkPlan fails with ErrSteps if a layer up to the last one that a solver adds is being solved in steps.
func checkPlan(d *rundir.Dir, m *manifest.Manifest, last int) error {
	if last < len(m.Layers) {
		return nil
	}
	plan, _, err := readPlan(d)
	if errors.Is(err, fs.ErrNotExist) || err == nil && plan.Seeds < len(m.Layers) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("layer %d is %w: go on with grenier awari step, or give the plan up: remove %s", plan.Seeds, ErrSteps, d.PlanPath())
	}
	return err
}

// obey fails with ErrPlan unless the plan in the directory is one that this process follows, or with a *memory.Error if it
// has more workers than the plan has memory for.
func (s *step) obey(plan StepPlan, program string) error {
	other := func(what, has, here string) error {
		return fmt.Errorf("%s: %w: %s %s, here %s; to give the plan up, remove it", s.from.PlanPath(), ErrPlan, what, has, here)
	}
	if !slices.Contains(halfboard.Widths[1:], plan.Bits) {
		return corrupt.New(s.from.PlanPath(), "", "%d bits a score", plan.Bits)
	}
	want := s.newPlan(program, plan.Memory, plan.Bits)
	want.Segments = plan.Segments
	switch {
	case plan.Program != program:
		return other("made by grenier", plan.Program, program)
	case plan.Below != want.Below:
		return other("layers below are", plan.Below, want.Below)
	case plan != want:
		return other("it is", fmt.Sprintf("%+v", plan), fmt.Sprintf("%+v", want))
	}
	_, err := s.formOf(plan.Memory, plan.Bits)
	return err
}
