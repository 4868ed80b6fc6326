//go:build unix && !quick

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// siegeNumber returns the number in an environment variable, or else another one.
func siegeNumber(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	must.Hold(t, err == nil, "%s=%q: want a number", name, text)
	return n
}

// siegeSeed returns the seed of a random test, new or from GRENIER_SIEGE_SEED, and prints it.
func siegeSeed(t *testing.T) uint64 {
	seed := siegeNumber(t, "GRENIER_SIEGE_SEED", rand.Uint64())
	t.Logf("again with GRENIER_SIEGE_SEED=%d", seed)
	return seed
}

// subject is files that get damaged, and the commands that read them.
type subject struct {
	name     string
	share    int  // of all damages, in percent
	long     bool // it takes its time
	build    func(t *testing.T, s *subject)
	rows     []row
	tree     *siegetest.Tree
	worker   *worker
	canary   *siegetest.Watched
	whole    *siegetest.Copy
	damages  []siegetest.Damage
	targets  []string
	donors   map[string][]byte
	memory   uint64 // that the worker may use in all
	failures int
	uid      int // of the user who has the files and runs the commands, 0 for this one
}

// row is a command that reads the files of a subject. Its arguments are one text; @ stands for the tree.
type row struct {
	args, in string
	quiet    bool            // its output depends on more than the files: no value to compare
	trusts   bool            // it cannot tell a file of another run, or one that is forged with its checksum
	writes   bool            // it changes the files, so it comes last
	facts    map[string]bool // its output if nothing is damaged
	size     int             // the bytes of that
	took     time.Duration   // and how long it takes: a machine may be busy
	after    siegetest.Copy  // the files that it leaves then, if it writes
}

// The directory that is damaged, and one that nobody touches.
const siegeDir, siegeWhole = "run", "whole"

// damagedRuns are the subjects.
func damagedRuns() []*subject {
	return []*subject{
		{name: "awari", share: 28, build: buildAwari(12, 5, "awari"), rows: awariRows(12, 5, "awari")},
		{name: "strict", share: 28, build: buildAwari(6, 8, "strict"), rows: awariRows(6, 8, "strict")},
		{name: "unfinished", share: 1, long: true, build: buildUnfinished, rows: []row{
			{args: "awari status --dir @/run", quiet: true},
			{args: "awari stats --json --dir @/run"},
			{args: "awari probe --dir @/run -", in: boards(12, 5)},
			{args: unfinished, trusts: true, writes: true},
		}},
		{name: "swap", share: 20, build: buildInterrupted("swap bfs --rows 2 --cols 4"), rows: []row{
			{args: "awari stats --dir @/run", quiet: true},
			{args: "swap bfs --rows 2 --cols 4 --json --progress none --memory 64MiB --dir @/run", trusts: true, writes: true},
		}},
		{name: "chemin", share: 8, build: buildInterrupted("chemin solve --rows 3 --cols 3"), rows: []row{
			{args: "chemin solve --rows 3 --cols 3 --json --progress none --memory 64MiB --dir @/run", trusts: true, writes: true},
		}},
		{name: "solitaire", share: 8, build: func(t *testing.T, s *subject) {
			s.tree.Write("board.txt", []byte(pegs))
			buildInterrupted("solitaire solve --end any --board "+s.tree.Path("board.txt"))(t, s)
		}, rows: []row{
			{args: "solitaire solve --end any --board @/board.txt --json --progress none --memory 64MiB --dir @/run", trusts: true, writes: true},
		}},
		{name: "patterns", share: 6, build: buildFiles(
			"swap pdb build --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k2.gp --progress none",
			"swap pdb build --kind apdb --rows 2 --cols 3 --tiles 1,2,3 --out @/run/a.gp --progress none",
			"swap pdb build --kind apdb --rows 2 --cols 3 --tiles 4,5,6 --out @/run/b.gp --progress none",
		), rows: []row{
			{args: "swap solve --json --progress none --solver idastar --heuristic pdb+parity --pdb @/run/k2.gp --rows 2 --cols 3 6 5 4 3 2 1"},
			{args: "swap solve --json --progress none --solver idastar --heuristic pdb+parity --pdb @/run/a.gp,@/run/b.gp --rows 2 --cols 3 6 5 4 3 2 1"},
		}},
		{name: "exports", share: 6, build: buildFiles(exports()...), rows: []row{
			importing("colex", "none", "a"), importing("colex", "lz4", "b"), importing("vu", "zstd", "c"),
		}},
		{name: "calibration", share: 5, build: func(t *testing.T, s *subject) {
			s.tree.Write(siegeDir+"/awari.json", must.Read(t, "testdata/machine.json"))
		}, rows: []row{
			{args: "awari plan --seeds 20 --progress none --calibration @/run/awari.json", quiet: true},
		}},
	}
}

