package planes

import (
	"bytes"
	"testing"
)

// TestLayout writes the definition out, bit by bit.
func TestLayout(t *testing.T) {
	src := make([]byte, 256+5)
	for i := range src {
		src[i] = byte(i * 37)
	}
	for n := 0; n <= len(src); n++ {
		want := make([]byte, Size(n))
		for i, b := range src[:n] {
			x := int8(b)
			z := byte(x<<1) ^ byte(x>>7)
			for p := range 8 {
				want[p*Stride(n)+i/8] |= z >> p & 1 << (i % 8)
			}
		}
		got := bytes.Repeat([]byte{0xa5}, Size(n))
		splitGeneric(got, src[:n])
		if !bytes.Equal(got, want) {
			t.Fatalf("n=%d: got % x, want % x", n, got, want)
		}
		back := bytes.Repeat([]byte{0xa5}, n)
		joinGeneric(back, got)
		if !bytes.Equal(back, src[:n]) {
			t.Fatalf("n=%d: joined % x, want % x", n, back, src[:n])
		}
	}
}
