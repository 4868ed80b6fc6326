package verify

import (
	"context"
	"sync"

	"grenier/pipeline/internal/parts"
)

// compare compares the scores of layer n with what the moves give.
func (r *run) compare(ctx context.Context, n int, layer *Layer) error {
	if err := r.hold(ctx, n); err != nil {
		return err
	}
	var mu sync.Mutex
	var differences []Difference
	err := parts.Each(ctx, r.options.Workers, r.wanted(n), func(_ int, from, to uint64) error {
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
