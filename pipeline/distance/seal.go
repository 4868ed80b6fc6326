package distance

import (
	"context"
	"errors"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/io/vfs"
	"grenier/kernels/ranks"
)

// most is the greatest distance that the model of a file has a symbol for. A block with a greater one is not compressed.
const most = ranks.MaxSymbols - 1

// model counts one distance in 16, in pieces, or all of a small layer.
func (s *sweeper) model(longest int) (ranks.Model, error) {
	const piece, share, small = 1 << 12, 16, 1 << 18
	counts, err := ranks.NewCounts(0, int8(min(longest, most)))
	if err != nil {
		return "", err
	}
	step := uint64(piece)
	if s.size > small {
		step *= share
	}
	plies := make([]int8, piece)
	for start := uint64(0); start < s.size; start += step {
		some := plies[:min(piece, s.size-start)]
		if err := s.copyPlies(some, start); err != nil {
			return "", err
		}
		for i, x := range some {
			if x < 0 { // greater than most
				some[i] = most
			}
		}
		counts.Add(some)
	}
	return counts.Model(), nil
}

// flight is the memory of a block that is being encoded.
type flight struct {
	plies []int8
	block layerfile.Block
}

// write writes the file of the distances, and gives it its name.
func (s *sweeper) write(ctx context.Context, p *vfs.Pending, h layerfile.Header, o *Options) (_ layerfile.Summary, err error) {
	w, err := layerfile.CreateSparing(p, h, o.Family)
	if err != nil {
		return layerfile.Summary{}, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	encoders := make([]*layerfile.Encoder, s.workers)
	for i := range encoders {
		if encoders[i], err = layerfile.NewEncoder(h, o.Family); err != nil {
			return layerfile.Summary{}, err
		}
	}
	flights := make([]*flight, flightsEach*s.workers)
	for i := range flights {
		flights[i] = &flight{plies: make([]int8, h.BlockLen(0))}
	}
	err = crew.Ordered[*flight]{
		Work: func(worker, i int, f *flight) error {
			plies := f.plies[:h.BlockLen(i)]
			if err := s.copyPlies(plies, uint64(i)*uint64(h.BlockSize)); err != nil {
				return err
			}
			return encoders[worker].Encode(&f.block, plies)
		},
		Write: func(_ int, f *flight) error { return w.Append(&f.block) },
	}.Run(ctx, s.workers, h.Blocks(), flights)
	if err != nil {
		return layerfile.Summary{}, err
	}
	summary, err := w.Finish()
	if err != nil {
		return summary, err
	}
	return summary, w.Publish()
}

// flightsEach is how many blocks there is memory for, for each worker.
const flightsEach = 4
