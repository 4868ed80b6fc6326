package plan

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/solve/internal/halfboard"
)

func workstation() *Calibration {
	c := NewCalibration("avx512", 2)
	c.Speedup, c.Taken, c.Memory = 1.9, 0.05, 64<<30
	c.Capture, c.Sweep, c.Seal, c.Decode = 5.4, 17, 3, 0.5
	c.Six, c.Four = Width{8, 35, 10, 9}, Width{8, 52, 15, 13}
	c.Three, c.Two = Width{8, 65, 18, 17}, Width{8, 110, 23, 26}
	c.SetDisk(1e9)
	return c
}

func run(t *testing.T, seeds int, memory uint64) Run {
	t.Helper()
	game := awaritest.Game(t, 12, awari.Awari)
	return Run{Game: game, Seeds: seeds, Memory: memory, Cores: 2}
}

const mib, gib = 1 << 20, 1 << 30

// TestMemory: more memory never takes longer, nor reads more bytes but for those that it does not write, and there are plans with
// every width. Digits of 6 bits are a little longer than those of 4, and with fewer windows capture values are written again less
// often, and read longer.
func TestMemory(t *testing.T) {
	var before *Plan
	seen := map[int]bool{}
	for memory := uint64(200 * mib); memory < 4*gib; memory += memory / 16 {
		p := must.Get(New(run(t, 24, memory), workstation()))(t)
		seen[p.Layers[24].Bits] = true
		if before != nil && (p.Total.Seconds > before.Total.Seconds || p.Total.Read > before.Total.Read && p.Total.Read+p.Total.Written > before.Total.Read+before.Total.Written ||
			float64(p.Total.Written) > 1.05*float64(before.Total.Written)) {
			t.Errorf("%d bytes of memory: %+v, with less %+v", memory, p.Total, before.Total)
		}
		should.Not(t, p.Total.Seconds < p.InMemory,
			"%d bytes of memory: %v s, with memory for all %v s", memory, p.Total.Seconds, p.InMemory)
		before = p
	}
	should.Hold(t, len(seen) == len(halfboard.Widths), "widths %v", seen)
	should.Hold(t, before.Total.Seconds == before.InMemory, "%v s in memory, and again %v s", before.Total.Seconds, before.InMemory)
}

// TestTooLittleMemory: what solve refuses cannot be planned.
func TestTooLittleMemory(t *testing.T) {
	r := run(t, 24, 0)
	least := halfboard.Least(r.Game, r.Seeds, r.Cores)
	for memory, want := range map[uint64]error{least: nil, least - 1: halfboard.ErrMemory} {
		r.Memory = memory
		should.Be(t, must.Err(New(r, workstation())), want, "%d bytes of %d", memory, least)
		should.Be(t, must.Err(r.DiskPeak()), want, "%d bytes of %d: peak with", memory, least)
	}
}

// TestCores: more cores, with the memory that they need for themselves, and a faster disk never take longer.
func TestCores(t *testing.T) {
	before, slower := math.Inf(1), math.Inf(1)
	for cores, disk := 1, 1e7; cores <= 64; cores, disk = 2*cores, 3*disk {
		r := run(t, 25, gib+uint64(cores)*32*mib)
		r.Cores = cores
		p := must.Get(New(r, workstation()))(t)
		should.Not(t, p.Total.Seconds >= before, "%d cores: %v s, with half of them %v s", cores, p.Total.Seconds, before)
		before = p.Total.Seconds
		c := workstation()
		c.SetDisk(disk)
		p = must.Get(New(run(t, 25, gib), c))(t)
		should.Not(t, p.Total.Seconds > slower, "%g bytes a second: %v s, with a third of it %v s", disk, p.Total.Seconds, slower)
		slower = p.Total.Seconds
	}
}

// TestHistograms: a histogram has the share of each distance from 0, none of which is larger than the one before.
func TestHistograms(t *testing.T) {
	for _, h := range slices.Concat(smallHistograms, evenHistograms, oddHistograms) {
		falls := slices.IsSortedFunc(h.beyond, func(a, b float64) int { return cmp.Compare(b, a) })
		should.Hold(t, len(h.beyond) == h.seeds+1 && h.beyond[0] == 1 && falls, "%+v", h)
	}
}

