package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/reach"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// begin returns a game and its board with so many seeds in each pit.
func begin(t testing.TB, pits int, rules awari.Rules, seeds uint8) (game awari.Game, start awari.Board) {
	t.Helper()
	copy(start[:], slices.Repeat([]uint8{seeds}, pits))
	return testrun.Game(t, pits, rules), start
}

// starts are even and uneven starts on all boards, among them some without a move.
var starts = []string{
	"1 1 1 1", "5 5 5 5", "0 0 0 9", "0 0 0 0", "9 0 0 0", "0 1 0 0", "12 0 0 12", "2 2 2 2 2 2", "0 0 7 1 0 4", "17 0 0 1 0 0",
	"1 1 1 1 1 1 1 1", "2 2 2 2 1 1 1 1", "0 1 0 1 0 1 0 1 0 1", "1 0 0 0 0 2 0 0 0 0 3 0", "0 0 0 0 0 7 0 0 0 0 0 0",
}

func plainCounts(t testing.TB, game awari.Game, start awari.Board) []uint64 {
	t.Helper()
	space := testrun.Space(t, game, start.Seeds())
	return must.Get(reach.From(t.Context(), space, start))(t).Counts()
}

// TestLongEqualsReach compares with the plain search, in memory; in short tests each start by one rule set, in turn.
func TestLongEqualsReach(t *testing.T) {
	for at, text := range starts {
		fields := strings.Fields(text)
		for _, rules := range tries.More(awari.RuleSets()[at%3:][:1], awari.RuleSets()) {
			game := testrun.Game(t, len(fields), rules)
			start := must.Get(game.Parse(fields))(t)
			want := plainCounts(t, game, start)
			for i, family := range cpu.Available() {
				for workers := 1; workers <= 3; workers += 2 {
					if !tries.Long() && workers != 1+i%2*2 {
						continue // one or three for a family, in turn
					}
					got := must.Get(Count(t.Context(), game, start, Options{Job: job.Job{Workers: workers, Family: family}}))(t)
					should.List(t, got, want, "%s from %v, %d, %v", game.Name(), start, workers, family)
				}
			}
		}
	}
}

func onDisk(t testing.TB, game awari.Game, start awari.Board) Options {
	t.Helper()
	refused := must.As[*memory.Error](t, must.Err(Count(t.Context(), game, start, Options{Dir: "nowhere", Job: job.Job{Memory: 1}})))
	return Options{Job: job.Job{Workers: 2, Family: cpu.Best(), Memory: refused.Need}, Dir: t.TempDir(), Interval: time.Hour}
}

// TestLongOnDisk searches with the least memory: sets leave it, and it is never exceeded.
func TestLongOnDisk(t *testing.T) {
	for _, rules := range awari.RuleSets()[:tries.More(1, 3)] {
		game, start := begin(t, 6, rules, 3)
		want := plainCounts(t, game, start)
		o := onDisk(t, game, start)
		s := must.Get(newSearch(game, start, o))(t)
		away, wasted, used := 0, uint64(0), uint64(0)
		s.leastWaste = 1 << 10
		s.Progress = func(job.Step) {
			should.Not(t, s.store.held > s.store.room, "%d bytes in memory, %d are allowed", s.store.held, s.store.room)
			wasted, used = max(wasted, s.store.waste), max(used, s.store.live)
			for _, b := range s.blocks[s.n] {
				if b.reached.count > 0 && b.reached.words == nil {
					away++
				}
			}
		}
		must.OK(t, errors.Join(s.openDir(), s.run(t.Context()), s.store.dir.Close()))
		should.List(t, s.counts, want, "%s", game.Name())
		should.Not(t, wasted == 0 || wasted > 4*used, "at most %d bytes were wasted on disk and %d used", wasted, used)
		should.Equal(t, s.store.live, 0, "bytes are left on disk")
		should.Hold(t, away != 0 && s.store.held == 0 && len(s.store.here) == 0,
			"%d times a set was on disk; %d bytes in %d sets are left in memory", away, s.store.held, len(s.store.here))
		should.List(t, must.Get(Count(t.Context(), game, start, o))(t), want, "%s, done already", game.Name())
	}
}

