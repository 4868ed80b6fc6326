package prove_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run proves a directory and fails the test if that is not possible.
func run(t testing.TB, dir string, o prove.Options) *prove.Result {
	t.Helper()
	return must.Get(prove.Run(t.Context(), dir, o))(t)
}

// ways are options that must not change the outcome for layers of at most size
// positions: one worker or several, marks and moves in memory or not, panels of any size.
func ways(size int) map[string]prove.Options {
	return map[string]prove.Options{
		"plain":   {},
		"workers": {Job: job.Job{Workers: 3, Family: cpu.Best()}},
		"moves":   {Job: job.Job{Workers: 2, Family: cpu.Best()}, MemoryBytes: bitsOf(size) + 1},
		"least":   {Job: job.Job{Workers: 2}, MemoryBytes: 1},
		"marks":   {Job: job.Job{Workers: 2}, OnDisk: true},
		"disk":    {Job: job.Job{Family: cpu.Best()}, MemoryBytes: bitsOf(size)},
	}
}

// some returns two of the ways, others for each turn; all of them if there is time.
func some(ways map[string]prove.Options, turn int) map[string]prove.Options {
	names := slices.Sorted(maps.Keys(ways))
	if tries.Long() {
		return ways
	}
	n := len(names)
	first, second := names[turn%n], names[(turn+n/2)%n]
	return map[string]prove.Options{first: ways[first], second: ways[second]}
}

// bitsOf returns the bytes that the marks of a layer take: a word for each 64 positions.
func bitsOf(size int) int64 { return int64(size+63) / 64 * 8 }

// TestLongTrue proves layers that are right; some have several parts.
func TestLongTrue(t *testing.T) {
	four, six, eight := tries.More(9, 20), tries.More(7, 9), tries.More(6, 11)
	for turn, c := range []struct{ pits, seeds, block int }{{4, four, 50}, {6, six, 100}, {8, eight, 64}, {12, 5, 1000}} {
		for _, rules := range awari.RuleSets() {
			game, layers, dir := testrun.Run(t, c.pits, rules, c.seeds, c.block)
			tried := ways(len(layers[c.seeds]))
			if rules == awari.Strict {
				tried = some(tried, turn)
			}
			for name, o := range tried {
				t.Run(fmt.Sprintf("%s, %s", game.Name(), name), func(t *testing.T) {
					result := run(t, dir, o)
					must.Hold(t, result.OK && result.Err() == nil && len(result.Layers) == c.seeds+1, "%+v", result)
					for n, l := range result.Layers {
						checkTrue(t, n, &l, layers[n])
					}
				})
			}
		}
	}
}

func checkTrue(t *testing.T, n int, l *prove.Layer, scores []int8) {
	var wins, draws, losses uint64
	for _, k := range scores {
		switch {
		case k > 0:
			wins++
		case k < 0:
			losses++
		default:
			draws++
		}
	}
	size, p := uint64(len(scores)), l.Proof
	should.Hold(t, l.Seeds == n && l.Positions == size && l.Checked == size && p.Positive == wins && p.Negative == losses &&
		p.Zero == draws && p.Ungrounded == 0 && len(p.First) == 0, "%+v, %+v", l.Layer, p)
}

// TestPasses counts how often a layer is gone through. If what a pass has marked did not count in the rest of it, the
// outcome would be the same, but it would take many more.
func TestPasses(t *testing.T) {
	result := run(t, testrun.Dir(t, 6, awari.Awari, 12, 1000), prove.Options{Layers: []int{12}})
	should.Equal(t, result.Layers[0].Proof.Passes, 15, "passes")
}

