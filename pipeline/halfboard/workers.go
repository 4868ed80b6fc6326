package halfboard

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// forEach calls do for the items from several workers until all are done, one
// fails or the context ends. Items are begun in order.
func forEach[T any](ctx context.Context, workers int, items []T, do func(worker int, item T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for w := range min(workers, len(items)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// batch is the number of items that a worker of gather takes at a time.
const batch = 1024

// gather calls find for runs of items from several workers and joins what it
// appends, in the order of the items.
func gather[T, R any](ctx context.Context, workers int, items []T, find func([]R, []T) []R) ([]R, error) {
	found := make([][]R, (len(items)+batch-1)/batch)
	batches := make([]int, len(found))
	for i := range batches {
		batches[i] = i
	}
	err := forEach(ctx, workers, batches, func(_, i int) error {
		found[i] = find(nil, items[i*batch:min((i+1)*batch, len(items))])
		return nil
	})
	return slices.Concat(found...), err
}
