package machine

import (
	"context"
	"time"

	"grenier/io/crew"
)

const memoryBytes = 64 << 20 // that are copied, half of them to the other half: more than most caches hold

// MeasureMemory returns the bytes a second that the given workers read and write together, beyond caches: the most
// of several rounds of copying, which take about the given time. It fails with the error of ctx.
func MeasureMemory(ctx context.Context, workers int, most time.Duration) (best float64, err error) {
	part := memoryBytes / 2 / workers
	from, to := make([]byte, part*workers), make([]byte, part*workers)
	copyAll := func() error {
		return crew.Each(ctx, workers, workers, func(_, i int) error {
			copy(to[i*part:][:part], from[i*part:][:part])
			return nil
		})
	}
	if err := copyAll(); err != nil { // takes the memory
		return 0, err
	}
	for begin := time.Now(); time.Since(begin) < most; {
		start := time.Now()
		if err := copyAll(); err != nil {
			return 0, err
		}
		best = max(best, 2*float64(len(to))/max(time.Since(start).Seconds(), 1e-9))
	}
	return best, nil
}
