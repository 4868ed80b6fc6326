package repair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// sample is how many positions of a layer are compared with their moves before it is
// listed.
const sample = 1000

// sampleCache is the memory for the blocks that this reads.
const sampleCache = 16 << 20

// trust compares scores of a layer that no manifest vouches for with those below. If they
// contradict each other, the layer is to be set aside and solved again.
func (r *repairer) trust(ctx context.Context, l *Layer, below []manifest.Layer) error {
	err := r.compare(ctx, l, below)
	if bad, ok := errors.AsType[*corrupt.Error](err); ok && bad.File == r.found[l.Seeds].Path {
		l.Action, l.Aside, l.Problem = Solve, true, err.Error()
		return nil
	}
	return err
}

// compare fails with an error that matches corrupt.ErrCorrupt if the score of a position
// of the sample is not what its moves give.
func (r *repairer) compare(ctx context.Context, l *Layer, below []manifest.Layer) (err error) {
	m := &manifest.Manifest{Identity: r.id, Layers: append(append([]manifest.Layer{}, below...), l.entry)}
	t, err := tables.Open(ctx, r.dir.Path(), catalog.Listed(m), tables.Kernel(r.options.Solve.Family), tables.CacheBytes(sampleCache), tables.Sparing(true))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	size := r.space.Size(l.Seeds)
	for i := range min(size, sample) {
		rank := i
		if size > sample {
			rank = rand.Uint64N(size)
		}
		if _, err := t.Probe(ctx, r.space.Unrank(l.Seeds, rank)); err != nil {
			return fmt.Errorf("comparing layer %d with those below: %w", l.Seeds, err)
		}
	}
	return nil
}
