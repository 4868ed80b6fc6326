package main

import (
	"context"
	"fmt"
	"io"
	"os"
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
			args := fmt.Sprintf("awari export --layer 16 --threads 2 --memory 64MiB --json --dir %s --format %s --codec %s --out %s/file", dir, format, codec, t.TempDir())
			r := launch(t, strings.Fields(args)...).wait(t).wants(t, cli.ExitOK)
			e := must.JSON[struct {
				PeakRSS uint64 `json:"peak_rss_bytes"`
			}](t, r.out)
			should.Not(t, e.PeakRSS > 64<<20, "%s, %s: %d bytes of memory", format, codec, e.PeakRSS)
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
	got := must.JSON[struct {
		Exact        bool
		Lower, Upper uint32
		Solutions    []any
	}](t, r.out)
	should.Not(t, got.Exact || got.Lower < 20 || got.Upper <= got.Lower || len(got.Solutions) != 1, "printed %s", r.out)
}

// pegs is a small board of peg solitaire.
const pegs = "o.oo\noooo\noooo\noooo\n"

func pegBoard(t *testing.T) string {
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
		report := must.JSON[struct {
			Exact  bool
			Search struct {
				Depth  int
				Reason string
			}
		}](t, r.out)
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
	tries.NeedsLong(t, "many processes")
	random, seeds, parts := tries.Rand(t), tries.Pick(7, 14, 22), tries.Pick(3, 8, 16)
	dir := solved(t, "--seeds", strconv.Itoa(seeds))
	took := regexp.MustCompile(`"seconds":[0-9.e-]+|\([0-9.]+ s\)`)
	verify := func(flags string) (text []string) {
		for _, form := range []string{"", " --json"} {
			out := mustDo(t, "awari verify --progress none --memory 512MiB --seed 1 --dir "+dir+form+flags)
			text = append(text, took.ReplaceAllString(out, ""))
		}
		return text
	}
	part := func(i int) *solver {
		return launch(t, "awari", "verify", "--dir", dir, "--memory", "512MiB", "--progress", "none", "--part", fmt.Sprintf("%d/%d", i+1, parts))
	}
	killed := 0
	for k, i := range random.Perm(parts) {
		should.Lacks(t, do(t, "awari verify --part all --dir "+dir).wants(t, cli.ExitMissing).out, "in order")
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
	must.Same(t, "what is said", verify(""), verify(" --part all"))
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
	should.Hold(t, status == cli.ExitInterrupted && !strings.HasPrefix(text, "\n") && strings.HasSuffix(text, ": waiting for a run to begin; Ctrl-C stops\n"),
		"status %d: %q, %s", status, text, &errs)
	should.Lacks(t, text, "\x1b")
	should.Equal(t, strings.Count(string(must.Read(t, dir+"/"+rundir.LogName)), "\n"), 5, "lines of the log")
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
	for do(t, "awari solve --pits 8 --seeds 11 --dir "+dir).status != cli.ExitOK {
		// The few positions that were checked have shown the wrong score.
	}
	testrun.TakeLayer(t, dir, whole, wrong)
	return dir, whole
}

// TestStale: all commands that look at layers as a whole say of which others a layer was made, and repair makes it anew.
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

// TestRefusals: each of many wrong command lines ends with the status that the one rule for statuses says, and with one
// line that has the flag or argument, what was given, what is allowed, and, where it helps, what was probably meant.
func TestRefusals(t *testing.T) {
	all := refusals(t)
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	t.Setenv(cli.DirVariable, "")
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "other/manifest.json": `{"name": "site"}`, "short": "x", "grid.txt": "1 2\n", "cal.json": "{}",
		"board.txt": "xyz\n",
	})
	refused(t, all)
}

