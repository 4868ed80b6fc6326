//go:build !quick

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/siegetest"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/job"
)

// linking is a command that writes or removes in directories, @ being a tree; a link takes the
// place of one of these, before it begins or while it runs.
type linking struct {
	args  string
	named []string // directories that the program names
	other []string // that the user names, and that the program opens once; or that it makes first
	long  bool     // it takes its time
}

const proveOnDisk = "prove on disk"

// linkings are all commands that write in a directory that the program names.
var linkings = []linking{
	{args: "awari solve --progress none --pits 6 --seeds 6 --dir @/run", named: []string{"run/work"}, other: []string{"run"}},
	{args: "awari import --progress none --pits 6 --layer 6 --format colex --dir @/run @/6.colex", named: []string{"run/work"}, other: []string{"run"}},
	{args: "awari repair --progress none --dir @/broken", named: []string{"broken/work", filepath.Join("broken", "work", "again")}},
	{args: "awari scrub --progress none --dir @/run", named: []string{"run/work"}},
	{args: "awari verify --progress none --dir @/run", named: []string{"run/work"}},
	{args: "awari verify --part 1/2 --progress none --dir @/run", named: []string{"run/work"}},
	{args: "awari scrub --part 1/2 --progress none --dir @/run", named: []string{"run/work"}},
	{args: "awari verify --prove --progress none --dir @/run", named: []string{"run/work"}},
	{args: "awari verify --prove --progress none --memory 40MiB --dir @/run", named: []string{"run/work"}},
	{args: proveOnDisk, named: []string{"run/work"}},
	{args: "awari publish --progress none --dir @/run --out @/site", named: []string{"site/tables", "site/data"}, other: []string{"site"}},
	{args: "awari export --progress none --all --format csv --dir @/run --out @/out", other: []string{"out"}},
	{args: "swap bfs --progress none --rows 2 --cols 3 --memory 64MiB --dir @/swap", named: []string{"swap/work"}, other: []string{"swap"}},
	{args: "chemin solve --progress none --rows 2 --cols 2 --memory 64MiB --dir @/chemin", named: []string{"chemin/work"}, other: []string{"chemin"}},
	{args: "solitaire solve --progress none --end any --memory 64MiB --board @/pegs.txt --dir @/solitaire", named: []string{"solitaire/work"}, other: []string{"solitaire"}},
	{args: "doctor --quick --dir @/temp", other: []string{"temp/.grenier-calibration-*"}, long: true},
}

// links is a tree in which commands are run.
type links struct {
	tree   *siegetest.Tree
	whole  *siegetest.Copy
	canary *siegetest.Watched
}

// linksTop is the directory that the commands change; the canaries are beside it.
const linksTop = "top"

func newLinks(t *testing.T) *links {
	l := &links{tree: siegetest.New(t)}
	for _, name := range []string{"temp", "out"} {
		must.OK(t, l.tree.MkdirAll(path.Join(linksTop, name), 0o755))
	}
	l.tree.Write(linksTop+"/pegs.txt", []byte("oo.o\n"))
	for _, args := range []string{
		"awari solve --progress none --pits 6 --seeds 6 --dir @/more", "awari export --progress none --layer 6 --format colex --dir @/more --out @/6.colex",
		"awari solve --progress none --pits 6 --seeds 3 --dir @/run", "awari publish --progress none --dir @/run --out @/site",
		"awari solve --progress none --pits 6 --seeds 5 --dir @/run", "awari solve --progress none --pits 6 --seeds 5 --dir @/broken",
	} {
		mustRun(t, l.fields(args)...)
	}
	must.OK(t, l.tree.Remove(linksTop+"/broken/layer-02.gl"))
	for name, note := range map[string]string{rundir.ScrubName: "grenier-scrub", rundir.VerifyName: "grenier-verify", rundir.ProveName: "grenier-prove"} {
		l.tree.Write(path.Join(linksTop, "run/work", name), fmt.Appendf(nil, "{\"format\": %q, \"version\": 1}\n", note))
	}
	l.lure()
	l.whole = l.tree.Save(linksTop)
	return l
}

