package prove

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"grenier/io/layerfile"
)

// partSize is how many positions a worker takes at a time. It is a multiple of the
// bits in a word, so that no word belongs to two workers.
const partSize = layerfile.MaxBlockSize

// parallel starts workers, each with a function of its own, which they call for
// parts of 0..total-1, together all of it, until there are no more or one fails.
func (r *run) parallel(ctx context.Context, total uint64, worker func() func(from, to uint64) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Uint64
	for range min(uint64(r.options.Workers), (total+partSize-1)/partSize) {
		work := worker()
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
