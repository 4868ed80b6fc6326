package spill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/pagecache"
	"grenier/io/vfs"
)

// Reader reads a stream. It is not safe for concurrent use, but works with several
// goroutines itself.
type Reader struct {
	head   head
	file   vfs.File
	path   string
	size   int64
	cache  pagecache.Bound
	ahead  int64 // where that ends which the system was asked for
	stream *crew.Stream[*block]
	last   error  // of the bytes after the last block: nil for the end, as it should be
	rest   []byte // of the contents of a block
	err    error  // of all that follows
}

// Open opens the stream in a file of the given header, for which Version is the newest that the
// caller reads. Workers goroutines unpack. It fails with an error that matches
// corrupt.ErrCorrupt if the file is no such stream, and corrupt.ErrMismatch too if it has
// another kind or identity; with fs.ErrNotExist; or with another error of the operating system.
func Open(d vfs.Dir, name string, want Header, workers int) (*Reader, error) {
	if err := want.Validate(); err != nil {
		return nil, err
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, corrupt.Opened(d.Path(name), err)
	}
	r := &Reader{file: f, path: d.Path(name)}
	if err := r.begin(want); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.start(workers)
	return r, nil
}

// begin looks at the header.
func (r *Reader) begin(want Header) (err error) {
	if r.size, err = r.file.Size(); err != nil {
		return err
	}
	if r.head, err = readHead(r.file, r.path); err != nil {
		return err
	}
	return r.head.Expect(r.path, want)
}

// start starts the goroutines.
func (r *Reader) start(workers int) {
	r.cache.Open(vfs.System(r.file))
	r.stream = crew.NewStream(context.Background(), workers, blocksFor(workers), r.unpack)
	r.stream.Go(func() error {
		defer r.stream.End()
		r.last = r.blocks()
		return nil // Read returns it, after the blocks before
	})
}

// Path returns the path of the file, for messages.
func (r *Reader) Path() string { return r.path }

// Bytes returns the length of the file.
func (r *Reader) Bytes() int64 { return r.size }

// Read returns the next bytes of the stream, and io.EOF after the last one if the
// end agrees with them. Any damage is a *corrupt.Error that names the block.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && len(p) > 0 {
		if r.err == nil {
			r.err = r.next()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next waits for the next block.
func (r *Reader) next() error {
	b, err := r.stream.Next()
	switch {
	case err == crew.ErrNoMore && r.last != nil:
		return r.last
	case err == crew.ErrNoMore:
		return io.EOF
	case err != nil: // a panic
		return err
	}
	r.rest = b.contents
	return b.err
}

// unpack unpacks a block. Read returns its error, after the blocks before.
func (r *Reader) unpack(_, _ int, b *block) error {
	b.err = nil
	if err := b.unpack(r.head.sum); err != nil {
		b.contents, b.err = nil, corrupt.New(r.path, part(b.number), "%w", err)
	}
	return nil
}

// blocks hands out all blocks.
func (r *Reader) blocks() error {
	var seen totals
	next := make([]byte, blockHeadSize) // the head of the next block, or the beginning of the end
	offset, full := r.head.size, true
	if err := r.read(next, offset, "end"); err != nil {
		return err
	}
	for little.Uint32(next) != 0 {
		length, err := r.lengthOf(next)
		if err == nil && !full {
			err = errors.New("it follows a shorter one, which should be the last")
		}
		if err != nil {
			return corrupt.New(r.path, part(seen.blocks), "%w", err)
		}
		full = int(little.Uint32(next[bContents:])) == r.head.blockSize
		b, err := r.stream.Free()
		if err != nil {
			return err
		}
		size := blockHeadSize + length + blockHeadSize
		stored := slices.Grow(b.stored[:0], size)[:size]
		copy(stored, next)
		if err := r.read(stored[blockHeadSize:], offset+blockHeadSize, part(seen.blocks)); err != nil {
			return err
		}
		copy(next, stored[blockHeadSize+length:])
		b.number, b.stored = seen.blocks, stored[:blockHeadSize+length]
		offset += int64(len(b.stored))
		seen.add(b.stored)
		r.stream.Send()
	}
	return r.checkEnd(offset, &seen)
}

// lengthOf returns how many bytes are stored of the block with the given head.
func (r *Reader) lengthOf(head []byte) (int, error) {
	field, contents := little.Uint32(head), int64(little.Uint32(head[bContents:]))
	length := int64(field &^ (rawFlag | codedFlag))
	if contents < 1 || contents > int64(r.head.blockSize) || length > int64(lz4.CompressBlockBound(int(contents))) ||
		field&(rawFlag|codedFlag) == rawFlag && length != contents {
		return 0, fmt.Errorf("%d bytes are said to hold %d, of at most %d", length, contents, r.head.blockSize)
	}
	return int(length), nil
}

// checkEnd compares the totals at the end of the file with the ones counted.
func (r *Reader) checkEnd(offset int64, seen *totals) error {
	b := make([]byte, tailSize)
	if err := r.read(b, offset, "end"); err != nil {
		return err
	}
	if !bytes.Equal(b, seen.encode(r.head.sum)) {
		return corrupt.New(r.path, "end", "%d blocks with %d bytes, and their checksums, do not agree with it", seen.blocks, seen.length)
	}
	if end := offset + tailSize; end != r.size {
		return corrupt.New(r.path, "end", "%d bytes follow it", r.size-end)
	}
	return nil
}

// readAhead is how many bytes the system is asked for before they are needed, readBehind how many
// it then keeps.
const (
	readAhead  = 4 << 20
	readBehind = 2 * readAhead
)

// read fills b from an offset of the file, where the given part is.
func (r *Reader) read(b []byte, offset int64, part string) error {
	if end := offset + int64(len(b)); end > r.ahead-readAhead/2 {
		start := max(r.ahead, offset)
		r.cache.Ahead(start, readAhead, readBehind)
		r.ahead = start + readAhead
	}
	n, err := r.file.ReadAt(b, offset)
	r.cache.Read(int64(n))
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return corrupt.New(r.path, part, "%w after %d bytes", io.ErrUnexpectedEOF, offset+int64(n))
	}
	return err
}

// Close closes the file, read to its end or not.
func (r *Reader) Close() error {
	err := r.stream.Stop()
	if r.err == nil {
		r.err = fmt.Errorf("reading %s: %w", r.path, context.Canceled)
	}
	r.rest = nil
	return errors.Join(err, r.cache.Close(), r.file.Close())
}
