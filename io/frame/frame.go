// Package frame writes and reads streams of bytes as they are, or compressed into one
// frame that the ordinary tools unpack: the lz4 frame format for "lz4 -d", the zstd
// format (RFC 8878) for "zstd -d".
//
// A frame has the checksum of its contents, and an lz4 frame also how long they are.
// Readers report whatever is wrong with a frame by an error that matches ErrDamaged, and
// pass on errors of the file below unchanged; reading contents to their end checks them.
package frame

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grenier/kernels/fault"
)

// Codec names the compression of a stream.
type Codec string

// The codecs.
const (
	None Codec = "none" // bytes as they are
	LZ4  Codec = "lz4"  // lz4 frame
	Zstd Codec = "zstd" // zstd frame
)

// ErrCodec reports a codec that this package does not know.
var ErrCodec = fault.New(fault.Usage, "unknown codec")

// ErrDamaged reports a frame that cannot be unpacked: damaged, cut short, or something
// else.
var ErrDamaged = errors.New("damaged frame")

// ErrRoom reports a frame that refers farther back than there is room to remember.
var ErrRoom = errors.New("frame with a window that is too large")

// ParseCodec returns the codec of that name. It fails with ErrCodec.
func ParseCodec(name string) (Codec, error) {
	switch c := Codec(name); c {
	case None, LZ4, Zstd:
		return c, nil
	}
	return "", fmt.Errorf("%w %q: must be none, lz4 or zstd", ErrCodec, name)
}

// HeadBytes is how many of its first bytes Detect needs of a stream.
const HeadBytes = 4

// Detect returns the codec of a stream by its first bytes.
func Detect(head []byte) Codec {
	switch string(head) {
	case "\x04\x22\x4d\x18":
		return LZ4
	case "\x28\xb5\x2f\xfd":
		return Zstd
	}
	return None
}

// window is how far back a frame of ours refers, and the size of lz4 blocks: more gains
// little with scores and costs memory.
const window = 1 << 20

// maxWindow is the most that readers hold, as "zstd -d" does.
const maxWindow = 1 << 27

// Memory returns about how many bytes a writer takes, with its workers.
func Memory(c Codec, workers int) uint64 {
	switch c {
	case LZ4:
		return uint64(workers+2) * 4 * window
	case Zstd:
		return 16 * window
	}
	return 0
}

// NewWriter returns a writer that compresses into w with up to workers goroutines. Close
// ends the frame and does not close w; it must be called, also after a failure. The same
// contents make the same frame whatever the number of workers.
func NewWriter(w io.Writer, c Codec, size uint64, workers int) (io.WriteCloser, error) {
	switch c {
	case None:
		return plain{w}, nil
	case LZ4:
		z := lz4.NewWriter(w)
		return lz4Writer{z}, z.Apply(lz4.BlockSizeOption(lz4.Block1Mb), lz4.SizeOption(size), lz4.ConcurrencyOption(workers))
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(min(workers, 2)), zstd.WithWindowSize(window))
	}
	return nil, fmt.Errorf("%w %q", ErrCodec, c)
}

// plain passes everything on.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// lz4Writer leaves no goroutine behind, which an lz4.Writer that failed does.
type lz4Writer struct{ *lz4.Writer }

func (w lz4Writer) Close() error {
	err := w.Writer.Close()
	w.Reset(io.Discard)
	return err
}

// Unpacking takes this much at least, and at most: windows of zstd frames differ.
const (
	LeastRoom = 16 << 20
	MostRoom  = 2 * maxWindow
)

// NewReader returns a reader of the contents of the stream r, which takes up to room bytes
// of memory, from LeastRoom up; closing it does not close r. It fails with ErrCodec. The
// reader fails with ErrDamaged, ErrRoom, or as r does.
func NewReader(r io.Reader, c Codec, room uint64) (io.ReadCloser, error) {
	below := &source{r: r}
	switch c {
	case None:
		return io.NopCloser(r), nil
	case LZ4:
		return &reader{Reader: lz4.NewReader(below), below: below, close: func() {}}, nil
	case Zstd:
		z, err := zstd.NewReader(below, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(min(max(room, LeastRoom), MostRoom)/2),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return &reader{Reader: z, below: below, limited: room < MostRoom, close: z.Close}, nil
	}
	return nil, fmt.Errorf("%w %q", ErrCodec, c)
}

// source remembers a failure to read the file and whether it ever held anything.
type source struct {
	r   io.Reader
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// reader distinguishes damage from other errors.
type reader struct {
	io.Reader
	below   *source
	limited bool // with more room the frame may be in order
	close   func()
}

// Read passes on the bytes of the decoder.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	switch {
	case err == nil:
		return n, nil
	case r.below.err != nil:
		return n, r.below.err
	case errors.Is(err, zstd.ErrWindowSizeExceeded) && r.limited:
		return n, fmt.Errorf("%w: %w", ErrRoom, err)
	case errors.Is(err, io.EOF) && r.below.n > 0:
		return n, io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return n, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// Close frees the decoder.
func (r *reader) Close() error {
	r.close()
	return nil
}
