// Package verify checks a run directory of solved awari layers, independently of
// how they were computed. It goes through the layers one by one and asks two
// questions.
//
// Are the files intact (file.go)? Every checksum of the layer file is
// recomputed, and sizes, sums and histogram are compared with the manifest.
//
// Do the scores follow from each other (compare.go, part.go)? The score of a
// position must be the largest of what its moves give, captured minus the score
// of the child, or minus all seeds when there is no move. The moves are played
// by the plain rules of layers/awari, seed by seed; no code is shared with the
// engine that solved the layers. All positions are compared, or a random sample.
//
// If all positions of all layers pass, the scores are a solution of the equations
// of the game. Another solution than the true one can only differ in whole sets
// of positions that play around in circles and lend each other a score that no
// capture backs: a look at each position and its children cannot tell that endless
// play is worth 0. Package prove rules them out.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/memory"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// DefaultMemoryBytes is the default of Options.MemoryBytes.
const DefaultMemoryBytes = 1 << 30

// Options say what to verify and how.
type Options struct {
	// Layers lists the layers to verify by their number of seeds; empty stands
	// for all that are solved.
	Layers []int
	// Sample is how many positions of each layer are compared, picked at random
	// with Seed; 0 stands for all.
	Sample uint64
	Seed   uint64
	// Workers is the number of goroutines that compare; 0 means one.
	Workers int
	// Family is the kernel family that decodes blocks.
	Family cpu.Family
	// Memory, if not 0, bounds the bytes of the process, and the next two follow from
	// it.
	Memory uint64
	// MemoryBytes bounds the layers that are decoded into memory as a whole, which
	// makes verifying much faster; 0 stands for DefaultMemoryBytes. Layers that do
	// not fit are read through a cache of CacheBytes, see tables.Options.
	MemoryBytes int64
	CacheBytes  int64
	// Progress, if not nil, is called often, by one goroutine at a time.
	Progress func(Progress)
	// Backed, if not nil, is called with the rank of each position compared, of
	// the layer with that many seeds, whose score is positive and is what a move
	// that takes seeds gives; by several goroutines at a time. It is where the
	// proof of package prove begins.
	Backed func(seeds int, rank uint64)
}

// Run verifies the run directory dir. Whatever is wrong with a layer becomes part
// of the result, and the next layer follows; see Result.Err. An error says that
// the question could not be answered: those of tables.Open, tables.ErrUnsolved
// for a layer that is not there, a *memory.Error, or that of ctx. The result then holds the layers
// that were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = newResult(o)
	t, err := tables.Open(dir, tables.Options{Family: o.Family, CacheBytes: o.CacheBytes})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := newRun(t, o)
	if err != nil {
		return result, err
	}
	for _, n := range r.options.Layers {
		layer, err := r.layer(ctx, n)
		if err != nil {
			return result, err
		}
		result.add(layer, time.Since(start))
	}
	return result, nil
}

// run is a verification in progress.
type run struct {
	options Options
	tables  *tables.Tables
	space   *awari.Space
	memory  [][]int8 // layers in memory, by seeds; nil for others
	meter   meter
}

// newRun prepares a verification and counts the positions to be compared.
func newRun(t *tables.Tables, o Options) (*run, error) {
	o.Workers = max(1, o.Workers)
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	if len(o.Layers) == 0 {
		for n := range t.MaxSeeds() + 1 {
			o.Layers = append(o.Layers, n)
		}
	}
	o.Layers = slices.Compact(slices.Sorted(slices.Values(o.Layers)))
	space, err := awari.NewSpace(t.Game(), max(0, t.MaxSeeds()))
	if err != nil {
		return nil, err
	}
	r := &run{
		options: o, tables: t, space: space,
		memory: make([][]int8, t.MaxSeeds()+1), meter: meter{report: o.Progress},
	}
	for _, n := range o.Layers {
		if n < 0 || n > t.MaxSeeds() {
			return nil, fmt.Errorf("%w: layer %d (0 to %d are solved)", tables.ErrUnsolved, n, t.MaxSeeds())
		}
		r.meter.total += r.wanted(n)
	}
	return r, r.divide()
}

// divide divides the memory of the process.
func (r *run) divide() error {
	o := &r.options
	if o.Memory == 0 {
		return nil
	}
	n := 0
	if len(o.Layers) > 0 {
		n = slices.Max(o.Layers)
	}
	fixed := Fixed(r.tables, o.Workers)
	if err := memory.Check(fmt.Sprintf("verifying layer %d", n), fixed, o.Memory); err != nil {
		return err
	}
	layers, cache := Divide(memory.Room(o.Memory)-fixed, r.space, n)
	o.MemoryBytes = layers
	r.tables.Resize(cache)
	return nil
}

// Fixed returns the bytes of data that verifying takes with the given workers, besides
// those that Divide divides.
func Fixed(t *tables.Tables, workers int) uint64 {
	const queues = 256 << 10 // positions, their children and scores
	return t.Overhead(workers) + uint64(workers)*queues + layerfile.MaxBlockSize
}

// Divide divides memory between the layers, up to that of n seeds, that are held as a
// whole, and the cache for the others. If there are no others, the cache gets nothing.
func Divide(bytes uint64, space *awari.Space, n int) (layers int64, cache uint64) {
	all := uint64(0)
	for k := range n + 1 {
		all += space.Size(k)
	}
	if all > bytes {
		cache = min(bytes/shareOfCache, tables.DefaultCacheBytes)
	}
	return int64(min(bytes-cache, math.MaxInt64)), cache
}

// shareOfCache is the part of the memory that the cache gets.
const shareOfCache = 4

// wanted returns how many positions of layer n are to be compared.
func (r *run) wanted(n int) uint64 {
	if s := r.options.Sample; s > 0 {
		return min(s, r.space.Size(n))
	}
	return r.space.Size(n)
}

// layer verifies layer n. Data that cannot be used is part of the outcome, other
// errors are not.
func (r *run) layer(ctx context.Context, n int) (Layer, error) {
	layer := Layer{Seeds: n, Positions: r.space.Size(n), Problems: []Problem{}}
	if err := r.checkFile(ctx, n, &layer); err != nil {
		return layer, err
	}
	if len(layer.Problems) == 0 {
		err := r.compare(ctx, n, &layer)
		if err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
			return layer, err
		}
		if err != nil {
			layer.damaged(err)
		}
	}
	r.meter.add(n, r.wanted(n)-layer.Checked)
	return layer, nil
}
