package crew

import (
	"context"
	"sync/atomic"
)

// Each calls do for the items 0 to n-1, in the given number of goroutines, at least one, until all items
// are done, one fails or panics, or ctx ends; it returns the first error. Items are begun in
// order. Worker numbers the goroutine, below min(workers, n): data of one worker serve one item
// at a time. All items before one that fails begin; after that each other goroutine begins one more at
// most. An item that takes long must watch ctx itself.
func Each(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	group, ctx := WithContext(ctx)
	var next atomic.Int64
	for worker := range min(max(1, workers), n) {
		group.Go(func() error {
			for {
				err := ctx.Err() // if there is none before the item is taken, it begins, whatever fails behind it meanwhile
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err == nil {
					err = do(worker, i)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
