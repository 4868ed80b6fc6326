package solve

import (
	"errors"
	"fmt"
	"math/bits"

	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables/catalog"
)

// Continue sets in r what the run directory at path already has, if there is one. It fails
// with a *rundir.OtherRunError, with ErrSkip if it has the layer that is left out, and when the directory cannot be read.
func Continue(r *plan.Run, path string) error {
	dir, err := rundir.Open(path)
	if errors.Is(err, rundir.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := catalog.Manifest(dir)
	if err != nil {
		return err
	}
	if want := Identity(r.Game); m.Identity != want {
		return &rundir.OtherRunError{Path: path, Has: m.Identity, Asked: want}
	}
	if err := checkSkip(path, m, bits.TrailingZeros64(r.Omitted)); err != nil {
		return err
	}
	resume(r, m)
	return nil
}

// resume sets in r which layers are there.
func resume(r *plan.Run, m *manifest.Manifest) {
	missing := m.Missing(len(m.Layers)) // the last one always is
	r.Solved = missing[0]
	if r.Omitted>>r.Solved&1 != 0 && len(missing) > 1 {
		r.Solved = missing[1]
	}
	for _, n := range m.Sealed() {
		r.Omitted |= 1 << n
		r.Sealed += uint64(m.Layers[n].Bytes)
	}
}

// disk is a place that files of a run go to.
type disk struct {
	path string
	// need returns what a run takes there besides what it has sealed.
	need func(r *plan.Run) (uint64, error)
	room func(path string, free func(string) (uint64, error)) (bytes uint64, known bool, err error)
}

// disks returns the disks of a run in the directory at path.
func (o *Options) disks(path string) ([]disk, error) {
	layers, work := disk{path: path, room: rundir.Room}, disk{path: path, room: rundir.Room}
	if o.Layers != "" {
		layers.path, layers.room = o.Layers, rundir.RoomForLayers
	}
	if o.Work != "" {
		work.path, work.room = o.Work, rundir.RoomForWork
	}
	same, err := rundir.SameDisk(layers.path, work.path)
	if err != nil {
		return nil, err
	}
	if same {
		work.need = func(r *plan.Run) (uint64, error) {
			peak, err := r.DiskPeak()
			return peak - r.Sealed, err
		}
		return []disk{work}, nil
	}
	layers.need = func(r *plan.Run) (uint64, error) {
		bytes, _, err := r.DiskPeaks()
		return bytes, err
	}
	work.need = func(r *plan.Run) (uint64, error) {
		_, bytes, err := r.DiskPeaks()
		return bytes, err
	}
	return []disk{layers, work}, nil
}

// Disk is a disk that a run writes to.
type Disk struct {
	Path string `json:"path"` // of the directory there
	// Need is the bytes that the run takes at most besides what it has sealed. Free is how many
	// it may take, nil if nobody knows.
	Need uint64  `json:"needed_bytes"`
	Free *uint64 `json:"free_bytes,omitempty"`
}

// Disks returns the needs of the run r on each disk: one, or one for layer files and one for
// streams and checkpoints, if these are in different file systems. The run is in the directory at
// path, unless the options say otherwise; Continue has told r what is sealed there. It fails as
// plan.New does, or with an error of the operating system.
func (o *Options) Disks(path string, r plan.Run) (all []Disk, err error) {
	disks, err := o.disks(path)
	if err != nil {
		return nil, err
	}
	for _, d := range disks {
		need, err := d.need(&r)
		if err != nil {
			return nil, err
		}
		found := Disk{Path: d.path, Need: need}
		free, known, err := d.room(d.path, o.Free)
		if err != nil {
			return nil, err
		}
		if known {
			found.Free = &free
		}
		all = append(all, found)
	}
	return all, nil
}

// checkRoom refuses a run for which a disk has too little room.
func (o *Options) checkRoom(path string, game awari.Game) error {
	if o.Free == nil {
		return nil
	}
	r := plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Bits: o.Bits, Family: o.Family, Omitted: o.Omitted()}
	if err := Continue(&r, path); err != nil {
		return nil // lock will report it
	}
	disks, err := o.disks(path)
	for _, d := range disks {
		if err == nil {
			err = o.checkDisk(d, r)
		}
	}
	return err
}

// checkDisk refuses a run for which a disk has too little room.
func (o *Options) checkDisk(d disk, r plan.Run) error {
	room, known, err := d.room(d.path, o.Free)
	if err != nil || !known {
		return err
	}
	need, err := d.need(&r)
	if err != nil || need <= room {
		return err
	}
	refusal := &rundir.RoomError{
		What: fmt.Sprintf("solving up to layer %d", o.Seeds), Path: d.path, Need: need, Free: room, Estimated: true,
		Enough: fmt.Sprintf("too little for layer %d", r.Solved),
	}
	for r.Seeds--; r.Seeds >= r.Solved; r.Seeds-- {
		if need, err = d.need(&r); err != nil {
			return err
		}
		if need <= room {
			refusal.Enough = fmt.Sprintf("enough up to layer %d", r.Seeds)
			break
		}
	}
	return refusal
}
