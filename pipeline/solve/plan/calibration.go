package plan

import (
	"grenier/kernels/cpu"
	"grenier/pipeline/internal/machine"
)

// Calibration has the speeds of a machine. Times are nanoseconds of one core.
type Calibration struct {
	machine.Figures
	Kernel string `json:"kernel"` // family of the kernels
	// Capture, Sweep and Seal are for a position of a layer in memory in one piece. Sweep is
	// all that is neither capturing nor sealing.
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Seal    float64 `json:"seal_ns"`
	// Six, Four, Three and Two are for layers that are solved window by window, with that many bits a
	// score.
	Six   Width `json:"bits_6"`
	Four  Width `json:"bits_4"`
	Three Width `json:"bits_3"`
	Two   Width `json:"bits_2"`
	// Decode is for a score of a layer file.
	Decode float64 `json:"decode_ns"`
}

// Width is the time of a position over all windows, with a width of scores in memory. Full is
// computing full rows and writing what windows find, Sweep all that is not one of the others.
type Width struct {
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Full    float64 `json:"full_ns"`
	Seal    float64 `json:"seal_ns"`
}

// Of returns the costs with a number of bits a score, nil if there are none.
func (c *Calibration) Of(bits int) *Width {
	switch bits {
	case 6:
		return &c.Six
	case 4:
		return &c.Four
	case 3:
		return &c.Three
	case 2:
		return &c.Two
	}
	return nil
}

// sweepTraffic is about the bytes of a position that sweeps move beyond caches: 26 evaluations of a column of 64, each of
// 4.4 lines of 64 bytes (docs/benchmarks.md).
const sweepTraffic = 26 * 4.4 * 64 / 64

// Speeds returns how much more the given processors do than one: see machine.Figures.Speeds.
func (c *Calibration) Speeds(processors int) machine.Speeds {
	return c.Figures.Speeds(processors, sweepTraffic/(c.Sweep*1e-9))
}

// name is the name of awari in calibration files.
const name = "awari"

// NewCalibration returns what is known before anything is measured.
func NewCalibration(kernel string, cores int) *Calibration {
	return &Calibration{Figures: machine.NewFigures(name, cores), Kernel: kernel}
}

// ParseCalibration decodes the contents of the calibration file called path. It fails as
// machine.Parse does.
func ParseCalibration(path string, data []byte) (*Calibration, error) {
	c := new(Calibration)
	return c, machine.Parse(path, data, name, c)
}

// Costs returns all times.
func (c *Calibration) Costs() []float64 {
	costs := []float64{c.Capture, c.Sweep, c.Seal, c.Decode}
	for _, w := range []Width{c.Six, c.Four, c.Three, c.Two} {
		costs = append(costs, w.Capture, w.Sweep, w.Full, w.Seal)
	}
	return costs
}

// Typical returns about what a machine can do that was not measured: with kernels for AVX-512 as package plan's own
// figures, with others as on a processor with BMI2, and in portable Go.
func Typical(family cpu.Family, cores int) *Calibration {
	c := NewCalibration(family.String(), cores)
	c.Speedup = 1 + 0.6*float64(cores-1)
	c.SetDisk(1e9)
	switch family {
	case cpu.AVX512:
		c.Capture, c.Sweep, c.Seal, c.Decode = 5.4, 17, 4, 0.5
		c.Six, c.Four, c.Three, c.Two = Width{8, 35, 10, 9}, Width{8, 52, 15, 13}, Width{8, 65, 18, 17}, Width{8, 110, 23, 26}
	case cpu.Generic:
		c.Capture, c.Sweep, c.Seal, c.Decode = 7, 170, 6, 1.2
		c.Six, c.Four, c.Three, c.Two = Width{8, 240, 15, 12}, Width{8, 420, 25, 30}, Width{10, 800, 40, 45}, Width{20, 900, 40, 30}
	default:
		c.Capture, c.Sweep, c.Seal, c.Decode = 7, 43, 6, 1
		c.Six, c.Four, c.Three, c.Two = Width{8, 66, 11, 10}, Width{8, 81, 16, 14}, Width{8, 103, 19, 18}, Width{8, 111, 25, 28}
	}
	return c
}