// lure makes canaries with all names that the commands use.
func (l *links) lure() {
	for _, name := range []string{
		"scrub.json", "scrub-1-of-2.json", "verify.json", "verify-1-of-2.json", "prove.json", "marks", "marks.0123456789abcdef.tmp", "status.json", "status.json.0123456789abcdef.tmp",
		"stop.json", "blocks", "checkpoint", "captures-0000-open", "found", "offers", "scores", "again/found", "window-00-1", "SHA256SUMS",
		"charts.json", "scores-0.json", "layer-02.gl", "layer-03.gl", "layer-02.gl.0123456789abcdef.tmp", "index.html", "preview.png",
		"layer-02.csv", "layer-06.gl", "new", "time", "file",
	} {
		l.tree.Write("canary/"+name, []byte("alive"))
	}
	l.canary = l.tree.Canary("canary")
}

func (l *links) fields(args string) []string {
	return strings.Fields(strings.ReplaceAll(args, "@", l.tree.Path(linksTop)))
}

func (l *links) do(t *testing.T, args string) result {
	if args != proveOnDisk {
		return grenier(t.Context(), "", l.fields(args)...)
	}
	_, err := prove.Run(t.Context(), l.tree.Path(linksTop+"/run"), prove.Options{OnDisk: true, Resume: true, Job: job.Job{Family: cpu.Best()}})
	if err != nil {
		return result{status: cli.StatusOf(t.Context(), err), err: "grenier: " + err.Error() + "\n"}
	}
	return result{}
}

// swap puts a link in the place of a directory, which moves away; it may not be there yet.
func (l *links) swap(t *testing.T, name, target string) {
	t.Helper()
	if strings.HasSuffix(name, "*") {
		found, err := filepath.Glob(l.tree.Path(name))
		if err != nil || len(found) == 0 {
			return
		}
		name = path.Join(path.Dir(name), filepath.Base(found[0]))
	}
	if _, err := l.tree.Lstat(name); err == nil {
		must.OK(t, l.tree.Rename(name, name+"-moved"))
	}
	must.OK(t, l.tree.MkdirAll(path.Dir(name), 0o755))
	must.OK(t, l.tree.Symlink(strings.Repeat("../", strings.Count(name, "/"))+target, name))
}

// TestLongSiegeLinks puts links in the places of directories: those that the program names are
// refused by all commands that write or remove there, and nothing is written or removed where they
// lead, even if they take a place while the command runs. Unless it is long, some of it is left out.
func TestLongSiegeLinks(t *testing.T) {
	t.Parallel()
	seed := siegeSeed(t)
	l := newLinks(t)
	for i, c := range linkings {
		for j, name := range c.named {
			for k, target := range []string{"canary", nearCanaries} {
				if tries.Long() || (uint64(i+j+k)+seed)%6 == 0 {
					l.refused(t, c, name, target)
				}
			}
		}
		if tries.Long() || !c.long && (uint64(i)+seed)%8 == 0 {
			l.led(t, c)
		}
		moments := siegeNumber(t, "GRENIER_SIEGE_LINKS", tries.Pick[uint64](1, 2, 10)) // for each of 22 directories
		if c.long && !tries.Full() {
			moments = 1
		}
		if tries.Long() || !c.long && (uint64(i)+seed)%8 == 1 {
			l.during(t, c, moments, rand.New(rand.NewPCG(seed, uint64(i))))
		}
	}
}

// nearCanaries are canaries in a run: os.Root follows links to them.
const nearCanaries = linksTop + "/run/mine"

