package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
)

// damaged returns a copy of a run without its manifest, in which the layers given are
// missing and cut short in turn.
func damaged(t *testing.T, whole string, lost ...int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	for i, n := range lost {
		path := filepath.Join(dir, rundir.LayerName(n))
		err := os.Truncate(path, 100)
		if i%2 == 0 {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, rundir.ManifestName)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// likeWhole fails unless a repaired run is what it was, but for files set aside.
func likeWhole(t *testing.T, whole, dir string) {
	t.Helper()
	got := withoutSeconds(t, dir)
	for name := range got {
		if strings.Contains(name, ".damaged-") {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(withoutSeconds(t, whole), got); diff != "" {
		t.Errorf("(-whole +repaired):\n%s", diff)
	}
	mustRun(t, "awari", "scrub", "--dir", dir, "--progress", "none")
}

// TestLongRepairKill kills repair at random moments, again and again, until it is through.
func TestLongRepairKill(t *testing.T) {
	t.Parallel()
	whole := solved(t, "--pits", "8", "--seeds", "11")
	wanted := kills()
	if testing.Short() {
		wanted = 3
	}
	repair := func(dir string) *solver {
		s := &solver{cmd: exec.CommandContext(t.Context(), "grenier", "awari", "repair", "--dir", dir, "--progress", "none")}
		s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	lost := []int{3, 6, 9, 11} // the last one is cut short: it tells how many there are
	dir := damaged(t, whole, lost...)
	start := time.Now()
	if r := repair(dir).wait(t); r.status != cli.ExitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	took, seed := time.Since(start), rand.Uint64()
	likeWhole(t, whole, dir)
	t.Logf("seed %d; a repair takes %v", seed, took)
	random := rand.New(rand.NewPCG(seed, 0))
	dir, killed := damaged(t, whole, lost...), 0
	for through := 0; killed < wanted && through < 10*wanted; {
		if repair(dir).killAfter(t, time.Duration(random.Float64()*float64(took))) {
			killed++
			continue
		}
		through++
		likeWhole(t, whole, dir)
		dir = damaged(t, whole, lost...)
	}
	if r := repair(dir).wait(t); r.status != cli.ExitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	t.Logf("killed %d times", killed)
	likeWhole(t, whole, dir)
}
