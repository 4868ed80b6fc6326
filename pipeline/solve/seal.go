package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/kernels/ranks"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/tables"
)

// job is a block on its way through the sealing stages. Jobs are reused.
type job struct {
	index   int
	scores  []int8
	block   layerfile.Block
	encoded chan struct{} // holds one value when the block is ready to be written
}

// sealing is the pipeline that writes a layer file: jobs are dealt out in order,
// workers read and encode them in any order, one writer appends them in order.
type sealing struct {
	run    *run
	layer  Source
	header layerfile.Header
	free   chan *job     // jobs not in use: they bound the memory
	dealt  chan *job     // to the workers
	order  chan *job     // to the writer, in order
	read   atomic.Int64  // jobs whose scores are read
	more   chan struct{} // holds a value when that has grown
}

// seal writes the file of a layer. It waits for being published then.
func (r *run) seal(ctx context.Context, layer Source) (w *layerfile.Writer, summary layerfile.Summary, err error) {
	s, err := r.newSealing(ctx, layer)
	if err != nil {
		return nil, summary, err
	}
	if w, err = r.create(s.header); err != nil {
		return nil, summary, err
	}
	err = crew.Run(func() (err error) {
		if err = s.stream(ctx, w); err == nil {
			summary, err = w.Finish()
		}
		return err
	})
	if err != nil {
		return nil, summary, errors.Join(err, w.Abort())
	}
	return w, summary, nil
}

// sealAndClose is seal, after which the layer is not needed.
func (r *run) sealAndClose(ctx context.Context, layer Source) (*layerfile.Writer, layerfile.Summary, error) {
	w, summary, err := r.seal(ctx, layer)
	closing := layer.Close()
	if err == nil && closing != nil {
		closing = errors.Join(closing, w.Abort())
	}
	if err = errors.Join(err, closing); err != nil {
		return nil, summary, fmt.Errorf("sealing layer %d: %w", layer.Seeds(), err)
	}
	return w, summary, nil
}

// create begins the file of a layer.
func (r *run) create(h layerfile.Header) (*layerfile.Writer, error) {
	p, err := r.dir.NewLayer(h.Seeds)
	if err != nil {
		return nil, err
	}
	if r.sparing(h.Seeds) {
		return layerfile.CreateSparing(p, h, r.options.Family)
	}
	return layerfile.Create(p, h, r.options.Family)
}

// stream encodes and writes all blocks.
func (s *sealing) stream(ctx context.Context, w *layerfile.Writer) error {
	group, ctx := crew.WithContext(ctx)
	group.Go(func() error { return s.deal(ctx) })
	for range s.run.options.Workers {
		group.Go(func() error { return s.encode(ctx) })
	}
	group.Go(func() error { return s.write(ctx, w) })
	return group.Wait()
}

func (r *run) newSealing(ctx context.Context, layer Source) (*sealing, error) {
	jobs := 4*r.options.Workers + 4
	s := &sealing{
		run: r, layer: layer,
		header: layerfile.Header{
			Game: tables.GameName, Rules: r.game.Rules().String(), Pits: r.game.Pits(), Seeds: layer.Seeds(),
			Codec: r.options.Codec, Transform: layerfile.Ranks, BlockSize: layerfile.MaxBlockSize,
			Positions: layer.Positions(),
		},
		free: make(chan *job, jobs), dealt: make(chan *job, jobs), order: make(chan *job, jobs), more: make(chan struct{}, 1),
	}
	for range jobs {
		s.free <- &job{scores: make([]int8, layerfile.MaxBlockSize), encoded: make(chan struct{}, 1)}
	}
	var err error
	s.header.Model, err = s.model(ctx)
	return s, err
}

// The model of a layer is counted in a sample of one score in 16, but in 2^18 at
// least and 2^22 at most: more costs time and gains less than 0.2 % in size.
const (
	sampleShare = 16
	sampleLeast = 1 << 18
	sampleMost  = 1 << 22
	samplePiece = 1 << 12
)

// sample returns the pieces of the sample of a layer: spread over it, the same in every run.
func sample(positions uint64) (starts []uint64, length uint64) {
	all := min(max(positions/sampleShare, sampleLeast), sampleMost, positions)
	length = min(samplePiece, all)
	starts = make([]uint64, all/length)
	for i := range starts {
		starts[i] = (positions - length) / uint64(len(starts)) * uint64(i)
	}
	return starts, length
}

func (s *sealing) model(ctx context.Context) (ranks.Model, error) {
	n := int8(s.header.Seeds)
	counts, err := ranks.NewCounts(-n, n)
	if err != nil {
		return "", err
	}
	starts, length := sample(s.header.Positions)
	if loader, ok := s.layer.(Loader); ok {
		if err := loader.LoadSample(ctx); err != nil {
			return "", err
		}
	}
	piece := make([]int8, length)
	for _, start := range starts {
		if err := s.layer.Read(start, piece); err != nil {
			return "", err
		}
		if slices.Min(piece) < -n || slices.Max(piece) > n {
			return "", s.run.impossible(s.header.Seeds)
		}
		counts.Add(piece)
	}
	return counts.Model(), nil
}

// deal hands out the blocks in order. The channels have room for all jobs, so
// that only waiting for a free one can block.
func (s *sealing) deal(ctx context.Context) error {
	defer close(s.dealt)
	defer close(s.order)
	loaded := uint64(0) // the rank of the first score that is not
	for i := range s.header.Blocks() {
		if err := s.load(ctx, i, &loaded); err != nil {
			return err
		}
		select {
		case j := <-s.free:
			j.index = i
			s.dealt <- j
			s.order <- j
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// load brings the scores of a block into memory, if they come in parts and the part before
// ends there. All blocks before it are dealt: it waits until they are read.
func (s *sealing) load(ctx context.Context, block int, loaded *uint64) (err error) {
	loader, ok := s.layer.(Loader)
	start := uint64(block) * uint64(s.header.BlockSize)
	if !ok || start < *loaded {
		return nil
	}
	for s.read.Load() < int64(block) {
		select {
		case <-s.more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	*loaded, err = loader.Load(ctx, start)
	return err
}

// encode reads and encodes blocks until there are no more.
func (s *sealing) encode(ctx context.Context) error {
	encoder, err := layerfile.NewEncoder(s.header, s.run.options.Family)
	if err != nil {
		return err
	}
	for j := range s.dealt {
		if err := ctx.Err(); err != nil {
			return err
		}
		scores := j.scores[:s.header.BlockLen(j.index)]
		err := s.layer.Read(uint64(j.index)*uint64(s.header.BlockSize), scores)
		if err != nil {
			return err
		}
		s.read.Add(1)
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err := encoder.Encode(&j.block, scores); err != nil {
			return err
		}
		j.encoded <- struct{}{}
	}
	return nil
}

// write appends the blocks in order.
func (s *sealing) write(ctx context.Context, w *layerfile.Writer) error {
	done := uint64(0)
	for j := range s.order {
		select {
		case <-j.encoded:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := w.Append(&j.block); err != nil {
			return err
		}
		done += uint64(s.header.BlockLen(j.index))
		s.run.progress(halfboard.Progress{
			Seeds: s.layer.Seeds(), Positions: s.header.Positions, Stage: sealStage, Done: done,
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		s.free <- j
	}
	return nil
}
