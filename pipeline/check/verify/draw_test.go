package verify

import (
	"testing"

	"grenier/layers/awari"
)

// BenchmarkDraw draws the sample of layer 22.
func BenchmarkDraw(b *testing.B) {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		b.Fatal(err)
	}
	space, err := awari.NewSpace(game, 22)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := NewDraw(b.Context(), space, 22, 1, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Drawn, "ns/position")
}