// TestInMemory: layers in memory have no streams, but checkpoints if they are large, and take the calibrated time; large ones up to a quarter more.
func TestInMemory(t *testing.T) {
	c := workstation()
	for _, l := range must.Get(New(run(t, 27, 0), c))(t).Layers {
		should.Hold(t, l.InMemory() && l.Windows == 1 && l.Passes == 1 && (l.Work > 0) == (l.Positions >= 1<<30) && l.Read == l.lowerRead && l.Written == l.File,
			"layer %d: %+v", l.Seeds, l)
		want := float64(l.Positions) * (5.4 + 17 + 3) / 1.9 * 1e-9
		should.Not(t, l.Positions > 1e6 && (l.Seconds < 0.98*want || l.Seconds > 1.25*want), "layer %d: %v s, want %v", l.Seeds, l.Seconds, want)
	}
}

// TestTotals: totals are sums, and seconds those of the steps.
func TestTotals(t *testing.T) {
	r := run(t, 26, gib)
	r.Solved, r.Sealed = 20, 123*mib
	p := must.Get(New(r, workstation()))(t)
	must.Hold(t, len(p.Layers) == 7 && p.Layers[0].Seeds == 20, "%d layers, the first %+v", len(p.Layers), p.Layers[0])
	var want Total
	sealed := r.Sealed
	for _, l := range p.Layers {
		should.Not(t, l.Disk != sealed+max(l.Work, l.sealing+l.File) || l.sealing > l.Work,
			"layer %d: %d bytes on disk above %d", l.Seeds, l.Disk, sealed)
		s := l.Times.sum()
		should.Hold(t, s == l.Seconds, "layer %d: %v s, the sum is %v", l.Seeds, l.Seconds, s)
		sealed += l.File
		want.add(l)
	}
	want.Least = want.Seconds // with the processors that are calibrated
	want.Memory = gib         // of which the largest layers take all
	must.Same(t, "another total", want, p.Total)
	should.Hold(t, want.Seconds > 0 && want.DiskPeak == must.Get(r.DiskPeak())(t), "total %+v", want)
	r.Solved = 27
	should.Hold(t, must.Get(r.DiskPeak())(t) == r.Sealed && len(must.Get(New(r, workstation()))(t).Layers) == 0,
		"there is something to do when all is done")
}

// TestWidths: every width that the engine has can be planned.
func TestWidths(t *testing.T) {
	c := workstation()
	for _, bits := range halfboard.Widths[1:] {
		w := widthOf(bits)
		should.Not(t, c.Of(bits) == nil || w.bits != bits, "%d bits: %+v, %+v", bits, c.Of(bits), w)
	}
	r := run(t, 30, 0)
	for n := r.Seeds; n >= 0; n-- {
		for r.Memory = halfboard.Least(r.Game, n, r.Cores); ; r.Memory += r.Memory / 16 {
			a := must.Get(r.amountsOf(n))(t)
			if a.InMemory() {
				break
			}
			values := widthOf(a.Bits).values
			most := max(1, (n+values-1)/values)
			should.Hold(t, a.Windows >= 1 && a.Windows <= most && a.Checkpoint == 2*a.Memory, "layer %d, %d bits: %d windows, want at most %d", n, a.Bits, a.Windows, most)
		}
	}
	should.Hold(t, len(widths) == len(halfboard.Widths)-1, "costs of %d widths, the engine has %v", len(widths), halfboard.Widths)
}

// TestTypical: a machine of any kind takes some time for everything.
func TestTypical(t *testing.T) {
	for _, family := range []cpu.Family{cpu.Generic, cpu.BMI2, cpu.AVX512} {
		c := Typical(family, 2)
		should.Hold(t, slices.Min(c.Costs()) > 0 && c.Speedup > 1 && c.Read > 0, "%v: %+v", family, c)
	}
}