func refusals(t *testing.T) (all []badInput) {
	for line := range strings.Lines(string(must.Read(t, "testdata/refusals.txt"))) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		status, rest, _ := strings.Cut(line, " ")
		args, words, ok := strings.Cut(rest, " => ")
		must.Hold(t, ok && words != "", "%q has no words", line)
		all = append(all, badInput{args, must.Get(strconv.Atoi(status))(t), words})
	}
	should.Not(t, len(all) < 150, "only %d", len(all))
	return all
}

// TestDamage: every command that comes across damage tells it in one line, which names the command that mends it.
func TestDamage(t *testing.T) {
	dir, other, out := filepath.Join(t.TempDir(), "my run"), solved(t, "--pits", "4", "--seeds", "3"), filepath.Join(t.TempDir(), "out")
	must.OK(t, os.CopyFS(dir, os.DirFS(other)))
	layer, manifest := filepath.Join(dir, rundir.LayerName(2)), filepath.Join(dir, rundir.ManifestName)
	text, repair := string(must.Read(t, layer)), "; to repair it: grenier awari repair --dir '"+dir+"'\n"
	const diary = "not a file of this program"
	for _, c := range []struct {
		path, text, words string // of a damaged file
	}{
		{layer, "", "header: truncated: 0 bytes"}, {layer, "Dear diary", diary}, {layer, strings.Repeat("Dear diary, ", 100), diary},
		{layer, text[:40], "header: truncated"}, {layer, text[:len(text)-1], "footer: "},
		{layer, string(must.Read(t, filepath.Join(dir, rundir.LayerName(1)))), "number of seeds 1"},
		{layer, text[:8] + "\x04" + text[9:], "version 4"}, {manifest, "Dear diary", diary}, {layer, "gone", "missing"},
	} {
		whole, remedy := must.Read(t, c.path), repair
		if c.words == "version 4" {
			remedy = "\n" // a newer program reads it
		}
		must.Write(t, c.path, []byte(c.text))
		if c.text == "gone" {
			must.OK(t, os.Remove(c.path))
			mustRun(t, "awari", "stats", "--dir", dir)
		}
		commands := []string{
			"probe 1 1 0 0", "search 1 1 0 0", "verify", "verify --prove", "scrub", "solve --pits 4 --seeds 4",
			"export --layer 2 --format colex --out " + out, "compare " + other,
		}
		if c.path == manifest {
			commands = append(commands, "stats", "status", "plan --pits 4 --seeds 4")
		} else {
			mustRun(t, "awari", "probe", "--dir", dir, "1", "0", "0", "0") // other layers serve
		}
		for _, command := range commands {
			args := append([]string{"awari"}, append(strings.Fields(command), "--dir", dir)...)
			if args[1] == "compare" {
				args[len(args)-2] = "--" // two directories
			}
			r := grenier(t.Context(), "", args...).wants(t, cli.ExitCorrupt)
			oneClearLine(t, r.err)
			should.Hold(t, strings.HasSuffix(r.err, remedy), "%s: %s", command, r.err)
			if command != "scrub" { // which tells of each layer on stdout
				should.Has(t, r.err, filepath.Base(c.path)+": ", c.words)
			}
		}
		must.Write(t, c.path, whole)
	}
	should.Lacks(t, do(t, "awari probe 1 1 0 0 --dir "+t.TempDir()).err, "repair")
}

// badInput is a command line that must fail; words that the message must have are separated by "|". Of choices in braces, "{a|b}", each
// is a command line of its own; the first that is made stands for {} in the words.
type badInput struct {
	args   string
	status int
	words  string
}

// refused runs bad command lines in the current directory, none of which may change anything there that results depend on.
func refused(t *testing.T, cases []badInput) {
	t.Helper()
	before := layerContents(t, ".")
	var all []badInput
	for _, c := range cases {
		all = append(all, c.each()...)
	}
	for _, c := range all {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.Trim(args[i], `'`) // '' is an empty argument
			}
			oneClearLine(t, grenier(t.Context(), "", args...).wants(t, c.status, strings.Split(c.words, "|")...).err)
			must.Same(t, "changed", before, layerContents(t, "."))
		})
	}
}

