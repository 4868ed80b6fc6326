package layerfile

import (
	"errors"
	"io"
	"math"
	"testing"

	"grenier/internal/testkit/should"
)

// TestEntryBounds: a block lies between the model and the index.
func TestEntryBounds(t *testing.T) {
	const scores, start, end = 64, 100, 1000
	for _, c := range []struct {
		offset uint64
		length uint32
		right  bool
	}{
		{start, 10, true}, {start - 1, 10, false}, {end - 10, 10, true}, {end - 9, 10, false}, {end, 1, false}, {end + 1, 10, false},
		{math.MaxUint64, 10, false}, {math.MaxUint64 - 5, 10, false}, {0, 10, false},
	} {
		e := entry{offset: c.offset, length: c.length}
		err := e.check(scores, start, end)
		should.Hold(t, (err == nil) == c.right, "%d bytes at %d: %v", c.length, c.offset, err)
	}
}

// TestMappingBounds: what lies beyond the end of a mapped file is not read, not even in part.
func TestMappingBounds(t *testing.T) {
	m := &mapping{open: true, data: make([]byte, 100)}
	for _, c := range []struct {
		offset int64
		length int
		right  bool
	}{
		{0, 100, true}, {0, 101, false}, {90, 10, true}, {90, 11, false}, {100, 0, true}, {100, 1, false}, {101, 0, false}, {-1, 1, false}, {math.MaxInt64, 1, false},
	} {
		err := m.read(t.Context(), make([]byte, c.length), c.offset)
		should.Not(t, (err == nil) != c.right || err != nil && !errors.Is(err, io.ErrUnexpectedEOF),
			"%d bytes at %d: %v", c.length, c.offset, err)
	}
}
