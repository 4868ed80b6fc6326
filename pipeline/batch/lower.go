package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
)

// lower is the solved layers that captures from the layer in progress lead to.
type lower struct {
	run   *run
	files []*layerfile.File // by seeds; nil when not needed
	// decoders keeps those that are not in use, by seeds.
	decoders []sync.Pool
}

// openLower opens the layers below n and checks that they are the ones that the
// manifest lists.
func (r *run) openLower(n int) (*lower, error) {
	l := &lower{run: r, files: make([]*layerfile.File, n), decoders: make([]sync.Pool, n)}
	for i := range n {
		if err := l.open(i); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

func (l *lower) open(i int) error {
	path := l.run.dir.LayerPath(i)
	f, err := layerfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return corrupt.New(path, "", "listed in the manifest, but missing: %w", err)
	}
	if err != nil {
		return err
	}
	l.files[i] = f
	if err := f.Advise(layerfile.Sequential); err != nil {
		return fmt.Errorf("layer %d: %w", i, err)
	}
	return errors.Join(f.Expect(l.run.manifest.Header(i)), l.run.manifest.CheckFile(i, f))
}

// Read fills dst with the scores of layer n from rank start on.
func (l *lower) Read(n int, start uint64, dst []int8) error {
	d, ok := l.decoders[n].Get().(*layerfile.Decoder)
	if !ok {
		var err error
		if d, err = l.files[n].NewDecoder(l.run.planes); err != nil {
			return err
		}
	}
	defer l.decoders[n].Put(d)
	return d.Read(dst, start)
}

// Close unmaps the files. It may be called again.
func (l *lower) Close() error {
	var all error
	for i, f := range l.files {
		if f != nil {
			all = errors.Join(all, f.Close())
			l.files[i] = nil
		}
	}
	return all
}
