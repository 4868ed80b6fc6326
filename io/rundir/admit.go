package rundir

import (
	"cmp"
	"errors"
	"io/fs"

	"grenier/io/manifest"
	"grenier/io/vfs"
)

// Admit changes nothing, and fails as these would: Lock; PlaceWork and PlaceLayers with work and layers; and CheckLayer of
// the layers that are not sealed, up to that of last seeds.
func Admit(path string, id manifest.Identity, work, layers string, last int) error {
	if err := (&manifest.Manifest{Identity: id}).Validate(); err != nil {
		return err
	}
	l := &Locked{Dir: Dir{path: path}}
	return cmp.Or(l.admitRun(id), l.admitPlace(work, working), l.admitPlace(layers, replaced), l.admitLayers(layers, last))
}

// admitRun looks at the run directory.
func (l *Locked) admitRun(id manifest.Identity) (err error) {
	l.dir, err = l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return makeable(l.path)
	}
	if err != nil {
		return err
	}
	defer l.dir.Close()
	if err := l.admit(id); err != nil {
		return err
	}
	h, err := l.holder()
	if err == nil && h.Held {
		err = &LockedError{Path: l.dir.Path(LockName), PID: h.PID}
	}
	return err
}

// admitPlace looks at a directory on another disk.
func (l *Locked) admitPlace(path string, ours func(name string) bool) error {
	if l.isRun(path) {
		return nil
	}
	d, err := (&Dir{path: path}).open()
	if errors.Is(err, fs.ErrNotExist) {
		return makeable(path)
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := l.owned(d, ours); err != nil {
		return err
	}
	return unwritable(path, vfs.Writable(path))
}

// admitLayers looks for what is in the place of layer files.
func (l *Locked) admitLayers(layers string, last int) error {
	m, err := l.Manifest()
	if err != nil {
		m = &manifest.Manifest{}
	}
	if layers == "" {
		layers = l.path
	}
	dir, err := (&Dir{path: layers}).open()
	if err != nil {
		return nil // admitRun and admitPlace report it
	}
	defer dir.Close()
	l.layers = dir
	for _, n := range m.Missing(last) {
		if err := l.CheckLayer(n); err != nil {
			return err
		}
	}
	return nil
}

// makeable fails if there can be no directory at path.
func makeable(path string) error {
	parent, err := vfs.Nearest(path)
	if err == nil {
		err = vfs.Writable(parent)
	}
	return unwritable(path, err)
}
