// Package verify checks a run directory of solved awari layers, independently of
// how they were computed. It goes through the layers one by one and asks two
// questions.
//
// Are the files intact (file.go)? Every checksum of the layer file is
// recomputed, and sizes, sums and histogram are compared with the manifest.
//
// Do the scores follow from each other (compare.go)? The score of a position must be
// the largest of what its moves give, captured minus the score of the child, or minus
// all seeds when there is no move. What moves do is asked of the plain rules of
// layers/awari, which play them seed by seed; no code is shared with the engine that
// solved the layers. All positions are compared, or a random sample (sample.go).
//
// Distances (package distance) that are there are compared on the way: each with those of its moves (distances.go).
//
// Several processes may each verify a part of each layer (job.Part), and one adds up what they have found (divided.go).
//
// # All positions
//
// The boards with the same half of the opponent are a row of a layer, a run of ranks.
// Playing a pit leads from all boards with the same half of the mover, a column, to the
// same row of the layer of the child, because that half becomes the opponent's. Where in the
// row, and what is captured, depends on the opponent's half and on what it gets: the rules are
// asked once for each such half and all it can get (sowing.go), on a board each.
//
// As many columns as fit into memory are a panel (panel.go). The lower layers and then
// the layer itself are read in the order of their ranks, row by row (rows.go), and each
// row raises the values of the columns of the panel from which moves lead there (part.go);
// rows without such columns are left out. Then the layer is read once more and compared
// with the values. Columns that lead to a row are found by taking a sowing
// back; the moves looked at are counted, and the moves of the panel, counted forward, must be
// as many. Positions without a move that leaves the opponent a seed, about which rule sets differ, are
// judged one by one by the rules. So any memory will do: with less of it, files are read
// more often.
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

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// DefaultMemoryBytes is the default of Options.MemoryBytes.
const DefaultMemoryBytes = 1 << 30

// Options say what to verify and how.
type Options struct {
	job.Job
	// Layers lists the layers to verify by their number of seeds; empty stands
	// for all that are solved.
	Layers []int
	// Sample is how many positions of each layer are compared, picked at random
	// with Seed; 0 stands for all.
	Sample uint64
	Seed   uint64
	// Among, if not nil, says which positions a sample should rather have: it takes others where it finds none.
	Among func(awari.Board) bool
	// MemoryBytes bounds the part of a layer that is compared at a time, a byte a
	// position; 0 stands for DefaultMemoryBytes, and Memory, if not 0, decides. Layers are read once for each part.
	MemoryBytes int64
	// Resume records which layers, and panels of a layer, are in order, and leaves out those
	// that were recorded by a verification that was interrupted, unless it is to Restart. Samples are
	// not recorded.
	Resume, Restart bool
	// ScoresOnly leaves out distances, which are compared too if there are files of them and all positions are.
	ScoresOnly bool
	// Part is the part of each layer that is compared: an equal share of the mover's halves, or of the sample. What it has
	// found is recorded, faults too, and left out when it was in order before. All adds up what was recorded.
	Part job.Part
	// Done, if not nil, is called with each layer that is done.
	Done func(Layer)
	// Backed, if not nil, is called once with each position compared whose score is positive
	// and follows from a move that takes seeds: with bits for the ranks from 8 x at on, eight
	// in each byte, the lowest first. Several goroutines call it at a time, with different ranks,
	// but perhaps of the same byte. An error of it is one of Run. It is where the proof of
	// package prove begins.
	Backed func(bits []byte, at int64) error
}

// Run verifies the run directory dir. Whatever is wrong with a layer becomes part
// of the result, and the next layer follows; see Result.Err. An error says that
// the question could not be answered: an error of tables.Open, tables.ErrUnsolved
// for a layer that is not there, a *memory.Error, or the error of ctx. The result then holds the layers
// that were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = &Result{OK: true, Sample: o.Sample, Seed: o.Seed, Layers: []Layer{}}
	d, err := rundir.Open(dir)
	if err != nil {
		return result, err
	}
	m, err := d.Manifest()
	if err != nil {
		return result, err
	}
	t, err := tables.Open(ctx, dir, catalog.Listed(m), tables.Kernel(o.Family), tables.CacheBytes(1), tables.Sparing(sparse(m, o)))
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := newRun(ctx, t, o)
	if err != nil {
		return result, err
	}
	if o.Part != (job.Part{}) || o.Resume && o.Sample == 0 {
		book, err := d.Notebook()
		if err != nil {
			return result, err
		}
		defer book.Close()
		if err := r.open(ctx, book, m); err != nil {
			return result, err
		}
		if result.Restarted, result.parts = r.notes.Again(), r.notes.Of(); o.Part.One() {
			result.Part = o.Part.String()
		}
	}
	err = r.each(ctx, func(l Layer) {
		result.add(l, time.Since(start))
		if o.Done != nil {
			o.Done(l)
		}
	})
	if err != nil {
		r.notes.Save()
		return result, err
	}
	return result, r.notes.End(r.options.Layers)
}

// each verifies all layers.
func (r *run) each(ctx context.Context, done func(Layer)) error {
	for _, n := range r.options.Layers {
		layer, err := r.layer(ctx, n)
		if err != nil {
			return err
		}
		done(layer)
	}
	return nil
}

