package solve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// retrograde returns the options of that engine.
func retrograde(seeds int) solve.Options {
	o := options(seeds)
	o.Engine = solve.Retrograde
	return o
}

// TestEngines: both engines write the same files, also one after the other, and over what an
// interrupted run of the other one has left.
func TestEngines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 9}, {8, 6}, {12, 5}} {
		for _, rules := range awari.RuleSets() {
			game := awaritest.Game(t, c.pits, rules)
			want, got, turns := t.TempDir(), t.TempDir(), t.TempDir()
			mustSolve(t, want, game, options(c.seeds))
			for _, r := range mustSolve(t, got, game, retrograde(c.seeds)) {
				a := r.Accesses
				if a == nil || a.Init != r.Layer.Positions || a.Total < a.Init || r.Cost != uint64(c.pits+2+r.Layer.Seeds)*a.Init {
					t.Errorf("%s, layer %d: accesses %+v, cost %d", game.Name(), r.Layer.Seeds, a, r.Cost)
				}
				if s := r.Engine; s.Sweeps < 1 || s.Sweeps > r.Layer.Seeds+1 || s.Bits != 8 || s.Windows != 1 || s.Bytes == 0 {
					t.Errorf("%s, layer %d: %+v", game.Name(), r.Layer.Seeds, s)
				}
			}
			sameRun(t, want, got)
			if c.pits > 4 {
				continue
			}
			for n := range c.seeds + 1 {
				o := options(n)
				if n%2 == 1 {
					o = retrograde(n)
				}
				mustSolve(t, turns, game, o)
			}
			sameRun(t, want, turns)
		}
	}
}

// TestRetrogradeInterrupted: an interrupted layer begins again.
func TestRetrogradeInterrupted(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	want, dir := t.TempDir(), t.TempDir()
	mustSolve(t, want, game, options(7))
	for _, stage := range []string{"capture", "dense", "seal"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := retrograde(7)
		last := solve.Progress{}
		o.Progress = func(step job.Step) {
			p := step.Detail.(solve.Progress)
			should.Not(t, p.RunDone < last.RunDone || p.RunDone > p.RunTotal, "%+v after %+v", p, last)
			last = p
			if p.Stage == stage && p.Seeds >= 6 {
				cancel()
			}
		}
		_, err := solve.Solve(ctx, dir, game, o)
		cancel()
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
		should.Not(t, last.Seeds < 6, "%s: the last report is about layer %d", stage, last.Seeds)
	}
	mustSolve(t, dir, game, retrograde(7))
	sameRun(t, want, dir)
}

// TestRetrogradeMemory: what needs more memory than is allowed is refused before anything is
// changed.
func TestRetrogradeMemory(t *testing.T) {
	game := awaritest.Game(t, 12, awari.Awari)
	dir := t.TempDir()
	o := retrograde(20)
	o.Memory = 100 << 20
	_, err := solve.Solve(t.Context(), dir, game, o)
	refused, ok := errors.AsType[*memory.Error](err)
	must.Hold(t, ok && strings.Contains(err.Error(), "enough up to layer "), "layer 20 in 100 MiB: %v", err)
	should.Not(t, refused.Need < 84_672_315*29, "%d bytes for 84,672,315 boards", refused.Need)
	files := must.Tree(t, dir)
	should.Hold(t, len(files) == 1, "%d entries in the directory", len(files))
	o.Memory = refused.Need
	should.Be(t, o.Check(game), nil, "what is said to be needed is refused")
}
