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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
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
	"grenier/pipeline/spaces/retro"
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
	four, six, eight := tries.More(7, 20), tries.More(5, 9), tries.More(4, 11)
	for turn, c := range []struct{ pits, seeds, block int }{{4, four, 50}, {6, six, 100}, {8, eight, 64}, {12, tries.More(4, 5), 1000}} {
		for i, rules := range awari.RuleSets() {
			game, layers, dir := testrun.Run(t, c.pits, rules, c.seeds, c.block)
			tried := ways(len(layers[c.seeds]))
			if rules == awari.Strict || !tries.Long() {
				tried = some(tried, turn+i)
			}
			for name, o := range tried {
				result := run(t, dir, o)
				must.Hold(t, result.OK && result.Err() == nil && len(result.Layers) == c.seeds+1, "%s, %s: %+v", game.Name(), name, result)
				for n, l := range result.Layers {
					size, p, want := uint64(len(layers[n])), *l.Proof, signs(layers[n])
					p.Passes = 0
					must.Same(t, fmt.Sprintf("%s, %s, layer %d", game.Name(), name, n), want, p)
					should.Hold(t, l.Seeds == n && l.Positions == size && l.Checked == size, "%+v", l.Layer)
				}
			}
		}
	}
}

// signs returns the proof of a layer that is right, without passes.
func signs(scores []int8) prove.Proof {
	p := prove.Proof{First: []prove.Position{}}
	for _, k := range scores {
		switch {
		case k > 0:
			p.Positive++
		case k < 0:
			p.Negative++
		default:
			p.Zero++
		}
	}
	return p
}

