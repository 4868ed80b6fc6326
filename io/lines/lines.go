// Package lines reads lines of text in bounded memory. A line that is too long is an error of its own,
// and the next one is read as if nothing had happened.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"grenier/kernels/fault"
)

// Max bounds a line with its end, in bytes.
const Max = 1 << 16

// begin is how much of a line that is too long Next returns, in bytes.
const begin = 64

// ErrLong reports a line that is too long.
var ErrLong = fault.New(fault.Usage, fmt.Sprintf("more than %d bytes", Max))

// Reader reads lines. It is for one goroutine.
type Reader struct{ r *bufio.Reader }

// NewReader returns a reader of the lines of r, with a buffer of Max bytes.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, Max)} }

// Next returns the next line without its end, "\n" or "\r\n", which the last may lack. It is valid until the
// next call. Next fails with ErrLong, and the first bytes of the line, when the line is too long, with io.EOF after
// the last, and as the reader below does.
func (l *Reader) Next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return l.skip(bytes.Clone(line[:begin]))
	case err == io.EOF && len(line) > 0:
		err = nil
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}

// Waiting returns the bytes read beyond the last line, valid until the next call of Next.
func (l *Reader) Waiting() []byte {
	text, _ := l.r.Peek(l.r.Buffered())
	return text
}

// skip goes to the end of a line that begins so.
func (l *Reader) skip(line []byte) ([]byte, error) {
	for {
		switch _, err := l.r.ReadSlice('\n'); {
		case err == nil || err == io.EOF:
			return line, ErrLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
