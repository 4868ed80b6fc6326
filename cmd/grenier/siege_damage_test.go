//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/siegetest"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// siegeNumber returns the number in an environment variable, or else another one.
func siegeNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
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
	t.Helper()
	seed := siegeNumber(t, "GRENIER_SIEGE_SEED", rand.Uint64())
	t.Logf("again with GRENIER_SIEGE_SEED=%d", seed)
	return seed
}

// subject is files that get damaged, and the commands that read them.
type subject struct {
	name  string
	share int  // of all damages, in percent
	long  bool // it takes its time
	build func(t *testing.T, s *subject)
	rows  []row

	tree     *siegetest.Tree
	worker   *worker
	canary   *siegetest.Watched
	whole    *siegetest.Copy
	damages  []siegetest.Damage
	targets  []string
	donors   map[string][]byte
	memory   uint64 // that the worker may use in all
	failures int
	statuses map[int]int // how often commands ended so
	uid      int         // of the user who has the files and runs the commands, 0 for this one
}

// row is a command that reads the files of a subject. Its arguments are one text; @ stands for the tree.
type row struct {
	args, in string
	quiet    bool // its output depends on more than the files: no value to compare
	trusts   bool // it cannot tell a file of another run, or one that is forged with its checksum
	writes   bool // it changes the files, so it comes last

	facts map[string]bool // its output if nothing is damaged
	size  int             // the bytes of that
	took  time.Duration   // and how long it takes: a machine may be busy
	after *siegetest.Copy // the files that it leaves then, if it writes
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
		{name: "exports", share: 6, build: buildExports, rows: []row{
			importing("colex", "none", "a"), importing("colex", "lz4", "b"), importing("vu", "zstd", "c"),
		}},
		{name: "calibration", share: 5, build: buildFiles(), rows: []row{
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
			t.Logf("commands by status: %v", s.statuses)
		})
	}
}

// begin builds the files and learns the output of the commands about them.
func (s *subject) begin(t *testing.T) {
	t.Helper()
	if s.tree == nil {
		s.tree, s.worker = siegetest.New(t), &worker{program: "grenier-worker"}
	}
	s.donors, s.statuses = map[string][]byte{}, map[int]int{}
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
			row.after = s.tree.Save(siegeDir)
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

// round damages the files once or twice and runs all commands.
func (s *subject) round(t *testing.T, r *rand.Rand, number uint64) {
	t.Helper()
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
	t.Helper()
	s.whole.Restore(t)
	must.OK(t, s.tree.RemoveAll("new"))
	if s.whole.Files["run/manifest.json"] != nil {
		for _, name := range notes {
			s.tree.Write(name, []byte("mine"))
		}
	}
}

// give gives the files to the user who runs the commands.
func (s *subject) give() {
	if s.uid != 0 {
		s.tree.Give(".", s.uid)
	}
}

// attack runs all commands on damaged files; did describes the damage.
func (s *subject) attack(t *testing.T, did string, forged siegetest.Forgery) {
	t.Helper()
	mine, repaired := s.foreign(), false
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
		s.statuses[reply.Status]++
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
			fail(row.args, "it changed the directory that it reads: %v", changed(before, after))
		}
	}
	if diff := s.canary.Changes(); diff != "" {
		fail("canaries", "changed:\n%s", diff)
		must.OK(t, s.tree.RemoveAll("canary"))
		s.canary = s.tree.Canary("canary")
	}
	if left := s.foreign(); left != mine {
		fail("foreign files", "of %q, %q are left", mine, left)
	}
}

// notes are files in the directory of a run that are not of the program.
var notes = []string{path.Join("run", "notes.txt"), path.Join("run", "work", "notes.txt")}

// foreign describes the files in the directory that are not of the program.
func (s *subject) foreign() string {
	var found []string
	for _, name := range notes {
		if text, err := s.tree.ReadFile(name); err == nil {
			found = append(found, name+" "+string(text))
		}
	}
	return strings.Join(found, ", ")
}

