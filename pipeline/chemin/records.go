package chemin

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/durable"
	"grenier/io/frame"
	"grenier/layers/chemin"
)

// A record is a canonical state as words: the filled cells, the values that are still alive in
// the order of their cells, padded with zeros to the number of filled cells, and a tail: an
// order that leads there, or the number of orders.
type layout struct {
	filled int // cells
	tail   int // words
}

const (
	orderWords = 5 // of six cells each, in five bits each
	countWords = 2 // low, high
)

func (l layout) key() int    { return 1 + l.filled }
func (l layout) stride() int { return l.key() + l.tail }

func appendOrder(tail []uint32, step, cell int) { tail[step/6] |= uint32(cell) << (5 * (step % 6)) }

func cellAt(tail []uint32, step int) int { return int(tail[step/6]>>(5*(step%6))) & 31 }

// carry returns the tail of an order moved along a symmetry.
func carry(tail []uint32, steps int, by *chemin.Symmetry) [orderWords]uint32 {
	var moved [orderWords]uint32
	for step := range steps {
		appendOrder(moved[:], step, int(by[cellAt(tail, step)]))
	}
	return moved
}

// sortRows returns the records in words, sorted by key, and by tail so that the result
// depends on nothing else.
func sortRows(words []uint32, l layout) [][]uint32 {
	rows := split(words, l.stride())
	slices.SortFunc(rows, slices.Compare[[]uint32])
	return rows
}

// run is a sorted list of records, in memory or in a file.
type run struct {
	layout
	words []uint32
	path  string
	n     int // records
}

// cursor reads a run from its start. row is nil at its end.
type cursor struct {
	row   []uint32
	words []uint32 // what follows, in memory
	l     layout
	file  *os.File
	lz4   io.ReadCloser
	in    *bufio.Reader
	bytes []byte
}

// open returns a cursor on the first record.
func (r *run) open() (*cursor, error) {
	c := &cursor{l: r.layout, words: r.words}
	if r.path == "" {
		return c, c.next()
	}
	var err error
	if c.file, err = os.Open(r.path); err != nil {
		return nil, err
	}
	if c.lz4, err = frame.NewReader(c.file, frame.LZ4); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	c.in, c.bytes = bufio.NewReaderSize(c.lz4, 1<<16), make([]byte, 4*r.stride())
	if err := c.next(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// next goes to the next record; the one before stays as it is.
func (c *cursor) next() error {
	if c.file == nil {
		c.row = nil
		if len(c.words) > 0 {
			c.row, c.words = c.words[:c.l.stride():c.l.stride()], c.words[c.l.stride():]
		}
		return nil
	}
	switch _, err := io.ReadFull(c.in, c.bytes); {
	case errors.Is(err, io.EOF):
		c.row = nil
		return nil
	case errors.Is(err, frame.ErrDamaged), errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt.New(c.file.Name(), "records", "%w", err)
	case err != nil:
		return err
	}
	c.row = make([]uint32, c.l.stride())
	for i := range c.row {
		c.row[i] = binary.LittleEndian.Uint32(c.bytes[4*i:])
	}
	return nil
}

func (c *cursor) close() error {
	if c.file == nil {
		return nil
	}
	return errors.Join(c.lz4.Close(), c.file.Close())
}

// remove deletes the file of a run, if it has one.
func (r *run) remove() error {
	if r.path == "" {
		return nil
	}
	return os.Remove(r.path)
}

// writer collects a run, in memory or, if path is not empty, in a file.
type writer struct {
	run
	file *os.File
	out  *bufio.Writer
	lz4  io.WriteCloser
	err  error
}

func newWriter(l layout, path string) (*writer, error) {
	w := &writer{run: run{layout: l, path: path}}
	if path == "" {
		return w, nil
	}
	var err error
	if w.file, err = os.Create(path + durable.TempSuffix); err != nil {
		return nil, err
	}
	if w.lz4, err = frame.NewWriter(w.file, frame.LZ4, 0, 1); err != nil {
		return nil, errors.Join(err, w.drop())
	}
	w.out = bufio.NewWriterSize(w.lz4, 1<<16)
	return w, nil
}

func (w *writer) add(row []uint32) {
	w.n++
	if w.file == nil {
		w.words = append(w.words, row...)
		return
	}
	var word [4]byte
	for _, x := range row {
		binary.LittleEndian.PutUint32(word[:], x)
		if _, err := w.out.Write(word[:]); err != nil {
			w.err = err
		}
	}
}

// finish returns the run. A file survives a power cut from here on.
func (w *writer) finish() (*run, error) {
	if w.file == nil {
		return &w.run, nil
	}
	err := errors.Join(w.err, w.out.Flush(), w.lz4.Close())
	if err == nil {
		err = w.file.Close()
		w.lz4 = nil
	}
	if err == nil {
		err = durable.Publish(w.path+durable.TempSuffix, w.path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing %s: %w", w.path, err), w.drop())
	}
	return &w.run, nil
}

// drop gives up the run and removes its file.
func (w *writer) drop() error {
	if w.file == nil {
		return nil
	}
	if w.lz4 != nil {
		_ = w.lz4.Close() // the file is not wanted
	}
	_ = w.file.Close()
	return os.Remove(w.path + durable.TempSuffix)
}
