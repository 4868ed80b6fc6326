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
)

// TestInterruptedExchange: commands that are interrupted say so and leave nothing.
func TestInterruptedExchange(t *testing.T) {
	dir := solved(t, "--pits", "12", "--seeds", "3")
	t.Chdir(t.TempDir())
	mustDo(t, "awari export --dir "+dir+" --layer 0 --format vu --out scores.0 --progress none")
	before, ctx := must.Tree(t, "."), must.Ended(t)
	for _, command := range []string{
		"export --dir DIR --layer 3 --format csv --codec zstd --out file", "export --dir DIR --layer 3 --format vu --out -",
		"compare DIR DIR", "import --dir new --layer 0 --format vu scores.0",
	} {
		r := grenier(ctx, "", strings.Fields("awari "+strings.ReplaceAll(command, "DIR", dir))...)
		should.Hold(t, r.status == cli.ExitInterrupted && strings.HasPrefix(r.err, "grenier: interrupted"), "%s: %+v", command, r)
	}
	must.OK(t, os.RemoveAll("new")) // made for layer 0, without a layer
	should.Equal(t, len(must.Tree(t, ".")), len(before), "files")
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
			var e struct {
				PeakRSS uint64 `json:"peak_rss_bytes"`
			}
			must.OK(t, json.Unmarshal(out, &e))
			should.Not(t, e.PeakRSS > 64<<20, "%s, %s: %d bytes of memory", format, codec, e.PeakRSS)
			t.Logf("%s, %s: %d MiB", format, codec, e.PeakRSS>>20)
		}
	}
}

// TestFindInterrupted interrupts a search: the same command prints in the end what it would have printed at once.
func TestFindInterrupted(t *testing.T) {
	dir := solved(t, "--seeds", "8")
	find := "awari find --progress none --dir " + dir + " --layer 6..8 --where sacrifice --random --count 5"
	boards := func(out string) string { return out[:strings.LastIndex(out, " (")] }
	want := boards(mustDo(t, find))
	state := filepath.Join(t.TempDir(), "state")
	find += " --state " + state
	ctx, cancel := context.WithCancel(t.Context())
	reported = cancel
	r := grenier(ctx, "", strings.Fields(find)...)
	reported = nil
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == wordOfSolve && exists(state), "status %d, %q", r.status, r.err)
	should.Equal(t, boards(mustDo(t, find)), want)
	should.Not(t, exists(state), "there is a state when all is done")
}

// TestProveCircles has six boards with two seeds that are worth 0, because they are played round and round, and gives
// them the scores 2 and -2, each of which follows from the scores of its moves.
func TestProveCircles(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := slices.Clone(testrun.Solve(t, game, 3))
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2}
	dir := testrun.Write(t, game, layers, 64)
	mustDo(t, "awari verify --dir "+dir+" --layer 2 --progress none")
	const want = `layer  2: 10 of 10 positions checked, 0 wrong
  not proved: 1 positive, 3 negative are grounded, 6 others are not; the first of them:
  board 0 1 0 1, rank 2: the score 2 is not grounded
  board 1 0 0 1, rank 3: the score -2 is not grounded
  board 1 0 1 0, rank 6: the score 2 is not grounded
  board 0 2 0 0, rank 7: the score 2 is not grounded
  board 1 1 0 0, rank 8: the score -2 is not grounded
  board 2 0 0 0, rank 9: the score 2 is not grounded
`
	should.Equal(t, do(t, "awari verify --prove --dir "+dir+" --layer 2"),
		result{cli.ExitDifferences, want, "grenier: layer 2: 6 scores are not grounded: they only back each other, in circles\n"})
	r := do(t, "awari verify --prove --dir "+dir+" --json").wants(t, cli.ExitDifferences)
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
	should.Equal(t, r.wants(t, cli.ExitInterrupted).err, "grenier: interrupted; the same command resumes after the last complete layer\n")
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

func pegBoard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board.txt")
	must.Write(t, path, []byte(pegs))
	return path
}

