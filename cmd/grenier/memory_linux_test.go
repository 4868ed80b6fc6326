package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
)

// slack is what a memory cgroup has beyond --memory: pages of code and of files that are
// in use at the moment, page tables, see docs/memory.md.
const slack = 8 << 20

// cgroup is a memory cgroup (version 1) below that of the test.
type cgroup struct{ path string }

// newCgroup makes a cgroup with a limit, and skips the test where that cannot be.
func newCgroup(t *testing.T, limit uint64) *cgroup {
	t.Helper()
	path, err := os.MkdirTemp("/sys/fs/cgroup/memory", "grenier-test-")
	if err != nil {
		t.Skipf("no memory cgroup can be made: %v", err)
	}
	g := &cgroup{path}
	t.Cleanup(func() { // once what was in it is gone
		for range 100 {
			if err := os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if err := os.WriteFile(filepath.Join(path, "memory.limit_in_bytes"), strconv.AppendUint(nil, limit, 10), 0); err != nil {
		t.Skipf("no limit can be set: %v", err)
	}
	return g
}

// number returns what a file of the cgroup says; key is the first word of the line, ""
// if there is nothing but the number.
func (g *cgroup) number(t *testing.T, file, key string) (n uint64) {
	t.Helper()
	text := must.Read(t, filepath.Join(g.path, file))
	for line := range bytes.Lines(text) {
		if _, err := fmt.Sscanf(string(line), strings.TrimSpace(key+" %d"), &n); err == nil {
			return n
		}
	}
	t.Fatalf("%s has no %q:\n%s", file, key, text)
	return 0
}

// run runs the program in the cgroup: a shell enters it and becomes the program.
func (g *cgroup) run(t *testing.T, args ...string) result {
	t.Helper()
	enter := []string{"-c", `echo $$ > "$0"/cgroup.procs && exec grenier "$@"`, g.path}
	return command(t, "sh", append(enter, args...)...).start(t).wait(t)
}

// memoryRow is a command that is run within some memory.
type memoryRow struct {
	memory string
	ends   int // its status: cli.ExitUsage if it is to refuse
	args   string
	full   bool // takes long: for make test-full
}

// memoryRows reads testdata/memory.txt.
func memoryRows(t *testing.T) (rows []memoryRow) {
	for line := range strings.Lines(string(must.Read(t, "testdata/memory.txt"))) {
		about, args, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if words := strings.Fields(about); ok && words[0] != "#" {
			ends, known := map[string]int{"ends": cli.ExitOK, "refuses": cli.ExitUsage}[words[1]]
			must.Hold(t, known, "%s", line)
			rows = append(rows, memoryRow{words[0], ends, args, len(words) == 3})
		}
	}
	should.Not(t, len(rows) < 50, "only %d", len(rows))
	return rows
}

// Boards with 27 and 30 holes; the usual one has 33.
const (
	memoryBoard  = "  ooo\n  ooo\noooooo\nooo.oo\noooooo\n  ooo\n"
	memoryLarger = "  ooo\n  ooo\nooooooo\nooo.ooo\nooooooo\n  ooo\n"
)

// TestLongMemory runs every command with --memory in a cgroup of that much and some slack:
// it ends as it should, or refuses at once and says what it needs, and is never killed.
func TestLongMemory(t *testing.T) {
	tries.NeedsLong(t, "it takes minutes")
	newCgroup(t, 64<<20) // or skip before anything is solved
	places := memoryPlaces(t)
	for _, row := range memoryRows(t) {
		if row.full && !tries.Full() {
			continue
		}
		t.Run(row.memory+" "+row.args, func(t *testing.T) {
			t.Parallel()
			row.check(t, places)
		})
	}
}

// memoryPlaces makes the files that rows name.
func memoryPlaces(t *testing.T) map[string]string {
	below := solved(t, "--seeds", "16")
	dir := testrun.Copy(t, below)
	mustRun(t, "awari", "solve", "--progress", "none", "--dir", dir, "--seeds", "17")
	files := t.TempDir()
	places := map[string]string{
		"DIR": dir, "BELOW": below, "BOARD": filepath.Join(files, "board"), "LARGER": filepath.Join(files, "larger"),
		"FILE": filepath.Join(files, "colex"), "VU": filepath.Join(files, "vu"), "PACKED": filepath.Join(files, "packed"),
	}
	export := []string{"awari", "export", "--progress", "none", "--dir", dir, "--layer", "17"}
	mustRun(t, append(export, "--format", "colex", "--out", places["FILE"])...)
	mustRun(t, append(export, "--format", "vu", "--out", places["VU"])...)
	mustRun(t, append(export, "--format", "vu", "--codec", "zstd", "--out", places["PACKED"])...)
	for name, board := range map[string]string{"BOARD": memoryBoard, "LARGER": memoryLarger} {
		must.Write(t, places[name], []byte(board))
	}
	return places
}

func (r memoryRow) check(t *testing.T, places map[string]string) {
	args := strings.Fields(r.args)
	for i, arg := range args {
		switch path, named := places[arg]; {
		case arg == "BELOW": // rows add to it
			args[i] = testrun.Copy(t, path)
		case named:
			args[i] = path
		case arg == "NEW":
			args[i] = filepath.Join(t.TempDir(), "new")
		}
	}
	args = append(args, "--memory", r.memory)
	if args[1] != "play" {
		args = append(args, "--progress", "none")
	}
	group := newCgroup(t, must.Get(humanize.ParseBytes(r.memory))(t)+slack)
	start := time.Now()
	got := group.run(t, args...)
	killed := group.number(t, "memory.oom_control", "oom_kill")
	t.Logf("status %d, %d MiB at most, limit met %d times, %.1f s", got.status, group.number(t, "memory.max_usage_in_bytes", "")>>20,
		group.number(t, "memory.failcnt", ""), time.Since(start).Seconds())
	should.Hold(t, got.status == r.ends && killed == 0, "status %d, want %d; killed %d times; %s", got.status, r.ends, killed, got.err)
	should.Not(t, r.ends == cli.ExitUsage && (!strings.Contains(got.err, "--memory "+r.memory) || !strings.Contains(got.err, "needs")),
		"refused by %q", got.err)
}

// TestMachine: more than a cgroup allows is refused unless forced, a default is lowered.
func TestMachine(t *testing.T) {
	group := newCgroup(t, 100<<20)
	grid := []string{"swap", "solve", "--rows", "2", "--cols", "2", "4", "3", "2", "1"}
	for _, tt := range []struct {
		flags  []string
		status int
		errs   string
	}{
		{nil, cli.ExitOK, "has 100 MiB, so --memory is 88 MiB (91750400 bytes)\n"},
		{[]string{"--memory", "64MiB"}, cli.ExitOK, ""},
		{[]string{"--memory", "101MiB"}, cli.ExitUsage, " has 100 MiB; --force starts anyway\n"},
		{[]string{"--memory", "101MiB", "--force"}, cli.ExitOK, ""},
	} {
		r := group.run(t, append(grid, tt.flags...)...)
		should.Not(t, r.status != tt.status || !strings.HasSuffix(r.err, tt.errs) || tt.errs == "" && r.err != "",
			"%v: status %d, %q", tt.flags, r.status, r.err)
	}
}
