package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/match"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// A solver is a process of this program.
type solver struct {
	cmd       *exec.Cmd
	out, errs strings.Builder
}

// command returns a process that is not started yet.
func command(t *testing.T, name string, args ...string) *solver {
	s := &solver{cmd: exec.CommandContext(t.Context(), name, args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	return s
}

func (s *solver) start(t *testing.T) *solver {
	t.Helper()
	must.OK(t, s.cmd.Start())
	return s
}

// talk starts this program with pipes for its stdin and stdout.
func talk(t *testing.T, args ...string) (s *solver, in io.WriteCloser, out io.Reader) {
	s = command(t, "grenier", args...)
	s.cmd.Stdout = nil
	in, out = must.Get(s.cmd.StdinPipe())(t), must.Get(s.cmd.StdoutPipe())(t)
	return s.start(t), in, out
}

func launch(t *testing.T, args ...string) *solver { return command(t, "grenier", args...).start(t) }

func startSolving(t *testing.T, flags ...string) *solver {
	return launch(t, append([]string{"awari", "solve"}, flags...)...)
}

// startSolver starts a run that takes long.
func startSolver(t *testing.T, dir string) *solver {
	return launch(t, strings.Fields("awari solve --progress none --seeds 24 --checkpoint 1ms --dir "+dir)...)
}

// wait returns what became of the process.
func (s *solver) wait(t *testing.T) result {
	t.Helper()
	err := s.cmd.Wait()
	must.Not(t, err != nil && s.cmd.ProcessState == nil, "%v", err)
	return result{s.cmd.ProcessState.ExitCode(), s.out.String(), s.errs.String()}
}

// killAfter kills the process unless it is done before, and reports whether it had to.
func (s *solver) killAfter(t *testing.T, patience time.Duration) bool {
	t.Helper()
	timer := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	r := s.wait(t)
	must.Hold(t, r.status == cli.ExitOK || r.status == -1, "%+v", r)
	return r.status == -1
}

// afterInterrupt matches the files that may be left.
var afterInterrupt = regexp.MustCompile(`^(lock|solve\.log|work|manifest\.json|layer-\d\d\.gl|work/(captures-\d{4}-(open|full)|window-\d\d-\d|offers|found|status\.json))$`)

func layersOf(t *testing.T, dir string) []manifest.LayerSummary {
	return must.JSON[manifest.Summary](t, mustDo(t, "awari stats --json --dir "+dir)).Layers
}

var seconds = regexp.MustCompile(`"seconds": [^\n]*|"crc32c": [^\n]*`)

// withoutSeconds returns the files of a run directory by name that results depend
// on, but for the times in the manifest and its checksum, which covers them.
func withoutSeconds(t *testing.T, dir string) map[string]string {
	files := layerContents(t, dir)
	files[rundir.ManifestName] = seconds.ReplaceAllString(files[rundir.ManifestName], "")
	return files
}

// TestInterrupt sends the signals that end a command.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	tries.SkipIf(t, runtime.GOOS == "windows", "there are no such signals")
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // by whoever began the tests, and so by the solver
		}
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			testInterrupt(t, sig)
		})
	}
}

func testInterrupt(t *testing.T, sig os.Signal) {
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolver(t, dir)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(8))) // layer 7 is in the manifest by then
	if sig == syscall.SIGTERM {
		do(t, "awari solve --seeds 3 --dir "+dir).wants(t, cli.ExitFailure, "in use by process "+strconv.Itoa(s.cmd.Process.Pid)+"\n")
		for _, command := range []string{"probe 0 0 0 0 0 1 1 0 0 0 0 0", "stats", "status", "verify --sample 1000"} { // read while it writes
			mustDo(t, "awari "+command+" --dir "+dir)
		}
	}
	s.signal(t, sig)
	r, sealed := s.wait(t).wants(t, cli.ExitInterrupted), len(layersOf(t, dir))
	should.Equal(t, r.err, wordOfSolve)
	should.Hold(t, strings.Count(r.out, "\n") == sealed+1 && sealed >= 8, "%d layers sealed, %s", sealed, r.out)
	for name := range must.Tree(t, dir) {
		should.Hold(t, name == "." || afterInterrupt.MatchString(filepath.ToSlash(name)), "%s is left", name)
	}
	mustDo(t, "awari verify --progress none --sample 1000 --dir "+dir)
}