func TestJSON(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 2)
	layers[2] = newGraph(t, game, layers, 2).fixpoints(layers[2], 1)[0]
	result := run(t, testrun.Write(t, game, layers, 64), prove.Options{Layers: []int{2, 0, 2}})
	result.Seconds = 0.5
	got := must.Get(json.Marshal(result))(t)
	want := `{"ok":false,"layers":[` + `{"seeds":0,"positions":1,"checked":1,"mismatches":0,"problems":[],` +
		`"proof":{"positive":0,"negative":0,"zero":1,"ungrounded":0,"first":[],"passes":0}},` +
		`{"seeds":2,"positions":10,"checked":10,"mismatches":0,"problems":[],` +
		`"proof":{"positive":1,"negative":3,"zero":0,"ungrounded":6,"first":[` +
		`{"rank":2,"board":"0 1 0 1","stored":2},{"rank":3,"board":"1 0 0 1","stored":-2},` +
		`{"rank":6,"board":"1 0 1 0","stored":2},{"rank":7,"board":"0 2 0 0","stored":2},` +
		`{"rank":8,"board":"1 1 0 0","stored":-2},{"rank":9,"board":"2 0 0 0","stored":2}],` +
		`"passes":2}}],"seconds":0.5}`
	should.Hold(t, string(got) == want, "%s, want\n%s", got, want)
}

func TestRefused(t *testing.T) {
	should.Be(t, must.Err(prove.Run(t.Context(), filepath.Join(t.TempDir(), "none"), prove.Options{})), rundir.ErrMissing, "no directory")
	game, _, dir := testrun.Run(t, 4, awari.Awari, 7, 64)
	for _, n := range []int{-1, 8} {
		_, err := prove.Run(t.Context(), dir, prove.Options{Layers: []int{n}})
		should.Hold(t, errors.Is(err, tables.ErrUnsolved) && strings.Contains(err.Error(), fmt.Sprintf("layer %d, but ", n)),
			"layer %d: %v", n, err)
	}
	m := must.As[*memory.Error](t, must.Err(prove.Run(t.Context(), dir, prove.Options{Job: job.Job{Memory: 1}})))
	should.Hold(t, m.What == "the proof of layer 7" && m.Allowed == 1 && m.Need >= memory.Base, "too little memory: %v", m)
	work := filepath.Join(dir, rundir.WorkName)
	must.OK(t, os.Remove(work))
	must.Write(t, work, nil) // no directory
	err := must.Err(prove.Run(t.Context(), dir, prove.Options{OnDisk: true}))
	should.Not(t, err == nil || !strings.Contains(err.Error(), "work"), "no place for marks: %v", err)
	r := run(t, testrun.Write(t, game, nil, 64), prove.Options{})
	should.Hold(t, r.OK && len(r.Layers) == 0, "nothing is solved: %+v", r)
}

// doing is what a step says: the layer, what is done with it, and how far that is.
var doing = regexp.MustCompile(`^layer \d(, moves \(\d{1,3}%\)|, pass \d+( \(\d{1,3}%\))?)?$`)

// TestProgress wants progress that never goes back and ends at the total, whether layers are proved, false, or not to be read.
func TestProgress(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 7)
	total, compared := uint64(0), uint64(0) // of all, and before the last layer is grounded
	for _, scores := range layers {
		compared = total + uint64(len(scores))
		for _, k := range scores {
			total++
			if k != 0 {
				total++
			}
		}
	}
	dir := testrun.Write(t, game, layers, 64)
	for i := range 2 { // the second time without layer 6
		var last job.Step
		amid := false
		levels := map[string]bool{}
		run(t, dir, prove.Options{Job: job.Job{Workers: 2, Progress: func(p job.Step) {
			should.Not(t, p.Seeds < last.Seeds || p.Done < last.Done || p.Done > p.Total || p.Total != float64(total),
				"%+v after %+v", p, last)
			last = p
			amid = amid || p.Done > float64(compared) && p.Done < float64(total)
			must.Hold(t, doing.MatchString(p.Doing) && p.Doing[6] == byte('0'+p.Seeds), "%+v", p)
			level, _, _ := strings.Cut(p.Doing, ", pass")
			levels[level] = true
		}}})
		should.Not(t, last.Seeds != 7 || last.Done != float64(total) || len(levels) < 8+5 || amid != (i == 0),
			"%+v, %v, amid the last layer: %v", last, levels, amid)
		os.Remove(filepath.Join(dir, rundir.LayerName(6)))
	}
}