// TestLongSiegeDamage damages files of all systems at random, again and again, and lets every command that reads them
// read them. Nothing may panic, hang, fail without a documented status and a clear line, print anything wrong or change
// anything foreign. Unless it is long, it damages the files of some systems, of others each time.
func TestLongSiegeDamage(t *testing.T) {
	rounds := siegeNumber(t, "GRENIER_SIEGE_DAMAGES", tries.Pick[uint64](1, 25, 1000))
	seed := siegeSeed(t)
	damages := slices.DeleteFunc(slices.Clone(siegetest.Damages), func(d siegetest.Damage) bool {
		return !strings.Contains(d.Name, os.Getenv("GRENIER_SIEGE_ONLY"))
	})
	for i, s := range damagedRuns() {
		s.damages = damages
		t.Run(s.name, func(t *testing.T) {
			tries.SkipIf(t, !tries.Long() && (s.long || (uint64(i)+seed)%5 != 0), "another time, or with GRENIER_LONG=1")
			t.Parallel()
			s.begin(t)
			defer s.worker.stop()
			for round := range max(1, rounds*uint64(s.share)/100) {
				s.round(t, rand.New(rand.NewPCG(seed+round, uint64(i))), round)
				must.Not(t, s.failures >= 20, "too many failures")
			}
		})
	}
}

// begin builds the files and learns the output of the commands about them.
func (s *subject) begin(t *testing.T) {
	if s.tree == nil {
		s.tree, s.worker = siegetest.New(t), &worker{program: "grenier-worker"}
	}
	s.donors = map[string][]byte{}
	s.build(t, s)
	s.canary = s.tree.Canary("canary")
	s.whole = s.tree.Save(siegeDir)
	s.targets = slices.Sorted(maps.Keys(s.whole.Files))
	s.give()
	for i := range s.rows {
		row := &s.rows[i]
		row.took = time.Minute
		start := time.Now()
		r, err := s.do(row)
		must.Hold(t, err == nil, "%s: %v", row.args, err)
		row.facts, row.size, row.took = facts(r), r.Bytes, time.Since(start)
		if row.writes {
			row.after = *s.tree.Save(siegeDir)
			s.reset(t)
			s.give()
		}
		s.memory = max(s.memory, r.Peak)
	}
	s.memory += 512 << 20
}

func (s *subject) do(row *row) (reply, error) {
	o := order{Args: strings.Fields(strings.ReplaceAll(row.args, "@", s.tree.Name())), In: row.in}
	return s.worker.do(o, max(siegePatience, 20*row.took))
}

func (s *subject) round(t *testing.T, r *rand.Rand, number uint64) {
	s.reset(t)
	did := fmt.Sprint("round ", number)
	forged := siegetest.Plain
	for range 1 + r.IntN(4)/3 {
		d := s.damages[r.IntN(len(s.damages))]
		target := siegetest.Target{Name: s.targets[r.IntN(len(s.targets))], Others: s.targets, Donors: s.donors, Canary: "canary"}
		if err := d.Do(r, s.tree, target); err != nil {
			continue
		}
		did += ", " + target.Name + ": " + d.Name
		forged = max(forged, d.Forged)
	}
	s.attack(t, did, forged)
}