// TestWorkstation: all layers up to 48 seeds within 64 GiB read at most 8 TiB, and thin windows take the memory that is left.
func TestWorkstation(t *testing.T) {
	r := run(t, awari.MaxSeeds, 64*gib)
	r.Cores = 16
	p := must.Get(New(r, workstation()))(t)
	const most = 8 << 40
	should.Hold(t, p.Total.Read <= most && p.Total.Read >= most/2,
		"%d bytes read, want at most %d, and at least half of that", p.Total.Read, most)
	for n, windows := range map[int]int{32: 1, 43: 3, 45: 4, 46: 6, 47: 6, 48: 12} {
		l := p.Layers[n]
		should.Hold(t, l.Windows == windows && l.Memory <= r.Memory,
			"layer %d: %d windows in %d bytes, want %d in %d at most", n, l.Windows, l.Memory, windows, r.Memory)
	}
}

// TestAnyGame: figures make sense for boards and layers of any size.
func TestAnyGame(t *testing.T) {
	for pits := 4; pits <= 12; pits += 2 {
		game := awaritest.Game(t, pits, awari.Strict)
		for _, memory := range []uint64{0, 80 * mib, 64 * gib} {
			r := Run{Game: game, Seeds: awari.MaxSeeds, Memory: memory, Cores: 16}
			for halfboard.Least(game, r.Seeds, r.Cores) > memory && memory > 0 {
				r.Seeds--
			}
			for _, l := range must.Get(New(r, workstation()))(t).Layers {
				should.Hold(t, (l.Seconds > 0 && l.Seconds < 1e9) && l.File != 0 && l.Passes >= 1 && l.Windows >= 1 && l.Read >= l.lowerRead &&
					l.InMemory() == (l.Times.Turn == 0) && l.InMemory() == (l.Digits == 0) && l.Digits <= l.Work,
					"%d pits, %d bytes: %+v", pits, memory, l)
			}
		}
	}
}

// TestFullRows: most rows of 8 pits and 48 seeds are full, few of 12 pits and 16 seeds; sweeps pass the others.
func TestFullRows(t *testing.T) {
	eight := awaritest.Game(t, 8, awari.Awari)
	for _, l := range []struct {
		game        awari.Game
		seeds       int
		least, most float64
	}{{eight, 48, 0.5, 0.7}, {calibratedGame, 16, 0, 0.03}, {calibratedGame, 4, 0, 0}} {
		share := fullShare(l.game, l.seeds)
		should.Not(t, share < l.least || share > l.most, "%d pits, %d seeds: %v of the rows are full", l.game.Pits(), l.seeds, share)
	}
	few, many := wholeLoads(calibratedGame, 16), wholeLoads(eight, 48)
	should.Not(t, many.open > few.open*0.6 || few.open < 0.9 || few.open > 1.1, "%+v, and %+v", few, many)
}

// TestFile: what is no calibration is refused; that of the docs can be read.
func TestFile(t *testing.T) {
	c := workstation()
	c.Date = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	machinetest.TestFile(t, c, ParseCalibration, map[string]machinetest.Damage{
		"foreign":  {Old: "grenier-cal", New: "other-cal", Is: corrupt.ErrForeign},
		"of swap":  {Old: `"system": "awari"`, New: `"system": "swap", "step_ns": 1`, Is: corrupt.ErrForeign},
		"nobody's": {Old: `"system": "awari",`, New: ``, Is: corrupt.ErrForeign},
		"newer":    {Old: `"version": 5`, New: `"version": 6, "moons": 3`, Is: corrupt.ErrVersion},
		"older":    {Old: `"version": 5`, New: `"version": 4`, Is: corrupt.ErrVersion},
		"text":     {Old: `"cores": 2`, New: `"cores": "2"`, Is: corrupt.ErrCorrupt},
		"no core":  {Old: `"cores": 2`, New: `"cores": 0`, Is: machine.ErrFigure},
		"slow":     {Old: `"speedup": 1.9`, New: `"speedup": 0.9`, Is: machine.ErrFigure},
		"missing":  {Old: `  "seal_ns": 3,`, New: ``, Is: machine.ErrFigure},
		"negative": {Old: `"seal_ns": 3`, New: `"seal_ns": -3`, Is: machine.ErrFigure},
		"no width": {Old: `"full_ns": 23,`, New: ``, Is: machine.ErrFigure},
		"taken":    {Old: `"taken_by_others": 0.05`, New: `"taken_by_others": 1.5`, Is: machine.ErrFigure},
		"no disk":  {Old: `"read_bytes_per_second": 1000000000`, New: `"read_bytes_per_second": 0`, Is: machine.ErrFigure},
	})
	path := filepath.Join("..", "..", "..", "docs", "workstation.json")
	s := must.Get(ParseCalibration(path, must.Read(t, path)))(t).Speeds(32)
	should.Hold(t, s.Most == 16, "32 threads: %+v", s)
}

