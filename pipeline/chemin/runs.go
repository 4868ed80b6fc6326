package chemin

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

// blockBytes is the most bytes of the records of a block.
const blockBytes = 64 << 10

// block is some records of a run, compressed unless that makes them longer.
type block struct {
	workfile.Extent
	Records int `json:"records"`

	data []byte // in memory
}

// run is a sorted list of records.
type run struct {
	layout
	blocks []block
	n      int // records
}

// add appends a block.
func (r *run) add(b block) {
	r.blocks = append(r.blocks, b)
	r.n += b.Records
}

// store keeps blocks, in memory or in a work file. It is safe for concurrent use.
type store struct {
	dir  *resume.Dir // nil in memory
	last []byte      // checkpoint

	most int64 // bytes of memory
	held atomic.Int64
}

// Bytes of memory for each block: in lists of blocks, and of the extents in a file.
const perBlock = 128

// damaged returns the error for a part of the blocks that cannot be.
func (s *store) damaged(part string, err error) error {
	if s.dir == nil {
		return corrupt.New("memory", part, "%w", err)
	}
	return s.dir.Damaged(part, err)
}

// put keeps the bytes of a block. It fails with errMemory.
func (s *store) put(data []byte, records int) (b block, err error) {
	b.Records = records
	if s.dir == nil {
		b.data = slices.Clone(data)
	} else if b.Extent, err = s.dir.Put(data); err != nil {
		return b, err
	}
	if s.held.Add(b.size()) > s.most {
		return b, errMemory
	}
	return b, nil
}

// own counts the blocks of a run that was there before.
func (s *store) own(r *run) {
	for i := range r.blocks {
		s.held.Add(r.blocks[i].size())
	}
}

// size returns the memory that a block takes.
func (b *block) size() int64 { return int64(perBlock + cap(b.data)) }

// get returns the bytes of a block, which may be in the memory of buffer.
func (s *store) get(b *block, buffer []byte) ([]byte, error) {
	if s.dir == nil {
		return b.data, nil
	}
	return s.dir.Get(b.Extent, buffer)
}

// drop says that a run is no longer needed.
func (s *store) drop(r *run) {
	for i := range r.blocks {
		s.held.Add(-r.blocks[i].size())
		if s.dir != nil {
			s.dir.Drop(r.blocks[i].Extent)
		}
	}
	r.blocks = nil
}

// commit makes data the checkpoint, which frees the space of what was dropped.
func (s *store) commit(data []byte) error {
	s.last = data
	return s.dir.Checkpoint(data)
}

// recycle frees the space of dropped blocks that the last checkpoint does not refer to.
func (s *store) recycle() error {
	if s.dir == nil {
		return nil
	}
	return s.commit(s.last)
}

// writer makes runs.
type writer struct {
	*store
	run         *run
	raw, packed []byte
	lz4         lz4.Compressor
}

// writerBytes is the memory of a writer.
const writerBytes = 2*blockBytes + 150<<10

func newWriter(s *store, l layout) *writer {
	return &writer{
		store: s, run: &run{layout: l}, raw: make([]byte, 0, blockBytes), packed: make([]byte, lz4.CompressBlockBound(blockBytes)),
	}
}

// add appends a record to the run.
func (w *writer) add(row []uint32) error {
	for _, x := range row {
		w.raw = binary.LittleEndian.AppendUint32(w.raw, x)
	}
	if len(w.raw)+4*len(row) > blockBytes {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	data := w.raw
	n, err := w.lz4.CompressBlock(w.raw, w.packed)
	if err != nil {
		return err
	}
	if n > 0 && n < len(w.raw) {
		data = w.packed[:n]
	}
	b, err := w.put(data, len(w.raw)/(4*w.run.stride()))
	w.run.add(b)
	w.raw = w.raw[:0]
	return err
}

// finish returns the run and begins another one.
func (w *writer) finish() (*run, error) {
	if len(w.raw) > 0 {
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	r := w.run
	w.run = &run{layout: r.layout}
	return r, nil
}

// cursor reads a run from its start.
type cursor struct {
	row []uint32 // until the next call of next; nil at the end

	store          *store
	run            *run
	number         int    // of the next block
	raw            []byte // what follows in this block
	buffer, packed []byte
}

// cursorBytes is the memory of a cursor.
const cursorBytes = 2*blockBytes + 1<<10

// open returns a cursor on the first record of a run.
func (s *store) open(r *run) (*cursor, error) {
	c := &cursor{store: s, run: r, buffer: make([]byte, blockBytes), row: make([]uint32, r.stride())}
	return c, c.next()
}

// next goes to the next record.
func (c *cursor) next() error {
	if len(c.raw) == 0 {
		if c.number == len(c.run.blocks) {
			c.row = nil
			return nil
		}
		if err := c.unpack(&c.run.blocks[c.number]); err != nil {
			return err
		}
		c.number++
	}
	for i := range c.row {
		c.row[i] = binary.LittleEndian.Uint32(c.raw[4*i:])
	}
	c.raw = c.raw[4*len(c.row):]
	return nil
}

// unpack reads a block.
func (c *cursor) unpack(b *block) error {
	packed, err := c.store.get(b, c.packed)
	if err != nil {
		return err
	}
	c.raw = c.buffer[:4*c.run.stride()*b.Records]
	if c.store.dir != nil {
		c.packed = packed
	}
	if len(packed) == len(c.raw) {
		copy(c.raw, packed)
		return nil
	}
	n, err := lz4.UncompressBlock(packed, c.raw)
	if err != nil || n != len(c.raw) {
		return c.store.damaged(fmt.Sprintf("block at %d", b.Offset), fmt.Errorf("it does not unpack to %d records", b.Records))
	}
	return nil
}

// merging is a heap of cursors, the least record first.
type merging []*cursor

func (s *store) openAll(runs []*run) (merging, error) {
	var m merging
	for _, r := range runs {
		c, err := s.open(r)
		if err != nil {
			return nil, err
		}
		if c.row != nil {
			m = append(m, c)
		}
	}
	heap.Init(&m)
	return m, nil
}

// next drops the least record.
func (m *merging) next() error {
	c := (*m)[0]
	if err := c.next(); err != nil {
		return err
	}
	if c.row != nil {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return nil
}

func (m merging) Len() int           { return len(m) }
func (m merging) Less(i, j int) bool { return slices.Compare(m[i].row, m[j].row) < 0 }
func (m merging) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging) Push(x any)        { *m = append(*m, x.(*cursor)) }

func (m *merging) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
