package verify

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/io/layerfile"
)

// partSize is how many positions a worker takes at a time.
const partSize = layerfile.MaxBlockSize

// compare compares the scores of layer n with what the moves give.
func (r *run) compare(ctx context.Context, n int, layer *Layer) error {
	if err := r.hold(ctx, n); err != nil {
		return err
	}
	var mu sync.Mutex
	var differences []Difference
	err := r.parallel(ctx, r.wanted(n), func(from, to uint64) error {
		p := part{run: r, seeds: n}
		err := p.compare(from, to)
		mu.Lock()
		defer mu.Unlock()
		layer.Checked += p.checked
		layer.Mismatches += p.mismatches
		differences = append(differences, p.first...)
		r.meter.add(n, p.checked)
		return err
	})
	layer.differ(differences)
	return err
}

// parallel calls work for parts of 0..total-1, together all of it, from several
// goroutines, until there are no more or one fails.
func (r *run) parallel(ctx context.Context, total uint64, work func(from, to uint64) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Uint64
	for range r.options.Workers {
		group.Go(func() error {
			for {
				to := next.Add(partSize)
				from := to - partSize
				if from >= total {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(from, min(to, total)); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