// refused puts a link in the place of a directory that the program names.
func (l *links) refused(t *testing.T, c linking, name, target string) {
	t.Helper()
	l.whole.Restore(t)
	if !strings.HasPrefix(c.args, "awari") && c.args != proveOnDisk { // of a run that has begun
		mustRun(t, l.fields(c.args)...)
	}
	name = path.Join(linksTop, name)
	for _, file := range []string{"scrub.json", "marks.0123456789abcdef.tmp", "manifest.json"} {
		l.tree.Write(nearCanaries+"/"+file, []byte("alive"))
	}
	l.swap(t, name, target)
	near := l.tree.Watch(nearCanaries)
	r := l.do(t, c.args)
	want := l.tree.Path(name) + " is a symbolic link, not a directory; links may lead to " + l.tree.Path(path.Dir(name)) + ", but not on from there"
	should.Hold(t, clearLines.MatchString(r.wants(t, cli.ExitFailure, want).err), "%s: %s: %q", c.args, name, r.err)
	near.Check(t)
	l.untouched(t, c.args+": "+name)
}

// untouched fails the test if canaries are changed, and makes new ones then.
func (l *links) untouched(t *testing.T, did string) {
	diff := l.canary.Changes()
	if diff == "" {
		return
	}
	t.Errorf("%s: canaries changed:\n%s", did, diff)
	must.OK(t, l.tree.RemoveAll("canary"))
	l.lure()
}

// led puts links in the places of the directories that users name.
func (l *links) led(t *testing.T, c linking) {
	l.whole.Restore(t)
	for _, name := range []string{"run", "site", "out", "broken", "swap", "chemin", "solitaire", "temp"} {
		name = path.Join(linksTop, name)
		must.OK(t, l.tree.MkdirAll(name, 0o755))
		l.swap(t, name, name+"-moved")
	}
	l.do(t, c.args).wants(t, cli.ExitOK)
	l.untouched(t, c.args)
}

// during puts links in the places of directories before random operations of a command, at the given
// number of moments each. A directory that users name is open by then: before that, a link is theirs.
func (l *links) during(t *testing.T, c linking, moments uint64, r *rand.Rand) {
	_, all, opened := l.swapAt(t, c.args, 0, func() {})
	for _, name := range append(slices.Clone(c.named), c.other...) {
		name = path.Join(linksTop, name)
		for range moments {
			before := opened[l.tree.Path(name)]
			k := before + 1 + r.IntN(all-before)
			done, _, _ := l.swapAt(t, c.args, k, func() { l.swap(t, name, "canary") })
			did := fmt.Sprintf("%s: %s at operation %d of %d: status %d, %q", c.args, name, k, all, done.status, done.err)
			should.Not(t, done.status != cli.ExitOK && (done.status > cli.ExitCorrupt || !clearLines.MatchString(done.err)), "%v", did)
			l.untouched(t, did)
		}
	}
}

// swapAt runs a command and does something before operation k on directories. It returns how many
// operations there were in all, and before each directory that users name was opened, by path.
func (l *links) swapAt(t *testing.T, args string, k int, do func()) (r result, all int, opened map[string]int) {
	l.whole.Restore(t)
	m := siegetest.NewMoment(k, do)
	var mu sync.Mutex
	opened = map[string]int{}
	restore := intercept(l.tree.Path(linksTop), func(d vfs.Dir) vfs.Dir {
		mu.Lock()
		defer mu.Unlock()
		if _, there := opened[d.Path("")]; !there {
			opened[d.Path("")] = m.Operations()
		}
		return m.Watch(d)
	})
	defer restore()
	r = l.do(t, args)
	return r, m.Operations(), opened
}

type siegePlace struct {
	name string
	rows []row
}

// Commands that look at all of a run, and that add to it.
var (
	readRun  = []string{"probe", "stats", "verify", "export", "compare", "search", "play", "status", "serve"}
	writeRun = []string{"solve", "scrub", "repair"}
)