// sparse reports whether a sample is so small that most blocks are not read.
func sparse(m *manifest.Manifest, o Options) bool {
	if o.Sample == 0 || len(m.Layers) == 0 {
		return false
	}
	const blocksEach = 8 // that a position needs, with what is read ahead
	return o.Sample < m.Layers[len(m.Layers)-1].Positions/layerfile.MaxBlockSize/blocksEach
}

// run is a verification in progress.
type run struct {
	options Options
	tables  *tables.Tables
	space   *awari.Space
	sowings *sowings // nil if only samples are compared
	best    []int8   // memory for panels
	after   []uint8  // likewise, for distances
	// distances are those of the layer at hand, if they are compared; nil otherwise.
	distances *layerfile.File
	notes     *notes.Notes // nil if nothing is noted
	meter     meter
}

// newRun prepares a verification and counts the positions to be compared.
func newRun(ctx context.Context, t *tables.Tables, o Options) (*run, error) {
	o.Workers = max(1, o.Workers)
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	var err error
	if o.Layers, err = Layers(t, o.Layers); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), max(0, t.MaxSeeds()))
	if err != nil {
		return nil, err
	}
	r := &run{options: o, tables: t, space: space, meter: meter{report: o.Progress}}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for _, n := range o.Layers {
		r.meter.total += r.due(n)
	}
	return r, nil
}

// Layers returns the wanted layers of the tables, each once and by increasing seeds: all if none is
// named. It fails with an error that matches tables.ErrUnsolved for one that there is not.
func Layers(t *tables.Tables, wanted []int) ([]int, error) {
	if len(wanted) == 0 {
		for n := range t.MaxSeeds() + 1 {
			if t.Has(n) {
				wanted = append(wanted, n)
			}
		}
	}
	wanted = slices.Compact(slices.Sorted(slices.Values(wanted)))
	for _, n := range wanted {
		if err := t.Need(n); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// prepare asks the rules about all sowings and divides the memory of the process.
func (r *run) prepare(ctx context.Context) (err error) {
	o := &r.options
	if len(o.Layers) == 0 || o.Part.All {
		return nil
	}
	n := slices.Max(o.Layers)
	fixed, least := Fixed(r.tables, n, o.Workers), Least(r.tables.Game(), n)
	if o.Sample > 0 {
		fixed, least = fixedSample(r.tables, o.Workers), leastBatch*sampleBytes
	}
	if err := memory.Check(fmt.Sprintf("verifying layer %d", n), fixed+least, o.Memory); err != nil {
		return err
	}
	if o.Memory > 0 {
		o.MemoryBytes = int64(min(memory.Room(o.Memory)-fixed, math.MaxInt64))
		r.tables.Resize(0)
	}
	if o.Sample == 0 {
		r.sowings, err = newSowings(ctx, r.space.Game, n, o.Workers)
	}
	return err
}

// Fixed returns the bytes of data that verifying layers of up to n seeds takes with the
// given workers, besides panels.
func Fixed(t *tables.Tables, n, workers int) uint64 {
	row, err := colex.Binomial(n+t.Game().Half()-1, n)
	if err != nil {
		return math.MaxInt64
	}
	return fixedSample(t, workers) + uint64(workers)*row + sowingBytes(t.Game(), n)
}

// Least returns the bytes that a panel of the layer of n seeds should have at least.
func Least(game awari.Game, n int) uint64 {
	halves, err := colex.Binomial(n+game.Half(), n)
	if err != nil {
		return math.MaxInt64
	}
	return leastPanel + 2*halves // twice what a panel may have above its share
}

// fixedSample is Fixed for samples, besides batches.
func fixedSample(t *tables.Tables, workers int) uint64 {
	const perWorker = 1 << 20 // blocks that are checked, moves that lead to a row
	return t.Overhead(workers) + uint64(workers)*perWorker + layerfile.MaxBlockSize
}

// wanted returns how many positions of layer n are to be compared by all parts.
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
	if layer.Before = r.before(n); layer.Before != nil {
		layer.Checked = r.due(n)
		r.meter.skip(layer.Checked)
	} else if err := r.examine(ctx, n, &layer); err != nil {
		return layer, err
	}
	if !layer.isDamaged() {
		if err := r.checkBelow(ctx, n, &layer); err != nil {
			return layer, err
		}
	}
	r.meter.finish(n, r.due(n))
	return layer, nil
}

// examine finds out what is wrong with layer n, or with the part of it, or adds up what its parts have found. The file has one
// hash: one part checks all of it.
func (r *run) examine(ctx context.Context, n int, layer *Layer) error {
	sum := r.add(n)
	whole := sum.damaged != nil || r.options.Sample == 0 && r.options.Part.Takes(n)
	if err := r.checkFile(ctx, n, layer, whole); err != nil {
		return err
	}
	right := !layer.isDamaged()
	if err := r.findDistances(ctx, n, layer, whole); err != nil {
		return err
	}
	switch {
	case !right:
	case r.options.Part.All:
		return r.take(ctx, n, layer, sum)
	default:
		if err := r.compare(ctx, n, layer); err != nil {
			return err
		}
	}
	r.note(layer)
	return nil
}
