package plan

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
)

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
			pieces := []float64{1}
			if leg.stage == Sweep {
				pieces = geometric()
			}
			rest := 1.0
			if leg.stage == Sweep {
				rest, swept = 1-swept, 0
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
	unknown, planned, few := left(0), left(1), left(0.2)
	should.Hold(t, planned == unknown && few <= unknown*9/10,
		"%v left with as many scores as planned, %v with a fifth, %v by the plan", planned, few, unknown)
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
	all := 0.0
	for name, seconds := range map[string]float64{
		"capture": times.Capture, "sweep": times.Turn + times.Sweep, "full": times.Full, "seal": times.Seal,
	} {
		ns := m[name+"-ns/pos"]
		all += ns
		t.Logf("layer %d, %d bits: %-9s %8.3f ns, planned %5.3f times as much", a.Seeds, a.Bits, name, ns, seconds*1e9/float64(a.Positions)/ns)
	}
	check := func(name string, planned, took, least, most float64) {
		ratio := planned / took
		if took == 0 && planned == 0 {
			return
		}
		t.Logf("layer %d, %d bits: %-9s %8.3f, planned %5.3f times as much", a.Seeds, a.Bits, name, took, ratio)
		should.Hold(t, (ratio > least && ratio < most),
			"layer %d, %d bits: planned %.3f %s, measured %.3f", a.Seeds, a.Bits, planned, name, took)
	}
	positions := float64(a.Positions)
	check("ns", times.sum()*1e9/positions, all, 0.8, 1.25)
	check("file", float64(a.File)/positions, m["file-B/pos"], 0.97, 1.03)
	check("captures", float64(a.Captures)/positions, m["captures-B/pos"], 0.85, 1.15)
	check("digits", float64(a.Digits)/positions, m["digits-B/pos"], 0.9, 1.1)
	check("reread", float64(a.reread)/positions, m["reread-B/pos"], 0.8, 1.3) // one window of 4 too many, where a thin one just fits
	const little = 0.05                                                       // bytes: captures of full rows alone are written again a window earlier than plans say
	if took := m["rewritten-B/pos"]; a.rewritten > 0 || took > little {
		check("rewritten", float64(a.rewritten)/positions, took, 0.5, 2)
	}
	check("work", math.Max(0, float64(a.Work)-float64(a.Checkpoint))/positions, m["work-B/pos"], 0.9, 1.2)
}
