package layerfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"grenier/io/corrupt"
)

// Reader reads a layer file that is not on this machine, so that each read is slow. It must be
// safe for concurrent use, and fail rather than return bytes of a file that replaced the one
// that it was opened for. Its errors need not name the file. After Close, ReadAt and Close fail
// with os.ErrClosed.
type Reader interface {
	io.Closer
	// ReadAt is io.ReaderAt with a context: when ctx ends, it fails with the error of ctx.
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
	// Size returns the length of the file, which does not change.
	Size() int64
}

// WholeIndex is the length in bytes of the longest index that OpenReader reads
// and checks as a whole, enough for 700 million positions.
const WholeIndex = 256 << 10

// OpenReader is Open for a file that r reads, which belongs to the File from then
// on, even if OpenReader fails. The name is for messages.
//
// Each block is one call of r.ReadAt. Header, model and footer are checked as by
// Open; so is an index of up to WholeIndex bytes, which is read in one piece
// together with the footer. Of a longer one only the entries of 1024 blocks around
// those asked for are read, and kept for a while. The checksum of the index then proves
// nothing: see docs/format/layer-file.md for what still does.
//
// Errors of r that are not about contents are passed on and do not match
// corrupt.ErrCorrupt.
func OpenReader(ctx context.Context, name string, r Reader) (*File, error) {
	return openReader(ctx, name, r, WholeIndex)
}

// MaxWholeIndex is the length in bytes of the longest index that OpenUnsure reads,
// enough for 45 billion positions.
const MaxWholeIndex = 16 << 20

// ErrLongIndex reports an index that is too long for OpenUnsure.
var ErrLongIndex = errors.New("the index is too long to be kept")

// OpenUnsure is OpenReader for a reader that may not notice when the file is
// replaced. The index is read, checked and kept as a whole, so that no block of the
// other file passes for one of this. It fails with ErrLongIndex if the index has more
// than MaxWholeIndex bytes.
func OpenUnsure(ctx context.Context, name string, r Reader) (*File, error) {
	return openUnsure(ctx, name, r, MaxWholeIndex)
}

func openUnsure(ctx context.Context, name string, r Reader, wholeIndex int64) (*File, error) {
	f, err := openReader(ctx, name, r, wholeIndex)
	if err == nil && f.pages != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, ErrLongIndex), f.Close())
	}
	return f, err
}

func openReader(ctx context.Context, name string, r Reader, wholeIndex int64) (*File, error) {
	f := newFile(name, &distant{reader: r})
	f.wholeIndex = wholeIndex
	return f.usable(f.load(ctx, r.Size()))
}

// distant is a source that asks a Reader.
type distant struct {
	reader Reader
	end    []byte // the last bytes of the file, once they were announced
}

// unread is an error of a Reader that says nothing about the contents of the
// file.
type unread struct{ error }

func (d *distant) read(ctx context.Context, dst []byte, offset int64) error {
	size := d.length()
	if offset < 0 || offset > size || int64(len(dst)) > size-offset {
		return io.ErrUnexpectedEOF
	}
	if from := offset - (size - int64(len(d.end))); from >= 0 {
		copy(dst, d.end[from:])
		return nil
	}
	return d.ask(ctx, dst, offset)
}

// ask reads from the Reader.
func (d *distant) ask(ctx context.Context, dst []byte, offset int64) error {
	n, err := d.reader.ReadAt(ctx, dst, offset)
	switch {
	case n == len(dst):
		return nil
	case errors.Is(err, os.ErrClosed):
		return os.ErrClosed
	case errors.Is(err, io.EOF):
		return corrupt.ErrFault
	default:
		return unread{err}
	}
}

// announceEnd reads the last n bytes at once.
func (d *distant) announceEnd(ctx context.Context, n int64) error {
	end := make([]byte, min(n, d.length()))
	if err := d.ask(ctx, end, d.length()-int64(len(end))); err != nil {
		return err
	}
	d.end = end
	return nil
}

func (d *distant) ahead(int64, int64) {}

func (d *distant) length() int64 { return d.reader.Size() }

func (d *distant) close() error { return d.reader.Close() }
