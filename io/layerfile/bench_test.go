package layerfile

import (
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/twins"
	"grenier/io/tally"
	"grenier/kernels/cpu"
)

// benchScores is the size of the block that is measured: small enough to stay in the cache, as a solver's blocks do.
const benchScores = MaxBlockSize

// realBlock returns block 646 of layer 20 of awari, 12 pits, from the middle of 1,292.
func realBlock(tb testing.TB) []int8 {
	data := must.Read(tb, filepath.Join("testdata", "layer-20-block-646.zst"))
	z := must.Get(zstd.NewReader(nil))(tb)
	defer z.Close()
	scores := make([]int8, benchScores)
	raw, err := z.DecodeAll(data, nil)
	must.Hold(tb, err == nil && copy(tally.Bytes(scores), raw) == benchScores, "%v %v", len(raw), err)
	return scores
}

// benchmarkFile writes a file of the real block under a model of its own. It
// says nothing about the size of a layer, whose model fits each block less well.
func benchmarkFile(b *testing.B) (Header, []int8, string) {
	scores := realBlock(b)
	path := filepath.Join(b.TempDir(), "bench.gl")
	h := testHeader(MaxBlockSize, benchScores)
	h.Model = modelOf(scores, -20, 20)
	writeFile(b, path, h, scores)
	b.SetBytes(benchScores)
	return h, scores, path
}

func BenchmarkEncode(b *testing.B) {
	twins.Bench(b, func(b *testing.B, f cpu.Family) {
		h, scores, _ := benchmarkFile(b)
		e := must.Get(NewEncoder(h, f))(b)
		var block Block
		for b.Loop() {
			must.OK(b, e.Encode(&block, scores))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	twins.Bench(b, func(b *testing.B, family cpu.Family) {
		_, scores, path := benchmarkFile(b)
		_, d := openDecoder(b, Open, path, family)
		for b.Loop() {
			must.OK(b, d.Read(b.Context(), scores, 0))
		}
	})
}

// BenchmarkScore reads scores from all places of the block.
func BenchmarkScore(b *testing.B) {
	twins.Bench(b, func(b *testing.B, family cpu.Family) {
		_, _, path := benchmarkFile(b)
		b.SetBytes(1)
		_, d := openDecoder(b, Open, path, family)
		rank := uint64(0)
		for b.Loop() {
			if _, err := d.Score(b.Context(), rank); err != nil {
				b.Fatal(err)
			}
			rank = (rank + 40503) % benchScores
		}
	})
}
