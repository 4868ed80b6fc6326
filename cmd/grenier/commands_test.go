package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestInterruptedExchange: commands that are interrupted say so and leave nothing.
func TestInterruptedExchange(t *testing.T) {
	dir := solved(t, "--pits", "12", "--seeds", "3")
	t.Chdir(t.TempDir())
	mustRun(t, "awari", "export", "--dir", dir, "--layer", "0", "--format", "vu", "--out", "scores.0", "--progress", "none")
	before := must.Tree(t, ".")
	ctx := must.Ended(t)
	for _, command := range []string{
		"export --dir DIR --layer 3 --format csv --codec zstd --out file",
		"export --dir DIR --layer 3 --format vu --out -",
		"compare DIR DIR",
		"import --dir new --layer 0 --format vu scores.0",
	} {
		args := strings.Fields("awari " + strings.ReplaceAll(command, "DIR", dir))
		r := grenier(ctx, "", args...)
		should.Hold(t, r.status == cli.ExitInterrupted && strings.HasPrefix(r.err, "grenier: interrupted"),
			"%s: status %d, %s", command, r.status, r.err)
	}
	must.OK(t, os.RemoveAll("new")) // made for layer 0, without a layer
	after := must.Tree(t, ".")
	should.Hold(t, len(after) == len(before), "there were %d files, and are %d", len(before), len(after))
}

// TestLongExportMemory: an export stays within --memory, all in all.
func TestLongExportMemory(t *testing.T) {
	tries.SkipIf(t, !tries.Long() || cli.PeakRSS() == 0, "solves 16 layers, where memory can be measured; set GRENIER_LONG=1")
	dir := solved(t, "--seeds", "16")
	for i, format := range []string{"colex", "vu", "npy", "csv", "wdl"} {
		for j, codec := range []string{"none", "lz4", "zstd"} {
			if !tries.Full() && (i+j)%3 != 2 { // each format and each codec, csv with zstd
				continue
			}
			out := must.Get(exec.CommandContext(t.Context(), "grenier", "awari", "export", "--dir", dir, "--layer", "16", "--format", format,
				"--codec", codec, "--threads", "2", "--memory", "64MiB", "--json", "--out", filepath.Join(t.TempDir(), "file")).Output())(t)
			var e exported
			must.OK(t, json.Unmarshal(out, &e))
			should.Not(t, e.PeakRSS > 64<<20, "%s, %s: %d bytes of memory", format, codec, e.PeakRSS)
			t.Logf("%s, %s: %d MiB", format, codec, e.PeakRSS>>20)
		}
	}
}

// TestFindInterrupted interrupts a search: the same command prints in the end what it would have printed at once.
func TestFindInterrupted(t *testing.T) {
	dir := solved(t, "--seeds", "8")
	args := []string{"awari", "find", "--progress", "none", "--dir", dir, "--layer", "6..8", "--where", "sacrifice", "--random", "--count", "5"}
	boards := func(out string) string { return out[:strings.LastIndex(out, " (")] }
	want := boards(mustRun(t, args...))
	state := filepath.Join(t.TempDir(), "state")
	args = append(args, "--state", state)
	ctx, cancel := context.WithCancel(t.Context())
	reported = cancel
	r := grenier(ctx, "", args...)
	reported = nil
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == wordOfSolve && exists(state), "status %d, %q", r.status, r.err)
	should.Equal(t, boards(mustRun(t, args...)), want)
	should.Not(t, exists(state), "there is a state when all is done")
}

// TestProveCircles has six boards with two seeds that are worth 0, because they are played round and round, and gives
// them the scores 2 and -2, each of which follows from the scores of its moves.
func TestProveCircles(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := slices.Clone(testrun.Solve(t, game, 3))
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2}
	dir := testrun.Write(t, game, layers, 64)
	mustRun(t, "awari", "verify", "--dir", dir, "--layer", "2", "--progress", "none")
	r := grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--layer", "2")
	want := `layer  2: 10 of 10 positions checked, 0 wrong
  not proved: 1 positive, 3 negative are grounded, 6 others are not; the first of them:
  board 0 1 0 1, rank 2: the score 2 is not grounded
  board 1 0 0 1, rank 3: the score -2 is not grounded
  board 1 0 1 0, rank 6: the score 2 is not grounded
  board 0 2 0 0, rank 7: the score 2 is not grounded
  board 1 1 0 0, rank 8: the score -2 is not grounded
  board 2 0 0 0, rank 9: the score 2 is not grounded
`
	should.Hold(t, r.status == cli.ExitDifferences && r.out == want, "status %d, %s", r.status, r.out)
	want = "grenier: layer 2: 6 scores are not grounded: they only back each other, in circles\n"
	should.Hold(t, r.err == want, "%q, want %q", r.err, want)
	r = grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--json")
	should.Equal(t, r.status, cli.ExitDifferences, "status")
	should.Has(t, r.out, `{"ok":false,"layers":[`, `"ungrounded":6,"first":[{"rank":2,"board":"0 1 0 1","stored":2},`, `"proof":null}],"seconds":`)
}

