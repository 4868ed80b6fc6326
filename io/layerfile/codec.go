package layerfile

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grenier/kernels/fault"
)

// Codec names the compressor of the blocks of a file. The numbers are part of
// the format and never change.
type Codec uint8

// The codecs.
const (
	LZ4  Codec = 1 // lz4 block format, fast to write and to read; the default
	Zstd Codec = 2 // zstd frames, smaller and slower, for archives
)

var codecNames = []string{LZ4: "lz4", Zstd: "zstd"}

// ErrCodec reports a codec that this package does not know.
var ErrCodec = fault.New(fault.Usage, "unknown codec")

// ParseCodec returns the codec called name, "lz4" or "zstd". It fails with
// ErrCodec.
func ParseCodec(name string) (Codec, error) {
	if i := slices.Index(codecNames, name); i > 0 {
		return Codec(i), nil
	}
	return 0, fmt.Errorf("%w %q (allowed: lz4, zstd)", ErrCodec, name)
}

// String returns the name as ParseCodec takes it.
func (c Codec) String() string {
	if c.known() {
		return codecNames[c]
	}
	return fmt.Sprintf("Codec(%d)", uint8(c))
}

// MarshalText returns the name; it fails with ErrCodec if there is none.
func (c Codec) MarshalText() ([]byte, error) {
	if !c.known() {
		return nil, fmt.Errorf("%w %d", ErrCodec, c)
	}
	return []byte(c.String()), nil
}

// UnmarshalText is ParseCodec.
func (c *Codec) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCodec(string(text))
	return err
}

func (c Codec) known() bool { return c > 0 && int(c) < len(codecNames) }

// Transform names what happens to the scores of a block before the codec. The
// numbers are part of the format and never change.
type Transform uint8

// Ranks replaces scores by ranks (package ranks) and writes these in few bits
// (package rice). Number 1 was bit planes, in version 1 of the format.
const Ranks Transform = 2

func (t Transform) known() bool { return t == Ranks }

// String returns the name of t.
func (t Transform) String() string {
	if t.known() {
		return "ranks"
	}
	return fmt.Sprintf("Transform(%d)", uint8(t))
}

// compressor appends the compressed form of src to dst[:0]. It returns nil when
// the result is not shorter than limit bytes.
type compressor interface {
	compress(dst, src []byte, limit int) []byte
}

// decompressor writes to dst what src is the compressed form of, and returns it.
// It fails if that is more than len(dst) bytes.
type decompressor interface {
	decompress(dst, src []byte) ([]byte, error)
}

func (c Codec) newCompressor() (compressor, error) {
	switch c {
	case LZ4:
		return &lz4Codec{}, nil
	case Zstd:
		return newZstdCompressor()
	}
	return nil, fmt.Errorf("%w %d", ErrCodec, c)
}

func (c Codec) newDecompressor() (decompressor, error) {
	switch c {
	case LZ4:
		return &lz4Codec{}, nil
	case Zstd:
		return newZstdDecompressor()
	}
	return nil, fmt.Errorf("%w %d", ErrCodec, c)
}

// lz4Codec keeps its tables from one block to the next; they are made on first
// use, as decompression needs none.
type lz4Codec struct{ c *lz4.Compressor }

func (z *lz4Codec) compress(dst, src []byte, limit int) []byte {
	if z.c == nil {
		z.c = new(lz4.Compressor)
	}
	dst = slices.Grow(dst[:0], limit)[:limit-1]
	// 0 or an error both mean that dst is too short.
	n, err := z.c.CompressBlock(src, dst)
	if n == 0 || err != nil {
		return nil
	}
	return dst[:n]
}

func (z *lz4Codec) decompress(dst, src []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, err
	}
	return dst[:n], nil
}

type zstdCompressor struct{ e *zstd.Encoder }

// newZstdCompressor returns a compressor without checksums of its own: the index
// has them.
func newZstdCompressor() (compressor, error) {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(MaxBlockSize))
	return zstdCompressor{e}, err
}

func (z zstdCompressor) compress(dst, src []byte, limit int) []byte {
	dst = z.e.EncodeAll(src, dst[:0])
	if len(dst) >= limit {
		return nil
	}
	return dst
}

type zstdDecompressor struct{ d *zstd.Decoder }

// newZstdDecompressor returns a decompressor that never writes more than the
// destination holds, whatever a frame claims.
func newZstdDecompressor() (decompressor, error) {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(MaxBlockSize),
		zstd.WithDecodeAllCapLimit(true))
	return zstdDecompressor{d}, err
}

func (z zstdDecompressor) decompress(dst, src []byte) ([]byte, error) {
	return z.d.DecodeAll(src, dst[:0:len(dst)])
}
