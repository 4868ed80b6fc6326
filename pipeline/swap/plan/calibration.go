package plan

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"grenier/io/jsonfile"
	"grenier/kernels/cpu"
	"grenier/layers/swap"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/swap/bfs"
)

// Calibration is what a machine can do. Times are nanoseconds of one processor.
type Calibration struct {
	Date time.Time `json:"date"`
	CPU  string    `json:"cpu"` // what it calls itself
	// Cores is the number of processors that was measured, Speedup how much more all of
	// them do than one.
	Cores   int     `json:"cores"`
	Speedup float64 `json:"speedup"`
	// Step is for an instruction of pulling a word, as bfs.Amounts counts them;
	// Pack and Unpack are for a word.
	Step   float64 `json:"step_ns"`
	Pack   float64 `json:"pack_ns"`
	Unpack float64 `json:"unpack_ns"`
	// Bytes a second of the disk: written in order, and read at random places, several
	// pieces at a time.
	Write  float64 `json:"write_bytes_per_second"`
	Random float64 `json:"random_read_bytes_per_second"`
}

// SetDisk replaces what was measured of the disk by bytes a second, for everything.
func (c *Calibration) SetDisk(rate float64) { c.Write, c.Random = rate, rate }

const (
	// rounds is how often everything is measured: the best counts, since others use
	// the machine too.
	rounds = 3
	// sampling is the time for one measurement of pulling.
	sampling = 250 * time.Millisecond
	// cpuShare is the share of the time of a calibration before the disk.
	cpuShare = 0.3
)

// Measure measures this machine: blocks of the grid, and a file in dir, or its
// nearest parent that exists, or the directory for temporary files if dir is empty.
// Without disk, SetDisk has to follow. Progress is called with the share that is
// done, 0 to 1. Nothing is left behind.
func Measure(ctx context.Context, g *swap.Grid, workers int, dir string, disk bool, progress func(share float64)) (*Calibration, error) {
	return measure(ctx, g, workers, dir, disk, sampling, progress)
}

// measure does the work of Measure, with this time for one measurement of pulling.
func measure(ctx context.Context, g *swap.Grid, workers int, dir string, disk bool, sampling time.Duration, progress func(share float64)) (*Calibration, error) {
	workers = min(workers, runtime.NumCPU())
	c := &Calibration{Date: time.Now().UTC().Truncate(time.Second), CPU: cpu.Name(), Cores: workers}
	a, err := bfs.Predict(g, bfs.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	var one, all bfs.Costs
	for round := range rounds {
		for _, of := range []struct {
			workers int
			costs   *bfs.Costs
		}{{1, &one}, {workers, &all}} {
			costs, err := bfs.Sample(ctx, g, of.workers, sampling)
			if err != nil {
				return nil, fmt.Errorf("calibrating: %w", err)
			}
			of.costs.Visit = least(of.costs.Visit, costs.Visit)
			of.costs.Pack = least(of.costs.Pack, costs.Pack)
			of.costs.Unpack = least(of.costs.Unpack, costs.Unpack)
		}
		progress(cpuShare * float64(round+1) / rounds)
	}
	c.Step = one.Visit / float64(a.Steps)
	c.Pack, c.Unpack = least(one.Pack, all.Pack), least(one.Unpack, all.Unpack)
	c.Speedup = min(max(1, float64(workers)*one.Visit/all.Visit), float64(workers))
	if !disk {
		return c, nil
	}
	d, err := machine.MeasureDisk(ctx, dir, workers, func(share float64) { progress(cpuShare + (1-cpuShare)*share) })
	if err != nil {
		return nil, err
	}
	c.Write, c.Random = d.Write, d.Random
	return c, nil
}

// least returns the lesser of what was found before, 0 if nothing, and something new.
func least(before, now float64) float64 {
	if before == 0 {
		return now
	}
	return min(before, now)
}

// header begins a calibration file. People may edit it, to ask what another machine
// would do.
var header = jsonfile.Header{Format: "grenier-swap-calibration", Version: 1}

// document is the JSON form.
type document struct {
	jsonfile.Header
	Calibration
}

// Encode returns the contents of the file of c. It fails as jsonfile.Encode does.
func (c *Calibration) Encode() ([]byte, error) { return jsonfile.Encode(document{header, *c}) }

// Save replaces the file at path by c. It fails as jsonfile.Save does.
func (c *Calibration) Save(path string) error { return jsonfile.Save(path, document{header, *c}) }

// Load reads the calibration file at path. It fails with an error of the operating system or as
// Parse does.
func Load(path string) (*Calibration, error) {
	data, err := jsonfile.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse decodes the contents of the file called path. It fails as machine.Parse does, and with an
// error that matches machine.ErrFigure if a figure is impossible.
func Parse(path string, data []byte) (*Calibration, error) {
	var doc document
	if err := machine.Parse(path, data, header, &doc, doc.validate); err != nil {
		return nil, err
	}
	return &doc.Calibration, nil
}

// validate fails with machine.ErrFigure.
func (c *Calibration) validate() error {
	return machine.Check(c.Cores, c.Speedup, []float64{c.Step, c.Pack, c.Unpack}, []float64{c.Write, c.Random})
}
