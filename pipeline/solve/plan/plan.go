// Package plan predicts the memory, the disk and the time of a run of the solver, layer by
// layer, before it begins and while it goes on.
//
// A prediction has two parts. Amounts (amounts.go) follow from the game, the memory and what
// real layers took (costs.go): the width of a score in memory, windows, bytes of streams. They
// are the same on every machine. Times are amounts times what a position or a byte costs here,
// which is calibrated: read from a file (calibration.go) or measured (package calibrate).
//
// New makes a Plan. Package solve uses the amounts alone, to refuse a run for which the
// disk has too little room; and it follows a run with a Course (course.go), which says how long it still takes: as
// planned, times what the stages that have ended took for what was planned for them.
//
// # The arithmetic
//
// Package halfboard says with how many bits a score a layer of n seeds is solved. One core
// does a position of a layer in one piece (8 bits) in Capture + Sweep + Seal nanoseconds, c
// cores do as much as Calibration.Speeds(c), at least or at most. A layer in windows takes the nanoseconds that were
// calibrated with as many bits, times its load for that of the layers that were calibrated:
// passes over all lines grow with the number of windows, sweeps with the number of windows that
// show a score; a thin window counts twice. Files are read and written meanwhile, so that each
// step takes the longer of processors and disk, and the steps follow each other:
//
//	capture  Capture, and Decode x scores of lower layers beyond those of calibrated layers, in all passes;
//	         lower layers are read, captures written
//	turn     a share of Sweep x open lines; captures are read, and written again, in all windows
//	sweep    the rest of Sweep x scores shown in open lines
//	full     Full x lines, and a share of Sweep x lines of full rows; windows write their results
//	seal     what Seal is more than in one piece x lines, while what windows found is read;
//	         then Seal in one piece, while the layer file is written
package plan

import (
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
)

// Run says what to solve, and with what resources.
type Run struct {
	Game  awari.Game
	Seeds int // of the last layer
	// Solved is the number of layers that are sealed already, Sealed the bytes of their
	// files.
	Solved int
	Sealed uint64
	// Omitted has a bit for each layer that the run does not solve though it is above others that it does: it is sealed, or left out.
	Omitted uint64
	// Memory is the bytes that the program may use; 0 is no bound.
	Memory uint64
	// Cores is the number of processors, at least one.
	Cores int
	// Bits forces the bits of a score, as solve.Options.Bits.
	Bits int
	// Family is the kernel family.
	Family cpu.Family
	// Apart says that windows know nothing of each other: see Nodes.
	Apart bool
}

// Plan has the needs of a run.
type Plan struct {
	Layers []Layer `json:"layers"` // those to solve, in order
	Total  Total   `json:"total"`
	// InMemory is the seconds that the run would take with memory for all layers in one
	// piece, and InMemoryBytes about the memory that the program would take then.
	InMemory      float64 `json:"in_memory_seconds"`
	InMemoryBytes uint64  `json:"in_memory_bytes"`
}

// Total sums up all layers of a plan.
type Total struct {
	Positions uint64  `json:"positions"`
	Read      uint64  `json:"bytes_read"`
	Written   uint64  `json:"bytes_written"`
	Memory    uint64  `json:"memory_bytes"`    // that the program takes, about
	DiskPeak  uint64  `json:"disk_peak_bytes"` // sealed layers included, those from before too
	Times     Times   `json:"stage_seconds"`
	Seconds   float64 `json:"seconds"`
	// Least is the seconds if processors do the most that they may (Calibration.Speeds); Seconds if they do the least.
	Least float64 `json:"least_seconds"`
}

// Layer has the needs of one layer.
type Layer struct {
	Amounts
	Times   Times   `json:"stage_seconds"`
	Seconds float64 `json:"seconds"`
}

// Times are the seconds that the steps of a layer take.
type Times struct {
	Capture float64 `json:"capture"`
	Turn    float64 `json:"turn"`
	Sweep   float64 `json:"sweep"`
	Full    float64 `json:"full"`
	Seal    float64 `json:"seal"`
}

func (t Times) sum() float64 { return t.Capture + t.Turn + t.Sweep + t.Full + t.Seal }

