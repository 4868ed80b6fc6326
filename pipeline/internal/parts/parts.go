// Package parts divides the positions of a layer among goroutines.
package parts

import (
	"context"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/layerfile"
)

// Size is how many positions a worker takes at a time. It is a multiple of the bits
// in a word, so that no word of a set of positions belongs to two workers.
const Size = layerfile.MaxBlockSize

// Each starts workers, each with a function of its own, which claim parts of
// 0..total-1 until all are done, one fails or the context ends.
func Each(ctx context.Context, workers int, total uint64, worker func() func(from, to uint64) error) error {
	group, ctx := crew.WithContext(ctx)
	var next atomic.Uint64
	for range min(uint64(workers), (total+Size-1)/Size) {
		work := worker()
		group.Go(func() error {
			for {
				to := next.Add(Size)
				from := to - Size
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
