package compare

import (
	"context"
	"errors"
	"fmt"
	"os"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// side is one of two sets of layers.
type side interface {
	game() awari.Game
	// Need fails with tables.ErrUnsolved unless there is a layer of n seeds.
	Need(n int) error
	// read fills dst with the scores of layer n from rank start on. It is safe for
	// concurrent use.
	read(ctx context.Context, n int, start uint64, dst []int8) error
	// hasDistances reports whether there are distances of layer n, and readDistances is read for them.
	hasDistances(ctx context.Context, n int) (bool, error)
	readDistances(ctx context.Context, n int, start uint64, dst []int8) error
	// stale says which layers were computed from others than those that are there, see catalog.Stale.
	stale() ([]error, error)
	close() error
}

// openSide opens what is at path.
func openSide(ctx context.Context, path string, family cpu.Family) (side, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return openDirectory(ctx, path, family)
	}
	return openFile(path, family)
}

// directory is a run directory.
type directory struct {
	*tables.Tables
	path   string
	listed *manifest.Manifest
}

// openDirectory opens a run directory.
func openDirectory(ctx context.Context, path string, family cpu.Family) (side, error) {
	run, err := rundir.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := catalog.Manifest(run)
	if err != nil {
		return nil, err
	}
	t, err := tables.Open(ctx, path, catalog.Listed(m), tables.Kernel(family))
	if err != nil {
		return nil, err
	}
	return directory{t, path, m}, nil
}

func (d directory) game() awari.Game { return d.Game() }
func (d directory) close() error     { return d.Close() }

func (d directory) stale() ([]error, error) { return catalog.Stale(d.path, d.listed) }

func (d directory) read(ctx context.Context, n int, start uint64, dst []int8) error {
	return d.Read(ctx, n, start, dst)
}

func (d directory) hasDistances(ctx context.Context, n int) (bool, error) {
	f, err := d.DistancesFile(ctx, n)
	return f != nil, err
}

func (d directory) readDistances(ctx context.Context, n int, start uint64, dst []int8) error {
	_, err := d.ReadDistances(ctx, n, start, dst)
	return err
}

// file is a layer file.
type file struct {
	*layerfile.File
	of       awari.Game
	decoders *layerfile.Decoders
}

// openFile opens a layer file.
func openFile(path string, family cpu.Family) (side, error) {
	f, err := layerfile.Open(path)
	if err != nil {
		return nil, err
	}
	game, err := gameOf(f.Header())
	if err != nil {
		return nil, errors.Join(corrupt.New(path, "header", "%w: %w", corrupt.ErrMismatch, err), f.Close())
	}
	f.Bound(f.Header().Seeds)
	return &file{File: f, of: game, decoders: layerfile.NewDecoders(family)}, nil
}

// gameOf returns the game of a layer file.
func gameOf(h layerfile.Header) (game awari.Game, err error) {
	if h.Game != catalog.GameName {
		return game, fmt.Errorf("the game is %s, not %s", h.Game, catalog.GameName)
	}
	rules, err := awari.ParseRules(h.Rules)
	if err != nil {
		return game, err
	}
	if game, err = awari.New(h.Pits, rules); err != nil {
		return game, err
	}
	space, err := awari.NewSpace(game, h.Seeds)
	if err == nil && h.Positions != space.Size(h.Seeds) {
		err = fmt.Errorf("layer %d has %d positions instead of %d", h.Seeds, h.Positions, space.Size(h.Seeds))
	}
	return game, err
}

func (f *file) game() awari.Game { return f.of }
func (f *file) Need(n int) error {
	if n != f.Header().Seeds {
		return fmt.Errorf("%w: %s has no layer %d", tables.ErrUnsolved, f.Path(), n)
	}
	return nil
}
func (f *file) close() error { return f.Close() }

func (f *file) stale() ([]error, error) { return nil, nil } // nothing is known of the layers below

func (f *file) hasDistances(context.Context, int) (bool, error)          { return false, nil }
func (f *file) readDistances(context.Context, int, uint64, []int8) error { return tables.ErrUnsolved }

func (f *file) read(ctx context.Context, _ int, start uint64, dst []int8) error {
	d := f.decoders.Take(f.File)
	defer f.decoders.Put(d)
	return d.Read(ctx, dst, start)
}
