package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/internal/blocks"
	"grenier/pipeline/tables/catalog"
)

// ErrUnsolved reports a board, or a layer, with more seeds than were solved.
var ErrUnsolved = fault.New(fault.Usage, "not solved")

// Tables is an open run directory. It is safe for concurrent use.
type Tables struct {
	place
	manifest *manifest.Manifest
	space    *awari.Space
	layers   []layer // by seeds
	// distances are the files beside the layers; in the cache, and in opening, their numbers follow those of the layers.
	distances []distances
	opening   crew.Shared[int, *file]
	decoders  *layerfile.Decoders
	cache     atomic.Pointer[blocks.Store]
	closed    atomic.Bool
}

// Game returns the game that the scores are of.
func (t *Tables) Game() Game { return t.space.Game }

// MaxSeeds returns the number of seeds of the highest solved layer; all layers
// from 0 to it are solved, but for one that may be left out (Need). It is -1 when none is.
func (t *Tables) MaxSeeds() int { return len(t.layers) - 1 }

// Layers returns what the manifest says about each layer, by seeds. One that is left out has no positions.
func (t *Tables) Layers() []Layer { return slices.Clone(t.manifest.Layers) }

// Close closes the layer files, and the connections to a web server. Reads in progress end; afterwards other
// calls, and a second Close, fail with os.ErrClosed.
func (t *Tables) Close() error {
	if t.closed.Swap(true) {
		return t.errClosed()
	}
	var all error
	for n := range t.layers {
		all = errors.Join(all, t.layers[n].close(), t.distances[n].close())
	}
	t.place.close()
	return all
}

func (t *Tables) errClosed() error { return fmt.Errorf("%s: %w", t.name, os.ErrClosed) }

// Overhead returns the most bytes of memory that the tables take besides the cache when
// the given number of goroutines read: a model for each layer, and for its distances if there are any, a place for each of its blocks, and for each goroutine what
// decoding a block takes.
func (t *Tables) Overhead(goroutines int) uint64 {
	const perLayer, perGoroutine = 16 << 10, 16 * layerfile.MaxBlockSize
	bytes := uint64(goroutines) * perGoroutine
	for n := range t.layers {
		places := blocks.PlaceBytes * (t.space.Size(n)/layerfile.MaxBlockSize + 1)
		bytes += perLayer + layerfile.ModelBytes(n) + places
		if f, err := t.openDistances(context.Background(), n); f != nil && err == nil {
			bytes += perLayer + layerfile.ModelBytes(math.MaxUint8) + places
		}
	}
	return bytes
}

// Resize empties the cache and sets its size in bytes; at least one block is kept.
func (t *Tables) Resize(bytes uint64) {
	count := func(n int) uint64 { return uint64(t.fileOf(n).NumBlocks()) } // whose file is open by then
	t.cache.Store(blocks.New(2*len(t.layers), count, int(min(bytes/blocks.Bytes, math.MaxInt32)), 1, true))
}

// fileOf returns the open file of the layer, or of the distances, with a number in the cache.
func (t *Tables) fileOf(n int) *file {
	if n < len(t.layers) {
		return t.layers[n].file.Load()
	}
	return t.distances[n-len(t.layers)].file.Load()
}

// Path returns the path, or the address, of the file of layer n, "" if that is not solved.
func (t *Tables) Path(n int) string {
	if t.Need(n) != nil {
		return ""
	}
	return t.path(&t.manifest.Layers[n])
}

// File returns the open file of layer n after comparing it with the manifest, for engines that read it by themselves. It
// belongs to t and stays open until Close. It fails with ErrUnsolved, with an
// error that matches corrupt.ErrCorrupt, with the error of ctx, or with os.ErrClosed.
func (t *Tables) File(ctx context.Context, n int) (*layerfile.File, error) {
	f, err := t.checkedFile(ctx, n)
	if err != nil {
		return nil, err
	}
	return f.File, nil
}

// Ahead says that length scores of layer n from rank start on will be read soon, so that the system can read them
// meanwhile. It waits for nothing, and what cannot be done is left to Read.
func (t *Tables) Ahead(n int, start uint64, length int) {
	ctx := context.Background() // only files of this machine are asked
	if f, err := t.checkedFile(ctx, n); err == nil && length > 0 {
		first, _ := f.place(start)
		last, _ := f.place(start + uint64(length) - 1)
		f.Ahead(ctx, int(first), int(last))
	}
}

// checkedFile is open for numbers that come from outside.
func (t *Tables) checkedFile(ctx context.Context, n int) (*file, error) {
	if err := t.Need(n); err != nil {
		return nil, err
	}
	return t.open(ctx, n)
}

// UnsolvedError reports a layer, or a board of it, that is not solved. It matches ErrUnsolved.
type UnsolvedError struct {
	Seeds, Solved int    // of the layer, and of the highest one that is solved
	Place         string // the run directory, or its address
	Game          Game
	what, why     string
}

func (e *UnsolvedError) Error() string {
	if strings.HasPrefix(e.why, e.what+" ") {
		return fmt.Sprintf("%v: %s", ErrUnsolved, e.why)
	}
	return fmt.Sprintf("%v: %s, but %s", ErrUnsolved, e.what, e.why)
}

func (e *UnsolvedError) Unwrap() error { return ErrUnsolved }

// Need fails with an *UnsolvedError unless layer n is solved.
func (t *Tables) Need(n int) error {
	if !t.Has(n) {
		return Unsolved(t.manifest, t.name, n, t.Game())
	}
	return nil
}

// Unsolved returns the error about layer n that the run at place, with the manifest m, does not have.
func Unsolved(m *manifest.Manifest, place string, n int, game Game) *UnsolvedError {
	return &UnsolvedError{n, len(m.Layers) - 1, place, game, fmt.Sprintf("layer %d", n), catalog.Lacks(m, place, n)}
}

// NeedAll is Need for the layers of from to to seeds.
func (t *Tables) NeedAll(from, to int) error {
	for n := to; n >= from; n-- {
		if err := t.Need(n); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether layer n is solved.
func (t *Tables) Has(n int) bool { return t.manifest.Has(n) }

// unsolved returns the error about layer n, of which something was asked.
func (t *Tables) unsolved(n int, what string) error {
	e := Unsolved(t.manifest, t.name, n, t.Game())
	e.what = what
	return e
}
