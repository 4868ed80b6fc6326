//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// disturbed is a command that is killed or interrupted again and again; @ stands for a directory, where
// prepare has made its input.
type disturbed struct {
	name, args string
	prepare    []string
	lost       []int // layers that it makes again
	share      int   // of all kills, in percent
}

var disturbedCommands = []disturbed{
	{name: "awari", args: "awari solve --pits 10 --seeds 13 --checkpoint 1ms --dir @/run", share: 25},
	{name: "awari in windows", args: fmt.Sprintf("awari solve --threads 2 --seeds %d --memory %s --checkpoint 200ms --dir @/run", windowSeeds, windowMemory),
		prepare: []string{fmt.Sprintf("awari solve --seeds %d --dir @/run", windowSeeds-1)}, share: 8},
	{name: "repair", args: "awari repair --dir @/run", prepare: []string{"awari solve --pits 8 --seeds 11 --dir @/run"}, lost: []int{3, 6, 9, 11}, share: 10},
	{name: "verify", args: "awari verify --prove --layer 10 --json --dir @/run", prepare: []string{"awari solve --seeds 10 --dir @/run"}, share: 8},
	{name: "swap", args: "swap bfs --json --rows 2 --cols 5 --memory 128MiB --dir @/run", share: 32},
	{name: "patterns", args: "swap pdb build --kind apdb --rows 3 --cols 4 --tiles 1,2,3,4,5,6 --out @/run/p.gp", share: 8},
	{name: "chemin", args: "chemin solve --json --rows 3 --cols 3 --memory 64MiB --dir @/run", share: 15},
	{name: "solitaire", args: "solitaire solve --json --end any --threads 2 --memory 64MiB --board @/board.txt --dir @/run", share: 15},
	{name: "export", args: "awari export --layer 8 --format csv --out @/run/scores.csv --dir @/given",
		prepare: []string{"awari solve --seeds 8 --dir @/given", "awari export --layer 8 --format colex --out @/run/scores.csv --dir @/given"}, share: 10},
	{name: "import", args: "awari import --layer 8 --format colex --codec zstd --dir @/run @/8.zst",
		prepare: []string{"awari solve --seeds 8 --dir @/given", "awari solve --seeds 7 --dir @/run", "awari export --layer 8 --format colex --codec zstd --out @/8.zst --dir @/given"}, share: 10},
}

// TestLongSiegeKill kills commands that write, at random moments, until they are through: they
// leave the same as one that nobody disturbs, and print the same. Unless it is long, it is one command.
func TestLongSiegeKill(t *testing.T) {
	t.Parallel()
	wanted := siegeNumber(t, "GRENIER_SIEGE_KILLS", tries.Pick[uint64](4, 20, 300))
	siege(t, int(wanted), func(s *solver, r *rand.Rand, took time.Duration) result {
		timer := time.AfterFunc(time.Duration(r.Float64()*float64(took)), func() { s.cmd.Process.Kill() })
		defer timer.Stop()
		return s.wait(t)
	})
}

// siege disturbs each command, which takes a time, about wanted times in all.
func siege(t *testing.T, wanted int, disturb func(s *solver, r *rand.Rand, took time.Duration) result) {
	seed := siegeSeed(t)
	for i, d := range disturbedCommands {
		if i > 0 && !tries.Long() {
			break
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			d.siege(t, (wanted*d.share+99)/100, func(s *solver, took time.Duration) result { return disturb(s, r, took) })
		})
	}
}

// begun returns a directory in which the command can begin.
func (d *disturbed) begun(t *testing.T) string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "begun")
	must.OK(t, os.MkdirAll(filepath.Join(base, siegeDir), 0o755))
	must.Write(t, filepath.Join(base, "board.txt"), []byte(pegs))
	for _, args := range d.prepare {
		mustRun(t, d.fields(args, base)...)
	}
	if d.lost != nil {
		loseLayers(t, filepath.Join(base, siegeDir), d.lost...)
	}
	return base
}

// loseLayers removes the manifest of a run and removes layers, or cuts them short in turn.
func loseLayers(t *testing.T, dir string, lost ...int) {
	t.Helper()
	err := os.Remove(filepath.Join(dir, rundir.ManifestName))
	for i, n := range lost {
		path := filepath.Join(dir, rundir.LayerName(n))
		if i%2 == 0 {
			err = errors.Join(err, os.Remove(path))
		} else {
			err = errors.Join(err, os.Truncate(path, 100))
		}
	}
	must.OK(t, err)
}

// siege disturbs the command wanted times.
func (d *disturbed) siege(t *testing.T, wanted int, disturb func(s *solver, took time.Duration) result) {
	base := d.begun(t)
	dir := testrun.Copy(t, base)
	start := time.Now()
	undisturbed := d.start(t, dir).wait(t)
	took := time.Since(start)
	must.Hold(t, undisturbed.status == cli.ExitOK, "status %d: %s", undisturbed.status, undisturbed.err)
	printed, left := facts(reply{Out: undisturbed.out}), d.left(t, dir)
	done, through := 0, 0
	for dir = testrun.Copy(t, base); done < wanted && through < 10*wanted+10; {
		end := disturb(d.start(t, dir), took)
		should.Not(t, strings.Contains(end.err, "note"), "it is told: %s", end.err)
		if end.status == cli.ExitInterrupted {
			wantNoTemps(t, dir)
		}
		if end.status == -1 || end.status == cli.ExitInterrupted {
			done++
			d.checkOld(t, base, dir, left)
			continue
		}
		through++
		d.compare(t, printed, left, dir, end)
		dir = testrun.Copy(t, base)
	}
	d.compare(t, printed, left, dir, d.start(t, dir).wait(t))
	t.Logf("disturbed %d times, through %d times; a run takes %v", done, through, took)
}

func (d *disturbed) fields(args, dir string) []string {
	return append(strings.Fields(strings.ReplaceAll(args, "@", dir)), "--progress", "none")
}

func (d *disturbed) start(t *testing.T, dir string) *solver {
	t.Helper()
	return launch(t, d.fields(d.args, dir)...)
}

// left are the files that the command leaves.
func (d *disturbed) left(t *testing.T, dir string) map[string]string {
	t.Helper()
	return kept(t, filepath.Join(dir, siegeDir))
}

// compare compares a command that is through with one that nobody disturbed. A kill may come when all is done.
func (d *disturbed) compare(t *testing.T, printed map[string]bool, left map[string]string, dir string, r result) {
	t.Helper()
	should.Not(t, r.status != cli.ExitOK && !strings.Contains(r.err, "has layer 8 already"), "after kills: status %d, %s", r.status, r.err)
	diff := cmp.Diff(left, d.left(t, dir))
	should.Hold(t, diff == "", "after kills (-undisturbed +disturbed):\n%.3000s", diff)
	got := facts(reply{Out: r.out})
	should.Not(t, strings.HasPrefix(r.out, "{") && !maps.Equal(printed, got), "after kills it prints %v instead of %v", got, printed)
}

// checkOld: after a kill, every file is as it was before, as it is going to be, or not there.
func (d *disturbed) checkOld(t *testing.T, base, dir string, left map[string]string) {
	before := d.left(t, base)
	for name, text := range d.left(t, dir) {
		should.Not(t, text != before[name] && text != left[name] && name != rundir.ManifestName,
			"a kill leaves %s half done: %d bytes", name, len(text))
	}
}
