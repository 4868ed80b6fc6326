package find

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/memory"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	bestline "grenier/pipeline/play/line"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type oracle struct {
	testrun.Table
	t testing.TB
}

func newOracle(t testing.TB, game awari.Game, layers [][]int8) oracle {
	return oracle{testrun.Table{Space: testrun.Space(t, game, len(layers)-1), Scores: layers}, t}
}

// facts returns what conditions call by these names; those that do not exist are absent.
func (o oracle) facts(b awari.Board) map[string]int {
	v, q := o.Worth(b), o.Half()
	x := map[string]int{"value": v, "mover": 0, "opponent": 0, "winning": 0, "drawing": 0, "losing": 0}
	for pit := range 2 * q {
		x[fmt.Sprint("p", pit)] = int(b[pit])
		x[[]string{"mover", "opponent"}[pit/q]] += int(b[pit])
	}
	var values, captures, replies, taken, given []int // taken and given by best moves
	for _, play := range o.Plays(b) {
		if !play.Legal {
			continue
		}
		w, reply := play.Captured-o.Worth(play.Child), 0
		x[[]string{"losing", "drawing", "winning"}[1+cmp.Compare(w, 0)]]++
		for _, answer := range o.Plays(play.Child) {
			reply = max(reply, answer.Captured)
		}
		values, captures, replies = append(values, w), append(captures, play.Captured), append(replies, reply)
		if w == v {
			taken, given = append(taken, play.Captured), append(given, reply)
		}
	}
	if x["moves"], x["best"] = len(values), len(taken); len(values) > 0 {
		x["capture"], x["least"], x["taken"], x["give"] = slices.Max(captures), slices.Min(replies), slices.Max(taken), slices.Min(given)
	}
	if slices.Sort(values); len(values) > 1 {
		x["margin"] = values[len(values)-1] - values[len(values)-2]
	}
	x["line"] = len(must.Get(bestline.Best(o.t.Context(), o, b, bestline.Options{}))(o.t).Moves)
	return x
}

// place is where a position is, hit one that a search should find.
type place struct {
	seeds int
	rank  uint64
}

type hit struct {
	place
	facts map[string]int
}

func (r *Result) places() (list []place) {
	for _, h := range r.Found {
		list = append(list, place{h.Seeds, h.Rank})
	}
	return list
}

func (o oracle) all(from, to int) (hits []hit) {
	for rank, b := range testrun.Boards(o.Space, from, to) {
		hits = append(hits, hit{place{b.Seeds(), rank}, o.facts(b)})
	}
	return hits
}

// matching returns those that a condition wants: it is written once as text and once as bounds.
func matching(hits []hit, bounds map[string][2]int) []hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h hit) bool {
		for name, b := range bounds {
			if x, there := h.facts[name]; !there || x < b[0] || x > b[1] {
				return true
			}
		}
		return false
	})
}

const most = math.MaxInt

var conditions = []struct {
	text   string
	bounds map[string][2]int
}{
	{"", nil},
	{"winning=1 drawing=0", map[string][2]int{"winning": {1, 1}, "drawing": {0, 0}}},
	{"only-win", map[string][2]int{"winning": {1, 1}, "drawing": {0, 0}, "moves": {2, most}}},
	{"sacrifice", map[string][2]int{"winning": {1, 1}, "taken": {0, 0}, "give": {3, most}, "least": {0, 0}}},
	{"value>=3 mover<=3", map[string][2]int{"value": {3, most}, "mover": {0, 3}}},
	{"p0=0..1 p3>1 value<0", map[string][2]int{"p0": {0, 1}, "p3": {2, most}, "value": {-most, -1}}},
	{"margin>=3 taken<=2 capture>2", map[string][2]int{"margin": {3, most}, "taken": {0, 2}, "capture": {3, most}}},
	{"best>=2 losing=0", map[string][2]int{"best": {2, most}, "losing": {0, 0}}},
	{"drawing=1", map[string][2]int{"drawing": {1, 1}}},
	{"moves=0", map[string][2]int{"moves": {0, 0}}},
	{"margin<=0 opponent>=2", map[string][2]int{"margin": {-most, 0}, "opponent": {2, most}}},
	{"line>=6 give<=1 least<=1", map[string][2]int{"line": {6, most}, "give": {-most, 1}, "least": {-most, 1}}},
	{"winning=0 drawing=0 moves>=1", map[string][2]int{"winning": {0, 0}, "drawing": {0, 0}, "moves": {1, most}}},
}