const wordOfSolve = "grenier: interrupted; the same command resumes\n"

func (s *solver) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	should.OK(t, s.cmd.Process.Signal(sig))
}

// awaitFile waits until there is a file whose path begins so.
func awaitFile(t *testing.T, path string) {
	tries.Await(t, path, func() bool { return len(namesIn(t, filepath.Dir(path), filepath.Base(path))) > 0 })
}

func namesIn(t *testing.T, dir, prefix string) (names []string) {
	t.Helper()
	for _, path := range must.Get(filepath.Glob(filepath.Join(dir, prefix+"*")))(t) {
		names = append(names, filepath.Base(path))
	}
	return names
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestProbeTalks asks one board after the other through pipes: each answer comes
// before the next question, and an interrupt ends the wait for one.
func TestProbeTalks(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "there is no such signal")
	dir := solved(t, "--pits", "4", "--seeds", "3")
	s, in, out := talk(t, "awari", "probe", "--dir", dir, "-")
	answer := make([]byte, 1000)
	for _, c := range [][2]string{
		{"1 0 0 0", "value 1; moves 1 .\n"}, {"0 0 1 0", "value -1; moves . .\n"}, {"1", "error: line 3: "},
	} {
		must.OK(t, must.Err(in.Write([]byte(c[0]+"\n"))))
		n := must.Get(out.Read(answer))(t)
		should.Hold(t, strings.HasPrefix(string(answer[:n]), c[1]), "%s: answer %q", c[0], answer[:n])
	}
	s.signal(t, os.Interrupt)
	should.Equal(t, s.wait(t).wants(t, cli.ExitInterrupted).err, "grenier: interrupted\n")
}

// leastMemory returns the least memory with which two workers solve a layer.
func leastMemory(seeds int) string {
	game, err := awari.New(awari.MaxPits, awari.Awari)
	if err != nil {
		panic(err)
	}
	short, _ := errors.AsType[*memory.Error]((&solve.Options{Seeds: seeds, Job: job.Job{Workers: 2, Memory: 1}}).Check(game))
	return fmt.Sprintf("%dKiB", short.Need>>10+1)
}

// TestLongWindowsReport solves a small layer window by window and looks at what is told. What interruptions, full disks and damage do to such
// layers is tested by TestLongSiegeKill, TestLongInterruptAnytime and TestLongSiegeDamage, and in packages solve and halfboard.
func TestLongWindowsReport(t *testing.T) {
	tries.NeedsLong(t, "solves 14 seeds")
	const seeds = 14
	dir := solved(t, "--seeds", strconv.Itoa(seeds-1))
	out := mustDo(t, fmt.Sprintf("awari solve --progress json --json --dir %s --seeds %d --memory %s --threads 2", dir, seeds, leastMemory(seeds)))
	s := summaryOf(t, out)
	must.Hold(t, len(s.Layers) == 1 && s.Layers[0].Windows >= 2 && s.Layers[0].Bits < 8, "layers %+v", s.Layers)
	streams := s.Layers[0].Streams
	should.Not(t, streams["seal"].Read == 0 || streams["seal"].Written > 0 || streams["capture"].Written == 0 || streams["dense"].Read == 0,
		"streams %+v", streams)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	told, window := false, 0
	for _, line := range lines[:len(lines)-1] {
		l := must.JSON[struct {
			Type   string
			Detail solve.Progress
		}](t, line)
		told = told || l.Type != "layer"
		if l.Type != "layer" && !slices.Contains([]string{"check", "capture", "seal"}, l.Detail.Stage) {
			should.Hold(t, l.Detail.Window >= window && strings.Contains(line, `"streams":{`), "after window %d: %s", window, line)
			window = l.Detail.Window
		}
	}
	should.Not(t, !told && s.Seconds > 5, "no progress in %v s", s.Seconds)
}

// solveSummary is a part of the last line of what solve prints.
type solveSummary struct {
	Seconds float64
	Layers  []struct {
		Bits, Windows int
		Streams       map[string]solve.Streams
	}
}

