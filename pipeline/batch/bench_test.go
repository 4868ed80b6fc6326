package batch

import (
	"fmt"
	"testing"

	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/halfboard"
)

// tower solves layers for benchmarks, in memory.
type tower struct {
	game   awari.Game
	engine *halfboard.Engine
	layers [][]int8         // all layers below some number of seeds
	layer  *halfboard.Layer // the one to be sealed, nil before the first
}

func (w *tower) Read(n int, start uint64, dst []int8) error {
	copy(dst, w.layers[n][start:])
	return nil
}

func (w *tower) Close() error { return nil }

// solve returns the layer of n seeds and closes the one that it returned before.
func (w *tower) solve(b *testing.B, n int) *halfboard.Layer {
	b.Helper()
	if w.layer != nil && w.layer.Seeds() == n {
		return w.layer
	}
	w.release(b)
	for len(w.layers) < n-1 { // a capture takes 2 seeds at least
		w.layer = w.next(b, len(w.layers))
		scores := make([]int8, w.layer.Positions())
		if err := w.layer.Read(0, scores); err != nil {
			b.Fatal(err)
		}
		w.layers = append(w.layers, scores)
		w.release(b)
	}
	w.layer = w.next(b, n)
	return w.layer
}

func (w *tower) next(b *testing.B, n int) *halfboard.Layer {
	b.Helper()
	l, err := w.engine.Solve(b.Context(), n, w)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func (w *tower) release(b *testing.B) {
	b.Helper()
	if w.layer == nil {
		return
	}
	if err := w.layer.Close(); err != nil {
		b.Fatal(err)
	}
	w.layer = nil
}

// BenchmarkSeal seals layers with one worker: it reads the scores in colex order,
// hashes and encodes them and writes the file. It reports the positions per second and
// the bytes of the file per second.
func BenchmarkSeal(b *testing.B) {
	game, err := awari.New(awari.MaxPits, awari.Awari)
	if err != nil {
		b.Fatal(err)
	}
	engine, err := halfboard.New(game, halfboard.Options{Family: cpu.Best()})
	if err != nil {
		b.Fatal(err)
	}
	w := &tower{game: game, engine: engine}
	for n := 16; n <= 20; n++ {
		for _, family := range cpu.Available() {
			for _, codec := range []layerfile.Codec{layerfile.LZ4, layerfile.Zstd} {
				b.Run(fmt.Sprintf("%v/%v/%d", family, codec, n), func(b *testing.B) {
					benchSeal(b, w, n, Options{Codec: codec, Workers: 1, Family: family})
				})
			}
		}
	}
	w.release(b)
	if err := engine.Close(); err != nil {
		b.Fatal(err)
	}
}

func benchSeal(b *testing.B, w *tower, n int, o Options) {
	layer := w.solve(b, n)
	dir, err := rundir.Lock(b.TempDir(), Identity(w.game))
	if err != nil {
		b.Fatal(err)
	}
	r := &run{options: o, game: w.game, dir: dir}
	bytes := int64(0)
	for b.Loop() {
		file, summary, err := r.seal(b.Context(), layer)
		if err != nil {
			b.Fatal(err)
		}
		bytes += summary.Footer.Bytes
		b.StopTimer()
		if err := file.Abort(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	if err := dir.Unlock(); err != nil {
		b.Fatal(err)
	}
	perSecond := 1 / b.Elapsed().Seconds() / 1e6
	b.ReportMetric(float64(b.N)*float64(layer.Positions())*perSecond, "Mpos/s")
	b.ReportMetric(float64(bytes)*perSecond, "MB/s")
}
