package fixpoint

import (
	"math/bits"
	"sync/atomic"

	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/transpose"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// Kernels is the chosen family of every kernel.
type Kernels struct {
	Least  compress.LeastFunc
	fetch  compress.FetchFunc
	Update transpose.UpdateFunc
	apart  float64 // see costs.go
}

// KernelsFor returns the kernels for scores of the given bits.
func KernelsFor(f cpu.Family, width int) Kernels {
	k := Kernels{compress.For(f, width), compress.FetchFor(f, width), transpose.For(f, width), apartCodes}
	if width == 8 {
		k.apart = apart
	}
	return k
}

// KernelsForThin returns the kernels for thin windows.
func KernelsForThin(f cpu.Family) Kernels {
	return Kernels{compress.ForThin(f), compress.FetchThin, transpose.ForThin(f), apartCodes}
}

// bench is a worker's scratch memory.
type bench struct {
	block   compress.Block
	scratch compress.Scratch
	changes transpose.Changes
	fence   atomic.Uint32 // see publish
	blocks  int           // computed so far
	done    work          // in this sweep
	costs   costs
}

// work counts what a worker has done.
type work struct {
	computed int // columns of blocks
	lines    int // with a change
	scores   int // changed
}

func (w work) plus(x work) work {
	return work{w.computed + x.computed, w.lines + x.lines, w.scores + x.scores}
}

// sweepTile computes what is out of date in a tile and marks what that makes out of
// date: block by block in a sweep that marks, or else all of the tiles that read this
// one.
func (s *Sweeps) sweepTile(b *bench, t *tile) {
	all, lines := t.all.Swap(false), b.done.lines
	var before job
	for panel := t.panels.Begin; panel < t.panels.End; panel++ {
		for chunk := t.chunks.Begin; chunk < t.chunks.End; chunk++ {
			if next := take(t.matrix, panel, chunk, all); next.columns != 0 {
				s.fetch(t, next)
				s.compute(b, t, before)
				before = next
			}
		}
	}
	s.compute(b, t, before)
	if b.done.lines == lines {
		return
	}
	if !s.marking {
		for _, parent := range t.parents {
			s.Grid.tiles[parent].all.Store(true)
		}
	}
}

// A job says which part of a block to compute.
type job struct {
	panel, chunk  int
	columns, rows uint64
	offers        *compress.Block // nil if scores are codes
}

// take returns what is out of date in a block; all says that everything is.
func take(m *board.Matrix, panel, chunk int, all bool) job {
	at := panel*m.Chunks[board.OpenRows] + chunk
	j := job{panel: panel, chunk: chunk}
	j.columns, j.rows = m.Marks[at].Take()
	if all {
		j.columns, j.rows = m.All(panel), ^uint64(0)
	}
	if m.Alive != nil {
		j.columns &= m.Alive[at]
	} else {
		j.offers = m.Block(board.OpenRows, panel, chunk)
	}
	return j
}

// few is the number of columns up to which a block is fetched one block ahead:
// with more of them, the kernel fetches what the next chunk reads.
const few = 16

// fetch prefetches what a job will read, if no kernel did while it computed the chunk before.
func (s *Sweeps) fetch(t *tile, j job) {
	m := t.matrix
	if bits.OnesCount64(j.columns) <= few || j.chunk == t.chunks.Begin {
		s.Kernels.fetch(j.offers, j.columns, &m.Programs[j.panel], m.Targets[board.OpenRows], j.chunk,
			m.Lines(j.panel, j.chunk), j.rows)
	}
}

// compute brings a block up to date.
func (s *Sweeps) compute(b *bench, t *tile, j job) {
	if j.columns == 0 {
		return
	}
	m := t.matrix
	start := b.sample()
	lines := m.Lines(j.panel, j.chunk)
	s.Kernels.Least(&b.scratch, &b.block, j.offers, j.columns, &m.Programs[j.panel], m.Targets[board.OpenRows], j.chunk, lines)
	s.Kernels.Update(lines, &b.block, j.columns, j.rows, &b.changes)
	start = b.costs.compute.add(start, bits.OnesCount64(j.columns))
	b.done.add(j.columns, &b.changes)
	if s.marking && b.changes.Rows != 0 {
		b.publish()
		s.Grid.MarkBlock(m, j.panel, j.chunk, &b.changes)
		b.costs.mark.add(start, bits.OnesCount64(b.changes.Rows))
	}
}

// publish shows the scores that the worker has written to those who take a mark that it adds
// from now on: see Mark.Add.
func (b *bench) publish() { b.fence.Store(1) }

// add counts a block.
func (w *work) add(columns uint64, c *transpose.Changes) {
	w.computed += bits.OnesCount64(columns)
	w.lines += bits.OnesCount64(c.Rows)
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		w.scores += bits.OnesCount64(c.Columns[bits.TrailingZeros64(rows)])
	}
}

// MarkBlock marks what the changes of a block make out of date.
func (g *Grid) MarkBlock(m *board.Matrix, panel, chunk int, c *transpose.Changes) {
	o := g.Origins[g.N-m.Sum]
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros64(rows) % board.Side
		changed, row := c.Columns[r], chunk*board.Side+r
		for _, s := range o.Steps[o.First[row]:o.First[row+1]] {
			o.Link(s).Mark(s.Column(), panel, changed)
		}
	}
}

// fillFull computes the full rows of a panel, which no sweep reads, in place of the offers.
func (s *Sweeps) fillFull(b *bench, m *board.Matrix, panel int) {
	for chunk := range m.Chunks[board.FullRows] {
		block := m.Block(board.FullRows, panel, chunk)
		s.Kernels.Least(&b.scratch, &b.block, block, m.All(panel), &m.Programs[panel], m.Targets[board.FullRows], chunk, nil)
		s.Kernels.Update(block[:m.Depth(board.FullRows, chunk)*board.Side], &b.block, m.All(panel), ^uint64(0), &b.changes)
	}
}
