package layerfile

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"grenier/kernels/cpu"
)

// Sixteen blocks with about the entropy of a layer of 20 seeds.
const benchScores = 16 * MaxBlockSize

func benchmarkFile(b *testing.B, codec Codec) (Header, []int8, string) {
	scores := layerScores(rand.New(rand.NewPCG(13, 14)), benchScores)
	path := filepath.Join(b.TempDir(), "bench.gl")
	h := testHeader(codec, MaxBlockSize, benchScores)
	s := writeFile(b, path, h, scores)
	b.Logf("%.3f bytes a score", float64(s.Footer.Bytes)/benchScores)
	b.SetBytes(benchScores)
	return h, scores, path
}

func BenchmarkEncode(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			h, scores, _ := benchmarkFile(b, codec)
			e, err := NewEncoder(h, cpu.Best())
			if err != nil {
				b.Fatal(err)
			}
			var block Block
			for b.Loop() {
				for i := 0; i < benchScores; i += MaxBlockSize {
					if err := e.Encode(&block, scores[i:i+MaxBlockSize]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			_, scores, path := benchmarkFile(b, codec)
			f, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			d, err := f.NewDecoder(cpu.Best())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := d.Read(scores, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
