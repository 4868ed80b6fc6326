package runs

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// numbers returns sorted runs of records of stride words, the first two of them random.
func numbers(t testing.TB, s *Store, runs, records, stride int) (list []*Run, rows [][]uint32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(stride)))
	for range runs {
		var run [][]uint32
		for range records {
			row := make([]uint32, stride)
			for i := range row {
				row[i] = rng.Uint32N(8)
			}
			row[0], row[1] = rng.Uint32N(4), rng.Uint32()>>rng.Uint32N(24)
			run = append(run, row)
		}
		slices.SortFunc(run, slices.Compare)
		w := NewWriter(s, stride)
		for _, row := range run {
			must.OK(t, w.Add(row))
		}
		r := must.Get(w.Finish())(t)
		list, rows = append(list, r), append(rows, run...)
	}
	slices.SortFunc(rows, slices.Compare)
	return list, rows
}

// TestMerge compares a merge with all records sorted.
func TestMerge(t *testing.T) {
	for _, stride := range []int{2, 3, 6} {
		s := &Store{Most: 1 << 30}
		list, rows := numbers(t, s, 13, 3000, stride)
		m, err := s.openAll(list)
		for i := 0; err == nil && m.Len() > 0; i++ {
			must.Hold(t, i < len(rows) && slices.Equal(m.Row(), rows[i]), "%d words, record %d: %x", stride, i, m.Row())
			err = m.Next()
			should.Not(t, err == nil && m.Len() == 0 && i < len(rows)-1, "%d words: %d records of %d", stride, i+1, len(rows))
		}
		must.OK(t, err)
	}
}

// FuzzGaps packs ascending numbers and unpacks them, and unpacks any bytes.
func FuzzGaps(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 128, 0, 0, 0, 0, 0, 0, 0, 127})
	f.Add(slices.Repeat([]byte{0x80}, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		var numbers []uint64
		for ; len(data) >= 8; data = data[8:] {
			numbers = append(numbers, binary.LittleEndian.Uint64(data))
		}
		slices.Sort(numbers)
		raw := make([]byte, 8*len(numbers))
		for i, x := range numbers {
			putNumber(raw[8*i:], x)
		}
		packed := make([]byte, 10*len(numbers))
		n := packGaps(packed, raw)
		again := make([]byte, len(raw))
		should.Hold(t, unpackGaps(again, packed[:n]) && slices.Equal(again, raw), "%x becomes %x in %d bytes", numbers, again, n)
		should.Not(t, n > 0 && (unpackGaps(again, packed[:n-1]) || packGaps(packed[:n-1], raw) != 0),
			"%x: they fit %d bytes of %d", numbers, n-1, n)
		unpackGaps(again, raw) // it may be anything
	})
}

// TestGaps has the records of the order that words have, and the bytes of the format.
func TestGaps(t *testing.T) {
	s := &Store{Most: 1 << 20}
	w := NewWriter(s, gapStride)
	rows := [][]uint32{{0, 5}, {0, 132}, {1, 132}, {1, 132}, {0xffffffff, 0xffffffff}}
	for _, row := range rows {
		must.OK(t, w.Add(row))
	}
	r := must.Get(w.Finish())(t)
	want := []byte{5, 127, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0xfb, 0xfe, 0xff, 0xff, 0xef, 0xff, 0xff, 0xff, 0xff, 0x01}
	should.List(t, r.Blocks[0].data, want, "packed")
	c, err := s.Open(r)
	for i := 0; err == nil && c.Row != nil; i++ {
		must.Hold(t, i < len(rows) && slices.Equal(c.Row, rows[i]), "record %d: %x", i, c.Row)
		err = c.Next()
	}
	must.OK(t, err)
}
