package crc32c

import "testing"

// TestOf compares with the check value of the catalogue of CRC algorithms (CRC-32/ISCSI).
func TestOf(t *testing.T) {
	const want = 0xe3069283
	data := []byte("123456789")
	h := New()
	h.Write(data)
	if Of(data) != want || Update(Of(data[:4]), data[4:]) != want || h.Sum32() != want {
		t.Errorf("%#x, %#x, %#x, want %#x", Of(data), Update(Of(data[:4]), data[4:]), h.Sum32(), want)
	}
}