func run(t testing.TB, dir string, o Options) *Result {
	t.Helper()
	return must.Get(Run(t.Context(), dir, o))(t)
}

// TestLongAgainstBruteForce compares whole lists with the oracle's; in short tests, for each condition and number of pits by one rule set.
func TestLongAgainstBruteForce(t *testing.T) {
	six, more, four := tries.More(5, 6), tries.More(0, 2), tries.More(5, 10)
	for _, g := range []struct{ pits, from, to, block int }{{4, 0, four, 50}, {6, six, six + more, 1000}, {8, 4, 4 + more, 1000}} {
		for k, rules := range awari.RuleSets() {
			game, layers, dir := testrun.Run(t, g.pits, rules, g.to, g.block)
			all := newOracle(t, game, layers).all(g.from, g.to)
			for i, c := range conditions {
				if !tries.Long() && (i+g.pits/2)%len(awari.RuleSets()) != k {
					continue
				}
				want := matching(all, c.bounds)
				r := run(t, dir, Options{From: g.from, To: g.to, Condition: must.Get(Parse(c.text))(t), Order: First, Count: MaxCount / 10, Job: job.Job{Workers: 2, Family: cpu.Best()}})
				must.Not(t, r.Hits != uint64(len(want)) || r.Positions != uint64(len(all)) || r.Undecided != 0 || len(r.Found) != len(want),
					"%s, %q: %d of %d positions, %d found; want %d of %d", game.Name(), c.text, r.Hits, r.Positions, len(r.Found), len(want), len(all))
				for i, at := range r.places() {
					must.Hold(t, at == want[i].place && r.Found[i].Value == want[i].facts["value"],
						"%s, %q: hit %d is %+v, want %+v", game.Name(), c.text, i, r.Found[i], want[i])
				}
			}
		}
	}
}

// TestOrders has each order choose among the same hits.
func TestOrders(t *testing.T) {
	game, layers, dir := testrun.Run(t, 6, awari.Awari, 7, 100)
	all := newOracle(t, game, layers).all(5, 7)
	want := matching(all, map[string][2]int{"winning": {1, 1}})
	o := Options{From: 5, To: 7, Condition: must.Get(Parse("winning=1"))(t), Order: First, Count: 5, Job: job.Job{Workers: 2}}
	first := func(hits []hit) (list []place) {
		for _, h := range hits[:5] {
			list = append(list, h.place)
		}
		return list
	}
	r := run(t, dir, o)
	should.List(t, r.places(), first(want), "first")
	at := slices.IndexFunc(all, func(h hit) bool { return h.place == want[4].place })
	should.Hold(t, r.Hits == 5 && r.Positions == uint64(at+1), "first: %d hits in %d positions, want %d", r.Hits, r.Positions, at+1)
	for name := range facts {
		o.Order = must.Get(Most(names[name]))(t)
		if names[name] == "p7" {
			break
		}
		sorted := slices.Clone(want)
		slices.SortStableFunc(sorted, func(a, b hit) int {
			value := func(h hit) int {
				if x, there := h.facts[names[name]]; there {
					return x
				}
				return -most // behind all others
			}
			return cmp.Compare(value(b), value(a))
		})
		r := run(t, dir, o)
		should.List(t, r.places(), first(sorted), "%s", o.Order)
		should.Equal(t, r.Hits, uint64(len(want)), "%s: hits", o.Order)
	}
	// Any position can be chosen at random, and the seed decides.
	o.Order = Random
	seen := map[place]bool{}
	for seed := range uint64(30) {
		o.Seed = seed
		r := run(t, dir, o)
		must.Hold(t, len(r.Found) == 5 && r.Hits == uint64(len(want)), "%d found of %d", len(r.Found), r.Hits)
		for _, at := range r.places() {
			seen[at] = true
		}
		should.Not(t, seed == 0 && !slices.Equal(run(t, dir, o).places(), r.places()), "the same seed finds others")
	}
	should.Not(t, len(want) > 2000 || len(seen) < 110,
		"150 draws from %d hits show only %d of them", len(want), len(seen)) // 130 are expected of 488
	for at := range seen {
		should.Hold(t, slices.ContainsFunc(want, func(h hit) bool { return h.place == at }), "%+v is no hit", at)
	}
}

