package layerfile

import (
	"os"
	"path/filepath"
	"testing"

	"grenier/io/tally"
	"grenier/kernels/cpu"
)

// benchScores is the size of the block that is measured: small enough to stay in the
// cache, as a solver's blocks do.
const benchScores = MaxBlockSize

// realBlock returns block 646 of layer 20 of awari, 12 pits, from the middle of
// 1,292.
func realBlock(tb testing.TB) []int8 {
	data, err := os.ReadFile(filepath.Join("testdata", "layer-20-block-646.zst"))
	if err != nil {
		tb.Fatal(err)
	}
	z, err := newZstdDecompressor()
	if err != nil {
		tb.Fatal(err)
	}
	scores := make([]int8, benchScores)
	if raw, err := z.decompress(tally.Bytes(scores), data); err != nil || len(raw) != benchScores {
		tb.Fatal(len(raw), err)
	}
	return scores
}

// benchmarkFile writes a file of the real block under a model of its own. It
// says nothing about the size of a layer, whose model fits each block less well.
func benchmarkFile(b *testing.B, codec Codec) (Header, []int8, string) {
	scores := realBlock(b)
	path := filepath.Join(b.TempDir(), "bench.gl")
	h := testHeader(codec, MaxBlockSize, benchScores)
	h.Model = modelOf(scores, -20, 20)
	writeFile(b, path, h, scores)
	b.SetBytes(benchScores)
	return h, scores, path
}

// benchmark measures for each codec and family.
func benchmark(b *testing.B, run func(b *testing.B, codec Codec, f cpu.Family)) {
	for _, codec := range codecs {
		for _, f := range cpu.Available() {
			b.Run(codec.String()+"/"+f.String(), func(b *testing.B) { run(b, codec, f) })
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	benchmark(b, func(b *testing.B, codec Codec, f cpu.Family) {
		h, scores, _ := benchmarkFile(b, codec)
		e, err := NewEncoder(h, f)
		if err != nil {
			b.Fatal(err)
		}
		var block Block
		for b.Loop() {
			if err := e.Encode(&block, scores); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(b *testing.B, codec Codec, family cpu.Family) {
		_, scores, path := benchmarkFile(b, codec)
		_, d := openDecoder(b, Open, path, family)
		for b.Loop() {
			if err := d.Read(scores, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkScore reads scores from all places of the block.
func BenchmarkScore(b *testing.B) {
	benchmark(b, func(b *testing.B, codec Codec, family cpu.Family) {
		_, _, path := benchmarkFile(b, codec)
		b.SetBytes(1)
		_, d := openDecoder(b, Open, path, family)
		rank := uint64(0)
		for b.Loop() {
			if _, err := d.Score(rank); err != nil {
				b.Fatal(err)
			}
			rank = (rank + 40503) % benchScores
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	_, _, path := benchmarkFile(b, LZ4)
	k := cpu.Best()
	for b.Loop() {
		if _, err := Check(b.Context(), path, k, func(err error) { b.Error(err) }); err != nil {
			b.Fatal(err)
		}
	}
}
