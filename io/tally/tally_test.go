package tally

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
)

func randomScores(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = int8(r.Uint32())
	}
	return out
}

func TestHistogram(t *testing.T) {
	r := tries.Rand(t)
	for n := range 300 {
		scores := randomScores(r, n)
		var want [256]uint64
		for _, s := range scores {
			want[uint8(s)]++
		}
		var got, left, right Histogram
		got.Add(scores)
		left.Add(scores[:n/3])
		right.Add(scores[n/3:])
		left.Merge(&right)
		if got != want || left != want || got.Total() != uint64(n) {
			t.Fatalf("%d scores", n)
		}
	}
}

func TestWinDrawLoss(t *testing.T) {
	var h Histogram
	h.Add([]int8{-128, -1, 0, 0, 0, 1, 127, 5})
	win, draw, loss := h.WinDrawLoss()
	if win != 3 || draw != 3 || loss != 2 || h.Count(-128) != 1 || h.Count(0) != 3 || h.Count(2) != 0 {
		t.Error(win, draw, loss)
	}
}

func TestHistogramJSON(t *testing.T) {
	var h, back Histogram
	for want, scores := range map[string][]int8{
		`{}`: nil,
		`{"-128":1,"-10":1,"-2":2,"0":1,"9":1,"10":1,"127":1}`: {10, 9, -2, 0, -10, -2, 127, -128},
	} {
		h = Histogram{}
		h.Add(scores)
		got, err := json.Marshal(h)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		if err := json.Unmarshal(got, &back); err != nil || back != h {
			t.Errorf("%s cannot be read: %v", got, err)
		}
	}
}

func TestBadHistogramJSON(t *testing.T) {
	for _, text := range []string{
		`[]`, `3`, `{"128":1}`, `{"-129":1}`, `{"+1":1}`, `{"01":1}`, `{"-0":1}`, `{"":1}`, `{"x":1}`,
		`{"1":-1}`, `{"1":1.5}`, `{"1":"1"}`, `{"1":18446744073709551616}`,
	} {
		var h Histogram
		if err := json.Unmarshal([]byte(text), &h); !errors.Is(err, ErrHistogram) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		if n >= 100 {
			n *= 30
		}
		scores := randomScores(r, n)
		want := uint64(1469598103934665603)
		for _, s := range scores {
			want ^= uint64(uint8(s))
			want *= 1099511628211
		}
		for _, f := range cpu.Available() {
			if got := NewHash(f).Add(scores[:n/2]).Add(scores[n/2:]).Sum(); uint64(got) != want {
				t.Fatalf("%v: %d scores: %v, want %x", f, n, got, want)
			}
		}
	}
	// The reference values for layers 0 and 1 of awari on 12 pits.
	if got := NewHash(cpu.Generic).Add([]int8{0}).Sum(); got.String() != "44bd2bd473ccf799" {
		t.Error(got)
	}
	layer1 := []int8{-1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1}
	if got := NewHash(cpu.Generic).Add(layer1).Sum(); got.String() != "dd8d99326968ac19" {
		t.Error(got)
	}
}

func TestHashText(t *testing.T) {
	var h Hash
	if err := h.UnmarshalText([]byte("00000000000000ff")); err != nil || h != 0xff {
		t.Error(h, err)
	}
	for _, text := range []string{"", "ff", "00000000000000FF", "0x000000000000ff", "000000000000000ff", "00000000000000fg"} {
		if err := h.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a hash", text)
		}
	}
}

func TestMean(t *testing.T) {
	var h Histogram
	if h.Mean() != 0 {
		t.Errorf("mean of nothing is %v", h.Mean())
	}
	h.Add([]int8{-3, -3, 1, 0, 3})
	if h.Mean() != -0.4 {
		t.Errorf("mean %v, want -0.4", h.Mean())
	}
}