// TestSearchMemory finds the same in little memory, and refuses too little.
func TestSearchMemory(t *testing.T) {
	t.Chdir(solved(t, "--seeds", "9"))
	const search = "awari search --progress none --threads 1 --dir . 0 0 1 0 2 1 1 0 0 0 1 1"
	should.Equal(t, mustDo(t, search+" --memory 22MiB"), mustDo(t, search))
	do(t, search+" --memory 600KiB").wants(t, cli.ExitUsage, "--memory 600KiB: searching needs 21 MiB of memory; the limit is 600 KiB")
}

// TestInterruptedSearch prints the result so far: something, if there was time for it.
func TestInterruptedSearch(t *testing.T) {
	dir := solved(t, "--seeds", "5")
	search := strings.Fields("awari search --time 0 --memory 32MiB --json --dir " + dir + strings.Repeat(" 4", 12))
	for patience := 100 * time.Millisecond; ; patience *= 4 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(patience, cancel)
		r := grenier(ctx, "", search...)
		var report struct {
			Exact  bool
			Search struct {
				Depth  int
				Reason string
			}
		}
		must.OK(t, json.Unmarshal([]byte(r.out), &report))
		must.Hold(t, r.status == cli.ExitInterrupted && report.Search.Reason == "interrupted" && !report.Exact, "%+v", r)
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
		time.AfterFunc(60*time.Millisecond, cancel)
		in, keyboard := io.Pipe()
		var errs strings.Builder
		status := run(ctx, []string{"awari", "play", "--time", "1h", "--memory", "32MiB", "--side", side, "--dir", dir}, in, io.Discard, &errs)
		should.Hold(t, status == cli.ExitInterrupted && errs.String() == "grenier: interrupted\n", "%s: status %d, %s", side, status, &errs)
		keyboard.Close()
	}
}

// TestPlayToTheEnd has the program play against its own hints: the result is the value of the board.
func TestPlayToTheEnd(t *testing.T) {
	play := "awari play --memory 32MiB --dir " + solved(t, "--seeds", "10") + " 0 0 2 0 1 3 1 1 0 0 1 1" // worth -2 to south
	for pits := ""; ; {
		r := grenier(t.Context(), pits+"hint\n", strings.Fields(play)...)
		must.Hold(t, r.status == cli.ExitOK && r.err == "", "%+v", r)
		best := bestHint.FindStringSubmatch(r.out)
		if best == nil {
			should.Has(t, r.out, "the program wins; seeds taken: you 4, the program 6\n")
			return
		}
		pits += best[1] + "\n"
		must.Not(t, len(pits) > 200, "no end after %s", pits)
	}
}

var bestHint = regexp.MustCompile(`(?m)^\s*(\S+):.*\(best\)$`)

// TestLongParts: a verification in parts, each a process, in random order, some of them killed and one done twice at the same time, says
// what one run says. It does not before the last one is done.
func TestLongParts(t *testing.T) {
	random, seeds, parts := tries.Rand(t), tries.Pick(7, 14, 22), tries.Pick(3, 8, 16)
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
	should.Not(t, killed == 0 && tries.Long(), "no part was killed")
}

// TestLongDocumentTables compares the output of table with the document, character for character.
func TestLongDocumentTables(t *testing.T) {
	document := func(name string) string {
		return string(must.Read(t, filepath.Join("../../pipeline/spaces/census/testdata", name))) + "\n"
	}
	must.Same(t, "12 pits", document("12-pits.txt")+document("cost.txt"), mustDo(t, "awari table --pits 12 --seeds 48")+"\n")
	if tries.Long() { // a search of the game on 8 pits takes seconds, and package census makes it
		eight, want := mustDo(t, "awari table --pits 8 --rules strict --seeds 24"), document("8-pits.txt")
		must.Same(t, "8 pits", want, eight[:min(len(want), len(eight))])
	}
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
	mustDo(t, "awari export --dir "+whole+" --layer 11 --format colex --out "+eleven)
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
		r := do(t, "awari "+args).wants(t, status)
		should.Has(t, r.out+r.err, text, remedy+dir)
	}
	should.Has(t, do(t, "awari status --json --dir "+dir).out, `"made_from_others":[9]`)
	should.Has(t, mustDo(t, "awari repair -q --set-aside --dir "+dir), "layer 11: solved again", "the old file is now layer-11.gl.damaged-")
	mustDo(t, "awari scrub -q --dir "+dir)
	mustDo(t, "awari compare -q "+dir+" "+whole)
	sameLayer(t, whole, dir, 11)
}
