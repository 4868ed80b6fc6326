package halfboard

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// tower solves layers one after the other, in memory.
type tower struct {
	engine *Engine
	awaritest.Lower
}

func newTower(t testing.TB, pits int, rules awari.Rules, o Options) *tower {
	t.Helper()
	game := awaritest.Game(t, pits, rules)
	e := must.Get(New(game, o))(t)
	return &tower{engine: e}
}

// next solves the next layer and returns its scores in colex order.
func (w *tower) next(t testing.TB) []int8 {
	t.Helper()
	l := must.Get(w.engine.Solve(context.Background(), len(w.Layers), testBelow, w))(t)
	scores := make([]int8, l.Positions())
	must.OK(t, l.Read(0, scores))
	must.OK(t, l.Close())
	w.Layers = append(w.Layers, scores)
	return scores
}

func fingerprint(scores []int8) string { return tally.NewHash(cpu.Generic).Add(scores).Sum().String() }

// truth returns the fingerprints of the reference layers, by seeds.
func truth(t testing.TB, pits int, rules awari.Rules) []string {
	file := must.Get(os.Open("../../../../layers/awari/testdata/layers.csv"))(t)
	defer file.Close()
	rows := must.Get(csv.NewReader(file).ReadAll())(t)
	var prints []string
	for _, row := range rows {
		if row[0] == rules.String() && row[1] == strconv.Itoa(pits) {
			prints = append(prints, row[8])
		}
	}
	return prints
}

func TestLongLayersEqualTheReference(t *testing.T) {
	for _, c := range []struct {
		pits  int
		rules awari.Rules
	}{{8, awari.Awari}, {8, awari.Strict}, {12, awari.Awari}, {12, awari.Strict}} {
		for _, family := range cpu.Available() {
			t.Run(fmt.Sprintf("%d-%v-%v", c.pits, c.rules, family), func(t *testing.T) {
				w := newTower(t, c.pits, c.rules, Options{Workers: 2, Family: family})
				prints := truth(t, c.pits, c.rules)
				must.Not(t, len(prints) < 11, "%d reference layers", len(prints))
				switch {
				case testing.Short():
					prints = prints[:8]
				case !tries.Long() && family != cpu.Best():
					prints = prints[:9]
				case !tries.Long():
					prints = prints[:min(len(prints), 12)]
				}
				for n, want := range prints {
					must.Equal(t, fingerprint(w.next(t)), want, "layer %d: fingerprint", n)
				}
			})
		}
	}
}
