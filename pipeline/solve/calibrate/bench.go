package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
)

// Bench has the speed of this machine with each family of kernels, and the outlook for all of
// awari.
type Bench struct {
	CPU     string       `json:"cpu"`
	Codec   string       `json:"codec"`
	Threads int          `json:"threads"`
	Taken   float64      `json:"taken_by_others"` // the most, as in plan.Calibration
	Kernels []Rates      `json:"kernels"`         // slowest family first
	Disk    machine.Disk `json:"disk"`
	// Here is the run of most seeds that has enough memory, Whole that of all 48 seeds, with
	// more memory if need be; both with the family that was asked for.
	Here  Outlook `json:"here"`
	Whole Outlook `json:"seeds_48"`
	Free  *uint64 `json:"free_bytes,omitempty"` // on the disk, nil if the system does not tell

	calibrations []*plan.Calibration // in the order of Kernels
}

// Busy reports whether the machine had much else to do, so that all is too slow.
func (b *Bench) Busy() bool {
	for _, c := range b.calibrations {
		if c.Busy() {
			return true
		}
	}
	return false
}

// Rates are positions a second with a family of kernels, layers 15 to 17 together unless the
// machine is slow.
type Rates struct {
	Kernel string `json:"kernel"`
	// One is the speed of one core with each width of scores, in bits, 8 being layers in memory
	// in one piece. All is the speed of all cores in one piece.
	One map[int]float64 `json:"one_core_by_bits"`
	All float64         `json:"all_cores"`
	// Decoded is the scores of a layer file that one core decodes in a second.
	Decoded float64 `json:"decoded_one_core"`
}

// Outlook is the sum of a plan.
type Outlook struct {
	Seeds    int     `json:"seeds"`
	Memory   uint64  `json:"memory_bytes"` // that the program is allowed
	Seconds  float64 `json:"seconds"`
	DiskPeak uint64  `json:"disk_peak_bytes"`
	Read     uint64  `json:"bytes_read"`
	Written  uint64  `json:"bytes_written"`
}

// ErrDisagree reports that one layer has other scores when it is solved in another way: a fault of
// the program or of the machine.
var ErrDisagree = fault.New(fault.Difference, "scores differ")

// agrees fails with ErrDisagree if the layer of as many seeds had another hash before.
func (o *Options) agrees(l *manifest.Layer, s *setting) error {
	before, known := o.seen[l.Seeds]
	if known && before != l.Hash {
		return fmt.Errorf("layer %d with %v kernels, %d workers, %d bits (0 is in one piece): %w from those before: "+
			"the program or this machine is at fault", l.Seeds, o.Family, s.workers, s.bits, ErrDisagree)
	}
	o.seen[l.Seeds] = l.Hash
	return nil
}

// Measure measures each family once, all with the disk of o.Dir, and plans runs with so much
// memory and o.Family. It fails with ErrDisagree if families find other scores, or like Run.
func Measure(ctx context.Context, o Options, families []cpu.Family, memory uint64) (*Bench, error) {
	o.Workers = min(o.Workers, runtime.NumCPU())
	b := &Bench{CPU: cpu.Name(), Codec: layerfile.LZ4.String(), Threads: o.Workers}
	if err := b.measure(ctx, &o, families); err != nil {
		return nil, err
	}
	chosen := b.calibrations[0]
	for _, c := range b.calibrations {
		if c.Kernel == o.Family.String() {
			chosen = c
		}
	}
	return b, b.look(chosen, &o, memory)
}

// measure calibrates with each family, and measures the disk once.
func (b *Bench) measure(ctx context.Context, o *Options, families []cpu.Family) error {
	const disk = 0.1 // share of the time
	each := (1 - disk) / float64(len(families))
	seen := map[int]tally.Hash{}
	for i, f := range families {
		one := *o
		one.Family, one.SkipDisk, one.seen = f, true, seen
		one.Progress = func(s job.Step) { o.tell(each * (float64(i) + s.Done)) }
		one.rounds = 1
		c, err := Run(ctx, one)
		if err != nil {
			return err
		}
		b.calibrations = append(b.calibrations, c)
		b.Kernels = append(b.Kernels, ratesOf(c))
		b.Taken = max(b.Taken, c.Taken)
	}
	var err error
	b.Disk, err = machine.MeasureDisk(ctx, o.Dir, o.Workers, cmp.Or(o.file, machine.FileSize), func(share float64) { o.tell(1 - disk*(1-share)) })
	for _, c := range b.calibrations {
		c.Disk = b.Disk
	}
	return err
}

// ratesOf returns what a calibration says as rates.
func ratesOf(c *plan.Calibration) Rates {
	const second = 1e9 // nanoseconds
	r := Rates{Kernel: c.Kernel, One: map[int]float64{8: second / (c.Capture + c.Sweep + c.Seal)}, Decoded: second / c.Decode}
	for _, bits := range plan.Widths() {
		w := c.Of(bits)
		r.One[bits] = second / (w.Capture + w.Sweep + w.Full + w.Seal)
	}
	r.All = r.One[8] * c.Speedup
	return r
}

// look plans the largest run that fits into the memory, and the run of all seeds.
func (b *Bench) look(c *plan.Calibration, o *Options, memory uint64) error {
	game, err := awari.New(awari.MaxPits, awari.Awari)
	if err != nil {
		return err
	}
	r := plan.Run{Game: game, Seeds: awari.MaxSeeds, Memory: memory, Cores: o.Workers}
	for r.Seeds > 0 && halfboard.Least(game, r.Seeds, r.Cores) > memory {
		r.Seeds--
	}
	if b.Here, err = outlook(r, c); err != nil {
		return err
	}
	r.Seeds, r.Memory = awari.MaxSeeds, max(memory, halfboard.Least(game, awari.MaxSeeds, r.Cores))
	if b.Whole, err = outlook(r, c); err != nil {
		return err
	}
	b.Free, err = freeIn(o.Dir)
	return err
}

// freeIn returns the room on the disk of dir, nil if the system does not tell.
func freeIn(dir string) (*uint64, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	free, err := rundir.FreeBytes(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return &free, err
}

// outlook returns what the plan of a run comes to.
func outlook(r plan.Run, c *plan.Calibration) (Outlook, error) {
	p, err := plan.New(r, c)
	if err != nil {
		return Outlook{}, err
	}
	t := &p.Total
	return Outlook{r.Seeds, r.Memory, t.Seconds, t.DiskPeak, t.Read, t.Written}, nil
}
