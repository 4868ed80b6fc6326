package awari_test

import (
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

func TestConformance(t *testing.T) {
	for _, pits := range []int{4, 6, 8, 10, 12} {
		for _, rules := range awari.RuleSets() {
			space := testrun.Space(t, testrun.Game(t, pits, rules), awari.MaxSeeds)
			t.Run(space.Name(), func(t *testing.T) {
				conformance.Run(t, space, conformance.Options{Exhaustive: 1500, Samples: 60})
			})
		}
	}
}

// TestCapturesLeadTo compares it with the moves of all boards.
func TestCapturesLeadTo(t *testing.T) {
	for _, pits := range []int{4, 6, 8} {
		for _, rules := range awari.RuleSets() {
			space := testrun.Space(t, testrun.Game(t, pits, rules), 11)
			for n := range space.Layers() {
				led := map[int]bool{}
				for rank := range space.Size(n) {
					for _, play := range space.Plays(space.Unrank(n, rank)) {
						if play.Captured > 0 && !play.Starves {
							led[play.Child.Seeds()] = true
						}
					}
				}
				least, most := space.CapturesLeadTo(n)
				for k := range n + 1 {
					if led[k] != (least <= k && k <= most) {
						t.Errorf("%s, %d seeds: captures lead to %v, not to %d ... %d", space.Name(), n, led, least, most)
						break
					}
				}
			}
		}
	}
}