// places are the names that a command may find something else at.
func places() []siegePlace {
	all := awariRows(6, 5, "awari")
	pick := func(commands ...string) []row {
		return slices.DeleteFunc(slices.Clone(all), func(r row) bool { return !slices.Contains(commands, strings.Fields(r.args)[1]) })
	}
	written := func(name, args string) siegePlace {
		return siegePlace{"run/" + name, []row{{args: args, writes: true, quiet: true}}}
	}
	read := func(name, args string) siegePlace { return siegePlace{"run/" + name, []row{{args: args, quiet: true}}} }
	inWork := func(name string, rows []row) siegePlace { return siegePlace{filepath.Join("run", "work", name), rows} }
	return []siegePlace{
		{"run/manifest.json", pick(append(readRun, writeRun...)...)},
		{"run/layer-02.gl", pick(append(readRun, writeRun...)...)},
		{"run/layer-06.gl", pick("stats", "solve")}, // the next one
		{"run/lock", pick("stats", "status", "solve")},
		{"run/solve.log", pick("status", "solve")},
		inWork("status.json", pick("status", "solve")),
		{"run/work", append(pick("stats", "status", "solve", "scrub", "verify", "repair"), row{args: "awari verify --prove --progress none --dir @/run", quiet: true, writes: true})},
		inWork("stop.json", pick("status", "solve")),
		written("disk/grenier-run", "awari solve --progress none --pits 6 --seeds 6 --dir @/run --layers-to @/run/disk"),
		written("fast/grenier-run", "awari solve --progress none --pits 6 --seeds 6 --dir @/run --work @/run/fast"),
		written("run.prom", "awari solve --progress none --pits 6 --seeds 6 --dir @/whole --metrics-file @/run/run.prom"),
		written("export-csv.json", "awari export --progress none --dir @/whole --all --format csv --out @/run"),
		{"run/manifest.json.tmp", pick("stats", "solve")},
		inWork("scrub.json", pick("scrub")),
		inWork("again", pick("scrub", "repair")),
		inWork("captures-0000-open", pick("solve")),
		inWork("window-00-0", pick("solve")),
		inWork("offers", pick("solve")),
		inWork("found", pick("solve")),
		inWork("layer-06.gl.tmp", pick("solve")),
		inWork("status.json.tmp", pick("status", "solve")),
		written("scores.csv", "awari export --progress none --dir @/whole --layer 4 --format csv --out @/run/scores.csv"),
		written("scores.csv.tmp", "awari export --progress none --dir @/whole --layer 4 --format csv --out @/run/scores.csv"),
		written("scores.zst", "awari export --progress none --dir @/whole --layer 4 --format colex --codec zstd --out @/run/scores.zst"),
		written("charts.svg", "awari stats --dir @/whole --svg @/run/charts.svg"),
		written("charts.html", "awari stats --dir @/whole --html @/run/charts.html"),
		written("steps.svg", "chemin solve --progress none --rows 2 --cols 3 --svg @/run/steps.svg"),
		written("jumps.svg", "solitaire solve --progress none --end any --board @/pegs.txt --svg @/run/jumps.svg"),
		read("pegs.txt", "solitaire count --progress none --board @/run/pegs.txt"),
		written("played.svg", "chemin play --rows 2 --cols 2 0 3 1 2 --svg @/run/played.svg"),
		written("solved.svg", "swap solve --progress none --rows 2 --cols 3 6 5 4 3 2 1 --svg @/run/solved.svg"),
		written("k2.gp", "swap pdb build --progress none --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k2.gp"),
		read("k3.gp", "swap solve --progress none --solver idastar --heuristic pdb --pdb @/run/k3.gp --rows 2 --cols 3 6 5 4 3 2 1"),
		read("grid.txt", "swap solve --progress none @/run/grid.txt"),
		read("0.colex", "awari import --progress none --layer 0 --format colex --dir @/new @/run/0.colex"),
		read("0.colex", "awari import --progress none --layer 0 --format colex --codec zstd --dir @/new @/run/0.colex"),
		read("here.json", "awari plan --progress none --seeds 4 --calibration @/run/here.json"),
	}
}

