package awari_test

import (
	"testing"

	"grenier/layers/awari"
	"grenier/layers/conformance"
)

func TestConformance(t *testing.T) {
	for _, pits := range []int{4, 6, 8, 10, 12} {
		for _, rules := range []awari.Rules{awari.Awari, awari.Strict} {
			space, err := awari.NewSpace(mustGame(t, pits, rules), awari.MaxSeeds)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(space.Name(), func(t *testing.T) {
				conformance.Run(t, space, conformance.Options{Exhaustive: 1500, Samples: 60})
			})
		}
	}
}