func summaryOf(t *testing.T, out string) solveSummary {
	return must.JSON[solveSummary](t, out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
}

func sameLayer(t *testing.T, want, got string, n int) {
	t.Helper()
	name := rundir.LayerName(n)
	should.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))), "%s differs", name)
}

// buggy makes the k-th report of progress panic, in the goroutine that reports, while body runs; it returns whether there were so many.
func buggy(t *testing.T, k int64, body func()) bool {
	var reports atomic.Int64
	reported = func() {
		if reports.Add(1) == k {
			aBug(k)
		}
	}
	defer func() { reported = nil }()
	body()
	return reports.Load() >= k
}

// aBug is in the stack that is to be found.
func aBug(k int64) { panic(fmt.Sprintf("bug %d\nhere", k)) }

var bugLine = regexp.MustCompile(`^grenier: internal error: bug \d+; here; this is a bug of grenier ` + regexp.QuoteMeta(cli.Release) +
	` with \w+ kernels, its stack (is in .*|follows\ngoroutine (?s:.*))\n$`)

// wantBug checks what a user sees of a bug: one line, and the stack here or there.
func wantBug(t *testing.T, r result, log string) {
	must.Hold(t, r.status == cli.ExitBug && bugLine.MatchString(r.err), "%+v", r)
	stack := r.err
	if log != "" {
		should.Has(t, r.err, "its stack is in "+log+"\n")
		stack = string(must.Read(t, log))
	}
	should.Has(t, stack, "grenier.aBug(")
}

func wantNoTemps(t *testing.T, dir string) {
	t.Helper()
	for path := range must.Tree(t, dir) {
		_, ok := vfs.TempFor(filepath.Base(path))
		should.Not(t, ok, "%s is left", path)
	}
}

// TestLongBug makes commands panic in the midst of their work, earlier and later: all
// end in order, and the same command continues to the same end.
func TestLongBug(t *testing.T) {
	tries.NeedsLong(t, "many processes")
	tables, exported := solved(t, "--seeds", "8"), filepath.Join(t.TempDir(), "exported")
	mustDo(t, "awari export --layer 0 --format colex --progress none --dir "+tables+" --out "+exported)
	places := strings.NewReplacer("TABLES", tables, "EXPORTED", exported, "PEGS", pegBoard(t))
	all := []string{ // @ is a directory of its own
		"awari solve --seeds 8 --threads 2 --dir @", "awari import --layer 0 --format colex --dir @ EXPORTED",
		"awari export --dir TABLES --layer 8 --format vu --out @/scores", "awari verify --dir TABLES", "awari compare TABLES TABLES",
		"swap bfs --rows 3 --cols 3", "swap pdb build --kind apdb --rows 3 --cols 3 --tiles 1,2,3 --out @/p.gp",
		"chemin solve --rows 3 --cols 3 --method classes",
	}
	if tries.Long() {
		all = append(all, "awari verify --prove --dir TABLES", "swap bfs --rows 3 --cols 3 --dir @", "chemin solve --rows 3 --cols 3 --dir @",
			"solitaire solve --board PEGS --dir @")
	}
	for _, args := range all {
		t.Run(args, func(t *testing.T) {
			whole, broken := t.TempDir(), t.TempDir()
			command := func(dir string) result {
				return do(t, strings.ReplaceAll(places.Replace(args), "@", dir)+" --progress none")
			}
			command(whole).wants(t, cli.ExitOK)
			log := ""
			if strings.HasPrefix(args, "awari solve") {
				log = filepath.Join(broken, rundir.LogName)
			}
			bugs, factor := 0, tries.More(int64(729), 3)
			for k := int64(1); ; k *= factor {
				var r result
				if !buggy(t, k, func() { r = command(broken) }) {
					r.wants(t, cli.ExitOK)
					break
				}
				bugs++
				wantBug(t, r, log)
				wantNoTemps(t, broken)
			}
			should.Not(t, bugs == 0, "nothing was reported")
			must.Same(t, "what is left differs", kept(t, whole), kept(t, broken))
		})
	}
}

// brokenWriter panics.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { panic("a broken writer") }