// reset brings the files back, and puts some of the user's own beside the files of a run.
func (s *subject) reset(t *testing.T) {
	s.whole.Restore(t)
	must.OK(t, s.tree.RemoveAll("new"))
	if s.whole.Files["run/manifest.json"] != nil {
		for _, name := range notes {
			s.tree.Write(name, []byte("mine"))
		}
	}
}

func (s *subject) give() {
	if s.uid != 0 {
		s.tree.Give(".", s.uid)
	}
}

// attack runs all commands on damaged files; did describes the damage.
func (s *subject) attack(t *testing.T, did string, forged siegetest.Forgery) {
	mine, repaired := s.notes(), false
	fail := func(what, format string, args ...any) {
		t.Helper()
		s.failures++
		t.Errorf("%s: %s: %s", did, what, fmt.Sprintf(format, args...))
	}
	for i := range s.rows {
		row := &s.rows[i]
		before := s.tree.Look(siegeDir)
		reply, err := s.do(row)
		if err != nil {
			fail(row.args, "%v", err)
			continue
		}
		if strings.HasPrefix(row.args, "awari repair --progress") {
			repaired = reply.Status == cli.ExitOK
		}
		if row.args == afterRepair && repaired && reply.Status != cli.ExitOK && !(forged == siegetest.Scored && reply.Status == cli.ExitDifferences) {
			fail(row.args, "a repair said that all is well, but: status %d, %q", reply.Status, reply.Err)
		}
		if problems := s.judge(row, reply, forged); len(problems) > 0 {
			fail(row.args, "%s (status %d, %q, %q)", firstLines(strings.Join(problems, "\n"), 3), reply.Status, firstLines(reply.Out, 5), reply.Err)
		}
		if after := s.tree.Look(siegeDir); !row.writes && !maps.Equal(before, after) {
			fail(row.args, "it changed the directory that it reads: %s", cmp.Diff(before, after))
		}
	}
	if diff := s.canary.Changes(); diff != "" {
		fail("canaries", "changed:\n%s", diff)
		must.OK(t, s.tree.RemoveAll("canary"))
		s.canary = s.tree.Canary("canary")
	}
	if left := s.notes(); left != mine {
		fail("foreign files", "of %q, %q are left", mine, left)
	}
}

// notes are files in the directory of a run that are not of the program.
var notes = []string{path.Join("run", "notes.txt"), path.Join("run", "work", "notes.txt")}

// notes describes these files.
func (s *subject) notes() (found string) {
	for _, name := range notes {
		if text, err := s.tree.ReadFile(name); err == nil {
			found += name + " " + string(text) + ", "
		}
	}
	return found
}

// insides are words that no user should see.
var insides = regexp.MustCompile(`panic|goroutine \d|runtime error|\.go:\d|%!|<nil>|internal error|NaN|[+-]Inf\b`)

// clearLines are warnings and the reason why the command failed.
var clearLines = regexp.MustCompile(`^(grenier: (warning|note): .+\n)*grenier: .+\n$`)

// judge lists the problems of a reply to a command after damage.
func (s *subject) judge(row *row, r reply, forged siegetest.Forgery) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if r.Status < cli.ExitOK || r.Status > cli.ExitCorrupt || r.Status != cli.ExitOK && !clearLines.MatchString(r.Err) {
		add("undocumented status, or not a clear line")
	}
	if word := insides.FindString(r.Out + r.Err); word != "" {
		add("it says %q", word)
	}
	if r.Bytes > 16*row.size+1<<16 { // a line for each board that cannot be answered
		add("it prints %d bytes, %d if nothing is damaged", r.Bytes, row.size)
	}
	if r.Peak > s.memory {
		add("%d MiB of memory", r.Peak>>20)
		s.worker.stop()
	}
	if row.quiet || forged == siegetest.Listed && row.trusts || forged == siegetest.Scored || r.Status != cli.ExitOK && !strings.Contains(row.args, " probe ") {
		return problems
	}
	for fact := range facts(r) {
		if !row.facts[fact] && !strings.HasPrefix(fact, "error: ") {
			add("wrong: %q", fact)
		}
	}
	if r.Status != cli.ExitOK {
		return problems
	}
	same := func(name string, want []byte, what string) {
		if got, err := s.tree.ReadFile(name); err != nil || string(got) != string(want) {
			add("%s %s (%v)", name, what, err)
		}
	}
	for name, want := range row.after.Files {
		if _, had := s.whole.Files[name]; !had && layerFile.MatchString(path.Base(name)) {
			same(name, want, "is not what an undisturbed run makes")
		}
	}
	for n := range strings.Count(r.Out, " 0 wrong\n") { // says verify
		name := path.Join(siegeDir, rundir.LayerName(n))
		same(name, s.whole.Files[name], "is damaged and in order")
	}
	return problems
}

