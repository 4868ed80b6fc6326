// Package kernels_test has the tests of small packages below, which take less time than it takes to link a program for each.
package kernels_test

import (
	"testing"

	"grenier/kernels/crc32c"
)

// TestOf compares with the check value of the catalogue of CRC algorithms (CRC-32/ISCSI).
func TestOf(t *testing.T) {
	const want = 0xe3069283
	data := []byte("123456789")
	h := crc32c.New()
	h.Write(data)
	if crc32c.Of(data) != want || crc32c.Update(crc32c.Of(data[:4]), data[4:]) != want || h.Sum32() != want {
		t.Errorf("%#x, %#x, %#x, want %#x", crc32c.Of(data), crc32c.Update(crc32c.Of(data[:4]), data[4:]), h.Sum32(), want)
	}
}
