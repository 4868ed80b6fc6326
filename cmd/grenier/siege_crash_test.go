//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/siegetest"
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
	power bool  // and the power goes with it
}

var accidents = []accident{
	{"input/output error", syscall.EIO, false},
	{"disk full", syscall.ENOSPC, false},
	{"quota exceeded", syscall.EDQUOT, false},
	{"kill", nil, false},
	{"power cut", nil, true},
}

// TestLongSiegeCrash lets each operation on files fail, one after the other, or end the program, or the power: for
// layer files, manifests, status, logs, checkpoints, exports, drawings and databases. The command then fails with a
// clear line and a documented status; and when it runs again, all is as if nothing had happened. Unless the tests are
// full, some of the operations are left out, and unless they are long most commands, others each time.
func TestLongSiegeCrash(t *testing.T) {
	stride := int(siegeNumber(t, "GRENIER_SIEGE_STRIDE", tries.Pick[uint64](300, 40, 1)))
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
		if n++; n == k {
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
