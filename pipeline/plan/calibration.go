package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"grenier/io/corrupt"
	"grenier/io/durable"
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
	// Capture, Sweep and Seal are for a position of a layer in memory. Sweep is all that
	// is neither capturing nor sealing.
	Capture float64 `json:"capture_ns"`
	Sweep   float64 `json:"sweep_ns"`
	Seal    float64 `json:"seal_ns"`
	// Pack and Unpack are for a score of the work file.
	Pack   float64 `json:"pack_ns"`
	Unpack float64 `json:"unpack_ns"`
	// Bytes a second of the disk: written and read in order, and read in pieces of 64 KiB
	// at random places, several at a time.
	Write  float64 `json:"write_bytes_per_second"`
	Read   float64 `json:"read_bytes_per_second"`
	Random float64 `json:"random_read_bytes_per_second"`
}

// Speed returns how much more so many cores do than one. For each core, all others
// take away the same part of its time: that fits the speedup that was measured. If that
// was of one core, the part is taken to be a twentieth.
func (c *Calibration) Speed(cores int) float64 {
	part := 0.05
	if c.Cores > 1 {
		part = (float64(c.Cores)/c.Speedup - 1) / float64(c.Cores-1)
	}
	return float64(cores) / (1 + part*float64(cores-1))
}

// SetDisk replaces what was measured of the disk by bytes a second, for everything.
func (c *Calibration) SetDisk(rate float64) { c.Write, c.Read, c.Random = rate, rate, rate }

// A calibration file is JSON that people may edit, to ask what another machine would do.
const (
	calibrationFormat  = "grenier-calibration"
	calibrationVersion = 1
	// maxCalibration is the largest size of a file.
	maxCalibration = 64 << 10
)

// document is the JSON form.
type document struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Calibration
}

// Encode returns the contents of a calibration file. It fails if a number is infinite or
// none at all.
func (c *Calibration) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(document{calibrationFormat, calibrationVersion, *c}, "", "  ")
	return append(data, '\n'), err
}

// Save replaces the file at path by c. It fails as Encode or durable.WriteFile does.
func (c *Calibration) Save(path string) error {
	data, err := c.Encode()
	if err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return durable.WriteFile(path, data)
}

// Load reads the calibration file at path. It fails with an error of the operating system
// or like Parse.
func Load(path string) (*Calibration, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCalibration+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse decodes the contents of the file called path. It fails with an error that matches
// corrupt.ErrCorrupt, and corrupt.ErrForeign if that is no calibration file, or
// corrupt.ErrVersion if it is one of a newer program.
func Parse(path string, data []byte) (*Calibration, error) {
	fail := func(format string, args ...any) (*Calibration, error) {
		return nil, corrupt.New(path, "", format, args...)
	}
	if len(data) > maxCalibration {
		return fail("more than %d bytes", maxCalibration)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fail("not the JSON of a calibration: %w", err)
	}
	if head.Format != calibrationFormat {
		return fail("%w: its format is %q, not %q", corrupt.ErrForeign, head.Format, calibrationFormat)
	}
	if head.Version != calibrationVersion {
		return fail("%w %d: this program reads version %d", corrupt.ErrVersion, head.Version, calibrationVersion)
	}
	var doc document
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return fail("%w", err)
	}
	if err := doc.validate(); err != nil {
		return fail("%w", err)
	}
	return &doc.Calibration, nil
}

var errFigure = errors.New("impossible figure")

// MaxCores is the largest number of processors in a calibration.
const MaxCores = 1024

// validate accepts what a machine may do, in a wide sense.
func (c *Calibration) validate() error {
	if c.Cores < 1 || c.Cores > MaxCores {
		return fmt.Errorf("%w: %d cores", errFigure, c.Cores)
	}
	if !(c.Speedup >= 1 && c.Speedup <= float64(c.Cores)) {
		return fmt.Errorf("%w: %d cores %g times as fast as one", errFigure, c.Cores, c.Speedup)
	}
	for _, ns := range []float64{c.Capture, c.Sweep, c.Seal, c.Pack, c.Unpack} {
		if !(ns >= 1e-4 && ns <= 1e6) {
			return fmt.Errorf("%w: %g ns", errFigure, ns)
		}
	}
	for _, rate := range []float64{c.Write, c.Read, c.Random} {
		if !(rate >= 1e3 && rate <= 1e13) {
			return fmt.Errorf("%w: %g bytes a second", errFigure, rate)
		}
	}
	return nil
}
