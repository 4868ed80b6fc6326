package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

func cheminArgs(rows, cols int, flags ...string) []string {
	return append([]string{"chemin", "solve", "--progress", "none", "--json", "--rows", strconv.Itoa(rows), "--cols", strconv.Itoa(cols)}, flags...)
}

// cheminReport is what chemin solve prints as JSON, without what differs from run to run.
type cheminReport struct {
	Rows, Cols                  int
	Method                      string
	Exact, Cut                  bool
	Max, Lower, Upper           uint32
	Orders, Orientations, Grids any
	Leaves                      uint64
	Solutions                   []any
}

// cheminResult returns what chemin solve has printed.
func cheminResult(t *testing.T, out string) cheminReport {
	t.Helper()
	var r cheminReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// startChemin starts a search as a process of its own.
func startChemin(t *testing.T, args ...string) *solver {
	t.Helper()
	s := &solver{cmd: exec.CommandContext(t.Context(), "grenier", args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLongCheminKill kills a search on disk at random moments, again and again, until it is through.
func TestLongCheminKill(t *testing.T) {
	t.Parallel()
	rows, cols, kills := 3, 3, 3
	if tries.Long() {
		rows, cols, kills = 1, 14, 8
	}
	start := time.Now()
	want := cheminResult(t, startChemin(t, cheminArgs(rows, cols)...).mustEnd(t))
	took := time.Since(start)
	seed := rand.Uint64()
	t.Logf("seed %d; a search takes %v", seed, took)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := filepath.Join(t.TempDir(), "run")
	args := cheminArgs(rows, cols, "--dir", dir, "--memory", "40MiB", "--threads", "2")
	killed := 0
	for tries := 0; killed < kills && tries < 10*kills; tries++ {
		if startChemin(t, args...).killAfter(t, time.Duration(random.Float64()*float64(took))) {
			killed++
		}
	}
	if killed == 0 {
		t.Error("every search was through before it was killed")
	}
	if diff := cmp.Diff(want, cheminResult(t, startChemin(t, args...).mustEnd(t))); diff != "" {
		t.Errorf("a search that was killed %d times differs (-undisturbed +killed):\n%s", killed, diff)
	}
}

// mustEnd waits for a process that succeeds and returns what it has printed.
func (s *solver) mustEnd(t *testing.T) string {
	t.Helper()
	r := s.wait(t)
	if r.status != cli.ExitOK || r.err != "" {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	return r.out
}

// TestLongCheminInterrupt sends the signal that control-C sends to a search that another one has tried
// to disturb.
func TestLongCheminInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	dir := filepath.Join(t.TempDir(), "run")
	args := cheminArgs(4, 5, "--dir", dir, "--memory", "48MiB", "--threads", "2")
	s := startChemin(t, args...)
	awaitFile(t, filepath.Join(dir, rundir.ManifestName))
	if r := grenier(t.Context(), "", args...); r.status != cli.ExitFailure || !strings.Contains(r.err, "in use by process "+strconv.Itoa(s.cmd.Process.Pid)+"\n") {
		t.Errorf("a second search: status %d, %s", r.status, r.err)
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := s.wait(t)
	if r.status != cli.ExitInterrupted || r.err != "grenier: interrupted; the same command resumes after the last complete layer\n" {
		t.Errorf("status %d, %s", r.status, r.err)
	}
	if got := cheminResult(t, r.out); got.Exact || got.Lower < 20 || got.Upper <= got.Lower || len(got.Solutions) != 1 {
		t.Errorf("printed %s", r.out)
	}
}
