package halfboard

import (
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// TestPackedRunsComeBack packs runs of any length and contents in every form.
func TestPackedRunsComeBack(t *testing.T) {
	rng := newRand(t)
	for _, family := range cpu.Available() {
		for range runs(300) {
			n := int8(1 + rng.IntN(48))
			counts, err := ranks.NewCounts(-n, n)
			if err != nil {
				t.Fatal(err)
			}
			shared := &packing{ranks: ranks.For(family), rice: rice.For(family)}
			var all, back [][]int8
			spread := 1 + rng.IntN(2*int(n)+1)
			for range 1 + rng.IntN(3) {
				run := make([]int8, 64*(1+rng.IntN(200)))
				for i := range run {
					run[i] = int8(rng.IntN(spread)) - n
				}
				counts.Add(run)
				all = append(all, run)
				back = append(back, make([]int8, len(run)))
			}
			if rng.IntN(2) == 0 { // a model of something else
				counts, _ = ranks.NewCounts(-n, n)
			}
			shared.use(counts.Model())
			p := &packer{packing: shared}
			for _, f := range []form{plainForm, lz4Form, rankForm} {
				packed := slices.Clone(p.pack(all, f))
				if err := p.unpack(back, packed); err != nil {
					t.Fatalf("%v, form %d: %v", family, f, err)
				}
				for i := range all {
					if !slices.Equal(all[i], back[i]) {
						t.Fatalf("%v, form %d: run %d of %d scores up to %d differs", family, f, i, len(all[i]), n)
					}
				}
			}
		}
	}
}
