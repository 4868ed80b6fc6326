// Package runs searches layer by layer, with layers that are sorted lists of records: the records that the
// records of a layer lead to are collected, sorted, put aside, merged and committed (Search). The searches
// say how records expand, are combined and pruned.
//
// Below that are the lists, runs. They are cut into blocks, compressed by lz4, in memory or in the
// work file of a run directory (package resume).
//
//	w := runs.NewWriter(store, 2)
//	for ... { err = w.Add(row) }
//	run, err := w.Finish()
//	...
//	for c, err := store.Open(run); c.Row != nil; err = c.Next() { ... c.Row ... }
//	store.Drop(run)
//
// Records are 32-bit words, all of a run the same number, in the order of slices.Compare. Blocks of records
// of two words hold the gaps between them instead, which is shorter and takes less time.
package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

// ErrMemory says that blocks need more memory than they are given.
var ErrMemory = errors.New("out of the memory given")

// blockBytes is the most bytes of the records of a block.
const blockBytes = 64 << 10

// Block is some records of a run, packed unless that makes them longer.
type Block struct {
	workfile.Extent
	Records int `json:"records"`

	data []byte // in memory
}

// Check fails unless a block from elsewhere can have records of stride words.
func (b *Block) Check(stride int) error {
	if most := blockBytes / (4 * stride); b.Records < 1 || b.Records > most || b.Length < 1 || int(b.Length) > 4*stride*b.Records {
		return fmt.Errorf("%d records, 1 to %d are possible, in %d bytes", b.Records, most, b.Length)
	}
	return nil
}

// Run is a sorted list of records.
type Run struct {
	Stride int // words of a record
	Blocks []Block
	N      int // records
}

// Add appends a block.
func (r *Run) Add(b Block) {
	r.Blocks = append(r.Blocks, b)
	r.N += b.Records
}

// Store keeps blocks, in memory or in a work file. It is safe for concurrent use.
type Store struct {
	Dir  *resume.Dir // nil in memory
	Most int64       // bytes of memory
	Last []byte      // checkpoint

	held atomic.Int64
}

// Held returns the bytes of memory that all blocks take.
func (s *Store) Held() int64 { return s.held.Load() }

// Bytes of memory for each block: in lists of blocks, and of the extents in a file.
const perBlock = 128

// Damaged returns the error, which matches corrupt.ErrCorrupt, for a part of the blocks that cannot
// be.
func (s *Store) Damaged(part string, err error) error {
	if s.Dir == nil {
		return corrupt.New("memory", part, "%w", err)
	}
	return s.Dir.Damaged(part, err)
}

// put keeps the bytes of a block. It fails with ErrMemory.
func (s *Store) put(data []byte, records int) (b Block, err error) {
	b.Records = records
	if s.Dir == nil {
		b.data = slices.Clone(data)
	} else if b.Extent, err = s.Dir.Put(data); err != nil {
		return b, err
	}
	if s.held.Add(b.size()) > s.Most {
		return b, ErrMemory
	}
	return b, nil
}

// size returns the memory that a block takes.
func (b *Block) size() int64 { return int64(perBlock + cap(b.data)) }

// get returns the bytes of a block, which may be in the memory of buffer.
func (s *Store) get(b *Block, buffer []byte) ([]byte, error) {
	if s.Dir == nil {
		return b.data, nil
	}
	return s.Dir.Get(b.Extent, buffer)
}

// Drop says that a run is no longer needed.
func (s *Store) Drop(r *Run) {
	for i := range r.Blocks {
		s.held.Add(-r.Blocks[i].size())
		if s.Dir != nil {
			s.Dir.Drop(r.Blocks[i].Extent)
		}
	}
	r.Blocks = nil
}

// Commit makes data the checkpoint, which frees the space of dropped runs. It fails like
// resume.Dir.Checkpoint.
func (s *Store) Commit(data []byte) error {
	s.Last = data
	return s.Dir.Checkpoint(data)
}

// recycle frees the space of dropped blocks that the last checkpoint does not refer to. It fails
// like Commit.
func (s *Store) recycle() error {
	if s.Dir == nil {
		return nil
	}
	return s.Commit(s.Last)
}

// Writer makes runs.
type Writer struct {
	store       *Store
	run         *Run
	raw, packed []byte
	lz4         lz4.Compressor
}

// WriterBytes is the memory of a writer.
const WriterBytes = 2*blockBytes + 150<<10

// NewWriter returns a writer of records of stride words.
func NewWriter(s *Store, stride int) *Writer {
	return &Writer{
		store: s, run: &Run{Stride: stride}, raw: make([]byte, 0, blockBytes), packed: make([]byte, lz4.CompressBlockBound(blockBytes)),
	}
}

