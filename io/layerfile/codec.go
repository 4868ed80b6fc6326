package layerfile

import (
	"fmt"
	"slices"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/kernels/fault"
)

// Codec names the compressor of the blocks of a file. The numbers are part of
// the format and never change.
type Codec uint8

// The codecs.
const (
	LZ4  Codec = 1 // lz4 block format
	Zstd Codec = 2 // zstd frames, of earlier versions; such files fail with ErrZstd
)

var codecNames = []string{LZ4: "lz4", Zstd: "zstd"}

// ErrCodec reports a codec that this package does not know.
var ErrCodec = fault.New(fault.Usage, "unknown codec")

// ErrZstd reports a layer file with the codec Zstd. It matches corrupt.ErrVersion.
var ErrZstd error = zstdError{}

type zstdError struct{}

func (zstdError) Error() string {
	return "this layer is compressed with zstd, which this version does not read: " +
		"solve it again, or export it with a version up to eda0409 and import that (docs/export.md)"
}

func (zstdError) Is(target error) bool { return target == corrupt.ErrVersion }

// String returns the name, "lz4" or "zstd".
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

// UnmarshalText takes a name. It fails with ErrCodec.
func (c *Codec) UnmarshalText(text []byte) error {
	i := slices.Index(codecNames, string(text))
	if i < 1 {
		return fmt.Errorf("%w %q", ErrCodec, text)
	}
	*c = Codec(i)
	return nil
}

func (c Codec) known() bool { return c > 0 && int(c) < len(codecNames) }

// Transform names the change of the scores of a block before the codec. The
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

// lz4Codec keeps its tables from one block to the next; they are made on first
// use, as decompression needs none.
type lz4Codec struct{ c *lz4.Compressor }

// compress appends the compressed form of src to dst[:0]. It returns nil when
// the result is not shorter than limit bytes.
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

// decompress writes the contents of the compressed src to dst and returns them.
// It fails if they are more than len(dst) bytes.
func (z *lz4Codec) decompress(dst, src []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, err
	}
	return dst[:n], nil
}