func (c badInput) each() (all []badInput) {
	before, rest, found := strings.Cut(c.args, "{")
	if !found {
		return []badInput{c}
	}
	choices, after, _ := strings.Cut(rest, "}")
	for choice := range strings.SplitSeq(choices, "|") {
		all = append(all, badInput{before + choice + after, c.status, strings.ReplaceAll(c.words, "{}", choice)}.each()...)
	}
	return all
}

// TestHugeLines sends lines of 2 MB among others. They are told and skipped; where there can be only one line they are refused.
func TestHugeLines(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	must.Write(t, "row.txt", []byte("oo.o\n"))
	const told = "more than 65536 bytes"
	long := strings.Repeat("1 ", 1<<20) + "\n"
	for _, c := range []struct {
		args, in string
		status   int
		words    string // of stdout, or of stderr in case of a failure
	}{
		{"awari probe --dir . -", "1 1 1 1\n" + long + "0 1 1 1\n", cli.ExitUsage, "line 2: " + told},
		{"awari play --dir .", "help\n0" + strings.Repeat(" ", 2<<20) + "\nquit\n", cli.ExitOK, told + "|you left the game"},
		{"awari uci --dir .", "isready\n" + long + "uci\n", cli.ExitOK, "readyok|info string error: a line is skipped: " + told + "|uciok"},
		{"awari search --dir . -", long, cli.ExitUsage, "stdin: " + told},
		{"chemin play --rows 3 --cols 3 -", long, cli.ExitUsage, "stdin: " + told},
		{"solitaire play --board row.txt --progress none", "board\n" + long + "quit\n", cli.ExitOK, told + "|you left the game with 3 pegs"},
		{"swap solve -", long, cli.ExitUsage, "line 1 has more than 4096 bytes"},
	} {
		r := grenier(t.Context(), c.in, strings.Fields(c.args)...)
		said := r.err
		if c.status == cli.ExitOK {
			said = r.out
		}
		should.Hold(t, r.status == c.status && len(r.err) <= 500, "%s: status %d, want %d: %.500s", c.args, r.status, c.status, r.err)
		should.Has(t, said, strings.Split(c.words, "|")...)
	}
}

func writeFiles(t *testing.T, files map[string]string) {
	for name, text := range files {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Write(t, name, []byte(text))
	}
}

func TestBadDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "2", "--rules", "strict", "--dir", "strict")
	newer := must.Tree(t, "strict")[rundir.ManifestName]
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "begun/manifest.json": "", "other/manifest.json": `{"name": "site"}`,
		"newer/manifest.json": strings.Replace(newer, `"version": 1`, `"version": 5`, 1),
	})
	must.OK(t, os.Mkdir("empty", 0o755))
	const solve, readers = "awari solve --pits 4 --seeds 3 --dir ", "awari {probe 1 0 0 0|stats|verify|status} --dir "
	const every = "awari {solve --pits 4 --seeds 3|probe 1 0 0 0|stats|verify|status} --dir "
	refused(t, []badInput{
		{solve + "strict", cli.ExitUsage, "strict holds|rules strict, 4 pits|asked for|rules awari, 4 pits"},
		{"awari solve --rules strict --seeds 1 --dir strict", cli.ExitUsage, "rules strict, 4 pits|asked for|rules strict, 12 pits"},
		{readers + "none", cli.ExitFailure, "none|no run directory"},
		{readers + "empty", cli.ExitFailure, "empty|no run directory"},
		{every + "file", cli.ExitFailure, "file|not a directory"},
		{every + "file/below", cli.ExitFailure, "file/below|not a directory"},
		{solve + "photos", cli.ExitCorrupt, "photos|not a run directory|cat.jpg"},
		{readers + "photos", cli.ExitCorrupt, "photos|not a run directory"},
		{every + "other", cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
		{every + "begun", cli.ExitCorrupt, "begun/manifest.json"},
		{every + "newer", cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
	})
}
