package halfboard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// agreeSeeds is how far engines are compared, by pits: in the long run at least
// up to 10 seeds, and on small boards far enough for many laps.
func agreeSeeds(pits int) int {
	return tries.More(map[int]int{4: 16, 6: 11, 8: 8, 10: 6, 12: 5}, map[int]int{4: 40, 6: 24, 8: 14, 10: 11, 12: 10})[pits]
}

// TestLongEqualsTheOracle compares every layer, byte by byte, with the document's
// algorithm, for all kernel families and several numbers of workers. The test
// of random options covers the rest.
func TestLongEqualsTheOracle(t *testing.T) {
	rng := tries.Rand(t)
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		for _, rules := range awari.RuleSets() {
			game := awaritest.Game(t, pits, rules)
			want := awaritest.Oracle(t, game, agreeSeeds(pits))[:agreeSeeds(pits)+1]
			for _, o := range someKernels(rng) {
				t.Run(fmt.Sprintf("%v/%v-%d", game.Name(), o.Family, o.Workers), func(t *testing.T) {
					t.Parallel()
					w := newTower(t, pits, rules, o)
					for n := range want {
						if got := w.next(t); !slices.Equal(got, want[n]) {
							t.Fatalf("layer %d differs", n)
						}
					}
				})
			}
		}
	}
}

// someKernels returns options for all families with one number of workers each, in long
// tests with all.
func someKernels(rng *rand.Rand) (some []Options) {
	all := everyKernel()
	if tries.Long() {
		return all
	}
	for i := 0; i < len(all); i += 3 {
		some = append(some, all[i+rng.IntN(3)])
	}
	return some
}

// everyKernel returns options for all families and 1, 2 and 5 workers.
func everyKernel() []Options {
	var all []Options
	for _, family := range cpu.Available() {
		for _, workers := range []int{1, 2, 5} {
			all = append(all, Options{Workers: workers, Family: family})
		}
	}
	return all
}
