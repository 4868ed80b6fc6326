package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/kernels/ranks"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/tables/catalog"
)

// sealing encodes the blocks of a layer in any order, and writes them in order.
type sealing struct {
	run    *run
	layer  Source
	header layerfile.Header
	// What the model was counted in, if it came from streams of an earlier run: pieces of a length
	// that begin at starts, one after the other.
	starts  []uint64
	length  uint64
	sampled []int8
	loaded  uint64 // rank behind what is loaded
	loads   bool   // loading takes time
}

// flight is the memory of a block that is being encoded.
type flight struct {
	scores []int8
	block  layerfile.Block
}

// fill appends all blocks of a layer to its file.
type fill func(ctx context.Context, s *sealing, w *layerfile.Writer) error

// encodeAll is fill for a layer whose scores are read.
func encodeAll(ctx context.Context, s *sealing, w *layerfile.Writer) error {
	return s.stream(ctx, 0, s.header.Blocks(), w.Append)
}

// seal writes the file of a layer. It waits for being published then.
func (r *run) seal(ctx context.Context, layer Source, fill fill) (w *layerfile.Writer, summary layerfile.Summary, err error) {
	s := r.newSealing(layer)
	if s.header.Model, err = s.model(ctx); err != nil {
		return nil, summary, err
	}
	if w, err = r.create(s.header); err != nil {
		return nil, summary, err
	}
	err = crew.Run(func() (err error) {
		if err = fill(ctx, s, w); err == nil && r.draw != nil {
			err = r.checkDrawn(ctx, layer.Seeds())
		}
		if err == nil {
			summary, err = w.Finish()
		}
		if n := int8(layer.Seeds()); err == nil && !summary.Histogram.Within(-n, n) {
			err = r.impossible(layer.Seeds())
		}
		return err
	})
	if err != nil {
		return nil, summary, errors.Join(err, w.Abort())
	}
	return w, summary, nil
}

// sealAndClose is seal, after which the layer is not needed.
func (r *run) sealAndClose(ctx context.Context, layer Source, fill fill) (*layerfile.Writer, layerfile.Summary, error) {
	w, summary, err := r.seal(ctx, layer, fill)
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

// newSealing returns a sealing without a model.
func (r *run) newSealing(layer Source) *sealing {
	return &sealing{
		run: r, layer: layer,
		header: layerfile.Header{
			Game: catalog.GameName, Rules: r.game.Rules().String(), Pits: r.game.Pits(), Seeds: layer.Seeds(),
			Codec: layerfile.LZ4, Transform: layerfile.Ranks, BlockSize: layerfile.MaxBlockSize,
			Positions: layer.Positions(), Below: r.below(layer.Seeds()),
		},
	}
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
		if s.run.resumed {
			s.starts, s.length, s.sampled = starts, length, append(s.sampled, piece...)
		}
	}
	return counts.Model(), nil
}

// sampledRight reports whether scores from rank start on agree with the sample.
func (s *sealing) sampledRight(start uint64, scores []int8) bool {
	end := start + uint64(len(scores))
	first := sort.Search(len(s.starts), func(i int) bool { return s.starts[i]+s.length > start })
	for i := first; i < len(s.starts) && s.starts[i] < end; i++ {
		from, to := max(start, s.starts[i]), min(end, s.starts[i]+s.length)
		at := uint64(i)*s.length + from - s.starts[i]
		if !slices.Equal(scores[from-start:to-start], s.sampled[at:][:to-from]) {
			return false
		}
	}
	return true
}

// stream encodes the blocks from begin on, before last, and passes them on in order, part by part if the layer comes in parts.
func (s *sealing) stream(ctx context.Context, begin, last int, put func(*layerfile.Block) error) error {
	encoders := make([]*layerfile.Encoder, max(1, min(s.run.options.Workers, last-begin)))
	for i := range encoders {
		var err error
		if encoders[i], err = layerfile.NewEncoder(s.header, s.run.options.Family); err != nil {
			return err
		}
	}
	jobs := s.flights(len(encoders))
	for first, end := begin, 0; first < last; first = end {
		var err error
		if end, err = s.load(ctx, first); err != nil {
			return err
		}
		end = min(end, last)
		err = crew.Ordered[*flight]{
			Work:  func(worker, i int, j *flight) error { return s.encode(encoders[worker], first+i, j) },
			Write: func(i int, j *flight) error { return s.append(put, first+i, j) },
		}.Run(ctx, len(encoders), end-first, jobs)
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// flights returns the memory of blocks for some workers.
func (s *sealing) flights(workers int) []*flight {
	jobs := make([]*flight, 4*workers+4)
	for i := range jobs {
		jobs[i] = &flight{scores: make([]int8, s.header.BlockLen(0))}
	}
	return jobs
}

// load makes the blocks from the given one on quick to read, unless they are, and returns the first one that
// begins behind them.
func (s *sealing) load(ctx context.Context, block int) (end int, err error) {
	loader, ok := s.layer.(Loader)
	if !ok {
		return s.header.Blocks(), nil
	}
	size := uint64(s.header.BlockSize)
	if start := uint64(block) * size; start >= s.loaded {
		s.loaded, err = loader.Load(ctx, start, func(loaded uint64) {
			s.loads = true
			s.tell(start + loaded/2)
		})
	}
	return int((s.loaded + size - 1) / size), err
}

// tell reports how many positions are done.
func (s *sealing) tell(done uint64) {
	s.run.progress(halfboard.Progress{
		Seeds: s.layer.Seeds(), Positions: s.header.Positions, Stage: sealStage, Done: min(done, s.header.Positions),
	})
}

// encode reads a block and encodes it.
func (s *sealing) encode(e *layerfile.Encoder, block int, j *flight) error {
	scores := j.scores[:s.header.BlockLen(block)]
	start := uint64(block) * uint64(s.header.BlockSize)
	if err := s.layer.Read(start, scores); err != nil {
		return err
	}
	if err := s.see(start, scores); err != nil {
		return err
	}
	return e.Encode(&j.block, scores)
}

// copy takes a block, which is block i of the file of a piece.
func (s *sealing) copy(ctx context.Context, d *layerfile.Decoder, i, block int, j *flight) error {
	scores := j.scores[:s.header.BlockLen(block)]
	if err := d.Copy(ctx, &j.block, i, scores); err != nil {
		return err
	}
	return s.see(uint64(block)*uint64(s.header.BlockSize), scores)
}

// see shows the scores from rank start on to the samples of the layer.
func (s *sealing) see(start uint64, scores []int8) error {
	if !s.sampledRight(start, scores) {
		return corrupt.New(s.run.work.Path(""), "", "layer %d: its sample has other scores", s.layer.Seeds())
	}
	if s.run.draw != nil {
		s.run.draw.See(s.layer.Seeds(), start, scores)
	}
	return nil
}

// append passes a block on, the next one.
func (s *sealing) append(put func(*layerfile.Block) error, block int, j *flight) error {
	if err := put(&j.block); err != nil {
		return err
	}
	done := uint64(block+1) * uint64(s.header.BlockSize)
	if s.loads { // which was half of the work
		done += (s.loaded - min(done, s.loaded)) / 2
	}
	s.tell(done)
	return nil
}
