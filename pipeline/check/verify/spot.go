package verify

import (
	"context"
	"math/rand/v2"
	"time"

	"grenier/pipeline/tables"
)

// A spot check compares at most spotSample positions: spotFirst at first, and then as many as the time allows, which share blocks.
const (
	spotSample = 256
	spotFirst  = 16
)

// Spot compares random positions of layer n for at most limit: enough to notice a layer
// that does not belong to those below, whatever its checksums say, but not a few wrong
// scores. It fails like tables.Open, with the error of ctx, and for the first wrong score
// with one that matches corrupt.ErrCorrupt.
func Spot(ctx context.Context, t *tables.Tables, n int, limit time.Duration) error {
	start := time.Now()
	r, err := newRun(ctx, t, Options{Layers: []int{n}, Sample: spotSample, Seed: rand.Uint64()})
	if err != nil {
		return err
	}
	for from, to, wanted := uint64(0), uint64(spotFirst), r.wanted(n); from < wanted; {
		var f found
		if err := r.newBatch(n, from, min(to, wanted)).compare(ctx, &f); err != nil {
			return err
		}
		if err := f.err(t.Path(n)); err != nil {
			return err
		}
		took := time.Since(start)
		if took > limit {
			break
		}
		from, to = to, max(to+spotFirst, to*uint64(limit)/uint64(took+1))
	}
	return nil
}

// Sample compares the sample of layer n that the options describe. It fails like Spot.
func Sample(ctx context.Context, t *tables.Tables, n int, o Options) error {
	o.Layers = []int{n}
	r, err := newRun(ctx, t, o)
	if err != nil {
		return err
	}
	var f found
	if err := r.sample(ctx, n, &f); err != nil {
		return err
	}
	return f.err(t.Path(n))
}
