package halfboard

import (
	"math/bits"
	"time"

	"grenier/kernels/compress"
	"grenier/kernels/transpose"
)

// bench is a worker's scratch memory.
type bench struct {
	block   compress.Block
	changes transpose.Changes
	blocks  int // computed so far
	costs   costs
}

// work is what a worker did to a tile.
type work struct {
	computed int // columns of blocks
	blocks   int // with a change
	lines    int // changed
	scores   int // changed
}

// sweepTile computes what is out of date in a tile and marks what that makes out of
// date: block by block if few lines changed last time, or else all of the tiles that read this one.
func (e *engine) sweepTile(b *bench, t *tile) work {
	var w work
	all := t.all.Swap(false)
	var before job
	for panel := t.panels.begin; panel < t.panels.end; panel++ {
		for chunk := t.chunks.begin; chunk < t.chunks.end; chunk++ {
			if next := t.matrix.take(panel, chunk, all); next.columns != 0 {
				e.fetch(t.matrix, next)
				e.compute(b, t, before, &w)
				before = next
			}
		}
	}
	e.compute(b, t, before, &w)
	if w.computed == 0 {
		return w
	}
	if w.blocks > 0 && !t.few {
		for _, parent := range t.parents {
			parent.all.Store(true)
		}
	}
	t.few = b.costs.worthMarking(w, t.lines(), e.share)
	return w
}

// A job is what is to be computed of a block.
type job struct {
	panel, chunk  int
	columns, rows uint64
}

// take returns what is out of date in a block; all says that everything is.
func (m *matrix) take(panel, chunk int, all bool) job {
	columns, rows := m.marks[panel*m.chunks[openRows]+chunk].take()
	if all {
		columns, rows = m.all(panel), ^uint64(0)
	}
	return job{panel, chunk, columns, rows}
}

// few is the number of columns up to which a block is fetched one block ahead:
// with more of them, blocks are neighbours that the kernel fetches itself.
const few = 16

// fetch brings what a job will read closer.
func (e *engine) fetch(m *matrix, j job) {
	if bits.OnesCount64(j.columns) <= few {
		e.kernels.fetch(m.block(openRows, j.panel, j.chunk), j.columns, &m.programs[j.panel], m.targets[openRows], j.chunk,
			m.lines(j.panel, j.chunk), j.rows)
	}
}

// compute brings a block up to date.
func (e *engine) compute(b *bench, t *tile, j job, w *work) {
	if j.columns == 0 {
		return
	}
	m := t.matrix
	start := b.sample()
	lines := m.lines(j.panel, j.chunk)
	e.kernels.least(&b.block, m.block(openRows, j.panel, j.chunk), j.columns, &m.programs[j.panel], m.targets[openRows], j.chunk, lines)
	e.kernels.update(lines, &b.block, j.columns, j.rows, &b.changes)
	start = b.costs.compute.add(start, bits.OnesCount64(j.columns))
	w.add(j.columns, &b.changes)
	if t.few && b.changes.Rows != 0 {
		e.grid.markBlock(m, j.panel, j.chunk, &b.changes)
		b.costs.mark.add(start, 1)
	}
}

// add counts a block.
func (w *work) add(columns uint64, c *transpose.Changes) {
	w.computed += bits.OnesCount64(columns)
	w.lines += bits.OnesCount64(c.Rows)
	w.blocks += min(1, bits.OnesCount64(c.Rows))
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		w.scores += bits.OnesCount64(c.Columns[bits.TrailingZeros64(rows)])
	}
}

// markBlock marks what the changes of a block make out of date.
func (g *grid) markBlock(m *matrix, panel, chunk int, c *transpose.Changes) {
	any := uint64(0) // the columns with a change
	for rows := c.Rows; rows != 0; rows &= rows - 1 {
		any |= c.Columns[bits.TrailingZeros64(rows)%side]
	}
	o := g.origins[g.n-m.sum]
	for i := o.first[chunk]; i < o.first[chunk+1]; i++ {
		if o.rows[i]&c.Rows == 0 {
			continue
		}
		from := &o.from[i]
		l := &g.links[from.link]
		marks := l.marks[int(from.panel)*l.chunks:][:l.chunks]
		for _, w := range l.words[l.byPanel[panel]:l.byPanel[panel+1]] {
			if w.Pick&any == 0 {
				continue
			}
			if columns := readers(o.steps[from.first:], o.rows[i], w.Pick, c); columns != 0 {
				marks[w.Chunk].add(columns, w.Place)
			}
		}
	}
}

// readers returns the columns whose steps lead to a row with a change in one of
// the columns of pick; rows are those of the steps.
func readers(steps []step, rows, pick uint64, c *transpose.Changes) (columns uint64) {
	for left := rows & c.Rows; left != 0; left &= left - 1 {
		row := bits.TrailingZeros64(left)
		if c.Columns[row%side]&pick != 0 {
			columns |= 1 << (steps[bits.OnesCount64(rows&(1<<row-1))].column % side)
		}
	}
	return columns
}

// costs is what a worker has learned about the cost of its work.
type costs struct {
	compute cost // of a column of a block
	mark    cost // of a block with changes
}

type cost struct{ seconds, count float64 }

// sampled is how many blocks there are for each one that is timed.
const sampled = 16

// sample returns the time if the next block is to be timed, and else no time.
func (b *bench) sample() (start time.Time) {
	if b.blocks++; b.blocks%sampled == 0 {
		start = time.Now()
	}
	return start
}

// add notes that count items have been done since start, if that is a time, and
// returns the time then.
func (c *cost) add(start time.Time, count int) time.Time {
	if start.IsZero() {
		return start
	}
	now := time.Now()
	c.seconds += now.Sub(start).Seconds()
	c.count += float64(count)
	return now
}

func (c *cost) mean() float64 { return c.seconds / c.count }

// markShare is how many columns of blocks a changed line makes out of date,
// less those that other lines do as well: measured in sweeps that change a few
// per cent of the scores.
const markShare = 2.2

// worthMarking reports whether it is cheaper to find out what the changes of a
// tile make out of date than to compute all of the tiles that read it. These have about as many
// columns of blocks as the tile has lines for each tile that they read; share is the part of
// all columns that is computed anyway.
func (c *costs) worthMarking(w work, lines int, share float64) bool {
	saved := float64(lines)/share - markShare*float64(w.lines)
	if c.compute.count == 0 || c.mark.count == 0 {
		return saved > 0
	}
	return float64(w.blocks)*c.mark.mean() < saved*c.compute.mean()
}

// fillFull computes the full rows of a chunk of a matrix, which no sweep reads,
// in place of the offers.
func (e *engine) fillFull(b *bench, m *matrix, chunk int) {
	for panel := range m.panels {
		block := m.block(fullRows, panel, chunk)
		e.kernels.least(&b.block, block, m.all(panel), &m.programs[panel], m.targets[fullRows], chunk, nil)
		e.kernels.update(block[:m.height(fullRows, chunk)*side], &b.block, m.all(panel), ^uint64(0), &b.changes)
	}
}