var (
	unsettled = regexp.MustCompile(`"(seconds|nodes_per_second|positions_per_second|peak_rss_bytes|bytes_on_disk|states_per_layer|seed|passes|expanded|generated|peak_open|peak_closed|swaps)": ?(\[\[.*\]\]|\[[^]]*\]|[^,}\]]*)|` +
		`"search":\{[^}]*\}|\([0-9.]+ s\)|http://\S+|[0-9.]+ [kM]nodes/s|\d+\.\d+ s\b|--seed \d+|"before":"[^"]*",`)
	layerFile = regexp.MustCompile(`^layer-\d\d\.gl$`)
)

// facts takes the answers in a reply apart: lines, and the JSON of each layer; without values that change from run to run.
func facts(r reply) map[string]bool {
	found := map[string]bool{}
	text := unsettled.ReplaceAllString(r.Out, "")
	for line := range strings.Lines(strings.ReplaceAll(text, `{"seeds"`, "\n{\"seeds\"")) {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), ",]}")
		if line != "" && !strings.HasPrefix(line, "api/") && !strings.HasPrefix(line, "only in ") {
			found[line] = true
		}
	}
	if strings.Contains(r.Out, "positions/s with") { // the table of solve: times
		return nil
	}
	return found
}

func (s *subject) must(t *testing.T, args string) {
	t.Helper()
	mustRun(t, strings.Fields(strings.ReplaceAll(args, "@", s.tree.Name()))...)
}

// donate makes a run whose files other runs are damaged with.
func (s *subject) donate(t *testing.T, args string) {
	s.must(t, args+" --progress none --dir @/donor")
	prefix := strconv.Itoa(len(s.donors)) + "/"
	for name, data := range s.tree.Save("donor").Files {
		s.donors[prefix+name] = data
	}
	must.OK(t, s.tree.RemoveAll("donor"))
}

// afterRepair finds nothing if a repair before said that it was successful, but for the scores
// of a layer that is forged with the entry in the manifest: that vouches for them.
const afterRepair = "awari verify --progress none --json --threads 1 --dir @/run"

// awariRows are the commands that read solved layers.
func awariRows(pits, seeds int, rules string) []row {
	low, above := board(pits, seeds-3), board(pits, seeds+2)
	query := strings.ReplaceAll(low, " ", ",")
	return []row{
		{args: "awari probe --dir @/run -", in: boards(pits, seeds)},
		{args: "awari stats --json --dir @/run"},
		{args: "awari verify --progress none --threads 1 --dir @/run"},
		{args: fmt.Sprint("awari export --progress none --format csv --out - --layer ", seeds-1, " --dir @/run")},
		{args: "awari compare --progress none @/run @/whole"},
		{args: "awari search --progress none --json --depth 4 --time 0 --memory 16MiB --dir @/run " + low},
		{args: "awari search --progress none --json --depth 4 --time 0 --memory 16MiB --dir @/run " + above, quiet: true},
		{args: "awari play --seed 1 --memory 16MiB --dir @/run " + low, in: "hint\nquit\n"},
		{args: "awari status --dir @/run", quiet: true},
		{args: "awari serve --json --addr localhost:0 --dir @/run", in: "api/probe?pits=" + query + " api/line?pits=" + query + " api/layers"},
		{args: fmt.Sprintf("awari solve --progress none --pits %d --rules %s --seeds %d --dir @/run", pits, rules, seeds+1), writes: true},
		{args: "awari scrub --progress none --dir @/run", quiet: true, writes: true},
		{args: "awari repair --dry-run --progress none --dir @/run", quiet: true},
		{args: "awari repair --progress none --dir @/run", quiet: true, writes: true},
		{args: afterRepair, quiet: true},
	}
}

