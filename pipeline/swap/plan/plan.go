// Package plan predicts what a search of all states of a swap puzzle takes
// (package bfs): memory, space on disk, bytes read and written, and time.
//
// A prediction has two parts, as that of awari. Amounts follow from the grid and
// the memory, the same on every machine (bfs.Predict). Times are amounts times
// what a word or a byte takes here, which is calibrated: read from a file
// (calibration.go) or measured in a few seconds.
//
// # The arithmetic
//
//	in memory  visits x Visit / speed
//	on disk    the longer of
//	             (visits x Visit + words packed x Pack + words unpacked x Unpack
//	               + bytes read and written x system) / speed
//	             bytes read / Random + bytes written / Write
//
// where speed is how much more the processors do than one. The disk and the
// processors are taken to work at the same time.
package plan

import (
	"grenier/layers/swap"
	"grenier/pipeline/swap/bfs"
)

// system is nanoseconds of a processor for a byte that is read or written, in the
// operating system: 1.1 to 1.3 were measured, in a busy virtual machine.
const system = 1.2

// Plan is what a search takes on a machine.
type Plan struct {
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Memory  uint64 `json:"memory_bytes"` // allowed
	Threads int    `json:"threads"`
	bfs.Amounts
	// Seconds are those of a search in memory, OnDiskSeconds of one on disk, in which
	// processors and disk are busy for the other two.
	Seconds       float64 `json:"in_memory_seconds"`
	OnDiskSeconds float64 `json:"on_disk_seconds"`
	Processors    float64 `json:"processor_seconds"`
	Transfers     float64 `json:"transfer_seconds"`
	// FitsMemory says that a search in memory fits the memory allowed, FitsDisk that one
	// on disk does and, if the free space is known, fits the disk.
	FitsMemory  bool         `json:"fits_in_memory"`
	FitsDisk    bool         `json:"fits_on_disk"`
	Free        *uint64      `json:"free_bytes,omitempty"`
	Calibration *Calibration `json:"calibration"`
}

// New predicts a search by Workers goroutines within Memory on the machine of c. Free
// is the room on the disk, nil if it is not known. Other options do not matter.
func New(g *swap.Grid, o bfs.Options, c *Calibration, free *uint64) (*Plan, error) {
	a, err := bfs.Predict(g, o)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Rows: g.Rows(), Cols: g.Cols(), Memory: o.Memory, Threads: o.Workers, Amounts: *a, Free: free, Calibration: c,
		FitsMemory: a.InMemory <= o.Memory, FitsDisk: a.OnDisk <= o.Memory && (free == nil || a.Most <= *free),
	}
	scale := 1e-9 / c.Speed(o.Workers)
	search := float64(a.Visits) * float64(a.Steps) * c.Step
	p.Seconds = scale * search
	p.Processors = scale * (search + float64(a.Packed)*c.Pack + float64(a.Unpacked)*c.Unpack + system*float64(a.Read+a.Written))
	p.Transfers = float64(a.Read)/c.Random + float64(a.Written)/c.Write
	p.OnDiskSeconds = max(p.Processors, p.Transfers)
	return p, nil
}
