package halfboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type config struct {
	game    awari.Game
	seeds   int
	options Options
}

// randomConfig draws a configuration. Half of them have the smallest tiles there are.
func randomConfig(t testing.TB, rng *rand.Rand) config {
	t.Helper()
	game, seeds := awaritest.Layer(t, rng)
	families := cpu.Available()
	return config{game, seeds, Options{
		Workers: 1 + rng.IntN(5), Family: families[rng.IntN(len(families))], TileSize: int(math.Exp(rng.Float64() * math.Log(2000))),
	}}
}

// lower gives the layers below that of c, by the oracle.
func (c config) lower(t testing.TB) *awaritest.Lower { return awaritest.LowerOf(t, c.game, c.seeds) }

func (c config) begin(t testing.TB) *engine {
	t.Helper()
	c.options.often = true
	e := must.Get(New(c.game, c.options))(t)
	w := must.Get(e.begin(c.seeds, testBelow))(t)
	must.OK(t, w.prepare(t.Context()))
	t.Cleanup(func() {
		must.OK(t, e.spare.Put(w.memory))
		must.OK(t, e.Close())
	})
	return w
}

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
	var prints []string
	for _, row := range must.Rows(t, "../../../../layers/awari/testdata/layers.csv") {
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
					prints = prints[:7]
				case !tries.Long():
					prints = prints[:10]
				}
				for n, want := range prints {
					must.Equal(t, fingerprint(w.next(t)), want, "layer %d: fingerprint", n)
				}
			})
		}
	}
}

// TestLongAnyOptionsGiveTheSame solves all layers of games, and a larger one, in random ways, in one piece and in each width, with each
// kernel family, or with two rule sets and one family if there is little time: they equal those of the document's algorithm, byte by byte. The layers are far
// enough on small boards for many laps.
func TestLongAnyOptionsGiveTheSame(t *testing.T) {
	tops := tries.Pick(map[int]int{4: 14, 6: 9, 8: 7, 10: 5, 12: 4},
		map[int]int{4: 24, 6: 15, 8: 11, 10: 8, 12: 7}, map[int]int{4: 40, 6: 24, 8: 14, 10: 11, 12: 10})
	rng := tries.Rand(t)
	for range tries.Pick(1, 1, 20) {
		for pits, top := range tops {
			for _, rules := range tries.More(awaritest.Shuffled(rng, awari.RuleSets())[:2], awari.RuleSets()) {
				for _, family := range tries.More(awaritest.Shuffled(rng, cpu.Available())[:1], cpu.Available()) {
					c := randomConfig(t, rng)
					c.game, c.options.Family, c.options.often = awaritest.Game(t, pits, rules), family, true
					e := must.Get(New(c.game, c.options))(t)
					turn := rng.IntN(len(Widths))
					for c.seeds = range top + 1 {
						e.options.Bits, e.options.thin = Widths[(turn+c.seeds)%len(Widths)], rng.IntN(2) == 0
						e.options.Work = newDisk().work()
						c.options = e.options // for what a failure says
						c.solveWith(t, e)
					}
					e.options.Bits = 0
					c.seeds = max(top, rng.IntN(tries.More(top, awaritest.Top(pits))+2))
					c.solveWith(t, e)
					must.OK(t, e.Close())
				}
			}
		}
	}
}

// solveWith solves the layer of c and compares it with the oracle's.
func (c config) solveWith(t *testing.T, e *Engine) {
	t.Helper()
	l, err := e.Solve(t.Context(), c.seeds, testBelow, c.lower(t))
	must.Hold(t, err == nil, "%+v: %v", c, err)
	scores := make([]int8, l.Positions())
	must.Be(t, l.Read(0, scores), nil, "%+v", c)
	must.Be(t, l.Close(), nil, "%+v", c)
	must.Hold(t, slices.Equal(scores, awaritest.Oracle(t, c.game, c.seeds)[c.seeds]), "%+v: not the scores of the oracle", c)
}

func (c config) solve(t testing.TB) *Layer {
	t.Helper()
	c.options.often = true
	e := must.Get(New(c.game, c.options))(t)
	l := must.Get(e.Solve(t.Context(), c.seeds, testBelow, c.lower(t)))(t)
	t.Cleanup(func() { must.OK(t, l.Close()) })
	return l
}