// FuzzParse: every calibration that is accepted gives a plan.
func FuzzParse(f *testing.F) {
	game := must.Get(awari.New(8, awari.Awari))(f)
	machinetest.Fuzz(f, workstation(), ParseCalibration, func(t *testing.T, c *Calibration) {
		p, err := New(Run{Game: game, Seeds: 9, Memory: halfboard.Least(game, 9, 3), Cores: 3}, c)
		must.Hold(t, err == nil && p.Total.Seconds > 0, "%+v, error %v with %+v", p, err, c)
	})
}

// nodesPlan plans 26 seeds, the last layers of which are in windows, for some machines.
func nodesPlan(t *testing.T, number int, shared float64) *NodesPlan {
	t.Helper()
	return must.Get(Nodes{Run: run(t, 26, 400*mib), Number: number, Shared: shared}.Plan(workstation()))(t)
}

// TestNodes: more of them never take longer, nor less than with any number, and wait more; a slower file system never makes them quicker.
func TestNodes(t *testing.T) {
	before := math.Inf(1)
	for number := 1; number <= 64; number *= 2 {
		p := nodesPlan(t, number, 0)
		should.Not(t, p.Seconds > before || p.Seconds < p.Least-1e-9 || p.Waiting < -1e-9 || p.Waiting >= 1,
			"%d nodes: %v s, with half of them %v s; %v s at least; they wait %v of the time", number, p.Seconds, before, p.Least, p.Waiting)
		slow := nodesPlan(t, number, 1e7)
		bound := float64(slow.Traffic) / 1e7
		should.Not(t, slow.Seconds < p.Seconds || slow.Seconds < 0.999*bound,
			"%d nodes: %v s, with a slow file system %v s, which moves %v s", number, p.Seconds, slow.Seconds, bound)
		before = p.Seconds
	}
	all := nodesPlan(t, 1000, 0)
	should.Not(t, all.Seconds > 1.05*all.Least, "1000 nodes: %v s, with any number %v s", all.Seconds, all.Least)
}

// TestOneNode: it does one step after the other, all windows of the same width, and never waits.
func TestOneNode(t *testing.T) {
	r := run(t, 26, 400*mib)
	r.Apart = true
	apart := must.Get(New(r, workstation()))(t)
	p, seconds := nodesPlan(t, 1, 0), apart.Total.Seconds
	windows := false
	for i, s := range p.Layers {
		seconds += s.Publish
		l := &apart.Layers[i]
		should.Not(t, s.Windows != l.Windows || l.InMemory() && s.Traffic != l.Read+l.Written || !l.InMemory() && s.Windows != (s.Seeds+widthOf(s.Bits).values-1)/widthOf(s.Bits).values,
			"layer %d: %d windows of %d bits, planned %d", s.Seeds, s.Windows, s.Bits, l.Windows)
		windows = windows || !l.InMemory()
	}
	should.Not(t, !windows || math.Abs(p.Seconds-seconds) > 1e-6*seconds || math.Abs(p.Waiting) > 1e-9,
		"%v s, want %v: waiting %v, layers in windows: %v", p.Seconds, seconds, p.Waiting, windows)
	alone := must.Get(New(run(t, 26, 400*mib), workstation()))(t)
	should.Hold(t, p.One == alone.Total.Seconds && p.More == p.One && p.Better(),
		"one node: %v s with solve, planned %v; with its own memory %v", p.One, alone.Total.Seconds, p.More)
}

