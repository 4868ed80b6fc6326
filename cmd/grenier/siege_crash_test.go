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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/siegetest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// crashing are commands that write, @ being the tree; their input is in @/given.
var crashing = []string{
	"awari solve --progress none --pits 4 --seeds 3 --dir @/run",
	"awari export --progress none --layer 5 --format csv --dir @/given --out @/run/scores.csv",
	"awari export --progress none --layer 5 --format colex --codec zstd --dir @/given --out @/run/scores.zst",
	"awari import --progress none --pits 6 --layer 0 --format colex --dir @/run @/given/0.colex",
	"awari import --progress none --pits 6 --layer 0 --format colex --codec zstd --dir @/run @/given/0.zst",
	"awari stats --layer 5 --dir @/given --svg @/run/charts.svg",
	"swap pdb build --progress none --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k2.gp",
	"swap bfs --json --progress none --memory 64MiB --rows 2 --cols 3 --dir @/run",
	"chemin solve --json --progress none --memory 64MiB --rows 2 --cols 2 --dir @/run",
	"chemin solve --progress none --rows 2 --cols 2 --svg @/run/steps.svg",
	"solitaire solve --json --progress none --memory 64MiB --end any --board @/given/pegs.txt --dir @/run",
	"solitaire solve --progress none --end any --board @/given/pegs.txt --svg @/run/jumps.svg",
	"awari repair --progress none --dir @/run",
}

// accident is a failure of one of the operations on files.
type accident struct {
	name  string
	fails error // the operation, if not nil; else the program ends
	stays bool  // all operations after it fail too
	power bool  // the power goes with the program
}

var accidents = []accident{
	{name: "input/output error", fails: syscall.EIO},
	{name: "disk full", fails: syscall.ENOSPC},
	{name: "disk full for good", fails: syscall.ENOSPC, stays: true},
	{name: "quota exceeded", fails: syscall.EDQUOT},
	{name: "read-only from then on", fails: syscall.EROFS, stays: true},
	{name: "kill"},
	{name: "power cut", power: true},
}

// TestLongSiegeCrash lets each operation on files fail, one after the other, or end the program, or the power: for
// layer files, manifests, status, logs, checkpoints, exports, drawings and databases. The command then fails with a
// clear line and a documented status; and when it runs again, all is as if nothing had happened. Unless the tests are
// full, some of the operations are left out, and unless they are long most commands, others each time.
func TestLongSiegeCrash(t *testing.T) {
	stride := int(siegeNumber(t, "GRENIER_SIEGE_STRIDE", tries.Pick[uint64](300, 100, 1)))
	seed := siegeSeed(t)
	for i, args := range crashing {
		t.Run(args, func(t *testing.T) {
			tries.SkipIf(t, !tries.Long() && (uint64(i)+seed)%6 != 0, "another time, or with GRENIER_LONG=1")
			t.Parallel()
			c := newCrashes(t, args)
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for _, a := range accidents {
				ended := false
				for k := 1 + r.IntN(stride); !ended; k += stride {
					ended = c.crash(t, a, k, r)
				}
			}
			t.Logf("%d crashes", c.count)
		})
	}
}

// crashes is a command that crashes again and again.
type crashes struct {
	tree  *siegetest.Tree
	args  []string
	want  map[string]string // files
	facts map[string]bool   // printed
	begun map[string][]byte // files that are there when it begins, by name
	count int
}

func newCrashes(t *testing.T, args string) *crashes {
	t.Helper()
	c := &crashes{tree: siegetest.New(t)}
	c.args = strings.Fields(strings.ReplaceAll(args, "@", c.tree.Name()))
	given := c.tree.Path("given")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "6", "--seeds", "5", "--dir", given)
	for layer, export := range []string{"0.colex --codec none", "1.colex --codec none", "0.zst --codec zstd"} {
		export = fmt.Sprintf("awari export --progress none --layer %d --format colex --dir %s --out %s/%s", layer%2, given, given, export)
		mustRun(t, strings.Fields(export)...)
	}
	c.tree.Write("given/pegs.txt", []byte("oo.o\n"))
	if strings.HasPrefix(args, "awari repair") {
		c.damage(t)
	}
	c.begin(t)
	c.facts = facts(reply{Out: mustRun(t, c.args...)})
	c.want = c.results(t)
	return c
}

// damage makes a run the beginning that has lost its manifest and a layer, and another one in part.
func (c *crashes) damage(t *testing.T) {
	c.begun = map[string][]byte{}
	for name, data := range c.tree.Save("given").Files {
		switch base := filepath.Base(name); base {
		case rundir.ManifestName, rundir.LayerName(4):
			continue
		case rundir.LayerName(2):
			data = data[:len(data)/2]
		}
		if strings.HasSuffix(name, ".gl") || filepath.Base(name) == rundir.LockName {
			c.begun[siegeDir+"/"+filepath.Base(name)] = data
		}
	}
}

// begin makes the directory for results.
func (c *crashes) begin(t *testing.T) {
	t.Helper()
	c.empty(t)
	for name, data := range c.begun {
		c.tree.Write(name, data)
	}
}

