package tables

import (
	"context"
	"fmt"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/layers/awari"
)

// distantWorkers is how many blocks are requested at the same time: more of
// them hide more round trips.
const distantWorkers = 16

// OpenRemote opens a run directory on a web server; d must stay open as long as
// the Tables. The manifest is read at once, layers and blocks as they are needed,
// a block with one request. All layer files are below the address, whatever directories the
// manifest names. It fails like remote.Dir.Manifest, and with an error
// that matches corrupt.ErrMismatch like Open.
//
// Where methods fail with an error of the operating system after Open, they fail with a
// *remote.Error after OpenRemote; remote.ErrChanged means that the directory has to be
// opened again.
func OpenRemote(d *remote.Dir, o Options) (*Tables, error) {
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	return newTables(place{
		name: d.Address(""), list: d.Address(rundir.ManifestName), distant: true,
		path:     func(l *manifest.Layer) string { return d.Address(l.File) },
		openFile: func(l *manifest.Layer) (*layerfile.File, error) { return d.Layer(l.File) },
	}, m, o)
}

// probeDistant is Probe, but asks for all blocks at the same time. The requests end
// with the context of the directory.
func (t *Tables) probeDistant(b awari.Board) (Probe, error) {
	probes, err := t.Probes(context.Background(), []awari.Board{b})
	if err != nil {
		return Probe{}, err
	}
	return probes[0], nil
}

// openAll opens the layers of the boards at the same time, after checking that all
// boards are solved.
func (t *Tables) openAll(boards []awari.Board) error {
	wanted := make(map[int]bool)
	for i, b := range boards {
		n, err := t.seeds(b)
		if err != nil {
			return fmt.Errorf("boards[%d]: %w", i, err)
		}
		wanted[n] = true
	}
	group, _ := crew.WithContext(context.Background())
	for n := range wanted {
		group.Go(func() error {
			_, err := t.open(n)
			return err
		})
	}
	return group.Wait()
}