// TestCheminInterrupt interrupts a search, which prints its result so far.
func TestCheminInterrupt(t *testing.T) {
	t.Parallel()
	tries.SkipIf(t, runtime.GOOS == "windows", "there is no such signal")
	dir := filepath.Join(t.TempDir(), "run")
	s := launch(t, strings.Fields("chemin solve --progress none --json --rows 4 --cols 5 --memory 48MiB --threads 2 --dir "+dir)...)
	awaitFile(t, filepath.Join(dir, rundir.ManifestName))
	s.signal(t, os.Interrupt)
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == "grenier: interrupted; the same command resumes after the last complete layer\n",
		"status %d, %s", r.status, r.err)
	var got struct {
		Exact        bool
		Lower, Upper uint32
		Solutions    []any
	}
	must.OK(t, json.Unmarshal([]byte(r.out), &got))
	should.Not(t, got.Exact || got.Lower < 20 || got.Upper <= got.Lower || len(got.Solutions) != 1, "printed %s", r.out)
}

// pegs is a small board of peg solitaire.
const pegs = "o.oo\noooo\noooo\noooo\n"

// pegBoard returns a file with it.
func pegBoard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board.txt")
	must.Write(t, path, []byte(pegs))
	return path
}

// TestSearchMemory finds the same in little memory, and refuses too little.
func TestSearchMemory(t *testing.T) {
	t.Chdir(solved(t, "--seeds", "9"))
	board := strings.Fields("0 0 1 0 2 1 1 0 0 0 1 1")
	args := append([]string{"awari", "search", "--progress", "none", "--threads", "1", "--dir", "."}, board...)
	want := mustRun(t, args...)
	should.Equal(t, mustRun(t, append(args, "--memory", "22MiB")...), want, "22 MiB")
	r := grenier(t.Context(), "", append(args, "--memory", "600KiB")...)
	should.Hold(t, r.status == cli.ExitUsage && strings.Contains(r.err, "--memory 600KiB: searching needs 21 MiB of memory; the limit is 600 KiB"),
		"600 KiB: status %d, %s", r.status, r.err)
}

// TestInterruptedSearch prints the result so far: something, if there was time for it.
func TestInterruptedSearch(t *testing.T) {
	dir := solved(t, "--seeds", "5")
	search := append([]string{"awari", "search", "--time", "0", "--memory", "32MiB", "--json", "--dir", dir}, strings.Fields(strings.Repeat("4 ", 12))...)
	for patience := 100 * time.Millisecond; ; patience *= 4 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(patience, cancel)
		r := grenier(ctx, "", search...)
		var report foundReport
		err := json.Unmarshal([]byte(r.out), &report)
		must.Hold(t, err == nil, "%v: %s", err, r.out)
		must.Hold(t, r.status == cli.ExitInterrupted && report.Search.Reason == "interrupted" && !report.Exact,
			"status %d, %s%s", r.status, r.out, r.err)
		if report.Search.Depth > 0 {
			return
		}
		must.Not(t, patience > time.Minute, "nothing is known after %v", patience)
	}
}

// TestInterruptedPlay interrupts the program while it waits for a move, and while it searches one.
func TestInterruptedPlay(t *testing.T) {
	dir := solved(t, "--seeds", "5")
	for _, side := range []string{"south", "north"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(150*time.Millisecond, cancel)
		in, keyboard := io.Pipe()
		var out, errs strings.Builder
		status := run(ctx, []string{"awari", "play", "--time", "1h", "--memory", "32MiB", "--side", side, "--dir", dir}, in, &out, &errs)
		should.Hold(t, status == cli.ExitInterrupted && errs.String() == "grenier: interrupted\n",
			"%s: status %d, %s", side, status, errs.String())
		keyboard.Close()
	}
}