// TestLongLittleMemory searches a layer that does not fit: the result is the same for any memory and
// number of workers, and what a *memory.Error asks for is enough.
func TestLongLittleMemory(t *testing.T) {
	tries.NeedsLong(t, "solves 13 seeds")
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 13)
	o := Options{From: 13, To: 13, Condition: must.Get(Parse("only-win"))(t), Order: Random, Count: 100, Job: job.Job{Family: cpu.Best()}}
	want := run(t, dir, o)
	must.Not(t, want.Hits == 0 || len(want.Found) != 100, "%d hits", want.Hits)
	for workers := 1; workers <= 2; workers++ {
		o.Workers, o.Memory = workers, 1
		small := must.As[*memory.Error](t, must.Err(Run(t.Context(), dir, o)), "one byte of memory")
		for _, more := range []uint64{0, 1 << 19} {
			o.Memory = small.Need + more
			s := must.Get(newSearch(tabletest.Open(t, dir), o))(t)
			s.seeds = o.To
			fit, _ := s.fitting(memory.Room(o.Memory) - s.fixed())
			must.Not(t, s.all(fit), "all layers fit: nothing is tested")
			got := run(t, dir, o)
			should.Hold(t, reflect.DeepEqual(got, want), "%d workers, %d bytes: %+v, want %+v", workers, o.Memory, got, want)
		}
	}
}

// TestResume interrupts a search at every report, and goes on from the state file.
func TestResume(t *testing.T) {
	dir := testrun.Dir(t, 12, awari.Awari, 7, 1000)
	for _, order := range []Order{First, Random, {most: value}} {
		o := Options{From: 5, To: 7, Condition: must.Get(Parse("only-win"))(t), Order: order, Count: 20000, Job: job.Job{Workers: 2}}
		want := run(t, dir, o)
		o.State = filepath.Join(t.TempDir(), "state")
		reports, interrupted := 0, 0
		for stop := 1; ; stop = reports + 1 {
			var got *Result
			at := func(p job.Step) bool {
				should.Not(t, (p.Begun > 0) != (interrupted > 0) || p.Begun >= p.Done, "%v: progress %+v after %d interrupts", order, p, interrupted)
				reports++
				return reports >= stop
			}
			if runstest.Ends(t, &o.Job, at, func(ctx context.Context) (err error) { got, err = Run(ctx, dir, o); return err }) {
				should.Hold(t, reflect.DeepEqual(got, want),
					"%v: after %d interrupts %d hits, %d found; want %d, %d", order, interrupted, got.Hits, len(got.Found), want.Hits, len(want.Found))
				break
			}
			interrupted++
			must.Be(t, must.Err(os.Stat(o.State)), nil, "interrupted, but")
		}
		should.Not(t, interrupted == 0, "%v: never interrupted", order)
		should.Be(t, must.Err(os.Stat(o.State)), os.ErrNotExist, "the state file is still there")
	}
}

// TestKilled goes on from whatever a search that was killed may have left in its state file.
func TestKilled(t *testing.T) {
	defer func(d time.Duration) { saveInterval = d }(saveInterval)
	saveInterval = 0
	dir := testrun.Dir(t, 12, awari.Awari, 7, 1000)
	o := Options{From: 3, To: 7, Condition: must.Get(Parse("only-win"))(t), Order: Random, Count: 50, Job: job.Job{Workers: 2}, State: filepath.Join(t.TempDir(), "state")}
	var left [][]byte
	o.Progress = func(job.Step) {
		if data, err := os.ReadFile(o.State); err == nil {
			left = append(left, data)
		}
	}
	want := run(t, dir, o)
	must.Not(t, len(left) < 3, "%d states", len(left))
	o.Progress = nil
	for i, data := range left {
		must.Write(t, o.State, data)
		got := run(t, dir, o)
		should.Hold(t, reflect.DeepEqual(got, want), "state %d: %+v, want %+v", i, got, want)
	}
}

