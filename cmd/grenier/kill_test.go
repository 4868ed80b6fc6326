package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
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

// launch starts this program.
func launch(t *testing.T, args ...string) *solver {
	t.Helper()
	return command(t, "grenier", args...).start(t)
}

func startSolving(t *testing.T, flags ...string) *solver {
	t.Helper()
	return launch(t, append([]string{"awari", "solve"}, flags...)...)
}

func startSolver(t *testing.T, dir string, pits, seeds int) *solver {
	t.Helper()
	return startSolving(t, "--dir", dir, "--progress", "none", "--pits", strconv.Itoa(pits), "--seeds", strconv.Itoa(seeds), "--checkpoint", "1ms")
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
	must.Not(t, r.status != cli.ExitOK && r.status != -1, "status %d: %s", r.status, r.err)
	return r.status == -1
}

// afterKill matches the files that may be left.
var afterKill = regexp.MustCompile(`^(lock|solve\.log|work|(manifest\.json|layer-\d\d\.gl|work/captures-\d{4}-(open|full)|work/window-\d\d-\d|work/offers|work/found|work/status\.json)(\.[0-9a-f]{16}\.tmp)?)$`)

// checkLeft checks that dir has no files but those that may be left.
func checkLeft(t *testing.T, dir string) {
	t.Helper()
	for name := range must.Tree(t, dir) {
		should.Not(t, name != "." && !afterKill.MatchString(filepath.ToSlash(name)), "%s is left", name)
	}
}

// layersOf returns the layers that stats lists.
func layersOf(t *testing.T, dir string) []manifest.LayerSummary {
	t.Helper()
	var stats manifest.Summary
	must.OK(t, json.Unmarshal([]byte(mustRun(t, "awari", "stats", "--json", "--dir", dir)), &stats))
	return stats.Layers
}

var seconds = regexp.MustCompile(`"seconds": [^\n]*|"crc32c": [^\n]*`)

// withoutSeconds returns the files of a run directory by name that results depend
// on, but for the times in the manifest and its checksum, which covers them.
func withoutSeconds(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := layerContents(t, dir)
	if text, ok := files[rundir.ManifestName]; ok {
		files[rundir.ManifestName] = seconds.ReplaceAllString(text, "")
	}
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
	s := startSolver(t, dir, 12, 24)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(8))) // layer 7 is in the manifest by then
	r := grenier(t.Context(), "", "awari", "solve", "--seeds", "3", "--dir", dir)
	should.Not(t, r.status != cli.ExitFailure || !strings.Contains(r.err, "in use by process "+strconv.Itoa(s.cmd.Process.Pid)+"\n"),
		"a second solver: status %d, %s", r.status, r.err)
	for _, command := range []string{"probe 0 0 0 0 0 1 1 0 0 0 0 0", "stats", "status", "verify --sample 1000"} { // read while it writes
		mustRun(t, strings.Fields("awari "+command+" --dir "+dir)...)
	}
	s.signal(t, sig)
	r = s.wait(t)
	should.Not(t, r.status != cli.ExitInterrupted || r.err != wordOfSolve || strings.Count(r.out, "\n") != len(layersOf(t, dir))+1,
		"status %d, %s%s", r.status, r.out, r.err)
	checkLeft(t, dir)
	wantNoTemps(t, dir)
	sealed := len(layersOf(t, dir))
	should.Not(t, sealed < 8, "%d layers sealed", sealed)
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
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

// namesIn returns the names in a directory that begin with prefix.
func namesIn(t *testing.T, dir, prefix string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Not(t, err != nil && !errors.Is(err, fs.ErrNotExist), "%v", err)
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
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
		n, err := out.Read(answer)
		should.Not(t, err != nil || !strings.HasPrefix(string(answer[:n]), c[1]), "%s: answer %q, error %v", c[0], answer[:n], err)
	}
	s.signal(t, os.Interrupt)
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == "grenier: interrupted\n", "status %d, %s", r.status, r.err)
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

// sameFiles compares without printing what is in the files.
func sameFiles(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range got {
		_, ok := want[name]
		should.Hold(t, ok, "%s is left", name)
	}
	for name := range want {
		should.Hold(t, got[name] == want[name], "%s differs from that of a run in memory", name)
	}
}

// TestLongWindowsReport solves a small layer window by window and looks at what is told. What interruptions, full disks and damage do to such
// layers is tested by TestLongSiegeKill, TestLongInterruptAnytime and TestLongSiegeDamage, and in packages solve and halfboard.
func TestLongWindowsReport(t *testing.T) {
	tries.NeedsLong(t, "solves 14 seeds")
	const seeds = 14
	dir := solved(t, "--seeds", strconv.Itoa(seeds-1))
	out := mustRun(t, "awari", "solve", "--progress", "json", "--json", "--dir", dir, "--seeds", strconv.Itoa(seeds),
		"--memory", leastMemory(seeds), "--threads", "2")
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
		if l.Type == "layer" {
			continue
		}
		told = true
		if !slices.Contains([]string{"check", "capture", "seal"}, l.Detail.Stage) {
			should.Hold(t, l.Detail.Window >= window && strings.Contains(line, `"streams":{`), "after window %d: %s", window, line)
			window = l.Detail.Window
		}
	}
	should.Not(t, !told && s.Seconds > 5, "no progress in %v s", s.Seconds)
}

// summaryOf returns the last line of what solve prints.
func summaryOf(t *testing.T, out string) (s solveSummary) {
	t.Helper()
	must.OK(t, json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &s))
	return s
}

// sameLayer compares the files of a layer in two run directories.
func sameLayer(t *testing.T, want, got string, n int) {
	t.Helper()
	name := rundir.LayerName(n)
	should.Hold(t, string(must.Read(t, filepath.Join(want, name))) == string(must.Read(t, filepath.Join(got, name))), "%s differs", name)
}
