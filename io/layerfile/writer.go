package layerfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"grenier/io/pagecache"
	"grenier/io/tally"
	"grenier/kernels/cpu"
)

// ErrOrder reports a block that cannot be the next one of a file, or a file
// that was finished before its last block.
var ErrOrder = errors.New("blocks do not fit the header")

// writeBuffer is the number of bytes that go to the operating system at a time.
const writeBuffer = 1 << 20

// Summary is what is known about a complete file.
type Summary struct {
	Header    Header
	Footer    Footer
	Histogram tally.Histogram // how often each score occurs
}

// Writer writes a layer file from beginning to end. It is not safe for
// concurrent use.
type Writer struct {
	path    string
	file    *output // nil after Finish and Abort
	out     *bufio.Writer
	summary Summary
	hash    tally.Hasher
	index   []byte
	blocks  int    // appended so far
	offset  uint64 // of the next block
}

// output is a file that is written in order.
type output struct {
	*os.File
	cache pagecache.Bound
	size  int64 // bytes written
}

func (o *output) Write(data []byte) (int, error) {
	n, err := o.File.Write(data)
	o.cache.Wrote(o.size, int64(n))
	o.size += int64(n)
	return n, err
}

func (o *output) Sync() error {
	err := o.File.Sync()
	o.cache.Synced()
	return err
}

func (o *output) Close() error { return errors.Join(o.cache.Close(), o.File.Close()) }

// Create begins a new file at path, which must not exist yet: a temporary name,
// for the file is not valid before Finish. The kernel family must be supported. It
// fails with ErrHeader, or with an error of the operating system.
func Create(path string, h Header, family cpu.Family) (*Writer, error) {
	return create(path, h, family, false)
}

// CreateSparing is Create for files that together are larger than memory: on Linux it
// leaves little of what is written in the page cache, and after Finish nothing. It
// fails as Create does.
func CreateSparing(path string, h Header, family cpu.Family) (*Writer, error) {
	return create(path, h, family, true)
}

func create(path string, h Header, family cpu.Family, sparing bool) (*Writer, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	file := &output{File: f}
	if sparing {
		file.cache.Open(path, f)
	}
	w := &Writer{
		path: path, file: file, out: bufio.NewWriterSize(file, writeBuffer), offset: uint64(h.start()),
		hash: tally.NewHash(family),
	}
	w.summary.Header = h
	w.out.Write(h.encode()) // errors surface in Finish, at the latest
	w.out.WriteString(string(h.Model))
	return w, nil
}

// Append writes the next block. Blocks must come in order; all but the last hold
// Header.BlockSize scores. The block is free to be used again afterwards.
func (w *Writer) Append(b *Block) error {
	h := &w.summary.Header
	if w.file == nil {
		return fmt.Errorf("writing %s: %w", w.path, os.ErrClosed)
	}
	if w.blocks >= h.Blocks() || len(b.scores) != h.BlockLen(w.blocks) || b.codec != h.Codec {
		return fmt.Errorf("%w: writing %s: block %d of %d with %d scores, %v",
			ErrOrder, w.path, w.blocks, h.Blocks(), len(b.scores), b.codec)
	}
	if _, err := w.out.Write(b.stored); err != nil {
		return w.named(err)
	}
	e := entry{
		offset:    w.offset,
		length:    uint32(len(b.stored)),
		flags:     b.flags,
		storedCRC: b.storedCRC,
		scoresCRC: b.scoresCRC,
	}
	w.index = e.append(w.index)
	w.offset += uint64(len(b.stored))
	w.blocks++
	w.summary.Histogram.Merge(&b.histogram)
	w.hash = w.hash.Add(b.scores)
	return nil
}

// Finish writes index and footer, waits until the file is on disk and closes it.
// It fails with ErrOrder if blocks are missing. After a failure, Abort removes
// what was written.
func (w *Writer) Finish() (Summary, error) {
	h := &w.summary.Header
	if w.file == nil {
		return Summary{}, fmt.Errorf("writing %s: %w", w.path, os.ErrClosed)
	}
	if w.blocks != h.Blocks() {
		return Summary{}, fmt.Errorf("%w: writing %s: %d blocks of %d", ErrOrder, w.path, w.blocks, h.Blocks())
	}
	f := &w.summary.Footer
	f.Hash = w.hash.Sum()
	f.Win, f.Draw, f.Loss = w.summary.Histogram.WinDrawLoss()
	f.indexOffset, f.indexCRC = int64(w.offset), crc32c(w.index)
	f.Bytes = f.indexOffset + int64(len(w.index)) + footerSize
	if err := w.finish(f.encode(h)); err != nil {
		return Summary{}, w.named(err)
	}
	return w.summary, nil
}

func (w *Writer) finish(footer []byte) error {
	// A bufio.Writer keeps its first error and returns it from Flush.
	w.out.Write(w.index)
	w.out.Write(footer)
	if err := w.out.Flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	err := w.file.Close()
	if err == nil {
		w.file = nil
	}
	return err
}

// named says which file an error is about, unless it does so itself, as those of
// the operating system do.
func (w *Writer) named(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("writing %s: %w", w.path, err)
}

// Abort closes and removes an unfinished file. It does nothing after a
// successful Finish or another Abort, so it can be deferred.
func (w *Writer) Abort() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil // by Finish
	}
	w.file = nil
	return errors.Join(err, os.Remove(w.path))
}
