package halfboard

import (
	"context"
	"errors"

	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// Layer is a solved layer in memory. Its scores are read in colex order.
type Layer struct {
	engine *engine
}

// Seeds returns the number of seeds of the layer.
func (l *Layer) Seeds() int { return l.engine.Grid.N }

// Positions returns the number of positions.
func (l *Layer) Positions() uint64 { return l.engine.Grid.Halves.Board().Size(l.Seeds()) }

// Stats returns what the layer took so far: reading scores may add to the traffic.
func (l *Layer) Stats() fixpoint.Stats {
	s := l.engine.Stats
	s.Traffic = l.engine.Traffic.Now()
	return s
}

// Kept returns a function that reports whether the score of a board rests on what an earlier run kept: nil if all do,
// or none.
func (l *Layer) Kept() func(awari.Board) bool {
	if w := l.engine.windows; w != nil && w.Kept != nil {
		return w.IsKept
	}
	return nil
}

// Close returns the memory of the layer. Errors come from the operating system.
func (l *Layer) Close() error {
	e := l.engine
	err := e.keeper.Settled() // scores or offers may be on their way to disk
	if e.windows != nil {
		return errors.Join(err, e.windows.Close())
	}
	return errors.Join(err, e.from.spare.Put(e.memory))
}

// Read fills dst with the scores of the positions from rank start on. It is
// safe for concurrent use. It fails with colex.ErrRange if there are fewer.
func (l *Layer) Read(start uint64, dst []int8) error {
	e := l.engine
	for size := stream.SlabSize(e.Grid.Layer); len(dst) > 0; {
		slab := start / size
		n := min(uint64(len(dst)), (slab+1)*size-start)
		parts, err := e.Grid.RowParts(start, int(n))
		if err != nil {
			return err
		}
		if e.windows == nil {
			rest := dst
			for _, p := range parts {
				lines, stride := p.Matrix.Row(p.At, p.Skip/board.Side)
				rest = p.Copy(rest, lines, stride)
			}
		} else if err := e.windows.ReadSlab(dst, int(slab), parts); err != nil {
			return err
		}
		start, dst = start+n, dst[n:]
	}
	return nil
}

// Load makes scores that are read from rank start on quick to read, and returns the rank of
// the first one behind them. It tells how many of them are loaded. Nobody may read meanwhile.
func (l *Layer) Load(ctx context.Context, start uint64, tell func(loaded uint64)) (end uint64, err error) {
	e := l.engine
	if e.windows == nil {
		return l.Positions(), nil
	}
	size := stream.SlabSize(e.Grid.Layer)
	slab := start / size
	end = min((slab+1)*size, l.Positions())
	return end, e.windows.Load(ctx, int(slab), func(share float64) { tell(uint64(share * float64(end-start))) })
}

// LoadSample makes what Options.Sample names quick to read, instead. Nobody may read
// meanwhile.
func (l *Layer) LoadSample(ctx context.Context) error {
	if l.engine.windows == nil {
		return nil
	}
	return l.engine.windows.Load(ctx, stream.SamplePart, func(float64) {})
}
