package solve

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
)

// DiskError reports a run for which the disk has too little room.
type DiskError struct {
	Path       string // of the run directory
	Seeds      int    // of the last layer wanted
	Need, Free uint64 // bytes; Need is an estimate
	Largest    int    // the largest layer for which there is room; less than the first to solve if none
	First      int    // the first layer to solve
}

// Error says what is needed and what would fit.
func (e *DiskError) Error() string {
	enough := fmt.Sprintf("enough up to layer %d", e.Largest)
	if e.Largest < e.First {
		enough = fmt.Sprintf("too little for layer %d", e.First)
	}
	return fmt.Sprintf("solving up to layer %d needs about %s more on the disk of %s and %s are free (%s)",
		e.Seeds, humanize.IBytes(e.Need), e.Path, humanize.IBytes(e.Free), enough)
}

// Continue sets in r what the run directory at path already has, if there is one. It fails
// with a *rundir.OtherRunError, and when the directory cannot be read.
func Continue(r *plan.Run, path string) error {
	dir, err := rundir.Open(path)
	if errors.Is(err, rundir.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := tables.Manifest(dir)
	if err != nil {
		return err
	}
	if want := Identity(r.Game); m.Identity != want {
		return &rundir.OtherRunError{Path: path, Has: m.Identity, Asked: want}
	}
	r.Solved = len(m.Layers)
	for _, l := range m.Layers {
		r.Sealed += uint64(l.Bytes)
	}
	return nil
}

// Room returns the bytes that a run at path may take: those that are free, and those
// already in work/, which the run reuses or removes. It fails as free does, or with
// an error of the operating system.
func Room(path string, free func(path string) (uint64, error)) (uint64, error) {
	room, err := free(path)
	if err != nil {
		return 0, err
	}
	used, err := rundir.WorkBytes(path)
	return room + used, err
}

// checkRoom refuses a run for which the disk has too little room.
func (o *Options) checkRoom(path string, game awari.Game) error {
	if o.Free == nil {
		return nil
	}
	r := plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Codec: o.Codec}
	if err := Continue(&r, path); err != nil {
		return nil // lock will tell
	}
	room, err := Room(path, o.Free)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	peak, err := r.DiskPeak()
	if err != nil || peak-r.Sealed <= room {
		return err
	}
	refusal := &DiskError{Path: path, Seeds: o.Seeds, Need: peak - r.Sealed, Free: room, First: r.Solved}
	for r.Seeds--; r.Seeds >= r.Solved; r.Seeds-- {
		if peak, err = r.DiskPeak(); err != nil {
			return err
		}
		if peak-r.Sealed <= room {
			break
		}
	}
	refusal.Largest = r.Seeds
	return refusal
}
