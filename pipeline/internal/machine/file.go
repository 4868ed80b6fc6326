package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/memory"
	"grenier/io/processors"
	"grenier/kernels/cpu"
)

// header begins a calibration file (docs/format/calibration.md). People may edit it, to ask how
// another machine would perform.
var header = jsonfile.Header{Format: "grenier-calibration", Version: 5}

// Figures begin each calibration: the machine, its processors and its disk. The
// calibration of a system embeds them and adds the costs of its own work.
type Figures struct {
	jsonfile.Header
	System string    `json:"system"` // whose calibration it is
	Date   time.Time `json:"date"`
	CPU    string    `json:"cpu"` // as it calls itself
	// Cores is the number of processors that was measured, Speedup how much more all of
	// them do than one.
	Cores   int     `json:"cores"`
	Speedup float64 `json:"speedup"`
	// Physical is how many cores the processors of the machine belong to, less than there are if some share one;
	// Processors is how many there are. They are 0 if nobody tells.
	Physical   int `json:"physical_cores"`
	Processors int `json:"processors"`
	// MemorySpeed is the bytes a second that all measured processors read and write together, beyond caches;
	// 0 if it was not measured.
	MemorySpeed float64 `json:"memory_bytes_per_second"`
	// Taken is the share of the time of these processors that others took meanwhile, 0 to 1:
	// 0 also if the system does not tell.
	Taken float64 `json:"taken_by_others"`
	// Memory is the bytes that the machine, or its cgroup, has for a process, 0 if the system
	// does not tell.
	Memory uint64 `json:"memory_bytes"`
	Disk
}

// NewFigures returns the figures that are known before anything is measured.
func NewFigures(system string, cores int) Figures {
	return Figures{
		Header: header, System: system, Date: time.Now().UTC().Truncate(time.Second), CPU: cpu.Name(), Cores: cores, Speedup: 1,
		Physical: processors.Cores(), Processors: runtime.NumCPU(),
		Memory: memory.OfMachine().Bytes,
	}
}

// SetTaken sets Taken to the share that others took since the meter was started.
func (f *Figures) SetTaken(since *processors.Meter) {
	if others, all, known := since.Others(); known {
		f.Taken = taken(others, f.Cores, all)
	}
}

// SetDisk replaces all measured rates of the disk by one, in bytes a second.
func (f *Figures) SetDisk(rate float64) { f.Disk = Disk{rate, rate, rate} }

// busy is the share of the time of processors from which on it matters that others took it.
const busy = 0.1

// Busy reports whether the machine had much else to do while it was measured, so that times are
// too long.
func (f *Figures) Busy() bool { return f.Taken >= busy }

// Shared reports whether some of the processors share a core.
func (f *Figures) Shared() bool { return f.Physical > 0 && f.Physical < f.Processors }

// Speeds returns how much more the given processors do than one, at least and at most, when one moves traffic bytes a
// second from and to memory beyond caches. Up to as many as were measured that is one number.
func (f *Figures) Speeds(processors int, traffic float64) Speeds {
	measured := speed(processors, f.Cores, f.Speedup)
	if processors <= f.Cores {
		return Speeds{measured, measured, ByNothing}
	}
	s := Speeds{measured, float64(processors), ByEachOther}
	if f.Shared() && processors <= f.Processors {
		s.Most = max(min(s.Most, float64(f.Physical)), s.Least)
	}
	if f.Shared() && f.Cores > 1 {
		s.Least, s.Bound = min(f.Speedup/float64(f.Cores)*float64(processors), s.Most), BySharing
	}
	if memory := max(f.MemorySpeed/traffic, f.Speedup); f.MemorySpeed > 0 && traffic > 0 && memory < s.Least {
		s.Least, s.Bound = memory, ByMemory
	}
	return s
}

// Speeds says how much more some processors do than one: at most as much as cores that do not slow each other
// down, at least as much as a Bound allows.
type Speeds struct {
	Least, Most float64
	Bound       Bound
}

// Bound is a reason that may keep processors from doing more.
type Bound string

// The bounds: none if the same number was measured, processors that slow each other down as the measured ones do,
// processors that share cores as these do, and the bytes that memory moves in a second.
const (
	ByNothing   Bound = ""
	ByEachOther Bound = "processors that slow each other down"
	BySharing   Bound = "processors that share cores"
	ByMemory    Bound = "the bandwidth of memory"
)

// Machine returns f: so whatever embeds Figures is a Calibration as soon as it has costs.
func (f *Figures) Machine() *Figures { return f }

// Calibration is the speed of a machine, for one system. It embeds Figures.
type Calibration interface {
	Machine() *Figures
	Costs() []float64 // nanoseconds of one core
}

// Parse decodes data, the contents of the calibration file called path, into c. It fails as
// jsonfile.Parse does, with an error that matches corrupt.ErrForeign if the file is of another
// system, and with one that matches ErrFigure and corrupt.ErrCorrupt if a figure is impossible.
func Parse(path string, data []byte, system string, c Calibration) error {
	var head Figures
	if json.Unmarshal(data, &head) == nil && head.Header == header && head.System != system {
		return corrupt.New(path, "", "%w: it is a calibration for %q, not %q", corrupt.ErrForeign, head.System, system)
	}
	if err := jsonfile.Parse(path, data, header, c); err != nil {
		return err
	}
	if err := c.Machine().check(c.Costs()); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	return nil
}

// ErrFigure reports a figure that no machine has.
var ErrFigure = errors.New("impossible figure")

// maxProcessors is the largest number of processors in a calibration.
const maxProcessors = 1024

// check fails with ErrFigure if a figure, or one of the costs, is impossible. The ranges are
// generous.
func (f *Figures) check(costs []float64) error {
	if f.Cores < 1 || f.Cores > maxProcessors {
		return fmt.Errorf("%w: %d cores", ErrFigure, f.Cores)
	}
	if !(f.Speedup >= 1 && f.Speedup <= float64(f.Cores)) {
		return fmt.Errorf("%w: %d cores %g times as fast as one", ErrFigure, f.Cores, f.Speedup)
	}
	if f.Physical < 0 || f.Processors < 0 || max(f.Physical, f.Processors) > maxProcessors || !(f.MemorySpeed >= 0 && f.MemorySpeed <= 1e14) {
		return fmt.Errorf("%w: %d processors of %d cores, %g bytes a second of memory", ErrFigure, f.Processors, f.Physical, f.MemorySpeed)
	}
	if !(f.Taken >= 0 && f.Taken <= 1) {
		return fmt.Errorf("%w: others took %g of the processors", ErrFigure, f.Taken)
	}
	for _, ns := range costs {
		if !(ns >= 1e-5 && ns <= 1e6) {
			return fmt.Errorf("%w: %g ns", ErrFigure, ns)
		}
	}
	for _, rate := range []float64{f.Write, f.Read, f.Random} {
		if !(rate >= 1e3 && rate <= 1e13) {
			return fmt.Errorf("%w: %g bytes a second", ErrFigure, rate)
		}
	}
	return nil
}
