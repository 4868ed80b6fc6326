package io_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/tally"
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
		var got, left, right tally.Histogram
		got.Add(scores)
		left.Add(scores[:n/3])
		right.Add(scores[n/3:])
		left.Merge(&right)
		must.Hold(t, got == want && left == want && got.Total() == uint64(n), "%d scores", n)
	}
	var h tally.Histogram
	should.Equal(t, h.Mean(), 0, "mean of nothing")
	h.Add([]int8{-128, -1, 0, 0, 0, 1, 127, 5})
	win, draw, loss := h.WinDrawLoss()
	should.Hold(t, win == 3 && draw == 3 && loss == 2 && h.Mean() == 0.5, "%v %v %v, mean %v", win, draw, loss, h.Mean())
	should.Hold(t, h.Count(-128) == 1 && h.Count(0) == 3 && h.Count(2) == 0, "counts of %v", h)
}

func TestHistogramJSON(t *testing.T) {
	for want, scores := range map[string][]int8{
		`{}`: nil,
		`{"-128":1,"-10":1,"-2":2,"0":1,"9":1,"10":1,"127":1}`: {10, 9, -2, 0, -10, -2, 127, -128},
	} {
		var h, back tally.Histogram
		back.Add([]int8{1})
		h.Add(scores)
		got := must.Get(json.Marshal(h))(t)
		should.Equal(t, string(got), want)
		must.OK(t, json.Unmarshal(got, &back))
		should.Equal(t, back, h)
	}
	for _, text := range []string{
		`[]`, `3`, `{"128":1}`, `{"-129":1}`, `{"+1":1}`, `{"01":1}`, `{"-0":1}`, `{"":1}`, `{"x":1}`,
		`{"1":-1}`, `{"1":1.5}`, `{"1":"1"}`, `{"1":18446744073709551616}`,
	} {
		should.Be(t, json.Unmarshal([]byte(text), new(tally.Histogram)), tally.ErrHistogram, "%s", text)
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
			got := tally.NewHash(f).Add(scores[:n/2]).Add(scores[n/2:]).Sum()
			must.Hold(t, uint64(got) == want, "%v: %d scores: %v, want %x", f, n, got, want)
		}
	}
	// The reference values for layers 0 and 1 of awari on 12 pits.
	for want, scores := range map[string][]int8{"44bd2bd473ccf799": {0}, "dd8d99326968ac19": {-1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1}} {
		should.Equal(t, tally.NewHash(cpu.Generic).Add(scores).Sum().String(), want)
	}
	var h tally.Hash
	must.OK(t, h.UnmarshalText([]byte("00000000000000ff")))
	should.Equal(t, h, 0xff)
	for _, text := range []string{"", "ff", "00000000000000FF", "0x000000000000ff", "000000000000000ff", "00000000000000fg"} {
		should.Not(t, h.UnmarshalText([]byte(text)) == nil, "%q is taken for a hash", text)
	}
}
