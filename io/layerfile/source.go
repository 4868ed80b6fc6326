package layerfile

import (
	"context"
	"errors"
	"io"
	"os"

	"grenier/io/corrupt"
	"grenier/io/pagecache"
)

// source is where the bytes of an open file come from: a mapping, sparing, or
// distant. It is safe for concurrent use, but for announceEnd. Only distant waits for a context.
type source interface {
	// read copies len(dst) bytes from offset on. It fails with os.ErrClosed,
	// io.ErrUnexpectedEOF if the range is not inside the file, corrupt.ErrFault, unread, or
	// an error of the operating system.
	read(ctx context.Context, dst []byte, offset int64) error
	// announceEnd says that the last n bytes are going to be read, in pieces. It
	// fails like read.
	announceEnd(ctx context.Context, n int64) error
	// ahead says that length bytes from offset on will be read soon.
	ahead(offset, length int64)
	// length returns the length of the file when it was opened.
	length() int64
	close() error
}

// opener returns the source of a regular file of the given length, which belongs to
// it from then on.
type opener func(f *os.File, length int64) (source, error)

// sparing reads a file by system calls, so that no memory of the process holds its
// bytes, and bounds its pages in the page cache.
type sparing struct {
	file  *os.File
	size  int64
	cache pagecache.Bound
}

func openSparing(f *os.File, length int64) (source, error) {
	s := &sparing{file: f, size: length}
	s.cache.Open(f)
	return s, nil
}

func (s *sparing) read(_ context.Context, dst []byte, offset int64) error {
	if offset < 0 || offset > s.size || int64(len(dst)) > s.size-offset {
		return io.ErrUnexpectedEOF
	}
	n, err := s.file.ReadAt(dst, offset)
	switch {
	case n == len(dst):
		s.cache.Read(int64(n))
		return nil
	case errors.Is(err, io.EOF):
		return corrupt.ErrFault
	case errors.Is(err, os.ErrClosed):
		return os.ErrClosed
	default:
		return err
	}
}

func (s *sparing) announceEnd(context.Context, int64) error { return nil }

func (s *sparing) ahead(offset, length int64) {
	const keep = 8 << 20 // many times as much as some workers ask for at a time
	s.cache.Ahead(offset, length, keep)
}

func (s *sparing) length() int64 { return s.size }

func (s *sparing) close() error {
	if err := s.file.Close(); err != nil {
		return err
	}
	return s.cache.Close()
}