// TestCancel interrupts the comparison of a layer and the proof of one.
func TestCancel(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	for _, doing := range []string{"layer 5", "layer 5, moves", "layer 5, pass 2"} {
		ctx, cancel := context.WithCancel(t.Context())
		result, err := prove.Run(ctx, dir, prove.Options{Job: job.Job{Workers: 2, Progress: func(p job.Step) {
			if strings.HasPrefix(p.Doing+",", doing+",") || strings.HasPrefix(p.Doing, doing+" (") {
				cancel()
			}
		}}})
		should.Hold(t, errors.Is(err, context.Canceled) && len(result.Layers) == 5, "%s: %v, %+v", doing, err, result)
	}
}

// TestResume: layers that were proved are not proved again, nor is what was marked of the one in progress, unless a file
// changed or those below are not right.
func TestResume(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 64)
	want := run(t, dir, prove.Options{})
	check := func(o prove.Options, again int) {
		t.Helper()
		interrupt(t, dir, prove.Options{}, "layer 5, pass 2")
		o.Resume = true
		begun := uint64(0)
		o.Progress = func(p job.Step) { begun = uint64(p.Begun) }
		got := run(t, dir, o)
		for n, l := range got.Layers {
			grounded := l.Proof.Positive + l.Proof.Negative
			switch {
			case n < again-1:
				begun -= l.Positions + grounded
			case n == again-1: // was in progress
				if begun -= l.Positions; begun == 0 || begun >= grounded {
					t.Errorf("%d positions of layer %d were grounded before, of %d", begun, n, grounded)
				}
				begun, l.Proof.Passes = 0, want.Layers[n].Proof.Passes
			}
			should.Hold(t, (l.Before != nil) == (n < again), "layer %d: looked at before: %v", n, l.Before)
			diff := cmp.Diff(want.Layers[n].Proof, l.Proof)
			should.Hold(t, diff == "" && l.Checked == want.Layers[n].Checked, "layer %d: %s", n, diff)
		}
		should.Hold(t, begun == 0, "begun with other layers than those below %d", again)
		_, err := os.Stat(filepath.Join(dir, rundir.WorkName, rundir.ProveName))
		should.Not(t, err == nil || !got.OK, "notes after the end, or %v", got.Err())
	}
	check(prove.Options{}, 6)
	check(prove.Options{Restart: true}, 0)
	interrupt(t, dir, prove.Options{}, "layer 5, pass 2")
	path := filepath.Join(dir, rundir.LayerName(3))
	data := must.Read(t, path)
	must.Write(t, path, data[:len(data)-1])
	result := run(t, dir, prove.Options{Resume: true})
	for n, l := range result.Layers {
		should.Hold(t, (l.Before != nil) == (n < 3) && (l.Proof != nil) == (n < 3), "layer 3 is damaged: %+v", l)
	}
	err := result.Err()
	should.Hold(t, !result.OK && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), path), "layer 3 is damaged: %v", err)
}

// TestWholePart: marks on disk, of a layer with more positions than a worker takes at a time.
func TestWholePart(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	layers := testrun.Solve(t, game, 21)
	r := run(t, testrun.Write(t, game, layers, 1<<16), prove.Options{Layers: []int{21}, OnDisk: true})
	should.Hold(t, r.OK && len(layers[21]) > parts.Size, "%d positions: %+v", len(layers[21]), r)
}

