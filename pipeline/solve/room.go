package solve

import (
	"errors"
	"fmt"

	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
)

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

// checkRoom refuses a run for which the disk has too little room.
func (o *Options) checkRoom(path string, game awari.Game) error {
	if o.Free == nil {
		return nil
	}
	r := plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Codec: o.Codec}
	if err := Continue(&r, path); err != nil {
		return nil // lock will report it
	}
	room, known, err := rundir.Room(path, o.Free)
	if err != nil || !known {
		return err
	}
	peak, err := r.DiskPeak()
	if err != nil || peak-r.Sealed <= room {
		return err
	}
	refusal := &rundir.RoomError{
		What: fmt.Sprintf("solving up to layer %d", o.Seeds), Path: path, Need: peak - r.Sealed, Free: room, Estimated: true,
		Enough: fmt.Sprintf("too little for layer %d", r.Solved),
	}
	for r.Seeds--; r.Seeds >= r.Solved; r.Seeds-- {
		if peak, err = r.DiskPeak(); err != nil {
			return err
		}
		if peak-r.Sealed <= room {
			refusal.Enough = fmt.Sprintf("enough up to layer %d", r.Seeds)
			break
		}
	}
	return refusal
}
