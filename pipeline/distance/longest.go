package distance

import (
	"context"
	"sync"

	"grenier/layers/awari"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

// Longest is the greatest distance of a layer, and the first board that has it.
type Longest struct {
	Plies int    `json:"plies"`
	Board string `json:"board"`
	rank  uint64
}

// LongestOf reads the distances of layer n and returns the greatest one, with 0 plies and the first board if all scores are 0; nil if no distances
// are known. Of the job it looks at Workers and Progress. It fails like tables.Tables.ReadDistances.
func LongestOf(ctx context.Context, t *tables.Tables, n int, j job.Job) (*Longest, error) {
	if f, err := t.DistancesFile(ctx, n); f == nil || err != nil {
		return nil, err
	}
	size := t.Layers()[n].Positions
	var mu sync.Mutex
	var longest Longest
	var done uint64
	buffers := make([][]int8, max(1, j.Workers))
	err := parts.Each(ctx, len(buffers), size, func(worker int, from, to uint64) error {
		if buffers[worker] == nil {
			buffers[worker] = make([]int8, parts.Size)
		}
		plies := buffers[worker][:to-from]
		if _, err := t.ReadDistances(ctx, n, from, plies); err != nil {
			return err
		}
		best := Longest{rank: from}
		for i, x := range plies {
			if d := int(uint8(x)); d > best.Plies {
				best.Plies, best.rank = d, from+uint64(i)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if best.Plies > longest.Plies || best.Plies == longest.Plies && best.rank < longest.rank {
			longest = best
		}
		done += to - from
		j.Tell(job.OfLayer(n, 0, done, size))
		return nil
	})
	if err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), n)
	if err != nil {
		return nil, err
	}
	longest.Board = space.Text(space.Unrank(n, longest.rank))
	return &longest, nil
}
