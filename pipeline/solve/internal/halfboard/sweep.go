package halfboard

import (
	"math/bits"
	"sync/atomic"

	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/transpose"
)

// kernels is the chosen family of every kernel.
type kernels struct {
	least  compress.LeastFunc
	fetch  compress.FetchFunc
	update transpose.UpdateFunc
	apart  float64 // see costs.go
}

// kernelsFor returns the kernels for scores of the given bits.
func kernelsFor(f cpu.Family, width int) kernels {
	k := kernels{compress.For(f, width), compress.FetchFor(f, width), transpose.For(f, width), apartCodes}
	if width == 8 {
		k.apart = apart
	}
	return k
}

// bench is a worker's scratch memory.
type bench struct {
	block   compress.Block
	changes transpose.Changes
	fence   atomic.Uint32 // see publish
	blocks  int           // computed so far
	done    work          // in this sweep
	costs   costs
}

// work is what a worker has done.
type work struct {
	computed int // columns of blocks
	blocks   int // with a change
	scores   int // changed
}

func (w work) plus(x work) work {
	return work{w.computed + x.computed, w.blocks + x.blocks, w.scores + x.scores}
}

// sweepTile computes what is out of date in a tile and marks what that makes out of
// date: block by block in a sweep that marks, or else all of the tiles that read this
// one.
func (s *sweeps) sweepTile(b *bench, t *tile) {
	all, blocks := t.all.Swap(false), b.done.blocks
	var before job
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		for chunk := t.chunks.begin; chunk < t.chunks.end; chunk++ {
			if next := take(t.matrix, panel, chunk, all); next.columns != 0 {
				s.fetch(t, next)
				s.compute(b, t, before)
				before = next
			}
		}
	}
	s.compute(b, t, before)
	if b.done.blocks == blocks {
		return
	}
	if !s.marking {
		for _, parent := range t.parents {
			s.grid.tiles[parent].all.Store(true)
		}
	}
}

// A job is what is to be computed of a block.
type job struct {
	panel, chunk  int
	columns, rows uint64
	offers        *compress.Block // nil if scores are codes
}

// take returns what is out of date in a block; all says that everything is.
func take(m *matrix, panel, chunk int, all bool) job {
	at := panel*m.chunks[openRows] + chunk
	j := job{panel: panel, chunk: chunk}
	j.columns, j.rows = m.marks[at].take()
	if all {
		j.columns, j.rows = m.all(panel), ^uint64(0)
	}
	if m.alive != nil {
		j.columns &= m.alive[at]
	} else {
		j.offers = m.block(openRows, panel, chunk)
	}
	return j
}

// few is the number of columns up to which a block is fetched one block ahead:
// with more of them, blocks are neighbours that the kernel fetches itself.
const few = 16

// fetch prefetches what a job will read.
func (s *sweeps) fetch(t *tile, j job) {
	m := t.matrix
	if bits.OnesCount64(j.columns) <= few {
		s.kernels.fetch(j.offers, j.columns, &m.programs[j.panel], m.targets[openRows], j.chunk,
			m.lines(j.panel, j.chunk), j.rows)
	}
}

// compute brings a block up to date.
func (s *sweeps) compute(b *bench, t *tile, j job) {
	if j.columns == 0 {
		return
	}
	m := t.matrix
	start := b.sample()
	lines := m.lines(j.panel, j.chunk)
	s.kernels.least(&b.block, j.offers, j.columns, &m.programs[j.panel], m.targets[openRows], j.chunk, lines)
	s.kernels.update(lines, &b.block, j.columns, j.rows, &b.changes)
	start = b.costs.compute.add(start, bits.OnesCount64(j.columns))
	b.done.add(j.columns, &b.changes)
	if s.marking && b.changes.Rows != 0 {
		b.publish()
		s.grid.markBlock(m, j.panel, j.chunk, &b.changes)
		b.costs.mark.add(start, 1)
	}
}

// publish shows the scores that the worker has written to those who take a mark that it adds
// from now on: see mark.add.
func (b *bench) publish() { b.fence.Store(1) }

// add counts a block.
func (w *work) add(columns uint64, c *transpose.Changes) {
	w.computed += bits.OnesCount64(columns)
	w.blocks += min(1, bits.OnesCount64(c.Rows))
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		w.scores += bits.OnesCount64(c.Columns[bits.TrailingZeros64(rows)])
	}
}

// markBlock marks what the changes of a block make out of date.
func (g *grid) markBlock(m *matrix, panel, chunk int, c *transpose.Changes) {
	o := g.origins[g.n-m.sum]
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		r := bits.TrailingZeros64(rows) % side
		changed, row := c.Columns[r], chunk*side+r
		for _, s := range o.steps[o.first[row]:o.first[row+1]] {
			l, column := o.link(s), s.column()
			marks := l.marks[int(column/side)*l.chunks:][:l.chunks]
			for _, w := range l.words[l.byPanel[panel]:l.byPanel[panel+1]] {
				if w.Pick&changed != 0 {
					marks[w.Chunk].add(1<<(column%side), w.Place)
				}
			}
		}
	}
}

// fillFull computes the full rows of a panel, which no sweep reads, in place of the offers.
func (s *sweeps) fillFull(b *bench, m *matrix, panel int) {
	for chunk := range m.chunks[fullRows] {
		block := m.block(fullRows, panel, chunk)
		s.kernels.least(&b.block, block, m.all(panel), &m.programs[panel], m.targets[fullRows], chunk, nil)
		s.kernels.update(block[:m.depth(fullRows, chunk)*side], &b.block, m.all(panel), ^uint64(0), &b.changes)
	}
}
