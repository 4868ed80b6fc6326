// Package plan predicts what a run of the solver takes: bytes of memory and disk, and
// time, layer by layer.
//
// A prediction has two parts. Amounts (amounts.go) follow from the game, the memory and a
// table of what real layers took (costs.go): how often tiles come into memory and leave
// it, and how many bytes that moves. They are the same on every machine. Times are
// amounts times what one position or one byte costs here, which is calibrated: read from a
// file (calibration.go) or measured (package calibrate).
//
// New makes a Plan. Package batch uses the amounts alone, to refuse a run for which the
// disk has too little room.
//
// # The arithmetic
//
// A core does a position of a layer that fits into memory in Capture + Sweep + Seal
// nanoseconds, and c cores do as much as Calibration.Speed(c). A layer that does not fit
// takes five steps, whose times add up, for groups of tiles are fetched, swept and put
// away in turn:
//
//	capture  positions x Capture, and offers packed and written
//	sweep    positions x Sweep x factor
//	fetch    the longer of: bytes fetched x (Unpack + the system's part), bytes read / bandwidth
//	save     the longer of: bytes saved x Pack, bytes written / bandwidth
//	seal     positions x Seal x factor, and the layer file written
//
// Factors and bytes are those of costs.go.
package plan

import (
	"grenier/io/layerfile"
	"grenier/layers/awari"
)

// Run says what is to be solved, and with what.
type Run struct {
	Game  awari.Game
	Seeds int // of the last layer
	// Solved is the number of layers that are sealed already, Sealed the bytes of their
	// files.
	Solved int
	Sealed uint64
	// Memory is the bytes that the program may use; 0 is no bound.
	Memory uint64
	// Cores is the number of processors, at least one.
	Cores int
	Codec layerfile.Codec
}

// Plan is what a run takes.
type Plan struct {
	Layers []Layer `json:"layers"` // those to solve, in order
	Total  Total   `json:"total"`
}

// Total is what all layers of a plan take.
type Total struct {
	Positions uint64  `json:"positions"`
	Read      uint64  `json:"bytes_read"`
	Written   uint64  `json:"bytes_written"`
	DiskPeak  uint64  `json:"disk_peak_bytes"` // sealed layers included, those from before too
	Times     Times   `json:"stage_seconds"`
	Seconds   float64 `json:"seconds"`
}

// Layer is what one layer takes.
type Layer struct {
	Amounts
	Times   Times   `json:"stage_seconds"`
	Seconds float64 `json:"seconds"`
}

// Times are the seconds that the steps of a layer take.
type Times struct {
	Capture float64 `json:"capture"`
	Sweep   float64 `json:"sweep"`
	Fetch   float64 `json:"fetch"`
	Save    float64 `json:"save"`
	Seal    float64 `json:"seal"`
}

func (t Times) sum() float64 { return t.Capture + t.Sweep + t.Fetch + t.Save + t.Seal }

func (t Times) plus(u Times) Times {
	return Times{t.Capture + u.Capture, t.Sweep + u.Sweep, t.Fetch + u.Fetch, t.Save + u.Save, t.Seal + u.Seal}
}

// New predicts a run on the machine of c.
func New(r Run, c *Calibration) *Plan {
	p := &Plan{Layers: []Layer{}}
	p.Total.DiskPeak = r.Sealed
	for _, a := range r.amounts() {
		t := c.times(a, r.Cores)
		p.Layers = append(p.Layers, Layer{a, t, t.sum()})
		p.Total.add(p.Layers[len(p.Layers)-1])
	}
	return p
}

func (t *Total) add(l Layer) {
	t.Positions += l.Positions
	t.Read += l.Read
	t.Written += l.Written
	t.DiskPeak = max(t.DiskPeak, l.Disk)
	t.Times = t.Times.plus(l.Times)
	t.Seconds += l.Seconds
}

// times returns what the steps of a layer take with so many cores.
func (c *Calibration) times(a Amounts, cores int) Times {
	const nano = 1e-9
	speed := c.Speed(cores)
	cpu := func(ns float64, n uint64) float64 { return nano * ns * float64(n) / speed }
	t := Times{
		Capture: cpu(c.Capture, a.Positions),
		Sweep:   cpu(c.Sweep, a.Positions),
		Seal:    max(cpu(c.Seal, a.Positions), float64(a.File)/c.Write),
	}
	if a.InMemory {
		return t
	}
	t.Capture = captureFactor*t.Capture + max(cpu(c.Pack*packFactor, a.Offers), float64(a.offersWritten)/c.Write, float64(a.lowerRead)/c.Read)
	if a.offersHeld {
		t.Sweep *= sweepFactorHeld
	} else {
		t.Sweep *= sweepFactor
	}
	t.Seal += cpu(c.Seal*(sealFactor-1), a.Positions)
	t.Fetch = max(cpu(c.Unpack*unpackFactor+fetchSystem, a.Fetched), a.transferred/c.Random)
	t.Fetch = max(0, t.Fetch-overlapped*t.Sweep)
	t.Save = max(cpu(c.Pack*packFactor, a.Saved), float64(a.scoresWritten)/c.Write)
	return t
}