// changed lists the names that two looks describe in different ways.
func changed(before, after map[string]string) (names []string) {
	for name := range after {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	for name := range before {
		if after[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// insides are words that no user should see.
var insides = regexp.MustCompile(`panic|goroutine \d|runtime error|\.go:\d|%!|<nil>|internal error|NaN|[+-]Inf\b`)

// clearLines are warnings and the reason why the command failed.
var clearLines = regexp.MustCompile(`^(grenier: (warning|note): .+\n)*grenier: .+\n$`)

// judge lists the problems of a reply to a command after damage.
func (s *subject) judge(row *row, r reply, forged siegetest.Forgery) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	switch {
	case r.Status < cli.ExitOK || r.Status > cli.ExitCorrupt:
		add("undocumented status")
	case r.Status != cli.ExitOK && !clearLines.MatchString(r.Err):
		add("not a clear line")
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
	if r.Status == cli.ExitOK && row.writes {
		problems = append(problems, s.judgeLayers(row)...)
	}
	if r.Status == cli.ExitOK && strings.Contains(row.args, " verify ") {
		problems = append(problems, s.judgeVerified(r)...)
	}
	return problems
}

var (
	unsettled = regexp.MustCompile(`"(seconds|nodes_per_second|positions_per_second|peak_rss_bytes|bytes_on_disk|states_per_layer|seed|passes|expanded|generated|peak_open|peak_closed|swaps)": ?(\[\[.*\]\]|\[[^]]*\]|[^,}\]]*)|` +
		`"search":\{[^}]*\}|\([0-9.]+ s\)|http://\S+|[0-9.]+ [kM]nodes/s|\d+\.\d+ s\b|--seed \d+|"before":"[^"]*",`)
	layerFile = regexp.MustCompile(`^layer-\d\d\.gl$`)
)

// facts takes the answers in a reply apart: lines, and the JSON of each layer; without
// values that change from run to run.
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

// judgeLayers compares the layers that a command made with those it should make.
func (s *subject) judgeLayers(row *row) (problems []string) {
	for name, want := range row.after.Files {
		if _, had := s.whole.Files[name]; had || !layerFile.MatchString(path.Base(name)) {
			continue
		}
		if got, err := s.tree.ReadFile(name); err != nil || string(got) != string(want) {
			problems = append(problems, fmt.Sprintf("%s is not what an undisturbed run makes (%v)", name, err))
		}
	}
	return problems
}

// judgeVerified: the layers that verify finds in order are those that were solved.
func (s *subject) judgeVerified(r reply) (problems []string) {
	for n := range strings.Count(r.Out, " 0 wrong\n") {
		name := path.Join(siegeDir, rundir.LayerName(n))
		if got, err := s.tree.ReadFile(name); err != nil || string(got) != string(s.whole.Files[name]) {
			problems = append(problems, fmt.Sprintf("%s is damaged and in order (%v)", name, err))
		}
	}
	return problems
}

// must runs a command that has to succeed, @ being the tree.
func (s *subject) must(t *testing.T, args string) {
	t.Helper()
	mustRun(t, strings.Fields(strings.ReplaceAll(args, "@", s.tree.Name()))...)
}

// donate makes a run whose files other runs are damaged with.
func (s *subject) donate(t *testing.T, args string) {
	t.Helper()
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
	return func(t *testing.T, s *subject) {
		solve := func(pits, seeds int, rules string) string {
			return fmt.Sprintf("awari solve --pits %d --seeds %d --rules %s", pits, seeds, rules)
		}
		s.must(t, solve(pits, seeds, rules)+" --progress none --dir @/"+siegeDir)
		s.must(t, solve(pits, seeds, rules)+" --progress none --dir @/"+siegeWhole)
		s.donate(t, solve(pits, seeds-2, rules)) // an older manifest of the same run
		s.donate(t, solve(pits, seeds, other))
		s.donate(t, solve(4, seeds, rules))
	}
}

// unfinished is a run that has to keep part of its last layer on disk.
var unfinished = fmt.Sprintf("awari solve --progress none --threads 2 --seeds %d --memory %s --dir @/run", windowSeeds, windowMemory)

func buildUnfinished(t *testing.T, s *subject) {
	s.interrupt(t, strings.ReplaceAll(unfinished, "@", s.tree.Name())+" --checkpoint 1ms", "run/work/found")
	s.donate(t, "awari solve --seeds 8")
}

// interrupt runs a command and stops it when there is a checkpoint, until one is left.
func (s *subject) interrupt(t *testing.T, args, checkpoint string) {
	t.Helper()
	for range 50 {
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil && !exists(s.tree.Path(checkpoint)) {
				time.Sleep(200 * time.Microsecond)
			}
			stop()
		}()
		r := grenier(ctx, "", strings.Fields(args)...)
		stop()
		if r.status == cli.ExitInterrupted && exists(s.tree.Path(checkpoint)) {
			return
		}
		must.Not(t, r.status != cli.ExitOK && r.status != cli.ExitInterrupted, "%s: status %d, %s", args, r.status, r.err)
		must.OK(t, s.tree.RemoveAll(siegeDir))
	}
	t.Fatalf("%s: it leaves no checkpoint", args)
}

// buildInterrupted builds a search that was interrupted.
func buildInterrupted(args string) func(*testing.T, *subject) {
	return func(t *testing.T, s *subject) {
		flags := " --progress none --memory 64MiB --dir " + s.tree.Path(siegeDir)
		s.interrupt(t, args+flags, "run/work/checkpoint")
		for _, other := range []string{"swap bfs --rows 2 --cols 3", "swap bfs --rows 2 --cols 4", "awari solve --pits 8 --seeds 3"} {
			if other != args {
				s.donate(t, other)
			}
		}
	}
}

// buildFiles makes the files of some commands, or a calibration if there are none.
func buildFiles(commands ...string) func(*testing.T, *subject) {
	return func(t *testing.T, s *subject) {
		must.OK(t, s.tree.Mkdir(siegeDir, 0o755))
		for _, args := range commands {
			s.must(t, args)
		}
		if len(commands) > 0 {
			return
		}
		s.tree.Write(siegeDir+"/awari.json", must.Read(t, "testdata/machine.json"))
	}
}

func buildExports(t *testing.T, s *subject) {
	s.must(t, "awari solve --progress none --seeds 4 --dir @/source")
	must.OK(t, s.tree.Mkdir(siegeDir, 0o755))
	for n := range 5 {
		for _, f := range []string{"a --format colex", "b --codec lz4 --format colex", "c --codec zstd --format vu"} {
			s.must(t, fmt.Sprintf("awari export --progress none --dir @/source --layer %d --out @/run/%d%s", n, n, f))
		}
	}
}

// importing imports the files that end like that into a new directory.
func importing(format, codec, end string) row {
	files := ""
	for n := range 5 {
		files += fmt.Sprintf(" @/run/%d%s", n, end)
	}
	return row{args: fmt.Sprintf("awari import --json --progress none --layer 0 --format %s --codec %s --dir @/new/%s%s", format, codec, end, files), quiet: codec == "none"}
}
