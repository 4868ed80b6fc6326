package plan

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/solve/internal/halfboard"
)

// measured is what a layer took with a width, by the name of the figure: a position.
type measured map[string]float64

// readMeasured returns the figures of testdata/widths.txt by seeds and bits: what
// BenchmarkWidths of package solve prints.
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

// memoryFor returns memory with which the layer of n seeds is solved with so many bits a
// score, and in one pass through the layers below.
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

// TestMeasured compares plans of layers, from those that are calibrated, with what they took.
// With -v it prints how each figure compares.
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

// comparePlan compares a plan of a layer with what it took.
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