// TestStateRefused has state files of other searches, and damaged ones: they are refused, and stay as they are.
func TestStateRefused(t *testing.T) {
	game, layers, dir := testrun.Run(t, 12, awari.Awari, 7, 1000)
	o := Options{From: 5, To: 7, Condition: must.Get(Parse("only-win"))(t), Order: Random, Count: 7, State: filepath.Join(t.TempDir(), "state")}
	runstest.Interrupt(t, &o.Job, func(job.Step) bool { return true }, func(ctx context.Context) error { return must.Err(Run(ctx, dir, o)) })
	data := must.Read(t, o.State)
	for name, change := range map[string]func(o *Options){
		"condition": func(o *Options) { o.Condition = must.Get(Parse("winning=2"))(t) },
		"from":      func(o *Options) { o.From = 4 }, "to": func(o *Options) { o.To = 6 }, "count": func(o *Options) { o.Count = 8 },
		"seed": func(o *Options) { o.Seed = 8 }, "order": func(o *Options) { o.Order = First },
	} {
		x := o
		change(&x)
		should.Be(t, must.Err(Run(t.Context(), dir, x)), ErrOther, "another %s", name)
	}
	layers[3][0] = 0
	should.Be(t, must.Err(Run(t.Context(), testrun.Write(t, game, layers, 1000), o)), ErrOther, "other layers")
	for i := 0; i < len(data); i += 7 {
		bad := slices.Clone(data)
		bad[i] ^= 0x10
		must.Write(t, o.State, bad)
		must.Be(t, must.Err(Run(t.Context(), dir, o)), corrupt.ErrCorrupt, "byte %d", i)
		must.Hold(t, slices.Equal(must.Read(t, o.State), bad), "the state file changed")
	}
	must.Write(t, o.State, data[:len(data)-1])
	should.Be(t, must.Err(Run(t.Context(), dir, o)), corrupt.ErrCorrupt, "truncated")
	must.Write(t, o.State, data)
	should.OK(t, must.Err(Run(t.Context(), dir, o)))
}

func TestRefused(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 4, 100)
	for _, o := range []Options{{From: 3, To: 2}, {From: -1, To: 2}, {From: 3, To: 4, Count: -1}, {From: 3, To: 4, Count: MaxCount + 1}} {
		should.Be(t, must.Err(Run(t.Context(), dir, o)), ErrOptions, "%+v", o)
	}
	should.Be(t, must.Err(Run(t.Context(), dir, Options{From: 3, To: 5})), tables.ErrUnsolved)
	should.Be(t, must.Err(Run(t.Context(), dir, Options{From: 3, To: 4, Condition: must.Get(Parse("p4=0"))(t)})), ErrCondition)
	should.Be(t, must.Err(Most("beauty")), ErrCondition)
}

// BenchmarkOnlyWin searches layers of a run directory that the environment names.
func BenchmarkOnlyWin(b *testing.B) {
	dir := os.Getenv("GRENIER_LAYERS")
	tries.SkipIf(b, dir == "", "GRENIER_LAYERS names no run directory with layers up to 20 seeds")
	o := Options{From: 20, To: 20, Condition: must.Get(Parse("winning=1 drawing=0"))(b), Order: Random, Count: 10, Job: job.Job{Workers: 2, Family: cpu.Best()}}
	positions := uint64(0)
	for b.Loop() {
		positions += run(b, dir, o).Positions
	}
	b.ReportMetric(float64(positions)/b.Elapsed().Seconds(), "positions/s")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "value>=4": "value>=4", "value>3, value<=9,value>4": "value=5..9", "winning=1\tdrawing=0": "winning=1 drawing=0",
		"p3=0..2 p11<1 mover<5 value=-7..5": "value=-7..5 mover<=4 p3=0..2 p11<=0", "only-win": "moves>=2 winning=1 drawing=0",
		"sacrifice value>=6": "value>=6 winning=1 taken=0 give>=3 least=0", "best=1 best=2": "best=2..1",
	} {
		c, err := Parse(text)
		should.Hold(t, err == nil && c.String() == want, "%q: %q, %v; want %q", text, c.String(), err, want)
	}
	for text, want := range map[string]string{
		"win=1": `no fact "win": must be value, mover`, "=3": `no fact ""`, "p12=1": `no fact "p12"`, "value": "or one of only-win, sacrifice",
		"value=": "expected a name", "value=x": "expected a name", "value==3": "expected a name", "value>1..3": "expected a name",
		"value=1..": "expected a name", "value>=99999999999999999999": "expected a name",
	} {
		should.Says(t, must.Err(Parse(text)), ErrCondition, want)
	}
}

// FuzzParse: whatever can be read means the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "only-win", "sacrifice", "value=-3..9, p0>2 margin<=5", "best=1 best=2 line>30", "give<0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			must.Be(t, err, ErrCondition)
			return
		}
		again, err := Parse(c.String())
		must.Hold(t, err == nil && again == c, "%q becomes %q, which means something else: %v", text, c.String(), err)
	})
}
