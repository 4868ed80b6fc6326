package plan

import (
	"math"
	"testing"

	"grenier/io/layerfile"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// workstation is a machine to plan for.
func workstation() *Calibration {
	return &Calibration{
		CPU: "test", Kernel: "avx512", Cores: 2, Speedup: 1.9, Capture: 5.4, Sweep: 17, Seal: 3,
		Pack: 0.1, Unpack: 0.1, Write: 1e9, Read: 1e9, Random: 1e9,
	}
}

func run(t *testing.T, seeds int, memory uint64) Run {
	t.Helper()
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	return Run{Game: game, Seeds: seeds, Memory: memory, Cores: 2, Codec: layerfile.LZ4}
}

const mib, gib = 1 << 20, 1 << 30

// TestMemory: more memory never takes longer, nor moves more bytes.
func TestMemory(t *testing.T) {
	var before *Plan
	for memory := uint64(160 * mib); memory < 4*gib; memory += memory / 16 {
		p := New(run(t, 24, memory), workstation())
		if before != nil && (p.Total.Seconds > before.Total.Seconds || p.Total.Read > before.Total.Read ||
			p.Total.Written > before.Total.Written || p.Total.DiskPeak > before.Total.DiskPeak) {
			t.Errorf("%d bytes of memory: %+v, with less %+v", memory, p.Total, before.Total)
		}
		before = p
	}
}

// TestCores: more cores, with the memory that they need for themselves, and a faster disk
// never take longer.
func TestCores(t *testing.T) {
	before := math.Inf(1)
	for cores := 1; cores <= 64; cores *= 2 {
		r := run(t, 26, gib+uint64(cores)*2*mib)
		r.Cores = cores
		p := New(r, workstation())
		if p.Total.Seconds >= before {
			t.Errorf("%d cores: %v s, with half of them %v s", cores, p.Total.Seconds, before)
		}
		before = p.Total.Seconds
	}
	before = math.Inf(1)
	for disk := 1e7; disk < 1e10; disk *= 2 {
		c := workstation()
		c.SetDisk(disk)
		p := New(run(t, 26, gib), c)
		if p.Total.Seconds > before {
			t.Errorf("%g bytes a second: %v s, with half of it %v s", disk, p.Total.Seconds, before)
		}
		before = p.Total.Seconds
	}
}

// TestInMemory: layers in memory have no work file, and take what was calibrated.
func TestInMemory(t *testing.T) {
	c := workstation()
	for _, l := range New(run(t, 24, 0), c).Layers {
		if !l.InMemory || l.Work != 0 || l.Read != 0 || l.Written != l.File || l.Fetched != 0 || l.Saved != 0 || l.Held != 1 {
			t.Errorf("layer %d: %+v", l.Seeds, l)
		}
		if want := float64(l.Positions) * (5.4 + 17 + 3) / 1.9 * 1e-9; l.Positions > 1e6 && math.Abs(l.Seconds-want) > 1e-6*want {
			t.Errorf("layer %d: %v s, want %v", l.Seeds, l.Seconds, want)
		}
	}
}

// TestTotals: totals are sums, and seconds those of the steps.
func TestTotals(t *testing.T) {
	r := run(t, 26, gib)
	r.Solved, r.Sealed = 20, 123*mib
	p := New(r, workstation())
	if len(p.Layers) != 7 || p.Layers[0].Seeds != 20 {
		t.Fatalf("%d layers, the first %+v", len(p.Layers), p.Layers[0])
	}
	var want Total
	sealed := r.Sealed
	for _, l := range p.Layers {
		if l.Disk != sealed+l.Work+l.File {
			t.Errorf("layer %d: %d bytes on disk above %d", l.Seeds, l.Disk, sealed)
		}
		if s := l.Times.sum(); s != l.Seconds {
			t.Errorf("layer %d: %v s, the sum is %v", l.Seeds, l.Seconds, s)
		}
		sealed += l.File
		want.add(l)
	}
	if p.Total != want || want.Seconds == 0 || want.DiskPeak != r.DiskPeak() {
		t.Errorf("total %+v, want %+v, peak %d", p.Total, want, r.DiskPeak())
	}
	if r.Solved = 27; r.DiskPeak() != r.Sealed || len(New(r, workstation()).Layers) != 0 {
		t.Error("there is something to do when all is done")
	}
}

// TestAnyGame: figures make sense for boards and layers of any size.
func TestAnyGame(t *testing.T) {
	for pits := 4; pits <= 12; pits += 2 {
		game, err := awari.New(pits, awari.Strict)
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []uint64{0, 64 * mib, 64 * gib} {
			r := Run{Game: game, Seeds: awari.MaxSeeds, Memory: memory, Cores: 16, Codec: layerfile.Zstd}
			for _, l := range New(r, workstation()).Layers {
				if !(l.Seconds > 0 && l.Seconds < 1e9) || l.File == 0 || l.Held < 0 || l.Held > 1 || l.Read < l.lowerRead {
					t.Errorf("%d pits, %d bytes: %+v", pits, memory, l)
				}
			}
		}
	}
}

// TestMeasured compares amounts with what real layers took.
func TestMeasured(t *testing.T) {
	for _, m := range []struct {
		seeds               int
		memory              uint64
		fetched, saved      float64 // bytes a position
		read, written, file float64 // of the work file
	}{
		{22, 192 * mib, 39.0, 9.93, 27.5, 5.82, 2.16},
		{22, 256 * mib, 19.3, 8.24, 17.2, 4.97, 2.18},
		{23, 160 * mib, 90.9, 12.1, 56.8, 7.05, 2.03},
		{22, 320 * mib, 8.11, 4.15, 11.2, 2.87, 1.87},
		{22, 400 * mib, 0.18, 1.17, 7.87, 1.26, 1.26},
		{23, 256 * mib, 39.5, 11.0, 28.9, 6.48, 2.06},
		{23, 384 * mib, 13.7, 6.72, 15.2, 4.23, 1.80},
		{23, 320 * mib, 21.8, 9.50, 19.3, 5.66, 1.98},
	} {
		r := run(t, m.seeds, m.memory+moreCounted(t, m.seeds))
		a := r.amountsOf(m.seeds)
		check := func(name string, got uint64, want float64) {
			t.Helper()
			is := float64(got) / float64(a.Positions)
			if math.Abs(is-want) > 0.15*want+0.5 {
				t.Errorf("layer %d, %d MiB: %s %.2f bytes a position, measured %.2f", m.seeds, m.memory>>20, name, is, want)
			}
		}
		check("fetched", a.Fetched, m.fetched)
		check("saved", a.Saved, m.saved)
		check("read", a.Read-a.lowerRead, m.read)
		check("written", a.Written-a.File, m.written)
		check("work file", a.Work, m.file)
	}
	// Layer files as they came from solve.
	for n, want := range map[int]float64{14: 1750939, 16: 5210399, 18: 14118930, 20: 35342714, 22: 82521348, 24: 181410424} {
		r := run(t, n, 0)
		if got := float64(r.amountsOf(n).File); math.Abs(got-want) > 0.03*want {
			t.Errorf("layer %d: a file of %v bytes, measured %v", n, got, want)
		}
	}
}

// moreCounted returns the bytes that an engine leaves for tables, buffers and garbage
// beyond those that it left when it was measured: so much less room for scores.
func moreCounted(t *testing.T, seeds int) uint64 {
	t.Helper()
	halves, err := colex.Binomial(6+seeds, 6)
	if err != nil {
		t.Fatal(err)
	}
	return 32*halves + 4<<20
}
