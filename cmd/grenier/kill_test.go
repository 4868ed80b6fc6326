package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
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
	"grenier/io/rundir"
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
	awaitFile(t, filepath.Join(dir, rundir.LayerName(10))) // layer 9 is in the manifest by then
	if r := grenier(t.Context(), "", "awari", "solve", "--seeds", "3", "--dir", dir); r.status != cli.ExitFailure ||
		!strings.Contains(r.err, "in use by process "+strconv.Itoa(s.cmd.Process.Pid)+"\n") {
		t.Errorf("a second solver: status %d, %s", r.status, r.err)
	}
	s.signal(t, sig)
	if r := s.wait(t); r.status != cli.ExitInterrupted || r.err != wordOfSolve || strings.Count(r.out, "\n") != len(layersOf(t, dir))+1 {
		t.Errorf("status %d, %s%s", r.status, r.out, r.err)
	}
	checkLeft(t, dir)
	wantNoTemps(t, dir)
	sealed := len(layersOf(t, dir))
	should.Not(t, sealed < 10, "%d layers sealed", sealed)
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
	s := command(t, "grenier", "awari", "probe", "--dir", dir, "-")
	s.cmd.Stdout = nil
	in := must.Get(s.cmd.StdinPipe())(t)
	out := must.Get(s.cmd.StdoutPipe())(t)
	s.start(t)
	answer := make([]byte, 1000)
	for _, c := range [][2]string{
		{"1 0 0 0", "value 1; moves 1 .\n"}, {"0 0 1 0", "value -1; moves . .\n"}, {"1", "error: line 3: "},
	} {
		must.OK(t, must.Err(in.Write([]byte(c[0]+"\n"))))
		n, err := out.Read(answer)
		if err != nil || !strings.HasPrefix(string(answer[:n]), c[1]) {
			t.Errorf("%s: answer %q, error %v", c[0], answer[:n], err)
		}
	}
	s.signal(t, os.Interrupt)
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == "grenier: interrupted\n", "status %d, %s", r.status, r.err)
}
