package halfboard

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/retro"
)

// agreeSeeds is how far engines are compared: small boards far enough for many
// laps, large ones further in the long run.
func agreeSeeds(pits int) int {
	if os.Getenv("GRENIER_LONG") != "" {
		return map[int]int{4: 40, 6: 24, 8: 14, 10: 11, 12: 10}[pits]
	}
	return map[int]int{4: 30, 6: 16, 8: 10, 10: 8, 12: 7}[pits]
}

// TestEqualsTheOracle compares every layer, byte by byte, with the document's
// algorithm, for all kernel families, worker counts and slab sizes.
func TestEqualsTheOracle(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		for _, rules := range []awari.Rules{awari.Awari, awari.Strict} {
			game, err := awari.New(pits, rules)
			if err != nil {
				t.Fatal(err)
			}
			space, err := awari.NewSpace(game, agreeSeeds(pits))
			if err != nil {
				t.Fatal(err)
			}
			want, err := retro.Solve(t.Context(), space, agreeSeeds(pits))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range allOptions() {
				t.Run(fmt.Sprintf("%v/%v-%d-%d", game.Name(), o.Family, o.Workers, o.SlabSize), func(t *testing.T) {
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

func allOptions() []Options {
	var all []Options
	for _, family := range cpu.Available() {
		for _, workers := range []int{1, 2, 5} {
			all = append(all, Options{Workers: workers, Family: family})
		}
		for _, size := range []int{1, 2, 7, 30, 100, 5000} {
			all = append(all, Options{Workers: 2, Family: family, SlabSize: size})
		}
	}
	return all
}
