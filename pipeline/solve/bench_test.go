package solve

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/tables/catalog"
)

// BenchmarkWidths solves layers with each width of scores in memory, one worker and room for
// all captures at once. It reports nanoseconds a position by stage, windows, and the bytes of
// the layer file and of streams a position: what the costs of package plan are fitted to.
func BenchmarkWidths(b *testing.B) {
	game := must.Get(awari.New(awari.MaxPits, awari.Awari))(b)
	path := b.TempDir()
	for n := firstWidths; n <= lastWidths(b); n++ {
		o := Options{Seeds: n - 1, Job: job.Job{Workers: 1, Family: cpu.Best()}, Interval: 24 * time.Hour}
		must.OK(b, must.Err(Solve(b.Context(), path, game, o)))
		for _, bits := range halfboard.Widths {
			b.Run(fmt.Sprintf("layer=%d/bits=%d", n, bits), func(b *testing.B) {
				o.Seeds, o.Bits = n, bits
				benchWidth(b, path, game, o)
			})
		}
	}
}

const firstWidths = 15

// lastWidths returns the last layer that BenchmarkWidths solves: GRENIER_WIDTHS, or 17.
func lastWidths(b *testing.B) int {
	text := cmp.Or(os.Getenv("GRENIER_WIDTHS"), "17")
	n, err := strconv.Atoi(text)
	must.Hold(b, err == nil && n >= firstWidths && n <= awari.MaxSeeds,
		"GRENIER_WIDTHS is %q: want a number of seeds from %d on", text, firstWidths)
	return n
}

func benchWidth(b *testing.B, path string, game awari.Game, o Options) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	dir := must.Get(rundir.Lock(path, Identity(game)))(b)
	defer func() { must.OK(b, dir.Unlock()) }()
	work, looked := uint64(0), time.Now()
	o.Progress = func(job.Step) {
		if time.Since(looked) > time.Second/50 {
			bytes, _ := rundir.WorkBytes(path) // files may come and go
			work, looked = max(work, bytes), time.Now()
		}
	}
	m := must.Get(catalog.Manifest(dir))(b)
	r := must.Get(begin(dir, m, game, o))(b)
	for b.Loop() {
		report, file, err := r.sealLayer(b.Context(), o.Seeds)
		if err == nil {
			err = errors.Join(file.Abort(), dir.ClearWork())
		}
		must.OK(b, err)
		reportWidth(b, &report)
	}
	b.ReportMetric(float64(work)/float64(halfboard.Positions(game, o.Seeds)), "work-B/pos")
	must.OK(b, r.engine.Close())
}

// reportWidth reports what plan calls the costs of a width.
func reportWidth(b *testing.B, r *Report) {
	positions := float64(r.Layer.Positions)
	stages, streams := r.Stages(), r.Streams()
	for name, ns := range map[string]time.Duration{
		"capture": stages["capture"], "sweep": stages["dense"] + stages["sparse"], "full": stages["full"], "seal": stages["seal"],
	} {
		b.ReportMetric(float64(ns)/positions, name+"-ns/pos")
	}
	sweeps := streams["dense"].Written + streams["sparse"].Written
	for name, bytes := range map[string]uint64{
		"captures": streams["capture"].Written, "digits": streams["seal"].Read, "file": uint64(r.Layer.Bytes),
		"reread":    streams["dense"].Read + streams["sparse"].Read + streams["full"].Read,
		"rewritten": sweeps + streams["full"].Written - streams["seal"].Read,
	} {
		b.ReportMetric(float64(bytes)/positions, name+"-B/pos")
	}
	b.ReportMetric(float64(r.Engine.Windows), "windows")
	b.ReportMetric(0, "ns/op") // other stages say more
}