// TestPasses counts how often a layer is gone through. If what a pass has marked did not count in the rest of it, the
// outcome would be the same, but it would take many more.
func TestPasses(t *testing.T) {
	result := run(t, testrun.Dir(t, 6, awari.Awari, 12, 1000), prove.Options{Layers: []int{12}})
	should.Hold(t, result.Layers[0].Proof.Passes == 15 && result.Seconds > 0, "%d passes, %v s", result.Layers[0].Proof.Passes, result.Seconds)
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
		should.Says(t, must.Err(prove.Run(t.Context(), dir, prove.Options{Layers: []int{n}})), tables.ErrUnsolved, fmt.Sprintf("layer %d, but ", n))
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
var doing = regexp.MustCompile(`^layer \d(, moves \((\d\d?|100)%\)|, pass \d+( \((\d\d?|100)%\))?)?$`)

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
	for _, doing := range []string{"layer 5,", "layer 5, moves", "layer 5, pass 2 ("} {
		ctx, cancel := context.WithCancel(t.Context())
		result, err := prove.Run(ctx, dir, prove.Options{Job: job.Job{Workers: 2, Progress: func(p job.Step) {
			if strings.HasPrefix(p.Doing+",", doing) {
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
	check := func(pass string, o prove.Options, again int) {
		t.Helper()
		interrupt(t, dir, prove.Options{}, "layer 5, pass "+pass)
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
	check("1", prove.Options{}, 6)
	check("2", prove.Options{}, 6)
	check("2", prove.Options{Restart: true}, 0)
	interrupt(t, dir, prove.Options{}, "layer 5, pass 2")
	path := filepath.Join(dir, rundir.LayerName(3))
	must.OK(t, os.Truncate(path, int64(len(must.Read(t, path))-1)))
	result := run(t, dir, prove.Options{Resume: true})
	for n, l := range result.Layers {
		should.Hold(t, (l.Before != nil) == (n < 3) && (l.Proof != nil) == (n < 3), "layer 3 is damaged: %+v", l)
	}
	should.Not(t, result.OK, "layer 3 is damaged")
	should.Says(t, result.Err(), corrupt.ErrCorrupt, path)
}

// TestWholePart: marks on disk, of a layer with more positions than a worker takes at a time.
func TestWholePart(t *testing.T) {
	r := run(t, tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 8), prove.Options{Layers: []int{8}, OnDisk: true})
	should.Hold(t, r.OK && r.Layers[0].Positions > parts.Size, "%+v", r)
}

// TestLongBadMarks: a proof that cannot read marks gives no verdict.
func TestLongBadMarks(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 9, 64)
	var after atomic.Int64 // reads
	disk := crashfs.New()
	disk.FailReads(func(path string) error {
		if strings.HasPrefix(filepath.Base(path), rundir.MarksName) && after.Add(-1) == 0 {
			return syscall.EIO
		}
		return nil
	})
	defer disk.Intercept(dir)()
	random := tries.Rand(t)
	for at, failed := int64(1), true; failed; at += 1 + random.Int64N(tries.More[int64](30, 9)) {
		after.Store(at)
		_, err := prove.Run(t.Context(), dir, prove.Options{Layers: []int{9}, Job: job.Job{Workers: 2}, MemoryBytes: 1})
		if failed = after.Load() <= 0; errors.Is(err, syscall.EIO) != failed || at == 1 && !failed {
			t.Errorf("read %d fails: %v, and the proof ends with %v", at, failed, err)
		}
	}
}

// TestDamagedMeanwhile: a layer whose file is damaged while moves are looked at, after all of it was compared, has no proof.
func TestDamagedMeanwhile(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 9, 64)
	path, once := filepath.Join(dir, rundir.LayerName(9)), sync.Once{}
	_, err := prove.Run(t.Context(), dir, prove.Options{Layers: []int{9}, MemoryBytes: 1, Job: job.Job{Workers: 1, Progress: func(p job.Step) {
		if strings.Contains(p.Doing, "moves") {
			once.Do(func() {
				for at := 1000; at < 30_000; at += 100 {
					testrun.Flip(t, path, at)
				}
			})
		}
	}}})
	should.Be(t, err, corrupt.ErrCorrupt)
}

// interrupt proves anew until something is done.
func interrupt(t *testing.T, dir string, o prove.Options, doing string) {
	t.Helper()
	o.Resume, o.Restart = true, true
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return strings.Contains(s.Doing, doing) }, func(ctx context.Context) error {
		return must.Err(prove.Run(ctx, dir, o))
	})
}

// TestResumeMarks: the proof of a layer with marks on disk resumes from their copy, unless that or the
// note about it is not right; then it begins anew. The verdict is the same, for a false table too.
func TestResumeMarks(t *testing.T) {
	game, layers, right := testrun.Run(t, 4, awari.Awari, 9, 64)
	layers[9] = newGraph(t, game, layers, 9).fixpoints(layers[9], 1)[0]
	wrong := testrun.Write(t, game, layers, 64)
	change := func(path string, change func([]byte) []byte) { must.Write(t, path, change(must.Read(t, path))) }
	nothing := func(string, string) {}
	cases := map[string]struct {
		change  func(dir, marks string)
		o       prove.Options
		told    string
		resumes bool
	}{
		"same":             {nothing, prove.Options{}, "", true},
		"restart":          {nothing, prove.Options{Restart: true}, "", false},
		"memory":           {nothing, prove.Options{MemoryBytes: 1 << 30}, "", true},
		"no marks":         {change: func(_, marks string) { must.OK(t, os.Remove(marks)) }, told: "begins anew"},
		"short":            {change: func(_, marks string) { change(marks, func(b []byte) []byte { return b[:len(b)-1] }) }, told: "size"},
		"long":             {change: func(_, marks string) { change(marks, func(b []byte) []byte { return append(b, 0) }) }, told: "size"},
		"bit":              {change: func(_, marks string) { testrun.Flip(t, marks, 3) }, told: "checksum"},
		"of another layer": {change: func(_, marks string) { testrun.Flip(t, marks, -8) }, told: "owner"},
		"layer replaced":   {change: func(dir, _ string) { must.Touch(t, filepath.Join(dir, rundir.LayerName(7))) }, told: "prove starts again"},
		"note by hand": {change: func(dir, _ string) {
			change(filepath.Join(dir, rundir.WorkName, rundir.ProveName), func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"done": 1`), []byte(`"done": 2`), 1)
			})
		}, told: "prove starts again"},
	}
	var told []string
	note := func(text string) { told = append(told, text) }
	blocks := filepath.Join(right, rundir.WorkName, rundir.MarksName, "a directory")
	must.OK(t, os.MkdirAll(blocks, 0o755))
	interrupt(t, right, prove.Options{Layers: []int{9}, MemoryBytes: 1 << 30, Job: job.Job{Note: note}}, "pass 3")
	should.Hold(t, len(told) == 1 && strings.Contains(told[0], "will begin anew"), "no copy: notes %q", told)
	must.OK(t, os.RemoveAll(filepath.Dir(blocks)))
	run(t, right, prove.Options{Layers: []int{9}, Resume: true, Job: job.Job{Note: note}})
	should.Equal(t, len(told), 1, "another note: %q", told)
	for _, dir := range []string{right, wrong} {
		want := run(t, dir, prove.Options{Layers: []int{9}})
		for name, c := range cases {
			o := prove.Options{Layers: []int{9}, Job: job.Job{Workers: 2}, MemoryBytes: 1}
			interrupt(t, dir, o, "pass 3")
			c.change(dir, filepath.Join(dir, rundir.WorkName, rundir.MarksName))
			told = nil
			o.MemoryBytes = max(o.MemoryBytes, c.o.MemoryBytes)
			o.Resume, o.Restart, o.Note = true, c.o.Restart, note
			o.Progress = func(p job.Step) {
				should.Not(t, p.Seeds != 9 || p.Done > p.Total || p.Begun > p.Done || (p.Begun > 0) != c.resumes, "%s: progress %+v", name, p)
			}
			got := run(t, dir, o)
			should.Equal(t, got.Layers[0].Before != nil, c.resumes, "%s: resumed", name)
			all := strings.Join(told, "; ")
			should.Hold(t, strings.Contains(all, c.told) && (all != "") == (c.told != ""), "%s: told %q, want %q", name, all, c.told)
			w, g := *want.Layers[0].Proof, *got.Layers[0].Proof
			w.Passes, g.Passes = 0, 0
			must.Same(t, name, w, g)
			should.Equal(t, got.OK, dir == right, "%s: in order", name)
			must.Empty(t, filepath.Join(dir, rundir.WorkName))
		}
	}
}

// TestLongGrounding has any scores, few of them different, and any marks: passes must ground what follows from these by the words of the
// theorem, in memory and on disk; short tests have one rule set. Rows of the layers with 12 pits are longer than a chunk.
func TestLongGrounding(t *testing.T) {
	random := tries.Rand(t)
	one := []awari.Rules{awaritest.AnyRules(random)}
	all := tries.More(one, awari.RuleSets())
	for _, c := range []struct {
		pits, seeds int
		rules       []awari.Rules
	}{{4, 9, all}, {6, 7, all}, {8, 6, all}, {12, 7, one}} {
		for _, rules := range c.rules {
			game := testrun.Game(t, c.pits, rules)
			space, layers := testrun.Space(t, game, c.seeds), [][]int8{}
			for n := range c.seeds + 1 {
				layers = append(layers, make([]int8, space.Size(n)))
			}
			g, last := newGraph(t, game, layers, c.seeds), layers[c.seeds]
			marked := g.anyScores(random, last)
			path := testrun.Write(t, game, layers, 1000)
			tables := tabletest.Open(t, path, catalog.Listed(testrun.Manifest(t, path)))
			want := g.grounded(last)
			for _, o := range []verify.Options{
				{}, {Job: job.Job{Workers: 3}}, {MemoryBytes: 1}, {Job: job.Job{Workers: 2}, MemoryBytes: int64(len(last)) / 2},
			} {
				dir := must.Get(vfs.OpenDir(t.TempDir()))(t)
				onDisk := must.Get(marks.Create(dir, rundir.MarksName, uint64(len(last))))(t)
				for name, m := range map[string]*marks.Set{"memory": marks.New(uint64(len(last))), "disk": onDisk} {
					must.OK(t, m.Add(marked, 0))
					g := must.Get(verify.NewGrounding(t.Context(), tables, c.seeds, o, m, func() (vfs.Dir, error) { return dir, nil }))(t)
					for must.Get(g.Pass(t.Context()))(t) > 0 {
					}
					must.OK(t, g.Close())
					bits, is := make([]byte, (len(last)+7)/8), make([]bool, len(last))
					must.OK(t, m.Read(bits, 0))
					for i := range is {
						is[i] = bits[i/8]>>(i%8)&1 != 0
					}
					must.List(t, is, want, "%s, %s, %d workers, %d bytes: grounded", game.Name(), name, o.Workers, o.MemoryBytes)
					must.OK(t, m.Close())
				}
				must.OK(t, dir.Close())
			}
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

// graph is a layer as the theorem sees it, written out: the brute force that the package is compared with. It only knows successors.
type graph struct {
	seeds   int
	outside []int   // by rank: best value of leaving the layer, or the end of the game
	quiet   [][]int // by rank: ranks of the quiet children
	before  [][]int // by rank: the positions of which it is a quiet child
}

// newGraph returns layer n of a game with the given scores of lower layers.
func newGraph(t testing.TB, game awari.Game, lower [][]int8, n int) *graph {
	space := testrun.Space(t, game, n)
	size := int(space.Size(n))
	g := &graph{seeds: n, outside: make([]int, size), quiet: make([][]int, size), before: make([][]int, size)}
	for p := range size {
		b := space.Unrank(n, uint64(p))
		moves := game.Successors(nil, b)
		g.outside[p] = math.MinInt
		if len(moves) == 0 {
			g.outside[p] = game.Terminal(b)
		}
		for _, m := range moves {
			seeds, rank := space.Rank(m.To)
			if seeds < n {
				g.outside[p] = max(g.outside[p], m.Reward-int(lower[seeds][rank]))
				continue
			}
			g.quiet[p] = append(g.quiet[p], int(rank))
			g.before[rank] = append(g.before[rank], p)
		}
	}
	return g
}

// value returns the score of a position by its moves.
func (g *graph) value(scores []int8, p int) int {
	best := g.outside[p]
	for _, c := range g.quiet[p] {
		best = max(best, -int(scores[c]))
	}
	return best
}

// another returns the locally optimal scores that result if position p has the score k and all others give in, if there are any: starting
// from the true ones, a position whose moves give something else takes that.
func (g *graph) another(truth []int8, p int, k int8) (scores []int8, ok bool) {
	scores = append([]int8(nil), truth...)
	scores[p] = k
	queue := append([]int(nil), g.before[p]...)
	for steps := 0; len(queue) > 0; steps++ {
		q := queue[0]
		queue = queue[1:]
		v := g.value(scores, q)
		if steps > 20*len(scores) || v != int(int8(v)) {
			return nil, false
		}
		if v != int(scores[q]) && q != p {
			scores[q] = int8(v)
			queue = append(queue, g.before[q]...)
		}
	}
	return scores, g.value(scores, p) == int(k)
}

// grounded returns the grounded positions by the words of the theorem.
func (g *graph) grounded(scores []int8) []bool {
	in := make([]bool, len(scores))
	for changed := true; changed; {
		changed = false
		for p := range scores {
			if !in[p] && g.groundable(scores, in, p) {
				in[p], changed = true, true
			}
		}
	}
	return in
}

func (g *graph) groundable(scores []int8, in []bool, p int) bool {
	k := int(scores[p])
	backs := func(c int) bool { return in[c] && int(scores[c]) == -k }
	open := func(c int) bool { return !in[c] && int(scores[c]) == -k }
	return k > 0 && (g.outside[p] == k || slices.ContainsFunc(g.quiet[p], backs)) || k < 0 && !slices.ContainsFunc(g.quiet[p], open)
}

// fixpoints returns locally optimal scores of a layer other than the true ones, up to limit of them, found by insisting on a score for each
// position in turn. None is beyond the number of seeds: the tables refuse these.
func (g *graph) fixpoints(truth []int8, limit int) [][]int8 {
	var found [][]int8
	most := int8(g.seeds)
	for _, k := range []int8{most, 1, 5, -2} {
		for p := range truth {
			scores, ok := g.another(truth, p, k)
			known := func(f []int8) bool { return slices.Equal(f, scores) }
			if !ok || slices.Max(scores) > most || slices.Min(scores) < -most || known(truth) || slices.ContainsFunc(found, known) {
				continue
			}
			if found = append(found, scores); len(found) == limit {
				return found
			}
		}
	}
	return found
}

// TestLongFalse proves layers whose scores are false and locally optimal everywhere. Verifying must accept them, or else they prove
// nothing; proving must say exactly which positions are not grounded.
func TestLongFalse(t *testing.T) {
	for _, c := range []struct{ pits, seeds, most int }{{4, tries.More(7, 9), 2}, {6, tries.More(3, 4), 2}, {8, tries.More(3, 6), 2}, {12, tries.More(2, 3), 3}} {
		for _, rules := range awari.RuleSets() {
			game, cases := testrun.Game(t, c.pits, rules), 0
			layers := testrun.Solve(t, game, c.seeds)
			for n, truth := range layers {
				g := newGraph(t, game, layers, n)
				for _, scores := range g.fixpoints(truth, c.most) {
					cases++
					g.checkFalse(t, game, append(layers[:n:n], scores), some(ways(len(scores)), cases))
				}
			}
			should.Not(t, cases < 3, "%s: only %d false fixpoints to try", game.Name(), cases)
		}
	}
}

// checkFalse proves layers of which the last one, made of g, is false.
func (g *graph) checkFalse(t *testing.T, game awari.Game, layers [][]int8, ways map[string]prove.Options) {
	n := len(layers) - 1
	dir := testrun.Write(t, game, layers, 50)
	v, err := verify.Run(t.Context(), dir, verify.Options{Layers: []int{n}})
	must.Hold(t, err == nil && v.OK, "layer %d: verify found the false scores: %v, %v", n, err, v.Err())
	want := g.proof(t, game, layers[n])
	must.Not(t, want.Ungrounded == 0, "layer %d: false scores, and all are grounded: the theorem is wrong", n)
	for name, o := range ways {
		got := run(t, dir, o)
		proof := *got.Layers[n].Proof
		proof.Passes = 0
		must.Same(t, fmt.Sprintf("layer %d, %s", n, name), want, proof)
		err := got.Err()
		should.Hold(t, !got.OK && *must.As[*prove.UngroundedError](t, err) == (prove.UngroundedError{Seeds: n, Positions: want.Ungrounded}) &&
			errors.Is(err, verify.ErrDifferences) && !errors.Is(err, corrupt.ErrCorrupt), "layer %d, %s: %v", n, name, err)
	}
}

// proof returns the proof of the layer by brute force, without passes.
func (g *graph) proof(t *testing.T, game awari.Game, scores []int8) prove.Proof {
	space, p := testrun.Space(t, game, g.seeds), signs(scores)
	for rank, grounded := range g.grounded(scores) {
		k := scores[rank]
		if grounded || k == 0 {
			continue
		}
		if k > 0 {
			p.Positive--
		} else {
			p.Negative--
		}
		if p.Ungrounded++; len(p.First) < prove.MaxUngrounded {
			p.First = append(p.First, prove.Position{Rank: uint64(rank), Board: game.Text(space.Unrank(g.seeds, uint64(rank))), Stored: int(k)})
		}
	}
	return p
}

// TestAbove has true scores, false ones, and above them scores that follow from
// these: they are verified, but nothing is proved with the help of false scores.
func TestAbove(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 3)
	for _, scores := range newGraph(t, game, layers, 3).fixpoints(layers[3], 100) {
		if slices.Max(scores) <= 3 {
			layers[3] = scores
		}
	}
	for n := 4; n < 6; n++ {
		scores, _, err := retro.SolveLayer(t.Context(), testrun.Space(t, game, n), layers, n, nil)
		must.OK(t, err)
		layers = append(layers, scores)
	}
	dir := testrun.Write(t, game, layers, 64)
	result := run(t, dir, prove.Options{})
	for n, l := range result.Layers {
		should.Hold(t, (l.Proof != nil) == (n <= 3) && l.Checked == l.Positions && l.Mismatches == 0, "%+v", l)
	}
	should.Equal(t, must.As[*prove.UngroundedError](t, result.Err()).Seeds, 3, "false scores")
	// Whoever asks for one layer takes the others for granted.
	result = run(t, dir, prove.Options{Layers: []int{5}})
	should.Hold(t, result.OK && len(result.Layers) == 1 && result.Layers[0].Proof.Ungrounded == 0, "%+v", result)
}

// TestDifferences has scores that are not locally optimal: that is all there is to say about the layer and those above.
func TestDifferences(t *testing.T) {
	game := testrun.Game(t, 4, awari.Strict)
	layers := testrun.Solve(t, game, 6)
	layers[4][7] = -layers[4][7]
	result := run(t, testrun.Write(t, game, layers, 64), prove.Options{})
	for n, l := range result.Layers {
		should.Hold(t, (l.Proof == nil) == (n >= 4), "%+v", l)
	}
	err := result.Err()
	should.Not(t, result.OK || !errors.Is(err, verify.ErrDifferences) || errors.As(err, new(*prove.UngroundedError)), "%v", err)
}
