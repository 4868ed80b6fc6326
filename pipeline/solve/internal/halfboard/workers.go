package halfboard

import (
	"context"
	"sync/atomic"

	"grenier/io/crew"
)

// forEach calls do for the items from several workers until all are done, one
// fails or the context ends. Items are begun in order; i counts them.
func forEach[T any](ctx context.Context, workers int, items []T, do func(worker, i int, item T) error) error {
	group, ctx := crew.WithContext(ctx)
	var next atomic.Int64
	for w := range min(workers, len(items)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, int(i), items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
