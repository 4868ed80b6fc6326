package machine

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpeed: the measured speed-up comes out, and more processors do more, but each does less.
func TestSpeed(t *testing.T) {
	for processors, want := range map[int][2]float64{1: {1, 1}, 2: {1.9, 1.9}, 16: {8.9, 9}} {
		got := speed(processors, 2, 1.9)
		should.Not(t, got < want[0]-1e-9 || got > want[1]+1e-9, "%d processors: %v, want %v", processors, got, want)
	}
	got := speed(2, 1, 1)
	should.Not(t, got < 1.9 || got >= 2, "2 processors: %v", got)
}

// TestSpeeds: as many processors as were measured do what was measured; more of them do at most what cores would,
// and at least what memory allows, or processors that share cores.
func TestSpeeds(t *testing.T) {
	const traffic = 3e9
	for name, c := range map[string]struct {
		f          Figures
		processors int
		want       Speeds
	}{
		"measured":          {Figures{Cores: 2, Speedup: 1.9, MemorySpeed: 1}, 2, Speeds{1.9, 1.9, ByNothing}},
		"one of them":       {Figures{Cores: 2, Speedup: 1.9}, 1, Speeds{1, 1, ByNothing}},
		"more, as measured": {Figures{Cores: 2, Speedup: 1.9}, 16, Speeds{speed(16, 2, 1.9), 16, ByEachOther}},
		"shared cores":      {Figures{Cores: 2, Speedup: 1.3, Physical: 1, Processors: 2}, 16, Speeds{10.4, 16, BySharing}},
		"slow memory":       {Figures{Cores: 2, Speedup: 1.3, Physical: 1, Processors: 2, MemorySpeed: 15e9}, 16, Speeds{5, 16, ByMemory}},
		"all of them":       {Figures{Cores: 1, Speedup: 1, Physical: 16, Processors: 32}, 32, Speeds{speed(32, 1, 1), 16, ByEachOther}},
		"very slow memory":  {Figures{Cores: 2, Speedup: 1.9, MemorySpeed: 1e9}, 16, Speeds{1.9, 16, ByMemory}},
	} {
		got := c.f.Speeds(c.processors, traffic)
		should.Not(t, math.Abs(got.Least-c.want.Least) > 1e-9 || math.Abs(got.Most-c.want.Most) > 1e-9 || got.Bound != c.want.Bound,
			"%s: %+v, want %+v", name, got, c.want)
	}
}

// TestMeasureMemory: memory has some speed, and ends with its context.
func TestMeasureMemory(t *testing.T) {
	speed := must.Get(MeasureMemory(t.Context(), 3, time.Millisecond))(t)
	should.Hold(t, speed > 1e6, "%v", speed)
	should.Be(t, must.Err(MeasureMemory(must.Ended(t), 1, 1)), context.Canceled)
}

// TestTaken: others take nothing while there are processors left.
func TestTaken(t *testing.T) {
	for _, tt := range []struct {
		others       float64
		workers, all int
		want         float64
	}{{0, 2, 2, 0}, {0.5, 2, 2, 0.25}, {1, 1, 2, 0}, {30, 2, 64, 0}, {63, 2, 64, 0.5}, {9, 2, 2, 1}} {
		should.Equal(t, taken(tt.others, tt.workers, tt.all), tt.want, "%+v", tt)
	}
}

// TestCheck: each figure is checked.
func TestCheck(t *testing.T) {
	fine := Disk{1e9, 1e9, 1e9}
	for name, c := range map[string]struct {
		f     Figures
		costs []float64
		ok    bool
	}{
		"possible":        {Figures{Cores: 2, Speedup: 1.9, Disk: Disk{1e3, 1e9, 1e13}}, []float64{1e-5, 1e6}, true},
		"no processor":    {Figures{Cores: 0, Speedup: 1, Disk: fine}, nil, false},
		"too many":        {Figures{Cores: 1025, Speedup: 1, Disk: fine}, nil, false},
		"slower":          {Figures{Cores: 2, Speedup: 0.9, Disk: fine}, nil, false},
		"too fast":        {Figures{Cores: 2, Speedup: 2.1, Disk: fine}, nil, false},
		"no speed":        {Figures{Cores: 2, Speedup: math.NaN(), Disk: fine}, nil, false},
		"all taken twice": {Figures{Cores: 2, Speedup: 1, Taken: 2, Disk: fine}, nil, false},
		"no time":         {Figures{Cores: 2, Speedup: 1, Disk: fine}, []float64{1, 0}, false},
		"endless":         {Figures{Cores: 2, Speedup: 1, Disk: fine}, []float64{1, math.Inf(1)}, false},
		"no disk":         {Figures{Cores: 2, Speedup: 1, Disk: Disk{1e9, 1e9, 0}}, nil, false},
		"not a number":    {Figures{Cores: 2, Speedup: 1, Disk: Disk{1e9, math.NaN(), 1e9}}, nil, false},
		"too fast a disk": {Figures{Cores: 2, Speedup: 1, Disk: Disk{1e14, 1e9, 1e9}}, nil, false},
	} {
		err := c.f.check(c.costs)
		should.Not(t, (err == nil) != c.ok || err != nil && !errors.Is(err, ErrFigure), "%s: %v", name, err)
	}
}

// TestMeasureDisk: all is measured, and nothing is left behind, however it ends.
func TestMeasureDisk(t *testing.T) {
	dir, shares := t.TempDir(), []float64{0}
	d, err := MeasureDisk(t.Context(), filepath.Join(dir, "not", "yet"), 2, 1<<24, func(share float64) { shares = append(shares, share) })
	should.Hold(t, err == nil && (d.Write > 0 && d.Read > 0 && d.Random > 0), "%+v, %v", d, err)
	should.Hold(t, slices.IsSorted(shares) && shares[len(shares)-1] == 1, "progress %v", shares)
	must.Empty(t, dir)
	should.Be(t, must.Err(MeasureDisk(must.Ended(t), dir, 2, 1<<24, nil)), context.Canceled)
	must.Empty(t, dir)
}