// truth is a run on a machine that is not the one of the plan: each stage takes some times as long.
type truth struct {
	run     Run
	factors [allStages]float64
	from    int             // leg of the first layer in which the run begins: it is resumed
	kept    *halfboard.Kept // what it reads before that
	swept   float64         // share of the first sweeps that was done then
}

// report is a place that a simulated run reports, and what it says then.
type report struct {
	at    float64 // seconds
	place Place
	left  Left
}

// Sweeps of a simulated window.
const (
	simulatedSweeps = 25
	sweepRatio      = 0.85
)

// follow runs the simulation and returns all reports, one each quarter of a second.
func (tr *truth) follow(t *testing.T) (all []report, end float64) {
	begin := time.Unix(0, 0)
	p := must.Get(New(tr.run, workstation()))(t)
	c := must.Get(NewCourse(tr.run, workstation(), begin))(t)
	const every = 0.25
	now, next, skip, swept := 0.0, 0.0, tr.from, tr.swept
	for _, l := range p.Layers {
		sweeps, legs := 0, l.legs()[skip:]
		if skip > 0 && tr.kept != nil {
			tr.kept.Base, tr.kept.Swept = legs[0].base, tr.swept > 0
			legs = append([]leg{{kind: kind{stage: Look}, seconds: float64(tr.kept.Bytes) / c.machine.Read}}, legs...)
		}
		for _, leg := range legs {
			pieces, rest := []float64{1}, 1.0
			if leg.stage == Sweep {
				pieces, rest, swept = geometric(), 1-swept, 0
			}
			for _, piece := range pieces {
				took := rest * piece * leg.seconds * tr.factors[leg.stage]
				if leg.stage == Sweep {
					sweeps++
				}
				place := Place{Seeds: l.Seeds, Stage: leg.stage, Base: leg.base, Sweeps: sweeps, Kept: tr.kept}
				if !l.InMemory() {
					place.Values = widthOf(l.Bits).values
					if leg.order == thinWindow {
						place.Values = halfboard.ThinValues
					}
				}
				for at := now; at < now+took; at = next {
					place.Part = (at - now) / took
					moment := begin.Add(duration(at))
					c.Reach(place, moment)
					all = append(all, report{at, place, c.Left(moment)})
					next = at + every
				}
				now += took
			}
		}
		c.Sealed(begin.Add(duration(now)))
		skip = 0
	}
	left := c.Left(begin.Add(duration(now)))
	should.Hold(t, left.Run == 0 && left.Share == 1, "%+v at the end", left)
	return all, now
}

func geometric() (all []float64) {
	sum := 0.0
	for k := range simulatedSweeps {
		all = append(all, math.Pow(sweepRatio, float64(k)))
		sum += all[k]
	}
	for k := range all {
		all[k] /= sum
	}
	return all
}