func TestReadOutOfRange(t *testing.T) {
	l := config{game: awaritest.Game(t, 6, 0), seeds: 4}.solve(t)
	size := l.Positions()
	for _, c := range []struct {
		start  uint64
		length int
		err    error
	}{
		{size - 1, 1, nil}, {size - 1, 2, colex.ErrRange}, {size, 1, colex.ErrRange}, {0, int(size) + 1, colex.ErrRange},
		{math.MaxUint64, 1, colex.ErrRange}, {math.MaxUint64, 2, colex.ErrRange}, {math.MaxUint64 - 5, 10, colex.ErrRange},
		{size, 0, nil},
	} {
		err := l.Read(c.start, make([]int8, c.length))
		should.Hold(t, errors.Is(err, c.err), "%d scores from %d on: %v, want %v", c.length, c.start, err, c.err)
	}
}

// TestRefused: options that make no sense, and layers that there are not, or for which there is too little memory or no place for streams:
// the layers below are closed, and an error of that is told too.
func TestRefused(t *testing.T) {
	game := awaritest.Game(t, 6, awari.Awari)
	for _, o := range []Options{
		{Workers: -1}, {TileSize: -1}, {Workers: math.MinInt, TileSize: 5}, {Bits: -2}, {Bits: 1}, {Bits: 5}, {Bits: 7}, {Bits: 16},
	} {
		e, err := New(game, o)
		should.Hold(t, errors.Is(err, ErrOptions) && e == nil && strings.Contains(err.Error(), "8, 6, 4, 3 or 2") == (o.Bits != 0),
			"%+v: %v", o, err)
	}
	type refusal struct {
		o    Options
		n    int
		want error
	}
	all := []refusal{{Options{Memory: 1 << 20, Work: newDisk().work()}, 48, ErrMemory}}
	for _, n := range []int{math.MinInt, -1, awari.MaxSeeds + 1, math.MaxInt} {
		all = append(all, refusal{n: n, want: awari.ErrSeeds})
	}
	for _, bits := range Widths[1:] {
		all = append(all, refusal{Options{Bits: bits}, 5, ErrOptions})
	}
	bad := errors.New("disk on fire")
	for _, c := range all {
		e, lower := must.Get(New(game, c.o))(t), &broken{closing: func() error { return bad }}
		l, err := e.Solve(t.Context(), c.n, testBelow, lower)
		should.Hold(t, errors.Is(err, c.want) && errors.Is(err, bad) && l == nil && lower.closed.Load() == 1,
			"%+v: %v, the layers below are closed %d times", c, err, lower.closed.Load())
		must.OK(t, e.Close())
	}
}

func TestDefaults(t *testing.T) {
	game, disk := awaritest.Game(t, 6, awari.Awari), crashfs.New().Dir("work")
	for _, c := range []struct{ given, want Options }{
		{Options{}, Options{Workers: 1, Interval: DefaultInterval}},
		{Options{Workers: 3, Family: cpu.Best(), Work: disk}, Options{Workers: 3, Family: cpu.Best(), Interval: DefaultInterval, Work: disk}},
		{Options{TileSize: 1, Seeds: 8, Interval: 1}, Options{Workers: 1, TileSize: 1, Seeds: 8, Interval: 1}},
	} {
		got := must.Get(New(game, c.given))(t).options
		should.Hold(t, reflect.DeepEqual(got, c.want), "%+v becomes %+v, want %+v", c.given, got, c.want)
	}
}

// sweepReports are the last reports of sweeps, by stage.
type sweepReports [fixpoint.Stages][]fixpoint.Progress

func (r *sweepReports) changed(stage fixpoint.Stage) (n uint64) {
	for _, p := range r[stage] {
		n += p.Changed
	}
	return n
}

// follow checks that each report follows from the one before, and lists the last ones of sweeps.
func follow(t *testing.T, c config, reports []fixpoint.Progress) (ends sweepReports) {
	t.Helper()
	reports = slices.DeleteFunc(slices.Clone(reports), func(p fixpoint.Progress) bool { return p.Turning })
	for i, p := range reports {
		must.Hold(t, p.Seeds == c.seeds && p.Positions == Positions(c.game, c.seeds) && p.Done <= p.Positions,
			"%+v: report %d is %+v", c, i, p)
		next := fixpoint.Progress{Stage: fixpoint.Stages}
		if i+1 < len(reports) {
			next = reports[i+1]
		}
		switch same := p.Stage == next.Stage && p.Sweep == next.Sweep && p.Base == next.Base; {
		case same && (p.Done > next.Done || p.Changed > next.Changed),
			!same && (p.Done != p.Positions || !follows(p, next)):
			t.Fatalf("%+v: %+v after %+v", c, next, p)
		case !same:
			ends[p.Stage] = append(ends[p.Stage], p)
		}
	}
	return ends
}

