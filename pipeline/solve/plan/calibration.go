package plan

import "grenier/pipeline/internal/machine"

// Calibration is what a machine can do. Times are nanoseconds of one core.
type Calibration struct {
	machine.Figures
	Kernel string `json:"kernel"` // family of the kernels
	// Capture, Sweep and Seal are for a position of a layer in memory in one piece. Sweep is
	// all that is neither capturing nor sealing.
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Seal    float64 `json:"seal_ns"`
	// Six, Four, Three and Two are for layers that are solved window by window, with so many bits a
	// score.
	Six   Width `json:"bits_6"`
	Four  Width `json:"bits_4"`
	Three Width `json:"bits_3"`
	Two   Width `json:"bits_2"`
	// Decode is for a score of a layer file.
	Decode float64 `json:"decode_ns"`
}

// Width is what a position takes over all windows, with a width of scores in memory. Full is
// computing full rows and writing what windows find, Sweep all that is not one of the others.
type Width struct {
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Full    float64 `json:"full_ns"`
	Seal    float64 `json:"seal_ns"`
}

// Of returns the costs with so many bits a score, nil if there are none.
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

// name is what calibration files call awari.
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
