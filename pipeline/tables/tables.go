package tables

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
)

// DefaultCacheBytes is the size of the cache unless Options say otherwise.
const DefaultCacheBytes = 256 << 20

// GameName is the game that layer files and manifests of awari name.
const GameName = "awari"

// ErrUnsolved reports a board, or a layer, with more seeds than were solved.
var ErrUnsolved = fault.New(fault.Usage, "not solved")

// Options say how a run directory is read. They never change a score.
type Options struct {
	// Family is the kernel family that decodes blocks.
	Family cpu.Family
	// CacheBytes bounds the decoded blocks kept in memory, see Resize; 0 stands for
	// DefaultCacheBytes, and at least one block is kept.
	CacheBytes int64
	// Sparing keeps the layer files from filling memory: only the cache keeps what
	// was read, everything else is read from the disk again. OpenRemote does not
	// look at it.
	Sparing bool
}

// Tables is an open run directory. It is safe for concurrent use.
type Tables struct {
	place
	manifest *manifest.Manifest
	space    *awari.Space
	layers   []layer // by seeds
	decoders *layerfile.Decoders
	cache    *cache
	closed   atomic.Bool
}

// place is where the files of a run directory are.
type place struct {
	name     string                         // of the directory
	list     string                         // of the manifest, as messages show it
	path     func(l *manifest.Layer) string // likewise, of the file of a layer
	openFile func(l *manifest.Layer) (*layerfile.File, error)
	distant  bool // what takes long is the way there
}

// Open opens the run directory dir. It fails like rundir.Open, and with an error
// that matches corrupt.ErrMismatch when the directory holds another game, or
// layers that awari does not have.
func Open(dir string, o Options) (*Tables, error) {
	d, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	return OpenListed(dir, m, o)
}

// OpenListed opens the layers of the run directory dir that m lists, whatever the manifest
// there says. It fails with an error that matches corrupt.ErrMismatch like Open.
func OpenListed(dir string, m *manifest.Manifest, o Options) (*Tables, error) {
	p := place{name: dir, list: filepath.Join(dir, rundir.ManifestName)}
	p.path = func(l *manifest.Layer) string { return rundir.LayerFile(dir, l) }
	p.openFile = func(l *manifest.Layer) (*layerfile.File, error) {
		if o.Sparing {
			return layerfile.OpenSparing(p.path(l))
		}
		return layerfile.Open(p.path(l))
	}
	return newTables(p, m, o)
}

// OpenPending is OpenListed for a directory whose last layer has no name yet: open opens its file.
func OpenPending(dir string, m *manifest.Manifest, open func() (*layerfile.File, error), o Options) (*Tables, error) {
	t, err := OpenListed(dir, m, o)
	if err != nil {
		return nil, err
	}
	listed := t.openFile
	t.openFile = func(l *manifest.Layer) (*layerfile.File, error) {
		if l.Seeds == t.MaxSeeds() {
			return open()
		}
		return listed(l)
	}
	return t, nil
}

