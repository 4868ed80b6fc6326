//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// killed is a command that is killed again and again; @ stands for a directory, where
// prepare has made what it needs.
type killed struct {
	name, args string
	prepare    []string
	board      string // of peg solitaire, in @/board.txt
	share      int    // of all kills, in percent
}

var killedCommands = []killed{
	{name: "awari", args: "awari solve --pits 10 --seeds 13 --dir @/run", share: 25},
	{name: "awari in windows", args: fmt.Sprintf("awari solve --threads 2 --seeds %d --memory %s --checkpoint 200ms --dir @/run", windowSeeds, windowMemory),
		prepare: []string{fmt.Sprintf("awari solve --seeds %d --dir @/run", windowSeeds-1)}, share: 8},
	{name: "swap", args: "swap bfs --json --rows 2 --cols 5 --memory 128MiB --dir @/run", share: 32},
	{name: "chemin", args: "chemin solve --json --rows 3 --cols 3 --memory 64MiB --dir @/run", share: 15},
	{name: "solitaire", args: "solitaire solve --json --end any --threads 2 --memory 64MiB --board @/board.txt --dir @/run", board: pegs, share: 15},
	{name: "export", args: "awari export --layer 8 --format csv --out @/run/scores.csv --dir @/given",
		prepare: []string{"awari solve --seeds 8 --dir @/given", "awari export --layer 8 --format colex --out @/run/scores.csv --dir @/given"}, share: 10},
	{name: "import", args: "awari import --layer 8 --format colex --codec zstd --dir @/run @/8.zst",
		prepare: []string{"awari solve --seeds 8 --dir @/given", "awari solve --seeds 7 --dir @/run", "awari export --layer 8 --format colex --codec zstd --out @/8.zst --dir @/given"}, share: 10},
}

// TestLongSiegeKill kills commands that write, at random moments, until they are through: they
// leave the same as one that nobody disturbs, and print the same.
func TestLongSiegeKill(t *testing.T) {
	tries.NeedsLong(t, "long")
	wanted := uint64(40)
	if tries.Full() {
		wanted = 300
	}
	wanted = siegeNumber(t, "GRENIER_SIEGE_KILLS", wanted)
	seed := siegeSeed(t)
	for i, k := range killedCommands {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k.siege(t, (int(wanted)*k.share+99)/100, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
}

// siege kills the command that many times.
func (k *killed) siege(t *testing.T, wanted int, r *rand.Rand) {
	base := filepath.Join(t.TempDir(), "begun")
	if err := os.MkdirAll(filepath.Join(base, siegeDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if k.board != "" {
		if err := os.WriteFile(filepath.Join(base, "board.txt"), []byte(k.board), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range k.prepare {
		mustRun(t, k.fields(args, base)...)
	}
	dir := copyOf(t, base)
	start := time.Now()
	undisturbed := k.start(t, dir).wait(t)
	took := time.Since(start)
	if undisturbed.status != cli.ExitOK {
		t.Fatalf("status %d: %s", undisturbed.status, undisturbed.err)
	}
	printed, left := facts(reply{Out: undisturbed.out}), k.left(t, dir)
	done, through := 0, 0
	for dir = copyOf(t, base); done < wanted && through < 10*wanted+10; {
		s := k.start(t, dir)
		timer := time.AfterFunc(time.Duration(r.Float64()*float64(took)), func() { s.cmd.Process.Kill() })
		end := s.wait(t)
		timer.Stop()
		if end.status == -1 {
			done++
			k.checkOld(t, base, dir, left)
			continue
		}
		through++
		k.compare(t, printed, left, dir, end)
		dir = copyOf(t, base)
	}
	k.compare(t, printed, left, dir, k.start(t, dir).wait(t))
	t.Logf("killed %d times, through %d times; a run takes %v", done, through, took)
}

func (k *killed) fields(args, dir string) []string {
	return append(strings.Fields(strings.ReplaceAll(args, "@", dir)), "--progress", "none")
}

// start starts the command.
func (k *killed) start(t *testing.T, dir string) *solver {
	t.Helper()
	s := &solver{cmd: exec.CommandContext(t.Context(), "grenier", k.fields(k.args, dir)...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// left are the files that a command leaves but for those in work, which are its own
// affair, and for what a kill may leave until the next command that writes there.
func (k *killed) left(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := withoutSeconds(t, filepath.Join(dir, siegeDir))
	maps.DeleteFunc(files, func(name, _ string) bool {
		_, temp := vfs.TempFor(filepath.Base(name))
		return temp || name == rundir.LockName || strings.HasPrefix(name, rundir.WorkName)
	})
	return files
}

// compare compares a command that is through with one that nobody disturbed. A kill may come
// when all is done.
func (k *killed) compare(t *testing.T, printed map[string]bool, left map[string]string, dir string, r result) {
	t.Helper()
	if r.status != cli.ExitOK && !strings.Contains(r.err, "has layer 8 already") {
		t.Errorf("after kills: status %d, %s", r.status, r.err)
	}
	if diff := cmp.Diff(left, k.left(t, dir)); diff != "" {
		t.Errorf("after kills (-undisturbed +killed):\n%.3000s", diff)
	}
	if got := facts(reply{Out: r.out}); strings.HasPrefix(r.out, "{") && !maps.Equal(printed, got) {
		t.Errorf("after kills it prints %v instead of %v", got, printed)
	}
}

// checkOld: after a kill, every file is as it was before, as it is going to be, or not there.
func (k *killed) checkOld(t *testing.T, base, dir string, left map[string]string) {
	t.Helper()
	before := k.left(t, base)
	for name, text := range k.left(t, dir) {
		if text != before[name] && text != left[name] && name != rundir.ManifestName {
			t.Errorf("a kill leaves %s half done: %d bytes", name, len(text))
		}
	}
}
