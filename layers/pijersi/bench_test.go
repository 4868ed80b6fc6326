package pijersi_test

import (
	"math/rand/v2"
	"testing"

	"grenier/layers/pijersi"
)

// BenchmarkText measures one set-up, out of many.
func BenchmarkText(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 4096
	var setups [n]pijersi.Setup
	var codes, cubes [n][]byte
	for i := range setups {
		var err error
		if setups[i], err = pijersi.UnrankMirror(r.Uint64N(pijersi.Count)); err != nil {
			b.Fatal(err)
		}
		codes[i], cubes[i] = setups[i].AppendCode(nil), setups[i].AppendCubes(nil)
	}
	out := make([]byte, 0, 100)
	for name, one := range map[string]func(i int){
		"encode":   func(i int) { s, _ := pijersi.ParseCubes(cubes[i]); out = s.AppendCode(out[:0]) },
		"decode":   func(i int) { s, _ := pijersi.ParseCode(codes[i]); out = s.AppendCubes(out[:0]) },
		"position": func(i int) { out = setups[i].AppendPosition(out[:0]) },
		"rank":     func(i int) { _, _ = setups[i].Rank() },
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				one(i % n)
			}
		})
	}
}