// TestCourse: on machines that are not as planned, whole runs and resumed ones say when they end: nine of ten reports
// from the tenth second on within a quarter of what is left, or 5 s; the share of the run within 5 points of the time.
func TestCourse(t *testing.T) {
	slow := [allStages]float64{2, 3, 2, 1.5, 2.5, 1.5}
	uneven := [allStages]float64{3, 0.7, 0.9, 0.5, 1.4}
	for name, tr := range map[string]truth{
		"in memory":     {run: run(t, 24, 0), factors: slow},
		"in windows":    {run: run(t, 26, 450*mib), factors: slow},
		"uneven":        {run: run(t, 27, 500*mib), factors: uneven},
		"eight pits":    {run: Run{Game: awaritest.Game(t, 8, awari.Awari), Seeds: 48, Memory: 100 * mib, Cores: 2}, factors: slow},
		"ten pits":      {run: Run{Game: awaritest.Game(t, 10, awari.Awari), Seeds: 48, Memory: 12 * gib, Cores: 2}, factors: uneven}, // in memory, then in windows
		"resumed":       {run: withSolved(run(t, 26, 450*mib), 25), factors: slow, from: 6},
		"resumed, kept": {run: withSolved(run(t, 26, 450*mib), 25), factors: slow, from: 7, kept: &halfboard.Kept{Bytes: 4 << 30, Captures: 1}},
		"resumed in a window": {
			run: withSolved(run(t, 26, 450*mib), 25), factors: slow, from: 7, kept: &halfboard.Kept{Bytes: 4 << 30, Captures: 1}, swept: 0.9,
		},
		"resumed in memory": {run: withSolved(run(t, 25, 0), 24), factors: slow, from: 1},
	} {
		t.Run(name, func(t *testing.T) {
			all, end := tr.follow(t)
			off, counted, worst := 0, 0, 0.0
			first := all[0].left.Share
			for i, r := range all {
				last := all[max(i-1, 0)].left.Share
				must.Not(t, r.left.Share < last, "the share falls from %v to %v", last, r.left.Share)
				if r.at < 10 {
					continue
				}
				counted++
				left := end - r.at
				if said := r.left.Run.Seconds(); math.Abs(said-left) > max(left/4, 5) {
					off++
				}
				worst = max(worst, math.Abs(r.left.Share-(first+(1-first)*r.at/end)))
			}
			t.Logf("%.0f s: %d of %d reports off, share off by %.1f points", end, off, counted, 100*worst)
			should.Not(t, counted == 0 || off > counted/10 || worst > 0.05,
				"%d of %d reports off, share off by %.1f points", off, counted, 100*worst)
		})
	}
}

func withSolved(r Run, layers int) Run {
	r.Solved = layers
	return r
}

// TestEnds: a window that searches a fifth of the scores of the plan leaves less to do, and one that searches as many as
// planned leaves it as it is.
func TestEnds(t *testing.T) {
	r := withSolved(run(t, 26, 450*mib), 26)
	left := func(share float64) time.Duration {
		begin := time.Unix(0, 0)
		c := must.Get(NewCourse(r, workstation(), begin))(t)
		l := c.layers[0]
		second := l.steps[1]
		p := Place{Seeds: l.Seeds, Stage: Turn, Base: second.base, Values: widthOf(l.Bits).values, Ends: share * beyond(r.Game, l.Seeds, second.base)}
		must.Not(t, second.thin, "the second window is thin")
		c.Reach(p, begin)
		return c.Left(begin).Layer
	}
	c := must.Get(NewCourse(r, workstation(), time.Unix(0, 0)))(t)
	other := Place{Seeds: 26, Stage: Sweep, Values: halfboard.ThinValues}
	for _, other.Base = range []int{0, c.layers[0].steps[1].base + 1} { // as none was planned
		c.Reach(other, time.Unix(0, 0))
		should.Not(t, c.legs[c.at].base != other.Base || c.legs[0].stage != Capture, "at %+v: leg %d of %+v", other, c.at, c.legs)
		other.Values = widthOf(c.layers[0].Bits).values
	}
	unknown, planned, few := left(0), left(1), left(0.2)
	should.Hold(t, planned == unknown && few <= unknown*9/10,
		"%v left with as many scores as planned, %v with a fifth, %v by the plan", planned, few, unknown)
}

// TestBefore: what earlier runs did adds up, that a sample is checked takes time, and a layer too quick to tell says nothing.
func TestBefore(t *testing.T) {
	begin := time.Unix(0, 0)
	c := must.Get(NewCourse(withSolved(run(t, 22, 160*mib), 22), workstation(), begin))(t)
	left := c.Left(begin)
	c.Assume(21, known/2)
	should.Equal(t, c.Left(begin).Run, left.Run, "after a layer of less than half a second")
	c.Resumed(1e6)
	should.Hold(t, c.Left(begin).Layer > left.Layer+time.Millisecond, "%v left of the layer, %v without a check", c.Left(begin).Layer, left.Layer)
	layer, later := c.left(0)
	c.before(layer + later)
	c.before(layer + later)
	should.Equal(t, c.begun, 0.75, "the share of two earlier runs that took what is left")
}