// board returns a board that has a legal move under all rules.
func board(pits, seeds int) string {
	b := make([]int, pits)
	b[pits/2-1], b[pits-1] = seeds-1, 1
	return strings.Trim(fmt.Sprint(b), "[]")
}

// boards returns boards of all layers up to seeds, some thousand at most.
func boards(pits, seeds int) string {
	r := rand.New(rand.NewPCG(1, 1))
	var out strings.Builder
	for n := range seeds + 1 {
		for range 60 {
			b := make([]int, pits)
			for range n {
				b[r.IntN(pits)]++
			}
			fmt.Fprintln(&out, strings.Trim(fmt.Sprint(b), "[]"))
		}
	}
	return out.String()
}

func buildAwari(pits, seeds int, rules string) func(*testing.T, *subject) {
	other := map[string]string{"awari": "strict", "strict": "awari"}[rules]
	solve := func(pits, seeds int, rules string) string {
		return fmt.Sprintf("awari solve --pits %d --seeds %d --rules %s", pits, seeds, rules)
	}
	return func(t *testing.T, s *subject) {
		for _, dir := range []string{siegeDir, siegeWhole} {
			s.must(t, solve(pits, seeds, rules)+" --progress none --dir @/"+dir)
		}
		s.donate(t, solve(pits, seeds-2, rules)) // an older manifest of the same run
		s.donate(t, solve(pits, seeds, other))
		s.donate(t, solve(4, seeds, rules))
	}
}

// unfinished is a run that has to keep part of its last layer on disk.
var unfinished = fmt.Sprintf("awari solve --progress none --threads 2 --seeds %d --memory %s --dir @/run", windowSeeds, windowMemory)

func buildUnfinished(t *testing.T, s *subject) {
	s.must(t, fmt.Sprintf("awari solve --progress none --seeds %d --dir @/run", windowSeeds-1))
	s.interrupt(t, strings.ReplaceAll(unfinished, "@", s.tree.Name())+" --checkpoint 1ms", "found")
	s.donate(t, "awari solve --seeds 8")
}

// interrupt runs a command and stops it when the work directory has a checkpoint of a name, until one is left.
func (s *subject) interrupt(t *testing.T, args, name string) {
	checkpoint := s.tree.Path(filepath.Join(siegeDir, "work", name))
	must.OK(t, s.tree.MkdirAll(siegeDir, 0o755))
	begun := s.tree.Save(siegeDir)
	for range 50 {
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil && !exists(checkpoint) {
				time.Sleep(200 * time.Microsecond)
			}
			stop()
		}()
		r := grenier(ctx, "", strings.Fields(args)...)
		stop()
		if r.status == cli.ExitInterrupted && exists(checkpoint) {
			return
		}
		must.Not(t, r.status != cli.ExitOK && r.status != cli.ExitInterrupted, "%s: status %d, %s", args, r.status, r.err)
		begun.Restore(t)
	}
	t.Fatalf("%s: it leaves no checkpoint", args)
}

func buildInterrupted(args string) func(*testing.T, *subject) {
	return func(t *testing.T, s *subject) {
		flags := " --progress none --memory 64MiB --dir " + s.tree.Path(siegeDir)
		s.interrupt(t, args+flags, "checkpoint")
		for _, other := range []string{"swap bfs --rows 2 --cols 3", "swap bfs --rows 2 --cols 4", "awari solve --pits 8 --seeds 3"} {
			if other != args {
				s.donate(t, other)
			}
		}
	}
}

