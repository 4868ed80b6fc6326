package verify

import (
	"context"
	"runtime"

	"grenier/pipeline/internal/parts"
)

// hold decodes into memory the layers that comparing layer n reads, as far as
// they fit, and frees the others.
func (r *run) hold(ctx context.Context, n int) error {
	wanted := r.fitting(n)
	dropped := false
	for k, scores := range r.memory {
		if scores != nil && !wanted[k] {
			r.memory[k] = nil
			dropped = true
		}
	}
	if dropped {
		runtime.GC() // layers are large: have the memory back before taking more
	}
	for k := range r.memory {
		if wanted[k] && r.memory[k] == nil {
			if err := r.load(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitting chooses the layers to be in memory while layer n is compared: first n
// itself, then those below, in the order of how often captures lead there. A
// capture takes two seeds at least, so layer n-1 is not read; it stays if it is
// there already and there is room, for the sake of layer n+1.
func (r *run) fitting(n int) []bool {
	wanted := make([]bool, len(r.memory))
	left := uint64(max(0, r.options.MemoryBytes))
	take := func(k int) {
		if size := r.space.Size(k); size <= left {
			left -= size
			wanted[k] = true
		}
	}
	take(n)
	for k := n - 2; k >= 0; k-- {
		take(k)
	}
	if n > 0 && r.memory[n-1] != nil {
		take(n - 1)
	}
	return wanted
}

// load decodes layer n into memory.
func (r *run) load(ctx context.Context, n int) error {
	scores := make([]int8, r.space.Size(n))
	err := parts.Each(ctx, r.options.Workers, uint64(len(scores)), func(_ int, from, to uint64) error {
		return r.tables.Read(n, from, scores[from:to])
	})
	if err != nil {
		return err
	}
	r.memory[n] = scores
	return nil
}