// empty makes the directory for results, empty.
func (c *crashes) empty(t *testing.T) {
	t.Helper()
	err := c.tree.RemoveAll(siegeDir)
	if err == nil {
		err = c.tree.Mkdir(siegeDir, 0o755)
	}
	must.OK(t, err)
}

// disk returns a file system in memory with the files that are there at the beginning.
func (c *crashes) disk(t *testing.T) *crashfs.FS {
	t.Helper()
	files := map[string][]byte{}
	for name, data := range c.begun {
		files[c.tree.Path(name)] = data
	}
	return must.Get(crashfs.New().Load(files))(t)
}

// results are the files that the command is to leave.
func (c *crashes) results(t *testing.T) map[string]string {
	t.Helper()
	return kept(t, c.tree.Path(siegeDir))
}

// crash lets operation k fail and runs the command again. It returns true if there was no operation k.
func (c *crashes) crash(t *testing.T, a accident, k int, r *rand.Rand) (ended bool) {
	c.begin(t)
	disk, n := c.disk(t), 0
	if a.fails == nil {
		disk.CrashAt(k)
	}
	disk.Fail(func(crashfs.Op, string) error {
		if n++; n == k || a.stays && n > k {
			return a.fails
		}
		return nil
	})
	restore := intercept(c.tree.Path(siegeDir), disk.Mirror)
	first := grenier(t.Context(), "", c.args...)
	restore()
	if n < k {
		should.Hold(t, first.status == cli.ExitOK,
			"%s at operation %d, which there is not: status %d, %s", a.name, k, first.status, first.err)
		return true
	}
	c.count++
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s at operation %d: %s (first: status %d, %s)", a.name, k, fmt.Sprintf(format, args...), first.status, first.err)
	}
	if first.status != cli.ExitOK && first.status != cli.ExitFailure && first.status != cli.ExitCorrupt || first.status != cli.ExitOK && !clearLines.MatchString(first.err) {
		fail("undocumented status, or no clear line")
	}
	if a.power {
		c.powerCut(t, disk.PowerCut(r))
	}
	c.whole(t, fail)
	c.again(t, fail)
	return false
}

// again runs the command again, with nothing in its way.
func (c *crashes) again(t *testing.T, fail func(format string, args ...any)) {
	t.Helper()
	again := grenier(t.Context(), "", c.args...)
	got := facts(reply{Out: again.out})
	switch has := strings.Contains(again.err, "has layer 0 already"); {
	case again.status != cli.ExitOK && !has:
		fail("again: status %d, %s", again.status, again.err)
	case !has && strings.Contains(again.out, "{") && !maps.Equal(c.facts, got):
		fail("again: it prints %v, want %v", got, c.facts)
	}
	if diff := cmp.Diff(c.want, c.results(t)); diff != "" {
		fail("again (-want +got):\n%.2000s", diff)
	}
}

// whole fails unless every file under its final name that must be whole is.
func (c *crashes) whole(t *testing.T, fail func(format string, args ...any)) {
	t.Helper()
	for name, text := range c.results(t) {
		if want := c.want[name]; text != want && text != string(c.begun[siegeDir+"/"+name]) && filepath.Dir(name) == "." && name != rundir.ManifestName {
			fail("%s is half done: %d bytes instead of %d", name, len(text), len(want))
		}
	}
}

// powerCut replaces the files by those that are there when the power is back.
func (c *crashes) powerCut(t *testing.T, disk *crashfs.FS) {
	work, _ := c.tree.Stat(siegeDir + "/work")
	c.empty(t)
	if work != nil {
		must.OK(t, c.tree.Mkdir(siegeDir+"/work", 0o755))
	}
	for path, data := range disk.Contents() {
		c.tree.Write(must.Get(filepath.Rel(c.tree.Name(), path))(t), data)
	}
}

var (
	intercepting sync.Mutex
	intercepted  = map[string]func(vfs.Dir) vfs.Dir{} // by directory
)

// intercept puts the result of see in the place of a directory, and of all in it, until restore is called.
func intercept(dir string, see func(vfs.Dir) vfs.Dir) (restore func()) {
	intercepting.Lock()
	defer intercepting.Unlock()
	intercepted[dir] = see
	vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		intercepting.Lock()
		defer intercepting.Unlock()
		for dir, see := range intercepted {
			if path := d.Path(""); path == dir || strings.HasPrefix(path, dir+"/") {
				return see(d)
			}
		}
		return d
	})
	return func() {
		intercepting.Lock()
		defer intercepting.Unlock()
		delete(intercepted, dir)
	}
}

// disturbed is a command that is killed or interrupted again and again; @ stands for a directory, where
// prepare has made its input.
type disturbed struct {
	name, args string
	prepare    []string
	lost       []int // layers that it makes again
	share      int   // of all kills, in percent
}

var disturbedCommands = []disturbed{
	{name: "awari", args: fmt.Sprintf("awari solve --pits 10 --seeds %d --checkpoint 1ms --dir @/run", tries.More(10, 13)), share: 25},
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
	wanted := siegeNumber(t, "GRENIER_SIEGE_KILLS", tries.Pick[uint64](4, 10, 300))
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