// follows reports whether next can be the stage or sweep after p. Sweeps may become sparse and dense again. After a window is stored comes
// the next one, whose first sweep has the number of the last one before, which did nothing.
func follows(p, next fixpoint.Progress) bool {
	if next.Base != p.Base {
		return next.Stage == fixpoint.Stages || next.Base > p.Base && next.Sweep == p.Sweep &&
			p.Stage == fixpoint.FullStage && (next.Stage == fixpoint.DenseStage || next.Stage == fixpoint.SparseStage)
	}
	sweeps := p.Stage == fixpoint.DenseStage || p.Stage == fixpoint.SparseStage
	if sweeps && (next.Stage == fixpoint.DenseStage || next.Stage == fixpoint.SparseStage) {
		return p.Sweep+1 == next.Sweep
	}
	return p.Stage < next.Stage
}

// TestLongProgressAddsUp follows the reports of one worker: stages come in order, the windows one after the other, and each of them, and
// each sweep, ends with all positions.
func TestLongProgressAddsUp(t *testing.T) {
	eachEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		for i := range tries.Runs(100) {
			x := draw(t, rng)
			if i == 0 && !x.whole {
				x = smallTrial(t, rng) // with full rows at the ends of its windows
				x.options.Bits, x.options.thin = 2, false
			}
			x.options.Workers, x.options.Interval = 1, time.Duration(rng.IntN(2))
			var reports []fixpoint.Progress
			scores, err := x.attempt(t, t.Context(), func(p fixpoint.Progress) { reports = append(reports, p) })
			x.compare(t, scores, err)
			s, ends := x.stats, follow(t, x.config, reports)
			// The last sweep finds nothing to do: statistics leave it out.
			sweeps := len(ends[fixpoint.DenseStage]) + len(ends[fixpoint.SparseStage])
			must.Hold(t, reports[0].Sweep == 1 && len(ends[fixpoint.CaptureStage]) == 1 && len(ends[fixpoint.FullStage]) == s.Windows &&
				sweeps == s.Sweeps+s.Windows, "%+v: stages end at %+v, statistics %+v", x.config, ends, s)
			events := ends.changed(fixpoint.SparseStage)
			changes := ends.changed(fixpoint.DenseStage) + events
			must.Hold(t, s.Changes == changes && s.Events == events, "%+v: %d changes reported, statistics %+v", x.config, changes, s)
			last := reports[len(reports)-1]
			must.Hold(t, last.Stage == fixpoint.FullStage && last.Done == last.Positions, "%+v: the last report is %+v", x.config, last)
			all := awaritest.Oracle(t, x.game, x.seeds)[x.seeds]
			for i, p := range reports {
				ends := int64(0)
				for _, score := range all {
					if p.Base > 0 && max(score, -score) >= int8(p.Base) {
						ends++
					}
				}
				must.Hold(t, p.Ends == ends, "%+v: report %+v, but %d scores are beyond the base", x.config, p, ends)
				last := reports[max(i-1, 0)]
				must.Not(t, less(p.Traffic, last.Traffic), "%+v: traffic %+v after %+v", x.config, p.Traffic, last.Traffic)
				must.Not(t, p.Turning && !last.Turning && p.Done > 0, "%+v: a window begins with report %+v", x.config, p)
			}
		}
	})
}

func less(a, b fixpoint.Traffic) bool {
	for stage := range a.Read {
		if a.Read[stage] < b.Read[stage] || a.Written[stage] < b.Written[stage] {
			return true
		}
	}
	return false
}

