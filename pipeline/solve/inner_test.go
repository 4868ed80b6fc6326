package solve

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables/catalog"
)

// TestPlaceOf: reports of the engine are places of a plan.
func TestPlaceOf(t *testing.T) {
	const sweeps = 7
	for stage, want := range map[halfboard.Stage]plan.Stage{
		halfboard.CaptureStage: plan.Capture, halfboard.DenseStage: plan.Sweep, halfboard.SparseStage: plan.Sweep,
		halfboard.FullStage: plan.Full, sealStage: plan.Seal,
	} {
		p := halfboard.Progress{Seeds: 9, Positions: 40, Done: 10, Stage: stage, Sweep: sweeps, Base: 8, Values: 3}
		place := plan.Place{Seeds: 9, Stage: want, Base: 8, Values: 3, Sweeps: sweeps, Part: 0.25}
		got := placeOf(&p)
		should.Not(t, got != place || stageNameOf(&p) == turnStage, "%v: %+v", stage, got)
		p.Turning, place.Stage = true, plan.Turn
		got = placeOf(&p)
		should.Hold(t, got == place && stageNameOf(&p) == turnStage, "%v, turning: %+v", stage, got)
	}
}

// TestStreams: stages without streams are left out.
func TestStreams(t *testing.T) {
	traffic := halfboard.Traffic{}
	traffic.Read[halfboard.DenseStage], traffic.Written[halfboard.FullStage] = 5, 7
	must.Same(t, "streams", map[string]Streams{"dense": {Read: 5}, "full": {Written: 7}}, streamsOf(&traffic))
}

// TestStep: a step names the layer and its stage, and says how long they still take.
func TestStep(t *testing.T) {
	middle := Progress{
		Seeds: 16, Positions: 500_000, Stage: "dense", Sweep: 3, RunDone: 250_000, RunTotal: 1_000_000, Share: 0.5, Rate: 25_000,
		LayerLeft: 10, RunLeft: 30, Spread: 0.2,
	}
	first := Progress{Seeds: 1, Positions: 12, Stage: "capture", RunTotal: 100}
	must.Same(t, "another step", job.Step{
		Doing: "layer 16, sweep 3", Seeds: 16, Done: 250_000, Total: 1_000_000, Detail: middle,
		Pace: &job.Pace{Rate: 25_000, Layer: 10 * time.Second, Run: 30 * time.Second, Spread: 0.2},
	}, middle.Step())
	must.Same(t, "another first step", job.Step{
		Doing: "layer 1, capture", Seeds: 1, Total: 100, Detail: first, Pace: &job.Pace{Layer: job.Unknown, Run: job.Unknown},
	}, first.Step())
}

// TestSample: pieces ascend, lie in the layer, and are as many as the model asks for; those of the smallest layers cover them.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		positions uint64
		pieces    int
		length    uint64
	}{
		{1, 1, 1}, {364, 1, 364}, {4095, 1, 4095}, {4096, 1, 4096}, {4097, 1, 4096}, {8191, 1, 4096}, {8192, 2, 4096},
		{1 << 18, 64, 4096}, {1<<18 + 1, 64, 4096}, {1 << 22, 64, 4096}, {1 << 23, 128, 4096}, {1 << 26, 1024, 4096}, {386_206_920, 1024, 4096}, {1 << 40, 1024, 4096},
	} {
		starts, length := sample(c.positions)
		should.Hold(t, len(starts) == c.pieces && length == c.length && starts[0] == 0,
			"%d positions: %d pieces of %d from %d on", c.positions, len(starts), length, starts[0])
		for i := range starts {
			should.Not(t, starts[i]+length > c.positions || i > 0 && starts[i] <= starts[i-1],
				"%d positions: piece %d begins at %d", c.positions, i, starts[i])
		}
	}
}

// TestTrusted: a file is trusted as long as it is the same file, and nobody wrote to it.
func TestTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer")
	write := func(name, text string, age time.Duration) os.FileInfo {
		t.Helper()
		at := time.Unix(1e9, 0).Add(age)
		must.Write(t, name, []byte(text))
		must.OK(t, os.Chtimes(name, at, at))
		return must.Get(os.Stat(name))(t)
	}
	var known trusted
	first := write(path, "scores", 0)
	should.Not(t, known.has(2, first), "trusted before it was added")
	known.add(2, first)
	same := write(path, "scores", 0)
	should.Not(t, !known.has(2, same) || known.has(1, same) || known.has(3, same), "not trusted, or as another layer")
	should.Not(t, known.has(2, write(path, "scores", time.Second)), "written since")
	should.Not(t, known.has(2, write(path, "more scores", 0)), "longer")
	must.OK(t, os.Rename(path, path+".old"))
	should.Not(t, known.has(2, write(path, "scores", 0)), "another file")
}

// BenchmarkWidths solves layers with each width of scores in memory, one worker and room for all captures at once. It reports nanoseconds a
// position by stage, windows, and the bytes of the layer file and of streams a position: what the costs of package plan are fitted to.
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
