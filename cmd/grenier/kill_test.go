package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
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
	t.Helper()
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
	t.Helper()
	var stats manifest.Summary
	must.OK(t, json.Unmarshal([]byte(mustDo(t, "awari stats --json --dir "+dir)), &stats))
	return stats.Layers
}

var seconds = regexp.MustCompile(`"seconds": [^\n]*|"crc32c": [^\n]*`)

// withoutSeconds returns the files of a run directory by name that results depend
// on, but for the times in the manifest and its checksum, which covers them.
func withoutSeconds(t *testing.T, dir string) map[string]string {
	t.Helper()
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
	t.Helper()
	waitFor(t, path, func() bool { return len(namesIn(t, filepath.Dir(path), filepath.Base(path))) > 0 })
}

// waitFor waits until something is there, for minutes: the machine may be busy.
func waitFor(t interface{ Fatalf(string, ...any) }, what string, there func() bool) {
	for end := time.Now().Add(5 * time.Minute); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s", what)
		}
	}
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

// windowSeeds is a layer that is solved window by window with windowMemory.
const windowSeeds = 15

var windowMemory = leastMemory(windowSeeds)

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
		var l struct {
			Type   string
			Detail solve.Progress
		}
		must.OK(t, json.Unmarshal([]byte(line), &l))
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

func summaryOf(t *testing.T, out string) (s solveSummary) {
	t.Helper()
	must.OK(t, json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &s))
	return s
}

func sameLayer(t *testing.T, want, got string, n int) {
	t.Helper()
	name := rundir.LayerName(n)
	should.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))), "%s differs", name)
}

// buggy makes the k-th report of progress panic, in the goroutine that reports, while
// body runs; it returns whether there were so many.
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