// TestLongStatsOfWindowsAreSensible: what a layer took by the clock, and what its streams hold.
func TestLongStatsOfWindowsAreSensible(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Pick(3, 25, 200) {
		x := newTrial(t, rng)
		x.options.Interval = 0
		start := time.Now()
		x.finish(t)
		s, elapsed, all := x.stats, time.Since(start), time.Duration(0)
		for stage, took := range s.Stages {
			must.Not(t, took < 0 || took == 0 && fixpoint.Stage(stage) != fixpoint.SparseStage,
				"%+v: the %v stage took %v", x.config, fixpoint.Stage(stage), took)
			all += took
		}
		values := x.options.codes().Values
		most := (max(x.seeds, 1) + values - 1) / values
		must.Hold(t, all <= elapsed && s.Bits == x.options.Bits && s.Windows >= 1 && s.Windows <= most && s.Events <= s.Changes && s.Before == 0,
			"%+v: %+v in %v", x.config, s, elapsed)
		open := uint64(board.LayoutOf(x.game.Half(), x.seeds).Scores) * uint64(s.Bits) / 8
		must.Not(t, s.Bytes < open || s.Bytes > open && !x.options.thin && x.options.Memory <= 1,
			"%+v: %d bytes for scores of %d", x.config, s.Bytes, open)
		// Captures are written once, and again when fewer matter; windows read them, and thin ones what was found before.
		captures, windows := x.disk.bytes(t, "captures"), x.disk.bytes(t, "window")
		w, r := s.Traffic.Written, s.Traffic.Read
		must.Not(t, w[fixpoint.CaptureStage] == 0 || w[fixpoint.FullStage] < windows || w[fixpoint.CaptureStage]+w[fixpoint.DenseStage]+w[fixpoint.FullStage] < captures+windows || w[fixpoint.SparseStage]+w[fixpoint.Stages] != 0,
			"%+v: %d bytes of captures, %d of windows, statistics %+v", x.config, captures, windows, s.Traffic)
		must.Not(t, r[fixpoint.DenseStage] == 0 || r[fixpoint.FullStage] == 0 || r[fixpoint.DenseStage]+r[fixpoint.FullStage] > w[fixpoint.CaptureStage]*uint64(s.Windows)+windows || r[fixpoint.CaptureStage]+r[fixpoint.SparseStage]+r[fixpoint.Stages] != 0,
			"%+v: %d windows, statistics %+v", x.config, s.Windows, s.Traffic)
	}
}

// bytes returns the length of all streams whose names have a part.
func (d *disk) bytes(t *testing.T, part string) (n uint64) {
	t.Helper()
	for _, name := range d.streams(t) {
		if strings.Contains(name, part) {
			d.change(t, name, func(_ vfs.File, size int64) { n += uint64(size) })
		}
	}
	return n
}

// benchFirst to benchLast are the layers that BenchmarkSolve solves.
const benchFirst, benchLast = 16, 20

// benchGeneric is the last of them for the generic kernels, which take minutes for the others.
const benchGeneric = 18

// below solves the layers below those that benchmarks solve, for all of them together.
var below *tower

// lowerOf returns the layers that captures of the layer of n seeds lead to, solved by the fastest kernels.
func lowerOf(b *testing.B, n int) *tower {
	if below == nil {
		below = newTower(b, awari.MaxPits, awari.Awari, Options{Workers: 1, Family: cpu.Best()})
	}
	for len(below.Layers) < n-1 { // a capture takes 2 seeds at least
		below.next(b)
	}
	must.OK(b, below.engine.Close())
	return below
}

// BenchmarkSolve solves layers with one worker and reports the positions per second
// and, for each stage, the time for a position of the layer.
func BenchmarkSolve(b *testing.B) {
	for _, family := range cpu.Available() {
		for n := benchFirst; n <= benchLast; n++ {
			if family == cpu.Generic && n > benchGeneric {
				continue
			}
			b.Run(fmt.Sprintf("%v/%d", family, n), func(b *testing.B) { benchSolve(b, n, Options{Workers: 1, Family: family}) })
		}
	}
}

func benchSolve(b *testing.B, n int, o Options) {
	lower := lowerOf(b, n)
	e := newTower(b, awari.MaxPits, awari.Awari, o).engine
	// The patterns of most moves are known from the layers before, when one is solved after the other.
	w := must.Get(e.begin(n, testBelow))(b)
	must.OK(b, errors.Join(w.prepare(b.Context()), e.spare.Put(w.memory)))
	var stages [fixpoint.Stages]time.Duration
	for b.Loop() {
		l := must.Get(e.Solve(b.Context(), n, testBelow, lower))(b)
		for stage, took := range l.Stats().Stages {
			stages[stage] += took
		}
		must.OK(b, l.Close())
	}
	must.OK(b, e.Close())
	positions := float64(b.N) * float64(Positions(e.game, n))
	b.ReportMetric(positions/b.Elapsed().Seconds()/1e6, "Mpos/s")
	for stage, took := range stages {
		b.ReportMetric(float64(took.Nanoseconds())/positions, fixpoint.Stage(stage).String()+"-ns/pos")
	}
}
