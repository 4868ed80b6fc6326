package tables

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/tables/catalog"
	"grenier/pipeline/tables/internal/option"
)

// DefaultCacheBytes is the size of the cache unless CacheBytes says otherwise.
const DefaultCacheBytes = 256 << 20

// ErrOption reports an option that makes no sense, or not for tables in that place.
var ErrOption = fault.New(fault.Usage, "bad option")

// Option says how tables are read. None ever changes a score.
type Option = option.Option

// Kernel chooses the kernel family that decodes blocks; the default is cpu.Best(). Open fails with
// a *cpu.UnsupportedError if it cannot run here.
func Kernel(family cpu.Family) Option { return func(o *option.Set) { o.Family = family } }

// CacheBytes bounds the decoded blocks that are kept in memory, in bytes, see Tables.Resize; at least one is kept. The default
// is DefaultCacheBytes. Open fails with ErrOption if it is below 0.
func CacheBytes(bytes int64) Option { return func(o *option.Set) { o.CacheBytes = bytes } }

// Sparing, if on, keeps the layer files from filling memory: only the cache keeps what was read, everything else is
// read from the disk again. Open fails with ErrOption for tables on a web server.
func Sparing(on bool) Option { return func(o *option.Set) { o.Sparing = on } }

// Server says how a web server is asked. Open fails with ErrOption for tables on this machine.
func Server(o ServerOptions) Option { return func(s *option.Set) { s.Server = &o } }

// place is where the files of a run directory are.
type place struct {
	name     string                         // of the directory
	list     string                         // of the manifest, as messages show it
	path     func(l *manifest.Layer) string // likewise, of the file of a layer
	openFile func(ctx context.Context, l *manifest.Layer) (*layerfile.File, error)
	// openDistances opens the file of the distances of a layer; it fails with fs.ErrNotExist if there is none.
	openDistances func(ctx context.Context, l *manifest.Layer) (*layerfile.File, error)
	close         func()
	distant       bool // what takes long is the way there
}

// Open opens the run directory at a path, or at an address like "https://host/tables/" (all that has "://" is one) of a
// web server that hands it out as plain files. ctx is for the opening alone, which waits for servers only. The manifest is read at once, layers and
// blocks as they are needed. On a web server all layer files are below the address, whatever directories the manifest
// names, and a block takes one request.
//
// It fails with an error that matches fs.ErrNotExist if there is no such directory, or no manifest in it; with one that matches
// ErrMismatch if the directory holds another game, or layers that awari does not have, ErrCorrupt if the manifest is
// damaged; with ErrOption or another error of an option; with an error of the operating system, or with ErrAddress or a
// *ServerError.
func Open(ctx context.Context, place string, options ...Option) (*Tables, error) {
	o := option.Set{Family: cpu.Best(), CacheBytes: DefaultCacheBytes}
	for _, option := range options {
		option(&o)
	}
	if err := check(&o); err != nil {
		return nil, err
	}
	if strings.Contains(place, "://") {
		return openRemote(ctx, place, &o)
	}
	return openLocal(place, &o)
}

// check refuses what makes no sense anywhere.
func check(o *option.Set) error {
	if o.CacheBytes < 0 {
		return fmt.Errorf("%w: a cache of %d bytes", ErrOption, o.CacheBytes)
	}
	return cpu.Check(o.Family)
}

// openLocal opens a directory of this machine.
func openLocal(dir string, o *option.Set) (*Tables, error) {
	if o.Server != nil {
		return nil, fmt.Errorf("%w: Server, but %s is no address like https://host/tables/", ErrOption, dir)
	}
	m, err := manifestOf(dir, o)
	if err != nil {
		return nil, err
	}
	p := place{name: dir, list: filepath.Join(dir, rundir.ManifestName), close: func() {}}
	p.path = func(l *manifest.Layer) string { return rundir.LayerFile(dir, l) }
	open := layerfile.Open
	if o.Sparing {
		open = layerfile.OpenSparing
	}
	p.openFile = func(_ context.Context, l *manifest.Layer) (*layerfile.File, error) {
		if o.Last != nil && l.Seeds == len(m.Layers)-1 {
			return o.Last()
		}
		return open(p.path(l))
	}
	p.openDistances = func(_ context.Context, l *manifest.Layer) (*layerfile.File, error) {
		return open(rundir.DistanceFile(dir, l))
	}
	return newTables(p, m, o)
}

// manifestOf returns the manifest to go by.
func manifestOf(dir string, o *option.Set) (*manifest.Manifest, error) {
	if o.Manifest != nil {
		return o.Manifest, nil
	}
	d, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	return d.Manifest()
}

// openRemote opens a directory on a web server.
func openRemote(ctx context.Context, address string, o *option.Set) (_ *Tables, err error) {
	if o.Sparing || o.Manifest != nil || o.Last != nil {
		return nil, fmt.Errorf("%w: Sparing, and what engines say of layers, are for tables on this machine, not on a web server", ErrOption)
	}
	if o.Server == nil {
		o.Server = new(remote.Options)
	}
	d, err := remote.Open(address, *o.Server)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	m, err := d.Manifest(ctx)
	if err != nil {
		return nil, err
	}
	return newTables(place{
		name: d.Address(""), list: d.Address(rundir.ManifestName), distant: true, close: d.Close,
		path:     func(l *manifest.Layer) string { return d.Address(l.File) },
		openFile: func(ctx context.Context, l *manifest.Layer) (*layerfile.File, error) { return d.Layer(ctx, l.File) },
		openDistances: func(ctx context.Context, l *manifest.Layer) (*layerfile.File, error) {
			if !l.Distances.Listed() {
				return nil, fs.ErrNotExist // who asks would only cost time
			}
			return d.Layer(ctx, rundir.DistanceName(l.Seeds))
		},
	}, m, o)
}

// newTables returns the tables that a manifest lists.
func newTables(p place, m *manifest.Manifest, o *option.Set) (*Tables, error) {
	space, err := catalog.Space(p.list, m)
	if err != nil {
		return nil, err
	}
	t := &Tables{place: p, manifest: m, space: space, layers: make([]layer, len(m.Layers)), distances: make([]distances, len(m.Layers)), decoders: layerfile.NewDecoders(o.Family)}
	t.Resize(uint64(o.CacheBytes))
	return t, nil
}

// What clients meet of other packages: nothing else needs to be imported.
type (
	// Board is seeds in pits, first the pits of the mover, who is the player to move. Entries beyond the pits of
	// the game are 0.
	Board = awari.Board
	// Game is a number of pits and rules: it reads, writes and plays boards.
	Game = awari.Game
	// Layer describes a layer, from the manifest.
	Layer = manifest.Layer
	// ServerOptions say how a web server is asked.
	ServerOptions = remote.Options
	// ServerError is a request that failed for good.
	ServerError = remote.Error
)

// Errors of other packages that errors of this one match.
var (
	// ErrBoard reports a board that the game does not have.
	ErrBoard = awari.ErrBoard
	// ErrRange reports ranks that a layer does not have.
	ErrRange = layerfile.ErrRange
	// ErrCorrupt is damage: a file that fails its checksums, or is not the one that is listed.
	ErrCorrupt = corrupt.ErrCorrupt
	// ErrMismatch says that a file is intact, but of something else. It is ErrCorrupt too.
	ErrMismatch = corrupt.ErrMismatch
	// ErrAddress reports an address that no directory can have.
	ErrAddress = remote.ErrAddress
	// ErrChanged says that a file was replaced on the server: open the directory again.
	ErrChanged = remote.ErrChanged
)
