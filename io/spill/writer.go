package spill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"grenier/io/crew"
	"grenier/io/pagecache"
	"grenier/io/vfs"
)

// Packing says how a writer packs blocks. Readers need not know.
type Packing int

// The ways to pack.
const (
	// LZ4 compresses with lz4, and then gives the bytes a Huffman code. Each is left out where nothing becomes shorter.
	LZ4 Packing = iota
	// Huffman gives the bytes a code: for contents in which lz4 would find hardly anything.
	Huffman
	// Direct leaves blocks as they are, and the file is written past the page cache where the system can: it takes
	// processors less time, and some MiB of memory.
	Direct
)

// Writer writes a stream. It is not safe for concurrent use, but works with several
// goroutines itself.
type Writer struct {
	pending *vfs.Pending
	packing Packing
	block   int // bytes of a whole block
	cache   pagecache.Bound
	direct  *pagecache.Direct // nil: through the page cache
	blocks  *crew.Stream[*block]
	now     *block // being filled; nil when the stream has ended
	sum     uint32 // of the header
	size    int64  // written
	totals  totals
}

// Create begins a stream that is going to be called name, which workers goroutines pack. It
// fails with sealed.ErrHead, as vfs.NewPending does, or with an error of the operating system.
func Create(d vfs.Dir, name string, h Header, p Packing, workers int) (*Writer, error) {
	size := usualBlock
	if p == Direct {
		size = directBlock
	}
	return create(d, name, h, p, workers, size)
}

func create(d vfs.Dir, name string, h Header, packing Packing, workers, blockSize int) (*Writer, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	p, err := vfs.NewPending(d, name)
	if err != nil {
		return nil, err
	}
	w := &Writer{pending: p, packing: packing, block: blockSize}
	w.cache.Open(vfs.System(p.File))
	if packing == Direct {
		w.direct = pagecache.NewDirect(p.File, vfs.System(p.File))
	}
	encoded := encode(&h, blockSize)
	w.sum = little.Uint32(encoded[len(encoded)-4:])
	if err := w.put(encoded); err != nil {
		return nil, errors.Join(err, w.cache.Close(), p.Abort())
	}
	w.start(workers)
	return w, nil
}

// start starts the goroutines.
func (w *Writer) start(workers int) {
	w.blocks = crew.NewStream(context.Background(), workers, blocksFor(workers), func(_, i int, b *block) error {
		b.number = uint64(i)
		b.pack(w.packing, w.sum)
		return nil
	})
	w.blocks.Go(w.write)
	w.now, _ = w.blocks.Free() // there is one
	if w.packing == Direct {   // elsewhere the first one grows as it is filled: many streams are short
		w.now.clear(w.packing, w.block)
	}
}

// Write appends p to the stream. It may return the error of an earlier call:
// the stream cannot be completed then.
func (w *Writer) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if w.now == nil {
			return n, fmt.Errorf("writing %s: %w", w.pending.Path(), os.ErrClosed)
		}
		b := w.now
		room := min(w.block-len(b.contents), len(p)-n)
		b.contents = append(b.contents, p[n:n+room]...)
		n += room
		if len(b.contents) == w.block {
			if err := w.next(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// next deals the block that was filled and waits for another one.
func (w *Writer) next() (err error) {
	w.blocks.Send()
	if w.now, err = w.blocks.Free(); err != nil {
		w.now = nil
		return err
	}
	w.now.clear(w.packing, w.block)
	return nil
}

// write writes the blocks in order.
func (w *Writer) write() error {
	for {
		b, err := w.blocks.Next()
		if err == crew.ErrNoMore {
			return nil
		}
		if err == nil {
			err = w.put(b.stored)
		}
		if err != nil {
			return err
		}
		w.totals.add(b.stored)
	}
}

// put appends bytes to the file.
func (w *Writer) put(b []byte) error {
	to := io.Writer(w.pending)
	if w.direct != nil {
		to = w.direct
	}
	n, err := to.Write(b)
	w.cache.Wrote(w.size, int64(n))
	w.size += int64(n)
	return w.named(err)
}

// named returns an error that names the file.
func (w *Writer) named(err error) error {
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = fmt.Errorf("writing %s: %w", w.pending.Path(), err)
	}
	return err
}

// Publish ends the stream and gives it its name. It fails as vfs.Pending.Publish does,
// or as Write would, and then removes the stream. It is called once.
func (w *Writer) Publish() error {
	if w.now == nil {
		return errors.Join(fmt.Errorf("publishing %s: %w", w.pending.Path(), os.ErrClosed), w.Abort())
	}
	if len(w.now.contents) > 0 {
		w.blocks.Send()
	}
	w.now = nil
	w.blocks.End()
	err := w.blocks.Wait()
	if err == nil {
		err = w.put(w.totals.encode(w.sum))
	}
	if err == nil && w.direct != nil {
		err = w.named(w.direct.Flush())
	}
	if err == nil {
		err = w.pending.Sync()
	}
	w.cache.Synced()
	err = errors.Join(err, w.cache.Close())
	w.cache = pagecache.Bound{}
	if err != nil {
		return errors.Join(err, w.pending.Abort())
	}
	return w.pending.Publish()
}

// Abort removes a stream that was not published. It does nothing after a Publish or
// another Abort, so it can be deferred.
func (w *Writer) Abort() error {
	w.now = nil
	w.blocks.Stop() // nobody wants to know its error any more
	err := w.cache.Close()
	w.cache = pagecache.Bound{}
	return errors.Join(err, w.pending.Abort())
}

// Bytes returns the length of the file so far.
func (w *Writer) Bytes() int64 { return w.size }