// TestLongSiegePlaces puts links, FIFOs, devices, directories and more in every place where a command has a file, as the super-user and as
// an ordinary one. A command does its work all the same, or refuses; it follows no link to write, and waits for nothing.
func TestLongSiegePlaces(t *testing.T) {
	tries.NeedsLong(t, "hundreds of commands")
	t.Run("user "+map[bool]string{true: "root", false: "ordinary"}[os.Getuid() == 0], func(t *testing.T) {
		t.Parallel()
		siegePlaces(t, &subject{})
	})
	t.Run("user nobody", func(t *testing.T) {
		t.Parallel()
		base := publicDir(t)
		must.OK(t, os.Mkdir(filepath.Join(base, "tree"), 0o755))
		s := &subject{uid: 65534, tree: siegetest.At(t, filepath.Join(base, "tree")), worker: &worker{program: filepath.Join(base, "grenier-worker"), attr: nobody, dir: base}}
		siegePlaces(t, s)
	})
}

func siegePlaces(t *testing.T, s *subject) {
	all := places()
	for _, p := range all {
		s.rows = append(s.rows, p.rows...)
	}
	s.build = buildPlaces
	s.begin(t)
	defer s.worker.stop()
	known := map[string]row{}
	for _, r := range s.rows {
		known[r.args] = r
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i, p := range all {
		s.rows = nil
		for _, row := range p.rows {
			s.rows = append(s.rows, known[row.args])
		}
		for j, d := range siegetest.Places {
			if !tries.Full() && (i+j)%10 != 0 { // each in some places, and each place with some
				continue
			}
			s.put(t, r, p.name, d)
		}
	}
}

// put puts something in a place and runs the commands that use it.
func (s *subject) put(t *testing.T, r *rand.Rand, name string, d siegetest.Damage) {
	s.reset(t)
	if name == "run/work" {
		must.OK(t, s.tree.RemoveAll(name))
	}
	if _, ok := s.whole.Files[name]; !ok {
		s.tree.Write(name, nil)
	}
	target := siegetest.Target{Name: name, Others: s.targets, Canary: "canary"}
	if err := d.Do(r, s.tree, target); err != nil {
		t.Logf("%s: %s: %v", name, d.Name, err) // devices, without the rights for it
		return
	}
	s.give()
	s.attack(t, name+": "+d.Name, d.Forged)
}

func buildPlaces(t *testing.T, s *subject) {
	buildAwari(6, 5, "awari")(t, s)
	s.must(t, "awari export --progress none --dir @/run --layer 0 --format colex --out @/run/0.colex")
	s.must(t, "swap pdb build --progress none --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k3.gp")
	s.tree.Write("run/grid.txt", []byte("2 3\n6 5 4\n3 2 1\n"))
	s.tree.Write("run/pegs.txt", []byte(pegs))
	s.tree.Write("pegs.txt", []byte(pegs))
	s.tree.Write("run/here.json", must.Read(t, "testdata/machine.json"))
}

// TestLongInterruptAnytime interrupts commands at random moments, until they come through.
func TestLongInterruptAnytime(t *testing.T) {
	tries.NeedsLong(t, "runs commands many times")
	siege(t, tries.Pick(0, 12, 400), func(s *solver, r *rand.Rand, took time.Duration) result {
		s.awaitMain(t)
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		s.cmd.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}[r.IntN(3)])
		end := s.wait(t)
		should.Not(t, end.status == -1 || end.status == cli.ExitInterrupted && !strings.HasPrefix(end.err, "grenier: interrupted"),
			"status %d, %s", end.status, end.err)
		return end
	})
}

// awaitMain waits until the process has begun to listen to signals, of which it ignores that of a broken pipe.
func (s *solver) awaitMain(t *testing.T) {
	tries.Await(t, "the process", func() bool {
		text := must.Read(t, fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		_, mask, _ := strings.Cut(string(text), "SigIgn:")
		var ignored uint64
		_, err := fmt.Sscanf(mask, "%x", &ignored)
		return err != nil || ignored>>(syscall.SIGPIPE-1)&1 != 0 // or it is a zombie
	})
}
