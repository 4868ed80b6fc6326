package plan

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/machinetest"
	"grenier/io/corrupt"
	"grenier/layers/swap"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/swap/bfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workstation is a machine to plan for.
func workstation() *Calibration {
	c := &Calibration{Figures: machine.NewFigures(name, 2), Step: 0.2, Pack: 3, Unpack: 2}
	c.Speedup, c.Disk = 1.9, machine.Disk{Write: 1e9, Read: 1e9, Random: 2e9}
	return c
}

func grid(t testing.TB, rows, cols int) *swap.Grid {
	t.Helper()
	g, err := swap.NewGrid(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustPlan(t testing.TB, g *swap.Grid, o bfs.Options, c *Calibration, free *uint64) *Plan {
	t.Helper()
	p, err := New(g, o, c, free)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSeconds compares times with the arithmetic of the package comment, done by
// hand.
func TestSeconds(t *testing.T) {
	c := workstation()
	p := mustPlan(t, grid(t, 2, 7), bfs.Options{Workers: 2, Memory: 1 << 30}, c, nil)
	search := float64(p.Visits) * float64(p.Steps) * 0.2e-9 / 1.9
	processors := search + 1e-9/1.9*(3*float64(p.Packed)+2*float64(p.Unpacked)+1.2*float64(p.Read+p.Written))
	transfers := float64(p.Read)/2e9 + float64(p.Written)/1e9
	for _, x := range []struct{ got, want float64 }{
		{p.Seconds, search}, {p.Processors, processors}, {p.Transfers, transfers}, {p.OnDiskSeconds, max(processors, transfers)},
	} {
		if math.Abs(x.got-x.want) > 1e-9*x.want || !(x.got > 1) {
			t.Errorf("%v s, want %v", x.got, x.want)
		}
	}
}

// TestFits: memory and disk decide.
func TestFits(t *testing.T) {
	g := grid(t, 2, 7)
	all := mustPlan(t, g, bfs.Options{Workers: 2, Memory: math.MaxUint64}, workstation(), nil)
	enough, less := all.Most, all.Most-1
	for _, c := range []struct {
		memory       uint64
		free         *uint64
		memory1, dir bool
	}{
		{all.InMemory, nil, true, true},
		{all.InMemory - 1, &enough, false, true},
		{all.OnDisk, &enough, false, true},
		{all.OnDisk, &less, false, false},
		{all.OnDisk - 1, &enough, false, false},
	} {
		p := mustPlan(t, g, bfs.Options{Workers: 2, Memory: c.memory}, workstation(), c.free)
		if p.FitsMemory != c.memory1 || p.FitsDisk != c.dir {
			t.Errorf("%+v: fits %v and %v", c, p.FitsMemory, p.FitsDisk)
		}
	}
}

// TestAnyGrid: figures make sense for every grid, and more processors, more memory
// or a faster disk never take longer.
func TestAnyGrid(t *testing.T) {
	for rows := 1; rows <= 4; rows++ {
		for cols := rows; rows*cols <= 14; cols++ {
			g := grid(t, rows, cols)
			few := bfs.Options{Workers: 1, Memory: 1 << 28}
			p := mustPlan(t, g, few, workstation(), nil)
			if !(p.Seconds > 0 && p.OnDiskSeconds >= p.Seconds && p.Disk <= p.Most && p.Least <= p.Diameter && p.Held >= 0 && p.Held <= 1) {
				t.Errorf("%d x %d: %+v", rows, cols, p)
			}
			faster := workstation()
			faster.SetDisk(1e11)
			for _, q := range []*Plan{
				mustPlan(t, g, bfs.Options{Workers: 2, Memory: 1 << 28}, workstation(), nil),
				mustPlan(t, g, bfs.Options{Workers: 1, Memory: 1 << 34}, workstation(), nil),
				mustPlan(t, g, few, faster, nil),
			} {
				if q.Seconds > p.Seconds || q.OnDiskSeconds > p.OnDiskSeconds {
					t.Errorf("%d x %d: %+v, slower than %+v", rows, cols, q, p)
				}
			}
		}
	}
}

// TestLongMeasure: what is measured can be saved and read, and nothing is left behind.
func TestLongMeasure(t *testing.T) {
	long, each := os.Getenv("GRENIER_LONG") != "", 20*time.Millisecond
	if long {
		each = sampling
	}
	dir, shares := t.TempDir(), []float64{0}
	c, err := measure(t.Context(), grid(t, 2, 5), 2, filepath.Join(dir, "not", "yet"), long, each,
		func(share float64) { shares = append(shares, share) })
	if err != nil {
		t.Fatal(err)
	}
	if !long {
		c.SetDisk(1e9)
	}
	if !slices.IsSorted(shares) || long && shares[len(shares)-1] != 1 {
		t.Errorf("progress %v", shares)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	machinetest.TestFile(t, c, ParseCalibration, nil)
}

func TestFile(t *testing.T) {
	c := workstation()
	machinetest.TestFile(t, c, ParseCalibration, map[string]machinetest.Damage{
		"old":      {Old: "grenier-cal", New: "grenier-swap-cal", Is: corrupt.ErrForeign},
		"of awari": {Old: `"system": "swap"`, New: `"system": "awari", "seal_ns": 1`, Is: corrupt.ErrForeign},
		"newer":    {Old: `"version": 4`, New: `"version": 5, "moons": 3`, Is: corrupt.ErrVersion},
		"no core":  {Old: `"cores": 2`, New: `"cores": 0`, Is: machine.ErrFigure},
		"fast":     {Old: `"speedup": 1.9`, New: `"speedup": 2.1`, Is: machine.ErrFigure},
		"missing":  {Old: `  "pack_ns": 3,`, New: ``, Is: machine.ErrFigure},
		"negative": {Old: `"step_ns": 0.2`, New: `"step_ns": -3`, Is: machine.ErrFigure},
		"no disk":  {Old: `"write_bytes_per_second": 1000000000`, New: `"write_bytes_per_second": 0`, Is: machine.ErrFigure},
	})
}

// FuzzParse: every calibration that is accepted gives a plan.
func FuzzParse(f *testing.F) {
	g := grid(f, 2, 5)
	machinetest.Fuzz(f, workstation(), ParseCalibration, func(t *testing.T, c *Calibration) {
		if s := mustPlan(t, g, bfs.Options{Workers: 3, Memory: 1 << 20}, c, nil).OnDiskSeconds; !(s > 0) {
			t.Fatalf("%v seconds with %+v", s, c)
		}
	})
}
