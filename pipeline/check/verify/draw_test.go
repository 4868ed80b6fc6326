package verify

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// BenchmarkDraw draws the sample of layer 22.
func BenchmarkDraw(b *testing.B) {
	space := testrun.Space(b, must.Get(awari.New(12, awari.Awari))(b), 22)
	for b.Loop() {
		must.OK(b, must.Err(NewDraw(b.Context(), space, 22, 1, 1)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Drawn, "ns/position")
}

// TestSettle: what is answered is forgotten, and nothing else.
func TestSettle(t *testing.T) {
	game := must.Get(awari.New(6, awari.Awari))(t)
	const n = 9
	space := testrun.Space(t, game, n)
	d := must.Get(NewDraw(t.Context(), space, n, 2, 1))(t)
	see := func(m int, from, to uint64) { d.See(m, from, make([]int8, to-from)) }
	for m := range n {
		see(m, 0, space.Size(m)/2)
	}
	for m := range n {
		left := d.unanswered(m)
		must.Not(t, m == n-2 && len(left) == 0, "no question is left to a layer")
		d.Settle()
		if got := d.unanswered(m); !slices.Equal(got, left) || len(d.waiting[m]) > 1 {
			t.Errorf("layer %d: %d questions are left, %d before", m, len(got), len(left))
		}
	}
	should.Hold(t, d.Lacks(), "nothing is lacking")
	for m := range n {
		see(m, space.Size(m)/2, space.Size(m))
	}
	should.Not(t, d.Lacks(), "scores are lacking that came by")
	d.Settle()
	should.Not(t, slices.ContainsFunc(d.waiting[:n], func(a []*asking) bool { return len(a) > 0 }), "answered questions are kept")
}