// TestBugInBackground: a bug in what shows progress ends the command at once.
func TestBugInBackground(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var errs strings.Builder
	args := strings.Fields("awari solve --seeds 24 --threads 1 --json --progress json --dir " + dir)
	status := run(t.Context(), args, strings.NewReader(""), brokenWriter{}, &errs)
	should.Hold(t, status == cli.ExitBug && strings.HasPrefix(errs.String(), "grenier: internal error: a broken writer; "), "status %d, %s", status, &errs)
	should.Has(t, errs.String(), "its stack is in "+filepath.Join(dir, rundir.LogName))
	mustDo(t, "awari verify --progress none --sample 1000 --dir "+dir)
}

// ucier is a process that speaks the protocol of oware interfaces.
type ucier struct {
	*solver
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startUCI(t *testing.T, dir string) *ucier {
	s, in, out := talk(t, "awari", "uci", "--memory", "32MiB", "--dir", dir)
	u := &ucier{s, in, bufio.NewScanner(out)}
	u.say(t, "uci", "uciok")
	return u
}

// say sends commands and returns the first line that begins with a word.
func (u *ucier) say(t *testing.T, commands, word string) string {
	t.Helper()
	must.OK(t, must.Err(fmt.Fprintln(u.in, commands)))
	for u.lines.Scan() {
		should.Not(t, strings.HasPrefix(u.lines.Text(), "info string error"), "%s: %s", commands, u.lines.Text())
		if strings.HasPrefix(u.lines.Text(), word) {
			return u.lines.Text()
		}
	}
	t.Fatalf("%s: the process has ended: %s", commands, u.errs.String())
	return ""
}

func (u *ucier) quit(t *testing.T) {
	t.Helper()
	fmt.Fprintln(u.in, "quit")
	for u.lines.Scan() {
	}
	should.Equal(t, u.wait(t), result{})
}

// TestLongUCIMatch plays whole games between two processes, one with tables of ten seeds and one
// with hardly any, which change sides. Each game ends by the rules or in a repetition, and each
// move on a solved board of the side with tables keeps its value: what the tables promise it in a position is got in the end, or more.
func TestLongUCIMatch(t *testing.T) {
	tries.NeedsLong(t, "many processes")
	t.Parallel()
	games, limits := tries.Pick(1, 2, 6), tries.More("go depth 1", "go movetime 20")
	rich, tab := solvedFor(t, 10)
	poor, _ := solvedFor(t, 1)
	sides := []*ucier{startUCI(t, rich), startUCI(t, poor)}
	random := rand.New(rand.NewPCG(20, 26))
	kept := 0
	for i := range games {
		g := openUCIGame(t, tab, match.Side(i%2), random)
		for g.goesOn(t) {
			g.play(t, g.ask(t, sides[(int(g.Turn())+i)%2], limits))
		}
		kept += g.kept
		must.Not(t, t.Failed() || g.promised && g.lead() < g.due, "game %d: ends with %d, the tables promised %d: %s", i, g.lead(), g.due, g.moves)
	}
	for _, u := range sides {
		u.quit(t)
	}
	should.Not(t, kept == 0, "no game came to a solved board")
}

// solvedFor returns a directory with so many layers, and its tables.
func solvedFor(t *testing.T, seeds int) (string, *tables.Tables) {
	dir := solved(t, "--seeds", fmt.Sprint(seeds))
	return dir, tabletest.Open(t, dir)
}

// TestLongUCIClock plays games between two processes at a second for all moves of a side, while others keep all
// processors busy: no side loses on time.
func TestLongUCIClock(t *testing.T) {
	tries.NeedsFull(t, "games by the clock")
	dir, tab := solvedFor(t, 10)
	for range runtime.NumCPU() { // others who want a processor each
		u := startUCI(t, dir)
		fmt.Fprintln(u.in, "position startpos\ngo infinite")
		defer u.quit(t)
	}
	sides := []*ucier{startUCI(t, dir), startUCI(t, dir)}
	random := tries.Rand(t)
	for i := range 200 {
		g, left := openUCIGame(t, tab, match.Side(i%2), random), [2]time.Duration{time.Second, time.Second}
		for _, u := range sides {
			u.say(t, "ucinewgame\nisready", "readyok")
		}
		for g.goesOn(t) {
			side := g.Turn()
			asked := time.Now()
			pit := g.ask(t, sides[side], fmt.Sprintf("go wtime %d btime %d", left[0].Milliseconds(), left[1].Milliseconds()))
			left[side] -= time.Since(asked)
			must.Not(t, left[side] < 0, "game %d: %v loses on time at move %d: %s", i, side, len(g.moves), g.moves)
			g.play(t, pit)
		}
	}
	for _, u := range sides {
		u.quit(t)
	}
}

func openUCIGame(t *testing.T, tab *tables.Tables, rich match.Side, random *rand.Rand) *uciGame {
	g := &uciGame{Match: match.New(tab.Game(), awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}), tables: tab, rich: rich}
	for range 3 {
		pit := random.IntN(6)
		for !tab.Game().Plays(g.Board())[pit].Legal {
			pit = random.IntN(6)
		}
		g.play(t, pit)
	}
	return g
}

