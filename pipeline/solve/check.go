package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// No layer is sealed before a sample of its scores was compared with their moves, by the plain rules
// (verify.Draw). Of a layer that an earlier run began the sample is ten times as large, of its complete file,
// with positions whose values came from that run first.

// resumedSample is the positions of that sample.
const resumedSample = 10 * verify.Drawn

// seen shows the scores of lower layers that the engine reads to the sample of the layer in progress, if that has one.
type seen struct {
	lower *tables.Tables
	draw  *verify.Draw // or nil
}

// Close closes the layers and frees what reading them took, which is much of the memory of narrow windows.
func (s *seen) Close() error {
	err := s.lower.Close()
	s.lower = nil
	if s.draw != nil {
		s.draw.Settle()
	}
	return err
}

// Read ends with the engine, which looks at its context where it can be interrupted.
func (s *seen) Read(n int, start uint64, dst []int8) error {
	err := s.lower.Read(context.Background(), n, start, dst)
	if err == nil && s.draw != nil {
		s.draw.See(n, start, dst)
	}
	return err
}

// Ahead announces what is read soon.
func (s *seen) Ahead(n int, start uint64, length int) { s.lower.Ahead(n, start, length) }

// checkDrawn compares the sample of the layer of n seeds, all of whose scores it has seen.
func (r *run) checkDrawn(ctx context.Context, n int) (err error) {
	if r.draw.Lacks() {
		t, err := r.lower(ctx, n)
		if err != nil {
			return err
		}
		if err := errors.Join(r.draw.Look(ctx, t), t.Close()); err != nil {
			return err
		}
	}
	return r.draw.Err(r.work.Path(""))
}

// checkResumed compares a sample of the complete file of a layer that an earlier run began: first of
// all positions whose values are kept, if kept is not nil. The memory of the engine is used for it.
func (r *run) checkResumed(ctx context.Context, file *layerfile.Writer, s layerfile.Summary, kept func(awari.Board) bool) (err error) {
	if err := r.engine.Close(); err != nil {
		return err
	}
	n := s.Header.Seeds
	below := &manifest.Manifest{Identity: r.manifest.Identity, Layers: r.manifest.Layers[:min(n, len(r.manifest.Layers))]}
	m := below.With(manifest.NewLayer(rundir.LayerName(n), s, 0))
	t, err := tables.Open(ctx, r.path, catalog.Listed(m), catalog.Last(file.Open), tables.Kernel(r.options.Family), tables.Sparing(r.sparing(n)), tables.CacheBytes(checkCache))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	err = verify.Sample(ctx, t, n, verify.Options{
		Sample: resumedSample, Seed: rand.Uint64(), Among: kept,
		Job: job.Job{Workers: r.options.Workers, Family: r.options.Family, Memory: r.options.Memory, Progress: func(s job.Step) { r.sampling(n, s) }},
	})
	if wrong, ok := errors.AsType[*corrupt.Error](err); ok && wrong.File == t.Path(n) {
		return &corrupt.Error{File: r.work.Path(""), Cause: fmt.Errorf("sealing layer %d: %w", n, cmp.Or(wrong.Cause, err))}
	}
	return err
}