// TestWeights: the first window turns nothing and has full rows to store, passes of a thin one take longer, and scores of
// fewer pits are elsewhere.
func TestWeights(t *testing.T) {
	steps := []step{{base: 8}, {base: 8, thin: true, cost: thinCostOf(cpu.AVX512)}}
	layerLoads(calibratedGame, 22, steps)
	wide, thin := steps[0], steps[1]
	should.Hold(t, wide.weight(0, Turn) < wide.weight(1, Turn) && wide.weight(0, Full) > wide.weight(1, Full), "a first window like a later one: %+v", wide)
	should.Equal(t, [3]float64{thin.lines, thin.open, thin.full}, [3]float64{thinLines * wide.lines, thinLines * wide.open, thinLines * wide.full}, "passes of a thin window")
	share := func(pits int) float64 { return beyond(awaritest.Game(t, pits, awari.Awari), 16, 4) }
	should.Hold(t, share(8) != share(12) && math.Abs(share(10)-(share(8)+share(12))/2) < 1e-12, "8, 10, 12 pits: %v, %v, %v beyond 4", share(8), share(10), share(12))
}

// TestOnly: the steps of a layer take together what the layer takes, and a step knows no other one's stages.
func TestOnly(t *testing.T) {
	const shares = 16
	r := withSolved(run(t, 22, 160*mib), 22)
	r.Apart, r.Bits = true, 2
	begin := time.Unix(0, 0)
	seconds := func(only func(c *Course)) float64 {
		c := must.Get(NewCourse(r, workstation(), begin))(t)
		only(c)
		return c.Left(begin).Run.Seconds()
	}
	all := seconds(func(*Course) {})
	sum := shares * (seconds(func(c *Course) { c.Only(Capture, 0, 1./shares) }) + seconds(func(c *Course) { c.Only(Seal, 0, 1./shares) }))
	for _, base := range halfboard.Bases(22, 2) {
		sum += seconds(func(c *Course) {
			c.Only(Sweep, base, 1)
			c.Reach(Place{Seeds: 22, Stage: Turn, Base: base, Values: 2, Ends: 0.1}, begin) // which replans a whole layer
		})
	}
	should.Not(t, math.Abs(sum-all) > all/1000, "steps take %.3f s, the layer %.3f", sum, all)
}

// measured is what a layer took with a width, by the name of the figure: a position.
type measured map[string]float64

// readMeasured returns the figures of testdata/widths.txt by seeds and bits: what BenchmarkWidths of package solve prints.
func readMeasured(t *testing.T) map[int]map[int]measured {
	f := must.Get(os.Open("testdata/widths.txt"))(t)
	defer f.Close()
	all := map[int]map[int]measured{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var seeds, bits int
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if n, _ := fmt.Sscanf(words[0], "BenchmarkWidths/layer=%d/bits=%d", &seeds, &bits); n < 2 {
			continue
		}
		m := measured{}
		for i := 2; i+1 < len(words); i += 2 {
			var figure float64
			must.OK(t, must.Err(fmt.Sscan(words[i], &figure)))
			m[words[i+1]] = figure
		}
		if all[seeds] == nil {
			all[seeds] = map[int]measured{}
		}
		all[seeds][bits] = m
	}
	return all
}