func (g *uciGame) ask(t *testing.T, u *ucier, limits string) int {
	t.Helper()
	best := u.say(t, "position startpos moves "+g.moves+"\n"+limits, "bestmove ")
	return int(best[len("bestmove ")]) - []int{'A', 'a'}[g.Turn()]
}

// uciGame is a game and the letters of its moves.
type uciGame struct {
	*match.Match
	tables   *tables.Tables
	rich     match.Side // has the tables
	moves    string
	kept     int  // moves of that side on solved boards
	promised bool // that side a lead at the end of due
	due      int
}

// lead is what the side with tables has taken more than the other one.
func (g *uciGame) lead() int { return g.Taken()[g.rich] - g.Taken()[g.rich.Other()] }

// goesOn reports whether a move is to be made; a position that came back ends the game.
func (g *uciGame) goesOn(t *testing.T) bool {
	if g.Board().Seeds() <= g.tables.MaxSeeds() {
		value := int(must.Get(g.tables.Score(t.Context(), g.Board()))(t))
		if g.Turn() != g.rich {
			value = -value
		}
		if due := g.lead() + value; !g.promised || due > g.due {
			g.due, g.promised = due, true
		}
	}
	if g.State() == match.Playing && g.Repeated() {
		must.OK(t, g.Draw())
	}
	return g.State() == match.Playing
}

// play makes a move, which must be legal, and keep the value if the side with tables makes it on a solved board.
func (g *uciGame) play(t *testing.T, pit int) {
	t.Helper()
	side, before := g.Turn(), g.Board()
	captured, err := g.Play(pit)
	must.Hold(t, err == nil, "%s: pit %d: %v", g.moves, pit, err)
	g.moves += string(rune([]int{'A', 'a'}[side] + pit))
	if side != g.rich || before.Seeds() > g.tables.MaxSeeds() {
		return
	}
	was, is := must.Get(g.tables.Score(t.Context(), before))(t), must.Get(g.tables.Score(t.Context(), g.Board()))(t)
	g.kept++
	should.Hold(t, int(was) == captured-int(is), "%s: worth %d on a board worth %d", g.moves, captured-int(is), was)
}

// served returns a server of a new run directory, and what makes it answer questions for a layer in another way.
func served(t *testing.T, seeds string) (s *remotetest.Server, hook func(layer int, answer http.HandlerFunc)) {
	s = remotetest.Serve(t, solved(t, "--seeds", seeds), false)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s, func(layer int, answer http.HandlerFunc) {
		s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
			asked := strings.HasSuffix(r.URL.Path, rundir.LayerName(layer))
			if asked {
				answer(w, r)
			}
			return asked
		})
	}
}

