package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"grenier/io/crew"
)

// HeadBytes is how much of a file is read, and kept, when it is opened.
const HeadBytes = 64 << 10

// File is a file of a Dir, a layerfile.Reader. It is safe for concurrent use.
type File struct {
	dir   *Dir
	name  string
	size  int64
	head  []byte // the first bytes
	etag  string // as the server sent it, or ""
	date  string // Last-Modified, in the same way
	sure  bool   // that a file which is replaced has other validators
	reads crew.Shared[span, []byte]

	open   context.Context // ends with Close of the file or of dir
	close  context.CancelCauseFunc
	closed atomic.Bool
}

// span is the bytes first to last.
type span struct{ first, last int64 }

// OpenFile opens the file of that name in d. It fails with an *Error; its cause
// matches fs.ErrNotExist if there is no such file, and ErrNoRanges or ErrNoValidator
// if the file has more than HeadBytes and the server sends all of it, or cannot be
// relied on to send parts of the same file.
func (d *Dir) OpenFile(ctx context.Context, name string) (*File, error) {
	f := &File{dir: d, name: name}
	if err := d.do(ctx, d.open, request{file: name, first: 0, last: HeadBytes - 1}, f.acceptHead); err != nil {
		return nil, err
	}
	f.open, f.close = context.WithCancelCause(d.open)
	return f, nil
}

// acceptHead takes the answer to the first request.
func (f *File) acceptHead(r *http.Response) error {
	if err := checkEncoding(r); err != nil {
		return err
	}
	var n int64
	var err error
	switch r.StatusCode {
	case http.StatusPartialContent:
		n, f.size, err = headRange(r.Header.Get("Content-Range"))
	case http.StatusOK:
		n, f.size, err = r.ContentLength, r.ContentLength, wholeFile(r)
	case http.StatusRequestedRangeNotSatisfiable:
		if c, ok := parseContentRange(r.Header.Get("Content-Range")); !ok || c.total != 0 {
			return newStatusError(r)
		}
		return nil // an empty file
	default:
		return newStatusError(r)
	}
	if err != nil {
		return err
	}
	f.etag, f.date = r.Header.Get("ETag"), r.Header.Get("Last-Modified")
	if n < f.size && f.etag == "" && f.date == "" {
		return ErrNoValidator
	}
	f.sure = n == f.size || isStrong(f.etag) || isStrongDate(f.date, r.Header.Get("Date"))
	f.head = make([]byte, n)
	return readBody(r, f.head)
}

// isStrongDate reports whether a file cannot have changed after that date without
// getting another one: it was modified well before the answer was sent, both by the
// clock of the server (RFC 9110, 8.8.2.2).
func isStrongDate(modified, sent string) bool {
	then, err1 := http.ParseTime(modified)
	now, err2 := http.ParseTime(sent)
	return err1 == nil && err2 == nil && now.Sub(then) >= time.Minute
}

// headRange returns how many bytes of a file of size bytes an answer to the first
// request has.
func headRange(contentRange string) (n, size int64, err error) {
	c, ok := parseContentRange(contentRange)
	if !ok || c.first != 0 || c.last != min(HeadBytes, c.total)-1 {
		return 0, 0, wrongRange(contentRange, 0, HeadBytes-1)
	}
	return c.last + 1, c.total, nil
}

// wholeFile refuses a whole file in place of its head, unless it is as short
// as that.
func wholeFile(r *http.Response) error {
	switch {
	case r.ContentLength < 0:
		return fmt.Errorf("%w: it sends the whole file", ErrNoRanges)
	case r.ContentLength > HeadBytes:
		return fmt.Errorf("%w: it sends the whole file, %d bytes", ErrNoRanges, r.ContentLength)
	}
	return nil
}

// ReadAt reads len(p) bytes from offset off on, all or none. It fails with an
// *Error, with the error of ctx or, once f or its Dir is closed, with one that matches os.ErrClosed.
func (f *File) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	switch {
	case off < 0 || end < off || end > f.size:
		return 0, fmt.Errorf("%d bytes at %d of %d: %w", len(p), off, f.size, io.EOF)
	case f.open.Err() != nil:
		return 0, context.Cause(f.open)
	case len(p) == 0:
		return 0, nil
	case end <= int64(len(f.head)):
		return copy(p, f.head[off:]), nil
	}
	data, err := f.reads.Do(ctx, span{off, end - 1}, f.fetch(off, end-1))
	if err != nil {
		return 0, err
	}
	return copy(p, data), nil
}

// fetch returns a function that asks for the bytes first to last.
func (f *File) fetch(first, last int64) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		q := request{file: f.name, first: first, last: last}
		if isStrong(f.etag) {
			q.ifRange = f.etag
		}
		data := make([]byte, last-first+1)
		err := f.dir.do(ctx, f.open, q, func(r *http.Response) error { return f.acceptPart(r, first, last, data) })
		return data, err
	}
}

// acceptPart takes the answer to a request for the bytes first to last.
func (f *File) acceptPart(r *http.Response, first, last int64, data []byte) error {
	if err := checkEncoding(r); err != nil {
		return err
	}
	if err := f.unchanged(r); err != nil {
		return err
	}
	switch r.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		return fmt.Errorf("%w: it sends the whole file, though it did send a part before", ErrNoRanges)
	default:
		return newStatusError(r)
	}
	contentRange := r.Header.Get("Content-Range")
	c, ok := parseContentRange(contentRange)
	if !ok || c.first != first || c.last != last {
		return wrongRange(contentRange, first, last)
	}
	return readBody(r, data)
}

// unchanged fails with ErrChanged if the answer is about another file than the one
// that was opened.
func (f *File) unchanged(r *http.Response) error {
	size, validated := f.size, false
	switch r.StatusCode {
	case http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		validated = r.StatusCode == http.StatusPartialContent
		if c, ok := parseContentRange(r.Header.Get("Content-Range")); ok {
			size = c.total
		}
	case http.StatusOK:
		size, validated = r.ContentLength, true
	}
	etag, date := r.Header.Get("ETag"), r.Header.Get("Last-Modified")
	switch {
	case size != f.size && size >= 0:
		return fmt.Errorf("%w: %d bytes instead of %d", ErrChanged, size, f.size)
	case !validated:
		return nil
	case !isSame(f.etag, etag):
		return fmt.Errorf("%w: ETag %.80q instead of %.80q", ErrChanged, etag, f.etag)
	case date != f.date && (date != "" || etag == ""): // next to an ETag it may be left out
		return fmt.Errorf("%w: of %.40q instead of %.40q", ErrChanged, date, f.date)
	}
	return nil
}

// readBody fills dst with the body of an answer, which must have that length.
func readBody(r *http.Response, dst []byte) error {
	if r.ContentLength >= 0 && r.ContentLength != int64(len(dst)) {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrAnswer, r.ContentLength, len(dst))
	}
	if n, err := io.ReadFull(r.Body, dst); err != nil {
		return cutShort(n, err)
	}
	var more [1]byte
	switch n, err := io.ReadFull(r.Body, more[:]); {
	case n > 0:
		return fmt.Errorf("%w: more than %d bytes", ErrAnswer, len(dst))
	case err != io.EOF:
		return cutShort(len(dst), err)
	}
	return nil
}

// Size returns the length of the file when it was opened.
func (f *File) Size() int64 { return f.size }

// Close ends the requests of f. It fails with os.ErrClosed the second time.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return os.ErrClosed
	}
	f.close(os.ErrClosed)
	return nil
}
