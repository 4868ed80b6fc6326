package plan

import (
	"fmt"
	"time"

	"grenier/io/jsonfile"
	"grenier/pipeline/internal/machine"
)

// Calibration is what a machine can do. Times are nanoseconds of one core.
type Calibration struct {
	Date   time.Time `json:"date"`
	CPU    string    `json:"cpu"`    // what it calls itself
	Kernel string    `json:"kernel"` // family of the kernels
	// Cores is the number of processors that was measured, Speedup how much more all of
	// them do than one.
	Cores   int     `json:"cores"`
	Speedup float64 `json:"speedup"`
	// Taken is the share of the time of these processors that others took meanwhile, 0 to 1:
	// 0 also if the system does not tell.
	Taken float64 `json:"taken_by_others"`
	// Memory is the bytes that the machine, or its cgroup, has for a process, 0 if the system
	// does not tell.
	Memory uint64 `json:"memory_bytes"`
	// Capture, Sweep and Seal are for a position of a layer in memory in one piece. Sweep is
	// all that is neither capturing nor sealing.
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Seal    float64 `json:"seal_ns"`
	// Six, Four and Two are for layers that are solved window by window, with so many bits a
	// score.
	Six  Width `json:"bits_6"`
	Four Width `json:"bits_4"`
	Two  Width `json:"bits_2"`
	// Decode is for a score of a layer file.
	Decode float64 `json:"decode_ns"`
	// Bytes a second of the disk: written and read in order, and read in pieces of 64 KiB
	// at random places, several at a time.
	Write  float64 `json:"write_bytes_per_second"`
	Read   float64 `json:"read_bytes_per_second"`
	Random float64 `json:"random_read_bytes_per_second"`
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
	case 2:
		return &c.Two
	}
	return nil
}

// Speed returns how much more the given cores do than one.
func (c *Calibration) Speed(cores int) float64 { return machine.Speed(cores, c.Cores, c.Speedup) }

// busy is the share of the time of processors from which on it matters that others took it.
const busy = 0.1

// Busy reports whether the machine had much else to do while it was measured, so that times are
// too long.
func (c *Calibration) Busy() bool { return c.Taken >= busy }

// SetDisk replaces all measured rates of the disk by one, in bytes a second.
func (c *Calibration) SetDisk(rate float64) { c.Write, c.Read, c.Random = rate, rate, rate }

// header begins a calibration file. People may edit it, to ask what another machine
// would do.
var header = jsonfile.Header{Format: "grenier-calibration", Version: 3}

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
	costs := []float64{c.Capture, c.Sweep, c.Seal, c.Decode}
	for _, w := range []Width{c.Six, c.Four, c.Two} {
		costs = append(costs, w.Capture, w.Sweep, w.Full, w.Seal)
	}
	if !(c.Taken >= 0 && c.Taken <= 1) {
		return fmt.Errorf("%w: others took %g of the processors", machine.ErrFigure, c.Taken)
	}
	return machine.Check(c.Cores, c.Speedup, costs, []float64{c.Write, c.Read, c.Random})
}