func buildFiles(commands ...string) func(*testing.T, *subject) {
	return func(t *testing.T, s *subject) {
		must.OK(t, s.tree.Mkdir(siegeDir, 0o755))
		for _, args := range commands {
			s.must(t, args)
		}
	}
}

// exports are the commands that make the files of layers.
func exports() []string {
	all := []string{"awari solve --progress none --seeds 4 --dir @/source"}
	for n := range 5 {
		for _, f := range []string{"a --format colex", "b --codec lz4 --format colex", "c --codec zstd --format vu"} {
			all = append(all, fmt.Sprintf("awari export --progress none --dir @/source --layer %d --out @/run/%d%s", n, n, f))
		}
	}
	return all
}

func importing(format, codec, end string) row {
	files := ""
	for n := range 5 {
		files += fmt.Sprintf(" @/run/%d%s", n, end)
	}
	return row{args: fmt.Sprintf("awari import --json --progress none --layer 0 --format %s --codec %s --dir @/new/%s%s", format, codec, end, files), quiet: codec == "none"}
}

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
		})
	}
}

type crashes struct {
	tree  *siegetest.Tree
	args  []string
	want  map[string]string // files
	facts map[string]bool   // printed
	begun map[string][]byte // files that are there when it begins, by name
}

func newCrashes(t *testing.T, args string) *crashes {
	c := &crashes{tree: siegetest.New(t)}
	c.args = strings.Fields(strings.ReplaceAll(args, "@", c.tree.Name()))
	given := c.tree.Path("given")
	mustDo(t, "awari solve --progress none --pits 6 --seeds 5 --dir "+given)
	for layer, file := range []string{"0.colex --codec none", "1.colex --codec none", "0.zst --codec zstd"} {
		mustDo(t, fmt.Sprintf("awari export --progress none --layer %d --format colex --dir %s --out %s/%s", layer%2, given, given, file))
	}
	c.tree.Write("given/pegs.txt", []byte("oo.o\n"))
	if strings.HasPrefix(args, "awari repair") {
		c.damage(t)
	}
	c.begin(t, c.begun)
	c.facts = facts(reply{Out: mustRun(t, c.args...)})
	c.want = kept(t, c.tree.Path(siegeDir))
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

// begin makes a directory that has some files and nothing else.
func (c *crashes) begin(t *testing.T, files map[string][]byte) {
	must.OK(t, c.tree.RemoveAll(siegeDir))
	must.OK(t, c.tree.Mkdir(siegeDir, 0o755))
	for name, data := range files {
		c.tree.Write(name, data)
	}
}

// crash lets operation k fail and runs the command again. It returns true if there was no operation k.
func (c *crashes) crash(t *testing.T, a accident, k int, r *rand.Rand) (ended bool) {
	c.begin(t, c.begun)
	files, n := map[string][]byte{}, 0
	for name, data := range c.begun {
		files[c.tree.Path(name)] = data
	}
	disk := must.Get(crashfs.New().Load(files))(t)
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
		should.Hold(t, first.status == cli.ExitOK, "%s at operation %d, which there is not: status %d, %s", a.name, k, first.status, first.err)
		return true
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s at operation %d: %s (first: status %d, %s)", a.name, k, fmt.Sprintf(format, args...), first.status, first.err)
	}
	failed := (first.status == cli.ExitFailure || first.status == cli.ExitCorrupt) && clearLines.MatchString(first.err)
	if first.status != cli.ExitOK && !failed {
		fail("undocumented status, or no clear line")
	}
	if a.power {
		c.powerCut(t, disk.PowerCut(r))
	}
	for name, text := range kept(t, c.tree.Path(siegeDir)) { // every file under its final name that must be whole is
		if want := c.want[name]; text != want && text != string(c.begun[siegeDir+"/"+name]) && filepath.Dir(name) == "." && name != rundir.ManifestName {
			fail("%s is half done: %d bytes instead of %d", name, len(text), len(want))
		}
	}
	again := grenier(t.Context(), "", c.args...)
	got := facts(reply{Out: again.out})
	switch has := strings.Contains(again.err, "has layer 0 already"); {
	case again.status != cli.ExitOK && !has:
		fail("again: status %d, %s", again.status, again.err)
	case !has && strings.Contains(again.out, "{") && !maps.Equal(c.facts, got):
		fail("again: it prints %v, want %v", got, c.facts)
	}
	if diff := cmp.Diff(c.want, kept(t, c.tree.Path(siegeDir))); diff != "" {
		fail("again (-want +got):\n%.2000s", diff)
	}
	return false
}

