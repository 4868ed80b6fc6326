// Package catalog reads the list of layers of an awari run: the manifest, checked against the rules, and
// whether the layer files are the listed ones. Engines and commands use it; who only asks for scores needs package
// tables alone.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/tables/internal/option"
)

// GameName is the game that layer files and manifests of awari name.
const GameName = "awari"

// Listed has tables.Open open the layers that m lists, whatever the manifest in the directory says.
func Listed(m *manifest.Manifest) option.Option { return func(o *option.Set) { o.Manifest = m } }

// Last has tables.Open open the file of the last layer by open: it has no name yet.
func Last(open func() (*layerfile.File, error)) option.Option {
	return func(o *option.Set) { o.Last = open }
}

// Directory is a *rundir.Dir or a *rundir.Locked.
type Directory interface {
	Manifest() (*manifest.Manifest, error)
	ManifestPath() string
}

// Manifest reads the manifest of a run directory without opening its layers. It fails like
// rundir.Dir.Manifest and checkManifest.
func Manifest(d Directory) (*manifest.Manifest, error) { return checked(d.ManifestPath(), d.Manifest) }

// Lacks says why layer n is not among those of the run at place, which m lists: "run is solved up to 5".
func Lacks(m *manifest.Manifest, place string, n int) string {
	switch last := len(m.Layers) - 1; {
	case last < 0:
		return fmt.Sprintf("no layer in %s is solved", place)
	case n >= 0 && n <= last:
		return fmt.Sprintf("layer %d is left out in %s, which is solved up to %d: solve it with grenier awari solve --seeds %[3]d, without --skip", n, place, last)
	default:
		return fmt.Sprintf("%s is solved up to %d", place, last)
	}
}

// CheckFiles fails with an error that matches corrupt.ErrMismatch, or as layerfile.Peek
// does, unless the layer files of the run directory dir, as far as they are there, are
// those that it lists: it may be the manifest of another run. Only their ends are read.
func CheckFiles(dir string, m *manifest.Manifest) error {
	for _, n := range m.Sealed() {
		f, err := layerfile.Peek(rundir.LayerFile(dir, &m.Layers[n]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(m.CheckFile(n, f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Below names the layers that layer n is computed from, as m lists them: the layers that captures
// lead to.
func Below(game awari.Game, m *manifest.Manifest, n int) (below layerfile.Below) {
	least, most := game.CapturesLeadTo(n)
	for k := least; k <= most; k++ {
		below = below.With(k, m.Layers[k].Hash)
	}
	return below
}

// Stale returns an error of manifest.Manifest.CheckBelow for each layer of the run directory dir that was
// computed from other layers than m lists, by ascending seeds. Only the ends of the files are
// read; one that is missing or damaged says nothing. It fails with an error of the operating system.
func Stale(dir string, m *manifest.Manifest) (stale []error, err error) {
	for _, n := range m.Sealed() {
		f, err := layerfile.Peek(rundir.LayerFile(dir, &m.Layers[n]))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := m.CheckBelow(f); err != nil {
			stale = append(stale, err)
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// RemoteManifest is Manifest for a run directory on a web server. It fails with the error of ctx too.
func RemoteManifest(ctx context.Context, d *remote.Dir) (*manifest.Manifest, error) {
	read := func() (*manifest.Manifest, error) { return d.Manifest(ctx) }
	return checked(d.Address(rundir.ManifestName), read)
}

// checked returns the manifest that read returns, from the file at path.
func checked(path string, read func() (*manifest.Manifest, error)) (*manifest.Manifest, error) {
	m, err := read()
	if err == nil {
		err = checkManifest(path, m)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// checkManifest fails with an error that matches corrupt.ErrMismatch, and names the file
// at path, if a manifest lists layers that awari does not have: another number of positions
// than there are boards, or scores that no board has. A manifest of another game passes as
// long as it lists nothing.
func checkManifest(path string, m *manifest.Manifest) error {
	if m.Game != GameName && len(m.Layers) == 0 {
		return nil
	}
	_, err := Space(path, m)
	return err
}

// Space returns the boards that a manifest lists the scores of. It fails with an error that matches
// corrupt.ErrMismatch, and names the file at path, if it is of another game, or lists layers that awari does not have.
func Space(path string, m *manifest.Manifest) (*awari.Space, error) {
	space, err := spaceOf(m)
	if err != nil {
		return nil, &corrupt.Error{File: path, Cause: fmt.Errorf("%w: %w", corrupt.ErrMismatch, err)}
	}
	return space, nil
}

func spaceOf(m *manifest.Manifest) (*awari.Space, error) {
	if m.Game != GameName {
		return nil, fmt.Errorf("the game is %s, not %s", m.Game, GameName)
	}
	rules, err := awari.ParseRules(m.Rules)
	if err != nil {
		return nil, err
	}
	game, err := awari.New(m.Pits, rules)
	if err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(game, max(0, len(m.Layers)-1))
	if err != nil {
		return nil, err
	}
	for _, n := range m.Sealed() {
		if err := possible(space, n, &m.Layers[n]); err != nil {
			return nil, err
		}
	}
	return space, nil
}

// possible fails if the layer of n seeds is not of such a size, or has a score that is more
// than all seeds.
func possible(space *awari.Space, n int, l *manifest.Layer) error {
	if l.Positions != space.Size(n) {
		return fmt.Errorf("layer %d has %d positions instead of %d", n, l.Positions, space.Size(n))
	}
	if !l.Histogram.Within(int8(-n), int8(n)) {
		return fmt.Errorf("layer %d has scores beyond -%d and %d", n, n, n)
	}
	return nil
}