// TestRemoteMessages reads the messages for accidents that are no damage. Others are in remote.txtar, all that a server can do wrong in the
// tests of packages remote and tables.
func TestRemoteMessages(t *testing.T) {
	s, hook := served(t, "3")
	for want, answer := range map[string]http.HandlerFunc{
		"the server answers: 403 Forbidden":                             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) },
		"after 3 attempts: the server answers: 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		`\x1b[2Jred`: func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if should.OK(t, err); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\x1b[2Jred\r\n\r\n")
				c.Close()
			}
		},
	} {
		hook(3, answer)
		r := do(t, "awari probe --url "+s.URL+" 1 1 1 0 0 0 0 0 0 0 0 0").wants(t, cli.ExitFailure, "grenier: "+s.URL+"/layer-03.gl: ", want)
		oneClearLine(t, r.err)
		should.Equal(t, r.out, "")
	}
	r := do(t, "awari stats --layer 4 --url "+strings.Replace(s.URL, "//", "//me:secret@", 1)).wants(t, cli.ExitUsage, "is solved up to 3")
	should.Lacks(t, r.err, "secret")
}

// TestRemoteInterrupted interrupts a batch that waits for a mute server.
func TestRemoteInterrupted(t *testing.T) {
	s, hook := served(t, "5")
	ctx, cancel := context.WithCancel(t.Context())
	hook(3, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	r := grenier(ctx, "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 1 1 1 0 0 0 0 0\n", "awari", "probe", "--url", s.URL, "-")
	// The first line is answered unless both lines were looked up together.
	answered := strings.TrimPrefix(r.out, "value 2; moves . . . . . 2\n")
	should.Hold(t, r.status == cli.ExitInterrupted && answered == "" && r.err == "grenier: interrupted\n", "%+v", r)
}

// TestRemoteJSON gives one object on stdout, even if it is about a failure.
func TestRemoteJSON(t *testing.T) {
	s, hook := served(t, "3")
	hook(2, http.NotFound)
	r := grenier(t.Context(), "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0 0 1\n", "awari", "probe", "--json", "--url", s.URL, "-")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	failed := must.JSON[cli.LineError](t, lines[0])
	should.Hold(t, failed.Line == 1 && strings.Contains(failed.Error, "missing"), "%s", lines[0])
	should.Hold(t, r.status == cli.ExitCorrupt && len(lines) == 2 && strings.Contains(lines[1], `"value":-1`), "%+v", r)
}

// serveReport is a part of what serve says.
type serveReport struct{ Address, URL string }

type serving struct {
	*solver
	report serveReport
}

func startServer(t *testing.T, flags ...string) *serving {
	process, _, out := talk(t, append([]string{"awari", "serve", "--json"}, flags...)...)
	return &serving{process, must.JSON[serveReport](t, must.Get(bufio.NewReader(out).ReadString('\n'))(t))}
}

// TestServe runs the server as a process: it says where it is, answers, and ends with status 0 when it is told to stop.
func TestServe(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "no signals to send")
	dir := solved(t, "--seeds", "5")
	for _, stop := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := startServer(t, "--dir", dir, "--addr", "localhost:0", "--log")
		host, port, err := net.SplitHostPort(s.report.Address)
		should.Hold(t, err == nil && net.ParseIP(host).IsLoopback() && port != "0" && s.report.URL == "http://localhost:"+port+"/",
			"%+v (%v)", s.report, err)
		should.Has(t, remotetest.Fetch(t, s.report.URL), "<title data-t>Grenier")
		should.Has(t, remotetest.Fetch(t, s.report.URL+"api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"), `"value":5,`)
		s.signal(t, stop)
		logged := s.wait(t).wants(t, cli.ExitOK).err
		should.Hold(t, strings.Count(logged, "msg=request") == 2 && strings.Count(logged, "\n") == 2, "logged: %s", logged)
	}
}

// TestServeTaken asks for a port that another program has.
func TestServeTaken(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	r := do(t, fmt.Sprintf("awari serve --dir %s --addr %v", solved(t, "--seeds", "1"), l.Addr()))
	oneClearLine(t, r.wants(t, cli.ExitFailure, "cannot listen on "+l.Addr().String()).err)
	should.Equal(t, r.out, "")
}

// loseLayers removes the manifest of a run and removes layers, or cuts them short in turn.
func loseLayers(t *testing.T, dir string, lost ...int) {
	must.OK(t, os.Remove(filepath.Join(dir, rundir.ManifestName)))
	for i, n := range lost {
		path := filepath.Join(dir, rundir.LayerName(n))
		if i%2 == 0 {
			must.OK(t, os.Remove(path))
		} else {
			must.OK(t, os.Truncate(path, 100))
		}
	}
}