// TestPlayToTheEnd has the program play against its own hints: the result is the value of the board.
func TestPlayToTheEnd(t *testing.T) {
	dir := solved(t, "--seeds", "10")
	board := strings.Fields("0 0 2 0 1 3 1 1 0 0 1 1") // worth -2 to south
	hint := func(pits []string) (best string, over bool) {
		text := "hint\n"
		if len(pits) > 0 {
			text = strings.Join(pits, "\n") + "\nhint\n"
		}
		r := grenier(t.Context(), text, append([]string{"awari", "play", "--memory", "32MiB", "--dir", dir}, board...)...)
		must.Hold(t, r.status == cli.ExitOK && r.err == "", "status %d, %s", r.status, r.err)
		for line := range strings.Lines(r.out) {
			if strings.HasSuffix(line, "(best)\n") {
				best = strings.TrimSuffix(strings.Fields(line)[0], ":")
			}
		}
		if best == "" {
			should.Hold(t, strings.Contains(r.out, "the program wins; seeds taken: you 4, the program 6\n"), "the end:\n%s", r.out)
			return "", true
		}
		return best, false
	}
	var pits []string
	for {
		best, over := hint(pits)
		if over {
			return
		}
		pits = append(pits, best)
		must.Not(t, len(pits) > 100, "no end after %v", pits)
	}
}

// TestLongParts: a verification in parts, each a process, in random order, some of them killed and one done twice at the same time, says
// what one run says. It does not before the last one is done.
func TestLongParts(t *testing.T) {
	random, seeds, parts := tries.Rand(t), tries.Pick(9, 14, 22), tries.Pick(4, 8, 16)
	dir := solved(t, "--seeds", strconv.Itoa(seeds))
	took := regexp.MustCompile(`"seconds":[0-9.e-]+|\([0-9.]+ s\)`)
	verify := func(flags ...string) (text []string) {
		for _, form := range [][]string{{"--progress", "none"}, {"--json", "--progress", "none"}} {
			args := append([]string{"awari", "verify", "--dir", dir, "--memory", "512MiB", "--seed", "1"}, append(form, flags...)...)
			text = append(text, took.ReplaceAllString(mustRun(t, args...), ""))
		}
		return text
	}
	part := func(i int) *solver {
		return launch(t, "awari", "verify", "--dir", dir, "--memory", "512MiB", "--progress", "none", "--part", fmt.Sprintf("%d/%d", i+1, parts))
	}
	killed := 0
	for k, i := range random.Perm(parts) {
		r := grenier(t.Context(), "", "awari", "verify", "--dir", dir, "--part", "all")
		must.Not(t, r.status != cli.ExitMissing || strings.Contains(r.out, "in order"), "after %d parts: %+v", k, r)
		for killed < min(3, k) && part(i).killAfter(t, time.Duration(random.Int64N(int64(time.Second)))) {
			killed++
		}
		both := []*solver{part(i)}
		if k == 1 {
			both = append(both, part(i))
		}
		for _, s := range both {
			r := s.wait(t)
			must.Hold(t, r.status == cli.ExitOK && r.err == "" && !strings.Contains(r.out, "in order"), "part %d of %d: %+v", i+1, len(both), r)
		}
	}
	must.Same(t, "what is said", verify(), verify("--part", "all"))
	should.Not(t, killed == 0 && seeds > 9, "no part was killed")
}

// documentTable returns a table of document 001 as it is printed there.
func documentTable(t *testing.T, name string) string {
	t.Helper()
	return string(must.Read(t, filepath.Join("../../pipeline/spaces/census/testdata", name)))
}

// TestLongDocumentTables compares the output of table with the document, character for character.
func TestLongDocumentTables(t *testing.T) {
	twelve := mustRun(t, "awari", "table", "--pits", "12", "--seeds", "48")
	want := documentTable(t, "12-pits.txt") + "\n" + documentTable(t, "cost.txt")
	must.Same(t, "12 pits", want, twelve)
	if !tries.Long() {
		return // a search of the game on 8 pits takes seconds, and package census makes it
	}
	want = documentTable(t, "8-pits.txt") + "\n"
	eight := mustRun(t, "awari", "table", "--pits", "8", "--rules", "strict", "--seeds", "24")
	must.Same(t, "8 pits", want, eight[:min(len(want), len(eight))])
}

