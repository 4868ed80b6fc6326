package runs

import (
	"encoding/binary"
	"slices"
	"testing"
)

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
		if !unpackGaps(again, packed[:n]) || !slices.Equal(again, raw) {
			t.Errorf("%x becomes %x in %d bytes", numbers, again, n)
		}
		if n > 0 && (unpackGaps(again, packed[:n-1]) || packGaps(packed[:n-1], raw) != 0) {
			t.Errorf("%x: they fit %d bytes of %d", numbers, n-1, n)
		}
		unpackGaps(again, raw) // it may be anything
	})
}

// TestGaps has the records of the order that words have, and the bytes of the format.
func TestGaps(t *testing.T) {
	s := &Store{Most: 1 << 20}
	w := NewWriter(s, gapStride)
	rows := [][]uint32{{0, 5}, {0, 132}, {1, 132}, {1, 132}, {0xffffffff, 0xffffffff}}
	for _, row := range rows {
		if err := w.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{5, 127, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0xfb, 0xfe, 0xff, 0xff, 0xef, 0xff, 0xff, 0xff, 0xff, 0x01}
	if got := r.Blocks[0].data; !slices.Equal(got, want) {
		t.Errorf("packed: %x, want %x", got, want)
	}
	c, err := s.Open(r)
	for i := 0; err == nil && c.Row != nil; i++ {
		if i >= len(rows) || !slices.Equal(c.Row, rows[i]) {
			t.Fatalf("record %d: %x", i, c.Row)
		}
		err = c.Next()
	}
	if err != nil {
		t.Error(err)
	}
}