// powerCut replaces the files by those that are there when the power is back.
func (c *crashes) powerCut(t *testing.T, disk *crashfs.FS) {
	work, _ := c.tree.Stat(siegeDir + "/work")
	c.begin(t, nil)
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
		delete(intercepted, dir)
		intercepting.Unlock()
	}
}

// disturbed is a command that is killed or interrupted again and again; @ stands for a directory, where prepare has made its input.
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
	siege(t, int(siegeNumber(t, "GRENIER_SIEGE_KILLS", tries.Pick[uint64](4, 10, 300))), func(s *solver, r *rand.Rand, took time.Duration) result {
		timer := time.AfterFunc(time.Duration(r.Float64()*float64(took)), func() { s.cmd.Process.Kill() })
		defer timer.Stop()
		return s.wait(t)
	})
}

// siege disturbs each command, which takes a time, about wanted times in all.
func siege(t *testing.T, wanted int, disturb func(s *solver, r *rand.Rand, took time.Duration) result) {
	seed := siegeSeed(t)
	for i, d := range disturbedCommands {
		t.Run(d.name, func(t *testing.T) {
			tries.SkipIf(t, i > 0 && !tries.Long(), "needs GRENIER_LONG=1")
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			d.siege(t, (wanted*d.share+99)/100, func(s *solver, took time.Duration) result { return disturb(s, r, took) })
		})
	}
}

func (d *disturbed) begun(t *testing.T) string {
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

// siege disturbs the command wanted times.
func (d *disturbed) siege(t *testing.T, wanted int, disturb func(s *solver, took time.Duration) result) {
	base := d.begun(t)
	dir := testrun.Copy(t, base)
	start := time.Now()
	undisturbed := d.start(t, dir).wait(t).wants(t, cli.ExitOK)
	took := time.Since(start)
	printed, left := facts(reply{Out: undisturbed.out}), kept(t, filepath.Join(dir, siegeDir))
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
}

func (d *disturbed) fields(args, dir string) []string {
	return append(strings.Fields(strings.ReplaceAll(args, "@", dir)), "--progress", "none")
}

func (d *disturbed) start(t *testing.T, dir string) *solver {
	return launch(t, d.fields(d.args, dir)...)
}

// compare compares a command that is through with one that nobody disturbed. A kill may come when all is done.
func (d *disturbed) compare(t *testing.T, printed map[string]bool, left map[string]string, dir string, r result) {
	should.Not(t, r.status != cli.ExitOK && !strings.Contains(r.err, "has layer 8 already"), "after kills: status %d, %s", r.status, r.err)
	diff := cmp.Diff(left, kept(t, filepath.Join(dir, siegeDir)))
	should.Hold(t, diff == "", "after kills (-undisturbed +disturbed):\n%.3000s", diff)
	got := facts(reply{Out: r.out})
	should.Not(t, strings.HasPrefix(r.out, "{") && !maps.Equal(printed, got), "after kills it prints %v instead of %v", got, printed)
}

// checkOld: after a kill, every file is as it was before, as it is going to be, or not there.
func (d *disturbed) checkOld(t *testing.T, base, dir string, left map[string]string) {
	before := kept(t, filepath.Join(base, siegeDir))
	for name, text := range kept(t, filepath.Join(dir, siegeDir)) {
		should.Not(t, text != before[name] && text != left[name] && name != rundir.ManifestName,
			"a kill leaves %s half done: %d bytes", name, len(text))
	}
}

// windowSeeds is a layer that is solved window by window with windowMemory.
const windowSeeds = 15

var windowMemory = leastMemory(windowSeeds)