// TestBadMarks: a proof that cannot read marks gives no verdict.
func TestBadMarks(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 9, 64)
	var after atomic.Int64 // reads
	disk := crashfs.New()
	disk.FailReads(func(path string) error {
		if strings.HasPrefix(filepath.Base(path), rundir.MarksName) && after.Add(-1) == 0 {
			return syscall.EIO
		}
		return nil
	})
	defer vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if d.Path("") == dir {
			return disk.Mirror(d)
		}
		return d
	})()
	random := tries.Rand(t)
	for at, failed := int64(1), true; failed; at += 1 + random.Int64N(3) {
		after.Store(at)
		_, err := prove.Run(t.Context(), dir, prove.Options{Layers: []int{9}, Job: job.Job{Workers: 2}, MemoryBytes: 1})
		if failed = after.Load() <= 0; errors.Is(err, syscall.EIO) != failed || at == 1 && !failed {
			t.Errorf("read %d fails: %v, and the proof ends with %v", at, failed, err)
		}
	}
}

// interrupt proves anew until something is done.
func interrupt(t *testing.T, dir string, o prove.Options, doing string) {
	t.Helper()
	o.Resume, o.Restart = true, true
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return strings.Contains(s.Doing, doing) }, func(ctx context.Context) error {
		_, err := prove.Run(ctx, dir, o)
		return err
	})
}