// TestWatchTerminal: an output that is not a terminal gets no control characters.
func TestWatchTerminal(t *testing.T) {
	dir := solved(t, "--pits", "4", "--seeds", "2")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &firstWrite{do: stop}
	var errs strings.Builder
	status := run(ctx, []string{"awari", "status", "--dir", dir, "--watch"}, strings.NewReader(""), out, &errs)
	text := out.String()
	should.Not(t, status != cli.ExitInterrupted || strings.Contains(text, "\x1b") || strings.HasPrefix(text, "\n") ||
		!strings.HasSuffix(text, ": waiting for a run to begin; Ctrl-C stops\n"), "status %d: %q, %s", status, text, errs.String())
	log, err := os.ReadFile(dir + "/" + rundir.LogName)
	should.Hold(t, err == nil && strings.Count(string(log), "\n") == 5, "%v, log:\n%s", err, log)
}

// firstWrite keeps what is written, and does something after the first time.
type firstWrite struct {
	strings.Builder
	do func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		defer w.do()
	}
	return w.Builder.Write(p)
}

// staleRun returns a run of 8 pits whose layer 11 was computed over a layer 9 with one wrong score, which has
// been replaced by the right one.
func staleRun(t *testing.T) (dir, whole string) {
	const wrong = 9
	whole = solved(t, "--pits", "8", "--seeds", "11")
	game := testrun.Game(t, 8, awari.Awari)
	layers := slices.Clone(testrun.Solve(t, game, wrong))
	layers[wrong] = slices.Clone(layers[wrong])
	layers[wrong][5000] = testrun.Other(layers[wrong][5000])
	dir = testrun.Write(t, game, layers, 4096)
	for grenier(t.Context(), "", "awari", "solve", "--pits", "8", "--seeds", "11", "--dir", dir).status != cli.ExitOK {
		// The few positions that were checked have shown the wrong score.
	}
	testrun.TakeLayer(t, dir, whole, wrong)
	return dir, whole
}

// TestStale: all commands that look at layers as a whole say of which others a layer was made, and repair
// makes it anew.
func TestStale(t *testing.T) {
	dir, whole := staleRun(t)
	eleven := filepath.Join(t.TempDir(), "eleven")
	mustRun(t, "awari", "export", "--dir", whole, "--layer", "11", "--format", "colex", "--out", eleven)
	const text, remedy = "layer 11 was made from another layer 9", "grenier awari repair --set-aside --dir "
	for _, args := range []string{
		"status", "scrub", "verify", "verify --prove", "compare " + whole + " " + dir + " --layer 8", "repair --dry-run", "repair",
		"solve --pits 8 --seeds 11", "solve --pits 8 --seeds 12", "import --pits 8 --layer 12 --format colex " + eleven,
	} {
		status := cli.ExitCorrupt
		if args == "status" {
			status = cli.ExitOK
		}
		if !strings.HasPrefix(args, "compare") {
			args += " --dir " + dir
		}
		r := grenier(t.Context(), "", append([]string{"awari"}, strings.Fields(args)...)...)
		all := r.out + r.err
		should.Hold(t, r.status == status && strings.Contains(all, text) && strings.Contains(all, remedy+dir),
			"%s: status %d, %s", args, r.status, all)
	}
	r := grenier(t.Context(), "", "awari", "status", "--json", "--dir", dir)
	should.Hold(t, strings.Contains(r.out, `"made_from_others":[9]`), "%v", r.out)
	out := mustRun(t, "awari", "repair", "-q", "--set-aside", "--dir", dir)
	should.Hold(t, strings.Contains(out, "layer 11: solved again") && strings.Contains(out, "the old file is now layer-11.gl.damaged-"),
		"%v", out)
	mustRun(t, "awari", "scrub", "-q", "--dir", dir)
	mustRun(t, "awari", "compare", "-q", dir, whole)
	sameLayer(t, whole, dir, 11)
}

// JSON output of commands, as far as tests look at single values of it.
type (
	solveSummary struct {
		Seconds float64 `json:"seconds"`
		Layers  []struct {
			Bits    int                      `json:"bits"`
			Windows int                      `json:"windows"`
			Streams map[string]solve.Streams `json:"streams"`
		} `json:"layers"`
	}
	statusReport struct {
		State  rundir.State `json:"state"`
		Locked bool         `json:"locked"`
		PID    int          `json:"pid"`
		Alive  bool         `json:"alive"`
		Layers []any        `json:"layers"`
		Report *struct {
			PID int      `json:"pid"`
			ETA *float64 `json:"eta_seconds"`
		} `json:"report"`
	}
	exported struct {
		PeakRSS uint64 `json:"peak_rss_bytes"`
	}
	foundReport struct {
		Exact  bool `json:"exact"`
		Search struct {
			Depth  int    `json:"depth"`
			Reason string `json:"reason"`
		} `json:"search"`
	}
	serveReport struct {
		Address string `json:"address"`
		URL     string `json:"url"`
	}
)