// newTables returns the tables that a manifest lists.
func newTables(p place, m *manifest.Manifest, o Options) (*Tables, error) {
	space, err := spaceOf(m)
	if err != nil {
		return nil, mismatch(p.list, err)
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	return &Tables{
		place: p, manifest: m, space: space,
		layers: make([]layer, len(m.Layers)), decoders: layerfile.NewDecoders(o.Family), cache: newCache(o.CacheBytes),
	}, nil
}

// Game returns the game that the scores are of.
func (t *Tables) Game() awari.Game { return t.space.Game }

// MaxSeeds returns the number of seeds of the highest solved layer; all layers
// from 0 to it are solved. It is -1 when none is.
func (t *Tables) MaxSeeds() int { return len(t.layers) - 1 }

// Layers returns what the manifest says about each solved layer, by seeds.
func (t *Tables) Layers() []manifest.Layer { return slices.Clone(t.manifest.Layers) }

// Stale is that of a directory and its manifest, for tables on this machine.
func (t *Tables) Stale() ([]error, error) { return Stale(t.name, t.manifest) }

// CheckBelow is that of the manifest.
func (t *Tables) CheckBelow(f *layerfile.File) error { return t.manifest.CheckBelow(f) }

// Close closes the layer files. Reads in progress finish; afterwards other
// calls, and a second Close, fail with os.ErrClosed.
func (t *Tables) Close() error {
	if t.closed.Swap(true) {
		return t.errClosed()
	}
	var all error
	for n := range t.layers {
		all = errors.Join(all, t.layers[n].close())
	}
	return all
}

// Forget frees the memory of the cache.
func (t *Tables) Forget() { t.cache.clear() }

func (t *Tables) errClosed() error { return fmt.Errorf("%s: %w", t.name, os.ErrClosed) }

// Overhead returns the most bytes of memory that the tables take besides the cache when
// the given number of goroutines read: a model for each layer, and for each goroutine what
// decoding a block takes.
func (t *Tables) Overhead(goroutines int) uint64 {
	const perLayer, perGoroutine = 16 << 10, 16 * layerfile.MaxBlockSize
	bytes := uint64(goroutines) * perGoroutine
	for n := range t.layers {
		bytes += perLayer + layerfile.ModelBytes(n)
	}
	return bytes
}

// Resize empties the cache and sets its size in bytes. Nobody may be reading.
func (t *Tables) Resize(bytes uint64) { t.cache = newCache(int64(min(bytes, math.MaxInt64))) }

// Path returns the path, or the address, of the file of layer n, which must be
// solved.
func (t *Tables) Path(n int) string { return t.path(&t.manifest.Layers[n]) }

// File returns the open file of layer n after comparing it with the manifest. It
// belongs to t and stays open until Close. It fails with ErrUnsolved, with an
// error that matches corrupt.ErrCorrupt, or with os.ErrClosed.
func (t *Tables) File(n int) (*layerfile.File, error) {
	f, err := t.checkedFile(n)
	if err != nil {
		return nil, err
	}
	return f.File, nil
}

// Read fills dst with the scores of layer n from rank start on, in colex order.
// It does not use the cache, which long reads would only empty. It fails like
// File, or with layerfile.ErrRange.
func (t *Tables) Read(n int, start uint64, dst []int8) error {
	f, err := t.checkedFile(n)
	if err != nil {
		return err
	}
	d := t.decoders.Take(f.File)
	defer t.decoders.Put(d)
	return d.Read(dst, start)
}

// Ahead says that length scores of layer n from rank start on will be read soon, so that the system can read them
// meanwhile. It waits for nothing, and what cannot be done is left to Read.
func (t *Tables) Ahead(n int, start uint64, length int) {
	if f, err := t.checkedFile(n); err == nil && length > 0 {
		first, _ := f.place(start)
		last, _ := f.place(start + uint64(length) - 1)
		f.Ahead(int(first), int(last))
	}
}

// ReadOne returns the score of layer n that has a rank in colex order. It decodes no more of the block than it needs, see
// layerfile.Decoder.Score, and does not use the cache. It fails like Read.
func (t *Tables) ReadOne(n int, rank uint64) (int8, error) {
	f, err := t.checkedFile(n)
	if err != nil {
		return 0, err
	}
	d := t.decoders.Take(f.File)
	defer t.decoders.Put(d)
	return d.Score(rank)
}

// checkedFile is open for numbers that come from outside.
func (t *Tables) checkedFile(n int) (*file, error) {
	if n < 0 || n > t.MaxSeeds() {
		return nil, t.unsolved(fmt.Sprintf("layer %d", n))
	}
	return t.open(n)
}

// unsolved returns an ErrUnsolved that says what was asked for and what there
// is.
func (t *Tables) unsolved(what string) error {
	if t.MaxSeeds() < 0 {
		return fmt.Errorf("%w: %s, but no layer in %s is solved", ErrUnsolved, what, t.name)
	}
	return fmt.Errorf("%w: %s, but %s is solved up to %d", ErrUnsolved, what, t.name, t.MaxSeeds())
}
