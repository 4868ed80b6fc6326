// Package parts divides the positions of a layer among goroutines.
package parts

import (
	"context"

	"grenier/io/crew"
	"grenier/io/layerfile"
)

// Size is how many positions a worker takes at a time. It is a multiple of the bits
// in a word, so that no word of a set of positions belongs to two workers.
const Size = layerfile.MaxBlockSize

// Each lets workers claim parts of 0..total-1 until all are done, as crew.Each does.
func Each(ctx context.Context, workers int, total uint64, do func(worker int, from, to uint64) error) error {
	return crew.Each(ctx, workers, int((total+Size-1)/Size), func(worker, i int) error {
		from := uint64(i) * Size
		return do(worker, from, min(from+Size, total))
	})
}
