package halfboard

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

func TestOptionsThatMakeNoSense(t *testing.T) {
	game := awaritest.Game(t, 6, awari.Awari)
	for _, o := range []Options{{Workers: -1}, {TileSize: -1}, {Workers: math.MinInt, TileSize: 5}} {
		e, err := New(game, o)
		should.Hold(t, errors.Is(err, ErrOptions) && e == nil, "%+v: %v", o, err)
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

// TestNoSuchLayer: the layers below are closed all the same.
func TestNoSuchLayer(t *testing.T) {
	e := must.Get(New(awaritest.Game(t, 6, awari.Awari), Options{}))(t)
	for _, n := range []int{math.MinInt, -1, awari.MaxSeeds + 1, math.MaxInt} {
		lower := &awaritest.Counting{Lower: &awaritest.Lower{}}
		if l, err := e.Solve(t.Context(), n, testBelow, lower); !errors.Is(err, awari.ErrSeeds) || l != nil || lower.Closed.Load() != 1 {
			t.Errorf("layer %d: %v, layers below closed %d times", n, err, lower.Closed.Load())
		}
		bad := errors.New("disk on fire")
		_, err := e.Solve(t.Context(), n, testBelow, &broken{closing: func() error { return bad }})
		should.Hold(t, errors.Is(err, awari.ErrSeeds) && errors.Is(err, bad), "layer %d, closing fails: %v", n, err)
	}
	must.OK(t, e.Close())
}

// sweepReports are the last reports of sweeps, by stage.
type sweepReports [fixpoint.Stages][]fixpoint.Progress

func (r *sweepReports) changed(stage fixpoint.Stage) (n uint64) {
	for _, p := range r[stage] {
		n += p.Changed
	}
	return n
}

// follow checks that each report follows from the one before, and lists the last ones
// of sweeps.
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

// follows reports whether next can be the stage or sweep after p. Sweeps may become
// sparse and dense again. After a window is stored comes the next one, whose first sweep has
// the number of the last one before, which did nothing.
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

// TestLongProgressAddsUp follows the reports of one worker: stages come in order, and
// each of them, and each sweep, ends with all positions.
func TestLongProgressAddsUp(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(100) {
		c := randomConfig(t, rng)
		c.options.Workers = 1
		var reports []fixpoint.Progress
		c.options.Progress = func(p fixpoint.Progress) { reports = append(reports, p) }
		s := c.solve(t).Stats()
		ends := follow(t, c, reports)
		if reports[0].Sweep != 1 || len(ends[fixpoint.CaptureStage]) != 1 || len(ends[fixpoint.DenseStage]) == 0 || len(ends[fixpoint.FullStage]) != 1 {
			t.Fatalf("%+v: stages end at %+v", c, ends)
		}
		// The last sweep finds nothing to do: statistics leave it out.
		dense, sparse := len(ends[fixpoint.DenseStage]), len(ends[fixpoint.SparseStage])
		if changes := ends.changed(fixpoint.DenseStage) + ends.changed(fixpoint.SparseStage); s.Sweeps+1 != dense+sparse || s.Changes != changes {
			t.Fatalf("%+v: %d dense and %d sparse sweeps with %d changes reported, statistics %+v", c, dense, sparse, changes, s)
		}
		events := ends.changed(fixpoint.SparseStage)
		must.Hold(t, s.Events == events, "%+v: %d changes of sparse sweeps reported, statistics %+v", c, events, s)
	}
}

// TestLongProgressOfWindowsAddsUp follows the reports of one worker: the windows come one after
// the other, each with sweeps and the storing of what it has found.
func TestLongProgressOfWindowsAddsUp(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(60) {
		x := newTrial(t, rng)
		x.options.Workers, x.options.Interval = 1, time.Duration(rng.IntN(2))
		var reports []fixpoint.Progress
		scores, err := x.attempt(t, t.Context(), func(p fixpoint.Progress) { reports = append(reports, p) })
		x.compare(t, scores, err)
		s, ends := x.stats, follow(t, x.config, reports)
		sweeps := len(ends[fixpoint.DenseStage]) + len(ends[fixpoint.SparseStage])
		must.Hold(t, len(ends[fixpoint.CaptureStage]) == 1 && len(ends[fixpoint.FullStage]) == s.Windows && sweeps == s.Sweeps+s.Windows,
			"%+v: stages end at %+v, statistics %+v", x.config, ends, s)
		if changes := ends.changed(fixpoint.DenseStage) + ends.changed(fixpoint.SparseStage); s.Changes != changes || s.Events != ends.changed(fixpoint.SparseStage) {
			t.Fatalf("%+v: %d changes reported, statistics %+v", x.config, changes, s)
		}
		if last := reports[len(reports)-1]; last.Stage != fixpoint.FullStage || last.Done != last.Positions {
			t.Fatalf("%+v: the last report is %+v", x.config, last)
		}
		all := awaritest.Oracle(t, x.game, x.seeds)[x.seeds]
		for i, p := range reports {
			ends := int64(0)
			for _, score := range all {
				if p.Base > 0 && max(score, -score) >= int8(p.Base) {
					ends++
				}
			}
			if p.Ends != ends {
				t.Fatalf("%+v: report %+v, but %d scores are beyond the base", x.config, p, ends)
			}
			if i > 0 && less(p.Traffic, reports[i-1].Traffic) {
				t.Fatalf("%+v: traffic %+v after %+v", x.config, p.Traffic, reports[i-1].Traffic)
			}
		}
	}
}

// less reports whether a stage has read or written less in a than in b.
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
	for range tries.Runs(60) {
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
		if open := uint64(board.LayoutOf(x.game.Half(), x.seeds).Scores) * uint64(s.Bits) / 8; s.Bytes < open || s.Bytes > open && !x.options.thin && x.options.Memory <= 1 {
			t.Fatalf("%+v: %d bytes for scores of %d", x.config, s.Bytes, open)
		}
		// Captures are written once, and again when fewer matter; windows read them, and thin ones
		// what was found before.
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
