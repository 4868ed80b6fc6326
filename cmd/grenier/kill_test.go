package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// A solver is a process that solves.
type solver struct {
	cmd       *exec.Cmd
	out, errs strings.Builder
}

func startSolver(t *testing.T, dir string, pits, seeds int) *solver {
	t.Helper()
	return startSolving(t, "--dir", dir, "--progress", "none", "--pits", strconv.Itoa(pits), "--seeds", strconv.Itoa(seeds), "--checkpoint", "1ms")
}

func startSolving(t *testing.T, flags ...string) *solver {
	t.Helper()
	s := &solver{}
	s.cmd = exec.CommandContext(t.Context(), "grenier", append([]string{"awari", "solve"}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// wait returns what became of the process.
func (s *solver) wait(t *testing.T) result {
	t.Helper()
	if err := s.cmd.Wait(); err != nil && s.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{s.cmd.ProcessState.ExitCode(), s.out.String(), s.errs.String()}
}

// killAfter kills the process unless it is done before, and reports whether it
// had to.
func (s *solver) killAfter(t *testing.T, patience time.Duration) bool {
	t.Helper()
	timer := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	r := s.wait(t)
	if r.status != cli.ExitOK && r.status != -1 {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	return r.status == -1
}

// TestLongKill kills solve at random moments, again and again, until it is through.
func TestLongKill(t *testing.T) {
	t.Parallel()
	pits, seeds, wanted := 8, 12, kills()
	switch {
	case tries.Long():
		pits, seeds = 12, 15
	case testing.Short():
		wanted = 3
	}
	whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	start := time.Now()
	if r := startSolver(t, whole, pits, seeds).wait(t); r.status != cli.ExitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	took, want := time.Since(start), withoutSeconds(t, whole)
	seed := rand.Uint64()
	t.Logf("seed %d; a run takes %v", seed, took)
	random := rand.New(rand.NewPCG(seed, 0))
	done, through := 0, 0
	for done < wanted && through < 10*wanted {
		patience := time.Duration(random.Float64() * float64(took))
		s := startSolver(t, dir, pits, seeds)
		killed := s.killAfter(t, patience)
		if strings.Contains(s.errs.String(), "note") {
			t.Errorf("after a kill it is told: %s", s.errs.String())
		}
		if !killed {
			through++ // begin again
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		done++
		t.Logf("killed after %v with %d layers sealed", patience, sealedLike(t, want, dir))
	}
	if r := startSolver(t, dir, pits, seeds).wait(t); r.status != cli.ExitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	t.Logf("killed %d times, through %d times", done, through)
	if diff := cmp.Diff(want, withoutSeconds(t, dir)); diff != "" {
		t.Errorf("a run that was killed differs (-undisturbed +killed):\n%s", diff)
	}
}

// afterKill matches the files that may be left.
var afterKill = regexp.MustCompile(`^(lock|solve\.log|work|(manifest\.json|layer-\d\d\.gl|work/captures-\d{4}-(open|full)|work/window-\d\d-\d|work/offers|work/found|work/status\.json)(\.[0-9a-f]{16}\.tmp)?)$`)

// sealedLike checks what a kill left: sealed layers are those wanted, and the manifest
// lists them, but perhaps for the last one. It returns their number.
func sealedLike(t *testing.T, want map[string]string, dir string) (sealed int) {
	t.Helper()
	if !exists(dir) {
		return 0 // killed before it was made
	}
	checkLeft(t, dir)
	files := withoutSeconds(t, dir)
	for name := rundir.LayerName(0); files[name] != ""; name = rundir.LayerName(sealed) {
		if files[name] != want[name] {
			t.Errorf("%s differs from that of a run that was not killed", name)
		}
		sealed++
	}
	listed := 0
	if files[rundir.ManifestName] != "" {
		listed = len(layersOf(t, dir))
	}
	if listed != sealed && listed != sealed-1 {
		t.Errorf("the manifest lists %d layers, there are %d", listed, sealed)
	}
	return sealed
}

// checkLeft checks that dir has no files but those that may be left.
func checkLeft(t *testing.T, dir string) {
	t.Helper()
	for path := range contents(t, dir) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if name != "." && !afterKill.MatchString(filepath.ToSlash(name)) {
			t.Errorf("%s is left", name)
		}
	}
}

// layersOf returns the layers that stats lists.
func layersOf(t *testing.T, dir string) []manifest.LayerSummary {
	t.Helper()
	var stats manifest.Summary
	if err := json.Unmarshal([]byte(mustRun(t, "awari", "stats", "--json", "--dir", dir)), &stats); err != nil {
		t.Fatal(err)
	}
	return stats.Layers
}

var seconds = regexp.MustCompile(`"seconds": [^\n]*|"crc32c": [^\n]*`)

// withoutSeconds returns the files of a run directory by name that results depend
// on, but for the times in the manifest and its checksum, which covers them.
func withoutSeconds(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for path, text := range layerContents(t, dir) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if name == rundir.ManifestName {
			text = seconds.ReplaceAllString(text, "")
		}
		files[name] = text
	}
	return files
}

// TestLongInterrupt sends the signal that control-C sends.
func TestLongInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolver(t, dir, 12, 24)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(10))) // layer 9 is in the manifest by then
	if r := grenier(t.Context(), "", "awari", "solve", "--seeds", "3", "--dir", dir); r.status != cli.ExitFailure ||
		!strings.Contains(r.err, "in use by process "+strconv.Itoa(s.cmd.Process.Pid)+"\n") {
		t.Errorf("a second solver: status %d, %s", r.status, r.err)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := s.wait(t)
	if r.status != cli.ExitInterrupted || r.err != "grenier: interrupted; the same command resumes\n" {
		t.Errorf("status %d, %s", r.status, r.err)
	}
	checkLeft(t, dir)
	for _, name := range append(namesIn(t, dir, ""), namesIn(t, filepath.Join(dir, rundir.WorkName), "")...) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("left: %s", name)
		}
	}
	sealed := len(layersOf(t, dir))
	if sealed < 10 || strings.Count(r.out, "\n") != sealed+1 {
		t.Errorf("%d layers sealed, told:\n%s", sealed, r.out)
	}
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
}

// awaitFile waits until there is a file whose path begins so.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(namesIn(t, filepath.Dir(path), filepath.Base(path))) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("there is no %s", path)
		}
	}
}

// namesIn returns the names in a directory that begin with prefix.
func namesIn(t *testing.T, dir, prefix string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
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

// TestLongProbeTalks asks one board after the other through pipes: each answer comes
// before the next question, and an interrupt ends the wait for one.
func TestLongProbeTalks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	dir := solved(t, "--pits", "4", "--seeds", "3")
	cmd := exec.CommandContext(t.Context(), "grenier", "awari", "probe", "--dir", dir, "-")
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1000)
	for _, c := range [][2]string{
		{"1 0 0 0", "value 1; moves 1 .\n"}, {"0 0 1 0", "value -1; moves . .\n"}, {"1", "error: line 3: "},
	} {
		if _, err := in.Write([]byte(c[0] + "\n")); err != nil {
			t.Fatal(err)
		}
		n, err := out.Read(answer)
		if err != nil || !strings.HasPrefix(string(answer[:n]), c[1]) {
			t.Errorf("%s: answer %q, error %v", c[0], answer[:n], err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != cli.ExitInterrupted || errs.String() != "grenier: interrupted\n" {
		t.Errorf("%v: %s", err, errs.String())
	}
}
