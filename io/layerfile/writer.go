package layerfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"grenier/io/pagecache"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
)

// ErrOrder reports a block that cannot be the next one of a file, or a file
// that was finished before its last block.
var ErrOrder = errors.New("blocks do not fit the header")

// writeBuffer is the most bytes that go to the operating system at a time; a small file goes as a
// whole, with writeSmall for what is beside the scores.
const (
	writeBuffer = 1 << 20
	writeSmall  = 1 << 16
)

// Summary is what is known about a complete file.
type Summary struct {
	Header    Header
	Footer    Footer
	Histogram tally.Histogram // how often each score occurs
}

// Writer writes a layer file from beginning to end. It is not safe for
// concurrent use.
type Writer struct {
	pending *vfs.Pending
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
	vfs.File
	cache pagecache.Bound
	size  int64 // bytes written
}

func (o *output) Write(data []byte) (int, error) {
	n, err := o.File.Write(data)
	o.cache.Wrote(o.size, int64(n))
	o.size += int64(n)
	return n, err
}

// sync waits until all is on disk, and drops the pages of the file.
func (o *output) sync() error {
	err := o.Sync()
	o.cache.Synced()
	return errors.Join(err, o.cache.Close())
}

// Create begins a file and takes over p: there is no layer file at its path before
// Publish. The kernel family must be supported. It fails with ErrHeader, and aborts p
// then.
func Create(p *vfs.Pending, h Header, family cpu.Family) (*Writer, error) {
	return create(p, h, family, false)
}

// CreateSparing is Create for files that together are larger than memory: on Linux it
// leaves little of what is written in the page cache, and after Finish nothing. It
// fails as Create does.
func CreateSparing(p *vfs.Pending, h Header, family cpu.Family) (*Writer, error) {
	return create(p, h, family, true)
}

func create(p *vfs.Pending, h Header, family cpu.Family, sparing bool) (*Writer, error) {
	if err := h.Validate(); err != nil {
		return nil, errors.Join(err, p.Abort())
	}
	file := &output{File: p.File}
	if sparing {
		file.cache.Open(vfs.System(p.File))
	}
	w := &Writer{
		pending: p, file: file, out: bufio.NewWriterSize(file, int(min(h.Positions+writeSmall, writeBuffer))), offset: uint64(h.start()),
		hash: tally.NewHash(family),
	}
	w.summary.Header = h
	w.out.Write(h.encode()) // errors surface in Finish, at the latest
	w.out.WriteString(h.tail())
	return w, nil
}

// Append writes the next block. Blocks must come in order; all but the last hold
// Header.BlockSize scores. The block may be reused afterwards.
func (w *Writer) Append(b *Block) error {
	h := &w.summary.Header
	if w.file == nil {
		return fmt.Errorf("writing %s: %w", w.pending.Path(), os.ErrClosed)
	}
	if w.blocks >= h.Blocks() || len(b.scores) != h.BlockLen(w.blocks) {
		return fmt.Errorf("%w: writing %s: block %d of %d with %d scores",
			ErrOrder, w.pending.Path(), w.blocks, h.Blocks(), len(b.scores))
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

// Finish writes index and footer and waits until the file is on disk. It fails with
// ErrOrder if blocks are missing. After a failure, Abort removes what was written.
func (w *Writer) Finish() (Summary, error) {
	h := &w.summary.Header
	if w.file == nil {
		return Summary{}, fmt.Errorf("writing %s: %w", w.pending.Path(), os.ErrClosed)
	}
	if w.blocks != h.Blocks() {
		return Summary{}, fmt.Errorf("%w: writing %s: %d blocks of %d", ErrOrder, w.pending.Path(), w.blocks, h.Blocks())
	}
	f := &w.summary.Footer
	f.Hash = w.hash.Sum()
	f.Win, f.Draw, f.Loss = w.summary.Histogram.WinDrawLoss()
	f.indexOffset, f.indexCRC = int64(w.offset), crc32c.Of(w.index)
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
	file := w.file
	w.file = nil
	return file.sync()
}

// Open opens a file after Finish, before it has its name. Publish and Abort wait for nobody who reads.
func (w *Writer) Open() (*File, error) {
	if w.file != nil {
		return nil, fmt.Errorf("%w: opening %s before it is finished", ErrOrder, w.pending.Path())
	}
	return OpenReader(context.Background(), w.pending.Path(), finished{w.pending, w.summary.Footer.Bytes})
}

// finished reads a file that waits for its name.
type finished struct {
	file *vfs.Pending
	size int64
}

func (f finished) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return f.file.ReadAt(p, off)
}

func (f finished) Size() int64 { return f.size }

func (finished) Close() error { return nil }

// named says which file an error is about, unless it does so itself, as those of
// the operating system do.
func (w *Writer) named(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("writing %s: %w", w.pending.Path(), err)
}

// Publish gives a file its name after Finish. It fails as vfs.Pending.Publish does.
func (w *Writer) Publish() error {
	if w.file != nil {
		return fmt.Errorf("%w: publishing %s before it is finished", ErrOrder, w.pending.Path())
	}
	return w.pending.Publish()
}

// Abort closes and removes a file that was not published. It does nothing after a
// Publish or another Abort, so it can be deferred.
func (w *Writer) Abort() error {
	var err error
	if w.file != nil {
		err = w.file.cache.Close()
		w.file = nil
	}
	return errors.Join(err, w.pending.Abort())
}
