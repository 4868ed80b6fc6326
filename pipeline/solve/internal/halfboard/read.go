package halfboard

import (
	"context"
	"errors"

	"grenier/layers/awari"
)

// Layer is a solved layer in memory. Its scores are read in colex order.
type Layer struct {
	engine *engine
	spare  *spare // takes the memory back
}

// Seeds returns the number of seeds of the layer.
func (l *Layer) Seeds() int { return l.engine.grid.n }

// Positions returns the number of positions.
func (l *Layer) Positions() uint64 { return l.engine.grid.halves.Board().Size(l.Seeds()) }

// Stats returns what the layer took so far: reading scores may add to the traffic.
func (l *Layer) Stats() Stats {
	s := l.engine.stats
	s.Traffic = l.engine.traffic.now()
	return s
}

// Kept returns a function that reports whether the score of a board rests on what an earlier run kept: nil if all do,
// or none.
func (l *Layer) Kept() func(awari.Board) bool {
	if w := l.engine.windows; w != nil && w.kept != nil {
		return w.isKept
	}
	return nil
}

// Close returns the memory of the layer. Errors are those of the operating system.
func (l *Layer) Close() error {
	e := l.engine
	err := e.keeper.settled() // scores or offers may be on their way to disk
	if e.windows != nil {
		return errors.Join(err, e.windows.close())
	}
	return errors.Join(err, l.spare.put(e.memory))
}

// Read fills dst with the scores of the positions from rank start on. It is
// safe for concurrent use. It fails with colex.ErrRange if there are fewer.
func (l *Layer) Read(start uint64, dst []int8) error {
	e := l.engine
	for size := slabSize(e.grid.layer); len(dst) > 0; {
		slab := start / size
		n := min(uint64(len(dst)), (slab+1)*size-start)
		parts, err := e.grid.rowParts(start, int(n))
		if err != nil {
			return err
		}
		if e.windows == nil {
			rest := dst
			for _, p := range parts {
				lines, stride := p.matrix.row(p.at, p.skip/side)
				rest = p.copy(rest, lines, stride)
			}
		} else if err := e.windows.readSlab(dst, int(slab), parts); err != nil {
			return err
		}
		start, dst = start+n, dst[n:]
	}
	return nil
}

// Load makes scores that are read from rank start on quick to read, and returns the rank of
// the first one behind them. Nobody may read meanwhile.
func (l *Layer) Load(ctx context.Context, start uint64) (end uint64, err error) {
	e := l.engine
	if e.windows == nil {
		return l.Positions(), nil
	}
	size := slabSize(e.grid.layer)
	slab := start / size
	return min((slab+1)*size, l.Positions()), e.windows.load(ctx, int(slab))
}

// LoadSample makes what Options.Sample names quick to read, instead. Nobody may read
// meanwhile.
func (l *Layer) LoadSample(ctx context.Context) error {
	if l.engine.windows == nil {
		return nil
	}
	return l.engine.windows.load(ctx, samplePart)
}