// calibrationOf returns what calibrating would have measured with the layers that it takes.
func calibrationOf(t *testing.T, all map[int]map[int]measured) *Calibration {
	c := NewCalibration("", 1)
	c.Decode = 1
	c.SetDisk(1e12)
	r := run(t, lastCalibrated, 0)
	mean := func(bits int, name string) float64 {
		sum, positions := 0.0, 0.0
		for n := firstCalibrated; n <= lastCalibrated; n++ {
			weight := float64(halfboard.Positions(r.Game, n))
			sum += weight * all[n][bits][name+"-ns/pos"]
			positions += weight
		}
		return sum / positions
	}
	c.Capture, c.Sweep, c.Seal = mean(8, "capture"), mean(8, "sweep")+mean(8, "full"), mean(8, "seal")
	for _, bits := range halfboard.Widths[1:] {
		*c.Of(bits) = Width{mean(bits, "capture"), mean(bits, "sweep"), mean(bits, "full"), mean(bits, "seal")}
	}
	machinetest.TestFile(t, c, ParseCalibration, nil)
	return c
}

// memoryFor returns memory with which the layer of n seeds is solved with so many bits a score, and in one pass through the layers below.
func memoryFor(t *testing.T, r *Run, n, bits int) uint64 {
	for memory, step := halfboard.Least(r.Game, n, r.Cores), uint64(mib); memory < gib; memory += step {
		form, err := halfboard.FormFor(r.Game, n, memory, r.Cores, 0)
		if err == nil && form.Bits == bits {
			return memory
		}
	}
	t.Fatalf("no memory makes layer %d have %d bits", n, bits)
	return 0
}

// TestMeasured compares plans of layers, from those that are calibrated, with what they took. With -v it prints how each figure compares.
func TestMeasured(t *testing.T) {
	all := readMeasured(t)
	c := calibrationOf(t, all)
	layers := 0
	for n := lastCalibrated + 1; all[n] != nil; n++ {
		for bits, m := range all[n] {
			must.Not(t, len(m) == 0, "layer %d, %d bits: no figures", n, bits)
			r := run(t, n, 0)
			r.Cores = 1
			if bits != 8 {
				r.Memory = memoryFor(t, &r, n, bits)
			}
			a := must.Get(r.amountsOf(n))(t)
			a.decoded = 0
			r.readLower(&a, 1) // as with memory for all captures at once
			comparePlan(t, &a, c.times(&a, 1), m)
			layers++
		}
	}
	want := 3 * len(halfboard.Widths)
	should.Not(t, layers < want, "%d layers were compared, want %d at least", layers, want)
}

func comparePlan(t *testing.T, a *Amounts, times Times, m measured) {
	positions := float64(a.Positions)
	check := func(name string, planned, took, least, most float64) {
		ratio := planned / took
		if took == 0 && planned == 0 {
			return
		}
		t.Logf("layer %d, %d bits: %-9s %8.3f, planned %5.3f times as much", a.Seeds, a.Bits, name, took, ratio)
		should.Hold(t, (ratio > least && ratio < most),
			"layer %d, %d bits: planned %.3f %s, measured %.3f", a.Seeds, a.Bits, planned, name, took)
	}
	all := 0.0
	for name, seconds := range map[string]float64{
		"capture": times.Capture, "sweep": times.Turn + times.Sweep, "full": times.Full, "seal": times.Seal,
	} {
		ns := m[name+"-ns/pos"]
		all += ns
		check(name, seconds*1e9/positions, ns, 0.6, 1.6)
	}
	check("ns", times.sum()*1e9/positions, all, 0.8, 1.25)
	check("file", float64(a.File)/positions, m["file-B/pos"], 0.97, 1.03)
	check("captures", float64(a.Captures)/positions, m["captures-B/pos"], 0.85, 1.15)
	check("digits", float64(a.Digits)/positions, m["digits-B/pos"], 0.9, 1.1)
	check("reread", float64(a.reread)/positions, m["reread-B/pos"], 0.9, 1.2)
	const little = 0.05 // bytes: captures of full rows alone are written again a window earlier than plans say
	if took := m["rewritten-B/pos"]; a.rewritten > 0 || took > little {
		check("rewritten", float64(a.rewritten)/positions, took, 0.8, 1.25)
	}
	check("work", math.Max(0, float64(a.Work)-float64(a.Checkpoint))/positions, m["work-B/pos"], 0.9, 1.2)
}