// Add appends a record to the run. It fails with ErrMemory, and as a work file does.
func (w *Writer) Add(row []uint32) error {
	for _, x := range row {
		w.raw = binary.LittleEndian.AppendUint32(w.raw, x)
	}
	if len(w.raw)+4*len(row) > blockBytes {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	data := w.raw
	n, err := w.pack()
	if err != nil {
		return err
	}
	if n > 0 && n < len(w.raw) {
		data = w.packed[:n]
	}
	b, err := w.store.put(data, len(w.raw)/(4*w.run.Stride))
	w.run.Add(b)
	w.raw = w.raw[:0]
	return err
}

// pack packs the records, and returns how many bytes they take: 0 if they would take more.
func (w *Writer) pack() (int, error) {
	if w.run.Stride == gapStride {
		return packGaps(w.packed, w.raw), nil
	}
	return w.lz4.CompressBlock(w.raw, w.packed)
}

// Finish returns the run and begins another one. It fails like Add.
func (w *Writer) Finish() (*Run, error) {
	if len(w.raw) > 0 {
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	r := w.run
	w.run = &Run{Stride: r.Stride}
	return r, nil
}

// One returns a run of one record. It fails like Writer.Add.
func (s *Store) One(row []uint32) (*Run, error) {
	w := NewWriter(s, len(row))
	if err := w.Add(row); err != nil {
		return nil, err
	}
	return w.Finish()
}

// Cursor reads a run from its start.
type Cursor struct {
	Row []uint32 // until the next call of Next; nil at the end

	store          *Store
	run            *Run
	number         int    // of the next block
	raw            []byte // the rest of this block
	buffer, packed []byte
}

// cursorBytes is the memory of a cursor.
const cursorBytes = 2*blockBytes + 1<<10

// Open returns a cursor on the first record of a run. It fails like Cursor.Next.
func (s *Store) Open(r *Run) (*Cursor, error) {
	c := &Cursor{store: s, run: r, buffer: make([]byte, blockBytes), Row: make([]uint32, r.Stride)}
	return c, c.Next()
}

// Next goes to the next record. It fails as a work file does, and with errors that match
// corrupt.ErrCorrupt.
func (c *Cursor) Next() error {
	if len(c.raw) == 0 {
		if c.number == len(c.run.Blocks) {
			c.Row = nil
			return nil
		}
		if err := c.unpack(&c.run.Blocks[c.number]); err != nil {
			return err
		}
		c.number++
	}
	for i := range c.Row {
		c.Row[i] = binary.LittleEndian.Uint32(c.raw[4*i:])
	}
	c.raw = c.raw[4*len(c.Row):]
	return nil
}

// unpack reads a block.
func (c *Cursor) unpack(b *Block) error {
	packed, err := c.store.get(b, c.packed)
	if err != nil {
		return err
	}
	c.raw = c.buffer[:4*c.run.Stride*b.Records]
	if c.store.Dir != nil {
		c.packed = packed
	}
	if len(packed) == len(c.raw) {
		copy(c.raw, packed)
		return nil
	}
	if !c.unpacked(packed) {
		return c.store.Damaged(fmt.Sprintf("block at %d", b.Offset), fmt.Errorf("it does not unpack to %d records", b.Records))
	}
	return nil
}

// unpacked unpacks the bytes of a block, and reports whether they are as many records as it has.
func (c *Cursor) unpacked(packed []byte) bool {
	if c.run.Stride == gapStride {
		return unpackGaps(c.raw, packed)
	}
	n, err := lz4.UncompressBlock(packed, c.raw)
	return err == nil && n == len(c.raw)
}

// merge reads several runs at once, the least record first.
type merge struct{ cursors []*Cursor } // a heap

// openAll returns a merge of runs. It fails like Cursor.Next.
func (s *Store) openAll(runs []*Run) (*merge, error) {
	m := &merge{}
	for _, r := range runs {
		c, err := s.Open(r)
		if err != nil {
			return nil, err
		}
		if c.Row != nil {
			m.cursors = append(m.cursors, c)
		}
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m, nil
}

// Len returns the number of runs that have records left.
func (m *merge) Len() int { return len(m.cursors) }

// Row returns the least record, until the next call of Next. There must be one.
func (m *merge) Row() []uint32 { return m.cursors[0].Row }

// Next drops the least record. It fails like Cursor.Next.
func (m *merge) Next() error {
	c := m.cursors[0]
	if err := c.Next(); err != nil {
		return err
	}
	if c.Row == nil {
		last := len(m.cursors) - 1
		m.cursors[0] = m.cursors[last]
		m.cursors = m.cursors[:last]
	}
	m.sink(0)
	return nil
}

// sink moves a cursor to its place among those below it.
func (m *merge) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.cursors) {
			return
		}
		if right := child + 1; right < len(m.cursors) && less(m.cursors[right].Row, m.cursors[child].Row) {
			child = right
		}
		if !less(m.cursors[child].Row, m.cursors[i].Row) {
			return
		}
		m.cursors[i], m.cursors[child] = m.cursors[child], m.cursors[i]
		i = child
	}
}

// less compares records of the same length.
func less(a, b []uint32) bool {
	for i, x := range a {
		if y := b[i]; x != y {
			return x < y
		}
	}
	return false
}

// gapStride is how many words records have whose gaps are packed: they are numbers of 64 bits, the
// high word first.
const gapStride = 2

// number returns a record as it is in a block, and putNumber is the inverse.
func number(raw []byte) uint64 { return bits.RotateLeft64(binary.LittleEndian.Uint64(raw), 32) }

func putNumber(raw []byte, x uint64) {
	binary.LittleEndian.PutUint64(raw, bits.RotateLeft64(x, 32))
}

// packGaps writes ascending numbers to dst, the first one and the gap before each other one as varints
// (package encoding/binary), and returns the bytes written: 0 if there is no room for them.
func packGaps(dst, raw []byte) int {
	n, last := 0, uint64(0)
	for ; len(raw) > 0; raw = raw[4*gapStride:] {
		x := number(raw)
		gap := x - last
		last = x
		if len(dst)-n < (bits.Len64(gap|1)+6)/7 {
			return 0
		}
		for ; gap >= 0x80; gap >>= 7 {
			dst[n] = byte(gap) | 0x80
			n++
		}
		dst[n] = byte(gap)
		n++
	}
	return n
}

// unpackGaps fills raw with the numbers that packGaps has written, and reports whether packed is as
// many.
func unpackGaps(raw, packed []byte) bool {
	x := uint64(0)
	for ; len(raw) > 0; raw = raw[4*gapStride:] {
		gap, n := binary.Uvarint(packed)
		if n <= 0 {
			return false
		}
		packed = packed[n:]
		x += gap
		putNumber(raw, x)
	}
	return len(packed) == 0
}