// TestResumeMarks: the proof of a layer with marks on disk resumes from their copy, unless that or the
// note about it is not right; then it begins anew. The verdict is the same, for a false table too.
func TestResumeMarks(t *testing.T) {
	game, layers, right := testrun.Run(t, 4, awari.Awari, 9, 64)
	layers[9] = newGraph(t, game, layers, 9).fixpoints(layers[9], 1)[0]
	wrong := testrun.Write(t, game, layers, 64)
	change := func(path string, change func([]byte) []byte) { must.Write(t, path, change(must.Read(t, path))) }
	for name, c := range map[string]struct {
		change  func(dir, marks string)
		o       prove.Options
		resumes bool
		told    string
	}{
		"same":             {func(string, string) {}, prove.Options{}, true, ""},
		"restart":          {func(string, string) {}, prove.Options{Restart: true}, false, ""},
		"memory":           {func(string, string) {}, prove.Options{MemoryBytes: 1 << 30}, true, ""},
		"no marks":         {func(_, marks string) { must.OK(t, os.Remove(marks)) }, prove.Options{}, false, "begins anew"},
		"short":            {func(_, marks string) { change(marks, func(b []byte) []byte { return b[:len(b)-1] }) }, prove.Options{}, false, "size"},
		"long":             {func(_, marks string) { change(marks, func(b []byte) []byte { return append(b, 0) }) }, prove.Options{}, false, "size"},
		"bit":              {func(_, marks string) { testrun.Flip(t, marks, 3) }, prove.Options{}, false, "checksum"},
		"of another layer": {func(_, marks string) { testrun.Flip(t, marks, -8) }, prove.Options{}, false, "owner"},
		"layer replaced":   {func(dir, _ string) { must.Touch(t, filepath.Join(dir, rundir.LayerName(7))) }, prove.Options{}, false, "prove starts again"},
		"note by hand": {func(dir, _ string) {
			change(filepath.Join(dir, rundir.WorkName, rundir.ProveName), func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"done": 1`), []byte(`"done": 2`), 1)
			})
		}, prove.Options{}, false, "prove starts again"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dir := range []string{right, wrong} {
				o := prove.Options{Layers: []int{9}, Job: job.Job{Workers: 2}, MemoryBytes: 1}
				want := run(t, dir, o)
				interrupt(t, dir, o, "pass 3")
				c.change(dir, filepath.Join(dir, rundir.WorkName, rundir.MarksName))
				var told []string
				o.MemoryBytes = max(o.MemoryBytes, c.o.MemoryBytes)
				o.Resume, o.Restart, o.Note = true, c.o.Restart, func(text string) { told = append(told, text) }
				o.Progress = func(p job.Step) {
					should.Not(t, p.Seeds != 9 || p.Done > p.Total || p.Begun > p.Done || (p.Begun > 0) != c.resumes, "progress %+v", p)
				}
				got := run(t, dir, o)
				should.Equal(t, got.Layers[0].Before != nil, c.resumes, "resumed")
				all := strings.Join(told, "; ")
				should.Hold(t, strings.Contains(all, c.told) && (all != "") == (c.told != ""), "told %q, want %q", all, c.told)
				w, g := *want.Layers[0].Proof, *got.Layers[0].Proof
				w.Passes, g.Passes = 0, 0
				diff := cmp.Diff(w, g)
				should.Hold(t, diff == "" && got.OK == (dir == right), "in order: %v; %s", got.OK, diff)
				must.Empty(t, filepath.Join(dir, rundir.WorkName))
			}
		})
	}
}

// TestGrounding has any scores, few of them different, and any marks: passes must ground what follows from these by the words of the
// theorem, in memory and on disk. Rows of the layers with 12 pits are longer than a chunk.
func TestGrounding(t *testing.T) {
	random := tries.Rand(t)
	for _, c := range []struct{ pits, seeds int }{{4, 9}, {6, 8}, {8, 6}, {12, 7}} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, c.pits, rules)
			t.Run(game.Name(), func(t *testing.T) {
				space, layers := testrun.Space(t, game, c.seeds), [][]int8{}
				for n := range c.seeds + 1 {
					layers = append(layers, make([]int8, space.Size(n)))
				}
				g, last := newGraph(t, game, layers, c.seeds), layers[c.seeds]
				marked := g.anyScores(random, last)
				path := testrun.Write(t, game, layers, 1000)
				tables := must.Get(tables.Open(t.Context(), path, catalog.Listed(testrun.Manifest(t, path))))(t)
				defer tables.Close()
				want := g.grounded(last)
				for _, o := range []verify.Options{
					{}, {Job: job.Job{Workers: 3}}, {MemoryBytes: 1}, {Job: job.Job{Workers: 2}, MemoryBytes: int64(len(last)) / 2},
				} {
					dir := must.Get(vfs.OpenDir(t.TempDir()))(t)
					onDisk := must.Get(marks.Create(dir, rundir.MarksName, uint64(len(last))))(t)
					for name, m := range map[string]*marks.Set{"memory": marks.New(uint64(len(last))), "disk": onDisk} {
						must.OK(t, m.Add(marked, 0))
						ground(t, tables, c.seeds, o, m, dir)
						for i, is := range bits(t, m, len(last)) {
							if is != want[i] {
								t.Fatalf("%s, %d workers, %d bytes: position %d is grounded: %v", name, o.Workers, o.MemoryBytes, i, is)
							}
						}
						must.OK(t, m.Close())
					}
					must.OK(t, dir.Close())
				}
			})
		}
	}
}

// anyScores makes up scores, and says which positive ones captures give.
func (g *graph) anyScores(random *rand.Rand, scores []int8) (marked []byte) {
	marked = make([]byte, (len(scores)+7)/8)
	for p := range scores {
		scores[p], g.outside[p] = int8(random.IntN(5)-2), math.MinInt
		if scores[p] > 0 && random.IntN(4) == 0 {
			g.outside[p] = int(scores[p])
			marked[p/8] |= 1 << (p % 8)
		}
	}
	return marked
}

// ground makes passes until one marks nothing.
func ground(t *testing.T, tables *tables.Tables, n int, o verify.Options, m *marks.Set, dir vfs.Dir) {
	t.Helper()
	g := must.Get(verify.NewGrounding(t.Context(), tables, n, o, m, func() (vfs.Dir, error) { return dir, nil }))(t)
	for {
		more := must.Get(g.Pass(t.Context()))(t)
		if more == 0 {
			break
		}
	}
	must.OK(t, g.Close())
}

// bits returns which of some positions are marked.
func bits(t *testing.T, m *marks.Set, positions int) []bool {
	t.Helper()
	all, is := make([]byte, (positions+7)/8), make([]bool, positions)
	must.OK(t, m.Read(all, 0))
	for i := range is {
		is[i] = all[i/8]>>(i%8)&1 != 0
	}
	return is
}
