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

	errWindow = fault.New(fault.Usage, "no window")
)

// newPlan returns the plan of the layer, but for the number of its segments.
func (s *step) newPlan(program string, memory uint64, bits int) StepPlan {
	n := s.options.Seeds
	return StepPlan{
		Header: planHeader, Program: program, Rules: s.game.Rules().String(), Pits: s.game.Pits(), Seeds: n,
		Below: fmt.Sprintf("%016x", uint64(s.identify(n))), Memory: memory, Bits: bits, Windows: len(halfboard.Bases(n, bits)),
		Segment: max(leastSegment, halfboard.Positions(s.game, n)/mostSegments), Pieces: min(mostPieces, s.blocks()),
	}
}

// blocks returns the number of blocks of the layer file.
func (s *step) blocks() int {
	h := layerfile.Header{BlockSize: layerfile.MaxBlockSize, Positions: halfboard.Positions(s.game, s.options.Seeds)}
	return h.Blocks()
}

// formOf returns the bits of a score in windows of the layer within memory, the most that fit; bits, if not 0, forces
// them. It fails with a *memory.Error.
func (s *step) formOf(allowed uint64, bits int) (int, error) {
	need := uint64(0)
	for _, width := range halfboard.Widths[1:] {
		if bits != 0 && bits != width {
			continue
		}
		if need = halfboard.Narrow(s.game, s.options.Seeds, s.options.Workers, width); need <= allowed {
			return width, nil
		}
	}
	return 0, &memory.Error{What: fmt.Sprintf("a step of layer %d", s.options.Seeds), Need: need, Allowed: allowed}
}

// makePlan makes the plan of the layer that of the directory, unless it is so, or there are streams of another one.
func (s *step) makePlan(ctx context.Context, o *StepOptions) (before bool, err error) {
	bits, err := s.formOf(o.Memory, o.Bits)
	if err != nil {
		return false, err
	}
	s.plan, s.work = s.newPlan(o.Program, o.Memory, bits), s.dir.Work()
	if err := s.layOut(0); err != nil {
		return false, err
	}
	s.plan.Segments = s.steps.Segments()
	old, number, err := readPlan(s.from)
	if err == nil && old == s.plan {
		return true, nil
	}
	if err == nil && old.Seeds >= s.plan.Seeds {
		err = s.notBegun(number)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if n, same := s.engine.Checkpointed(s.identify); n == s.plan.Seeds && same {
		return false, fmt.Errorf("%w: %s has what grenier awari solve has found of layer %d: go on with that, or remove it", ErrPlan, s.work.Path(""), n)
	}
	data, err := jsonfile.EncodeSealed(s.plan)
	if err != nil {
		return false, err
	}
	return false, errors.Join(s.dir.ClearSteps(), s.dir.SavePlan(crc32c.Of(data), data))
}

// notBegun fails with ErrPlan if there are streams of a plan.
func (s *step) notBegun(number uint32) error {
	work, err := s.from.Steps(number)
	if err != nil {
		return err
	}
	entries, err := work.Entries()
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%w of layer %d has streams: go on with it, or give it up: remove %s", ErrPlan, s.plan.Seeds, s.from.PlanPath())
	}
	return errors.Join(err, work.Close())
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

// StepsMade counts what there is of a layer that is solved in steps, by the names of its streams: whether they are in order, steps find out.
type StepsMade struct {
	Plan     StepPlan `json:"plan"`
	Segments int      `json:"segments_made"` // of capture values
	Windows  int      `json:"windows_made"`
	Pieces   int      `json:"pieces_made"` // of the encoded layer
}

// MadeOf returns what there is of the layer that is solved in steps in the run directory d, which has the manifest m; nil if none is. It fails like PlanOf.
func MadeOf(d *rundir.Dir, m *manifest.Manifest) (*StepsMade, error) {
	plan, number, err := readPlan(d)
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.Has(plan.Seeds) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := d.Steps(number)
	if errors.Is(err, fs.ErrNotExist) { // it is being made
		return &StepsMade{Plan: plan}, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := dir.Entries()
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	made := &StepsMade{Plan: plan}
	made.Segments, made.Windows = halfboard.Made(names, plan.Seeds, plan.Bits, plan.Segments)
	for piece := range plan.Pieces {
		if names[rundir.PieceName(piece)] {
			made.Pieces++
		}
	}
	return made, errors.Join(err, dir.Close())
}

// readPlan is PlanOf, and returns the number of the plan too.
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
func (s *step) obey(program string) error {
	if !slices.Contains(halfboard.Widths[1:], s.plan.Bits) {
		return corrupt.New(s.from.PlanPath(), "", "%d bits a score", s.plan.Bits)
	}
	want := s.newPlan(program, s.plan.Memory, s.plan.Bits)
	if want.Segments = s.plan.Segments; s.plan != want {
		return fmt.Errorf("%s: %w: it was made by grenier %s over layers %s, here are grenier %s and layers %s; to give it up, remove it",
			s.from.PlanPath(), ErrPlan, s.plan.Program, s.plan.Below, want.Program, want.Below)
	}
	_, err := s.formOf(s.plan.Memory, s.plan.Bits)
	return err
}