func (t Times) plus(u Times) Times {
	return Times{t.Capture + u.Capture, t.Turn + u.Turn, t.Sweep + u.Sweep, t.Full + u.Full, t.Seal + u.Seal}
}

// Done reports whether all layers are sealed already: there is nothing to predict.
func (r *Run) Done() bool { return len(r.solves()) == 0 }

// New predicts a run on the machine of c, which may be nil if the run is Done. It fails with halfboard.ErrMemory if a layer needs
// more memory than the run has.
func New(r Run, c *Calibration) (*Plan, error) {
	p, err := r.plan(c)
	if err != nil {
		return nil, err
	}
	r.Memory = 0
	free, err := r.plan(c)
	if err != nil {
		return nil, err
	}
	p.InMemory, p.InMemoryBytes = free.Total.Seconds, free.Total.Memory
	return p, nil
}

func (r *Run) plan(c *Calibration) (*Plan, error) {
	if c != nil {
		if family, err := cpu.ParseFamily(c.Kernel); err == nil {
			r.Family = family
		}
	}
	all, err := r.Amounts()
	if err != nil {
		return nil, err
	}
	p := &Plan{Layers: []Layer{}}
	p.Total.DiskPeak = r.Sealed
	if !r.Done() {
		p.Total.Memory = r.needed()
	}
	for _, a := range all {
		speeds := c.Speeds(r.Cores)
		t, quick := c.times(&a, speeds.Least), c.times(&a, speeds.Most)
		p.Layers = append(p.Layers, Layer{a, t, t.sum()})
		p.Total.add(p.Layers[len(p.Layers)-1])
		p.Total.Least += quick.sum()
	}
	return p, nil
}

// needed returns about the bytes of memory that the program takes: all that it may, unless the
// largest layer needs less in one piece.
func (r *Run) needed() uint64 {
	whole := halfboard.Whole(r.Game, r.Seeds, r.Cores)
	if r.Memory == 0 {
		return whole
	}
	return min(r.Memory, whole)
}

func (t *Total) add(l Layer) {
	t.Positions += l.Positions
	t.Read += l.Read
	t.Written += l.Written
	t.DiskPeak = max(t.DiskPeak, l.Disk)
	t.Times = t.Times.plus(l.Times)
	t.Seconds += l.Seconds
}

// times returns what the steps of a layer take with processors that do so much more than one.
func (c *Calibration) times(a *Amounts, speed float64) Times {
	const nano = 1e-9
	cpu := func(ns float64, n uint64) float64 { return nano * ns * float64(n) / speed }
	reading := func(bytes uint64) float64 { return float64(bytes) / c.Read }
	writing := func(bytes uint64) float64 { return float64(bytes) / c.Write }
	lower, file := float64(a.lowerRead)/c.Random, writing(a.File)
	grown := a.grown(c.Kernel)
	capture := func(ns, decode float64) float64 {
		return max(nano*grown*(ns*float64(a.Positions)+decode*a.decoded)/speed, 0)
	}
	if a.InMemory() {
		return Times{
			Capture: max(capture(c.Capture, c.Decode), lower),
			Sweep:   cpu(c.Sweep*grown*a.loads.open, a.Positions),
			Full:    cpu(c.Sweep*fullRow*a.loads.full, a.Positions),
			Seal:    max(cpu(c.Seal, a.Positions), file),
		}
	}
	w, costs := c.Of(a.Bits), widthOf(a.Bits)
	step := func(ns, load float64) float64 { return cpu(ns*load, a.Positions) }
	encode := cpu(min(c.Seal, w.Seal), a.Positions)
	load := step(max(0, w.Seal-c.Seal)*costs.seal, a.loads.lines)
	return Times{
		Capture: max(capture(w.Capture, sparingDecode*c.Decode), lower+writing(a.Captures)),
		Turn:    max(step(grown*costs.turn*w.Sweep, a.loads.open), reading(a.reread)+writing(a.rewritten)),
		Sweep:   step(grown*(1-costs.turn)*costs.sweep*w.Sweep, a.loads.shown),
		Full:    max(step(costs.full*w.Full, a.loads.lines)+step(fullRow*c.Sweep, a.loads.full), writing(a.Digits)),
		Seal:    max(load, reading(a.Digits)) + max(encode, file),
	}
}