// TestResume interrupts a search after every 30 plays, and goes on from the checkpoint that leaves.
func TestResume(t *testing.T) {
	game, start := begin(t, 6, awari.Awari, 2)
	want := plainCounts(t, game, start)
	o := onDisk(t, game, start)
	for runs := 1; ; runs++ {
		plays, last, got := 0, Progress{}, []uint64(nil)
		at := func(step job.Step) bool {
			p := step.Detail.(Progress)
			should.Not(t, last.Done > p.Done || (p.Begun > 0) != (runs > 1) || p.Begun > p.Done, "%+v after %+v", p, last)
			last = p
			plays++
			return plays == 30
		}
		if runstest.Ends(t, &o.Job, at, func(ctx context.Context) (err error) { got, err = Count(ctx, game, start, o); return err }) {
			should.Hold(t, slices.Equal(got, want) && runs >= 3, "%v in %d runs, want %v", got, runs, want)
			return
		}
	}
}

// TestDamaged damages the files of an interrupted search.
func TestDamaged(t *testing.T) {
	game, start := begin(t, 4, awari.Strict, 3)
	o := onDisk(t, game, start)
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Detail.(Progress).Plays == 20 }, func(ctx context.Context) error {
		return must.Err(Count(ctx, game, start, o))
	})
	runstest.Damages(t, o.Dir, func(dir string) ([]uint64, error) {
		o := o
		o.Dir = dir
		return Count(t.Context(), game, start, o)
	}, plainCounts(t, game, start))
}

// TestRestore refuses checkpoints that contradict themselves.
func TestRestore(t *testing.T) {
	game, start := begin(t, 4, awari.Strict, 3)
	piece := []workfile.Extent{{Offset: 0, Length: 8, Sum: 1}}
	for name, change := range map[string]func(c *checkpoint){
		"another start":   func(c *checkpoint) { c.Start[0]++ },
		"a layer above":   func(c *checkpoint) { c.Seeds = 13 },
		"a layer below":   func(c *checkpoint) { c.Seeds = -2 },
		"few counts":      func(c *checkpoint) { c.Counts = c.Counts[1:] },
		"a block above":   func(c *checkpoint) { c.Blocks[0].Seeds = 9 },
		"no such block":   func(c *checkpoint) { c.Blocks[0].Own = 9 },
		"no pieces":       func(c *checkpoint) { c.Blocks[0].Reached.Pieces = nil },
		"too many":        func(c *checkpoint) { c.Blocks[0].ToDo.Pieces = piece },
		"an empty piece":  func(c *checkpoint) { c.Blocks[0].Reached.Pieces = make([]workfile.Extent, 1) },
		"a block twice":   func(c *checkpoint) { c.Blocks = append(c.Blocks, c.Blocks[0]) },
		"too many boards": func(c *checkpoint) { c.Blocks[0].Reached.Count = 1 << 40 },
	} {
		s := must.Get(newSearch(game, start, Options{}))(t)
		c := checkpoint{
			Start: []int{3, 3, 3, 3}, Seeds: 8, Counts: make([]uint64, 13),
			Blocks: []savedBlock{{Seeds: 8, Own: 4, Reached: savedSet{Count: 1, Pieces: piece}}},
		}
		must.Be(t, s.restore(&c), nil, "unchanged")
		s = must.Get(newSearch(game, start, Options{}))(t)
		change(&c)
		should.Not(t, s.restore(&c) == nil, "%s: no error", name)
	}
}

func TestNeedsMemory(t *testing.T) {
	game, start := begin(t, 12, awari.Awari, 4)
	for dir, allowed := range map[string]uint64{"": 200 << 30, "nowhere": 8 << 30} {
		must.As[*memory.Error](t, must.Err(Count(t.Context(), game, start, Options{Job: job.Job{Memory: allowed}, Dir: dir})))
	}
}

// TestOtherDirectory: a directory belongs to one start and one rule set.
func TestOtherDirectory(t *testing.T) {
	game, start := begin(t, 4, awari.Awari, 1)
	o := onDisk(t, game, start)
	must.OK(t, must.Err(Count(t.Context(), game, start, o)))
	o.Memory = 0
	for _, rules := range awari.RuleSets() {
		other, start := begin(t, 4, rules, map[bool]uint8{true: 2, false: 1}[rules == awari.Awari])
		must.As[*rundir.OtherRunError](t, must.Err(Count(t.Context(), other, start, o)), "%s", other.Name())
	}
}
