package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
	"grenier/pipeline/verify"
)

// Options say what to prove and how.
type Options struct {
	// Layers lists the layers to prove by their number of seeds; empty stands for
	// all that are solved. The proof of a layer takes for granted that the lower
	// ones are right: those not listed must have been proved before.
	Layers []int
	// Workers is the number of goroutines; 0 means one.
	Workers int
	// Family is the kernel family that decodes blocks.
	Family cpu.Family
	// MemoryBytes bounds what the bits of a layer and decoded layers take
	// together; 0 stands for verify.DefaultMemoryBytes. The bits must fit. Layers
	// that do not are compared through a cache of tables.DefaultCacheBytes beside,
	// see verify.Options, and grounded block by block.
	MemoryBytes int64
	// Progress, if not nil, is called often, by one goroutine at a time.
	Progress func(Progress)
}

// MemoryError reports a layer whose bits do not fit in the memory allowed.
type MemoryError struct {
	Seeds         int    // of the layer
	Need, Allowed uint64 // bytes; more than Need are needed
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the proof of layer %d needs more than %s of memory and %s are allowed",
		e.Seeds, humanize.IBytes(e.Need), humanize.IBytes(e.Allowed))
}

// Run verifies and proves the run directory dir, layer by layer. Whatever is wrong
// with a layer becomes part of the result; layers above one that is not proved
// are verified only. An error says that the question could not be answered: a
// *MemoryError, or an error of verify.Run. The result then holds the layers that
// were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = newResult()
	t, err := tables.Open(dir, tables.Options{Family: o.Family, CacheBytes: 1}) // read in order only
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := newRun(t, dir, o)
	if err != nil {
		return result, err
	}
	for _, n := range r.options.Layers {
		layer, err := r.layer(ctx, n, result.OK)
		if err != nil {
			return result, err
		}
		result.add(layer, time.Since(start))
	}
	return result, nil
}

// run is a proof at work.
type run struct {
	options Options // MemoryBytes without the bits
	dir     string
	tables  *tables.Tables
	space   *awari.Space
	meter   meter
	// The bits of the layer in progress are the first ones of these.
	won, lost, marked bits
}

// newRun prepares a proof: it counts what is to be proved and takes the memory for
// the bits.
func newRun(t *tables.Tables, dir string, o Options) (*run, error) {
	o.Workers = max(1, o.Workers)
	if o.MemoryBytes == 0 {
		o.MemoryBytes = verify.DefaultMemoryBytes
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
	r := &run{options: o, dir: dir, tables: t, space: space, meter: meter{report: o.Progress}}
	for _, n := range o.Layers {
		if n < 0 || n > t.MaxSeeds() {
			return nil, fmt.Errorf("%w: layer %d (0 to %d are solved)", tables.ErrUnsolved, n, t.MaxSeeds())
		}
		r.meter.total += work(&t.Layers()[n])
	}
	return r, r.takeMemory()
}

// takeMemory allocates the bits for the largest layer and leaves the rest of the
// memory allowed to decoded layers.
func (r *run) takeMemory() error {
	if len(r.options.Layers) == 0 {
		return nil
	}
	n := r.options.Layers[len(r.options.Layers)-1]
	size := r.space.Size(n)
	need, allowed := 3*8*words(size), uint64(max(0, r.options.MemoryBytes))
	if need >= allowed {
		return &MemoryError{Seeds: n, Need: need, Allowed: allowed}
	}
	r.options.MemoryBytes -= int64(need)
	r.won, r.lost, r.marked = newBits(size), newBits(size), newBits(size)
	return nil
}

// layer verifies layer n, and proves it if it is in order and those below are.
func (r *run) layer(ctx context.Context, n int, below bool) (Layer, error) {
	l := r.newLayer(n)
	v, err := verify.Run(ctx, r.dir, verify.Options{
		Layers: []int{n}, Workers: r.options.Workers, Family: r.options.Family,
		MemoryBytes: r.options.MemoryBytes,
		Progress:    r.meter.verified, Backed: func(_ int, rank uint64) { l.won.add(rank) },
	})
	if err != nil {
		return Layer{}, err
	}
	r.meter.compared(l.size)
	layer := Layer{Layer: v.Layers[0]}
	if below && v.OK {
		layer.Proof, err = l.prove(ctx)
	}
	r.meter.layerDone(work(l.info))
	return layer, err
}
