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
	t.Cleanup(g.remove)
	if err := os.WriteFile(filepath.Join(path, "memory.limit_in_bytes"), strconv.AppendUint(nil, limit, 10), 0); err != nil {
		t.Skipf("no limit can be set: %v", err)
	}
	return g
}

// remove removes the cgroup once what was in it is gone.
func (g *cgroup) remove() {
	for range 100 {
		if err := os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
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

// Names in the rows below: DIR has layers up to 17, BELOW up to 16, FILE a layer as colex, VU and PACKED as vu, BOARD
// and LARGER are boards of peg solitaire, NEW is a directory of its own for each row.
var memoryRows = []memoryRow{
	{memory: "64MiB", ends: cli.ExitOK, args: "awari verify --dir DIR --layer 14 --prove"},
	{memory: "64MiB", args: "awari verify --dir DIR --layer 17 --prove", full: true},
	{memory: "20MiB", ends: cli.ExitUsage, args: "awari verify --dir DIR --layer 17 --prove"},
	{memory: "32MiB", ends: cli.ExitOK, args: "awari verify --dir DIR --layer 12 --prove"},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari verify --dir DIR --sample 20000"},
	{memory: "128MiB", ends: cli.ExitOK, args: "awari verify --dir DIR --layer 17 --threads 8"},
	{memory: "24MiB", ends: cli.ExitOK, args: "awari verify --dir DIR --sample 2000"},
	{memory: "17MiB", ends: cli.ExitUsage, args: "awari verify --dir DIR --layer 17 --sample 2000"},
	{memory: "40MiB", ends: cli.ExitOK, args: "awari distances --dir BELOW --layer 16"}, // on disk
	{memory: "160MiB", ends: cli.ExitOK, args: "awari distances --dir BELOW --layer 16", full: true},
	{memory: "20MiB", ends: cli.ExitUsage, args: "awari distances --dir BELOW --layer 16"},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari export --dir DIR --layer 17 --format csv --out NEW"},
	{memory: "48MiB", ends: cli.ExitOK, args: "awari export --dir DIR --layer 17 --format npy --codec lz4 --out NEW --threads 1"},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari export --dir DIR --layer 17 --format vu --codec zstd --out NEW"},
	{memory: "32MiB", ends: cli.ExitUsage, args: "awari export --dir DIR --layer 17 --format csv --out NEW"},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari import --dir BELOW --layer 17 --format colex FILE"},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari import --dir BELOW --layer 17 --format vu VU"},
	{memory: "80MiB", ends: cli.ExitOK, args: "awari import --dir BELOW --layer 17 --format vu --codec zstd PACKED"},
	{memory: "20MiB", ends: cli.ExitUsage, args: "awari import --dir BELOW --layer 17 --format vu VU"},
	{memory: "32MiB", ends: cli.ExitOK, args: "awari search --dir DIR --time 1s 4 4 4 4 4 4 4 4 4 4 4 4"},
	{memory: "128MiB", ends: cli.ExitOK, args: "awari search --dir DIR --time 2s 4 4 4 4 4 4 4 4 4 4 4 4", full: true},
	{memory: "32MiB", ends: cli.ExitOK, args: "awari search --dir DIR 1 1 1 1 1 2 4 2 3 0 0 0"},
	{memory: "8MiB", ends: cli.ExitUsage, args: "awari search --dir DIR 1 1 1 1 1 2 4 2 3 0 0 0"},
	{memory: "32MiB", ends: cli.ExitOK, args: "awari play --dir DIR --time 2s"},
	{memory: "96MiB", ends: cli.ExitOK, args: "awari solve --seeds 17 --dir NEW --threads 8", full: true},
	{memory: "160MiB", ends: cli.ExitOK, args: "awari solve --seeds 18 --dir NEW", full: true},
	{memory: "64MiB", ends: cli.ExitOK, args: "awari solve --seeds 17 --dir NEW"},
	{memory: "64MiB", ends: cli.ExitUsage, args: "awari solve --seeds 20 --dir NEW"},
	{memory: "96MiB", ends: cli.ExitOK, args: "awari plan --seeds 17 --threads 2", full: true},
	{memory: "72MiB", ends: cli.ExitUsage, args: "awari plan --seeds 17"},
	{memory: "40MiB", ends: cli.ExitUsage, args: "awari plan --seeds 17"},
	{memory: "32MiB", ends: cli.ExitOK, args: "swap bfs --rows 3 --cols 3"},
	{memory: "96MiB", ends: cli.ExitOK, args: "swap bfs --rows 3 --cols 4 --dir NEW", full: true},
	{memory: "128MiB", ends: cli.ExitOK, args: "swap bfs --rows 3 --cols 4", full: true},
	{memory: "32MiB", ends: cli.ExitUsage, args: "swap bfs --rows 3 --cols 4"},
	{memory: "24MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{memory: "64MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{memory: "256MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan --time 60s " + reversed, full: true},
	{memory: "64MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver astar-bucket --heuristic manhattan " + reversed},
	{memory: "64MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver bidirectional " + reversed},
	{memory: "64MiB", ends: cli.ExitOK, args: "swap solve --rows 4 --cols 4 --solver beam --time 3s " + reversed},
	{memory: "16MiB", ends: cli.ExitUsage, args: "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{memory: "32MiB", ends: cli.ExitOK, args: "swap pdb build --kind gadb --rows 4 --cols 4 --k 3 --out NEW"},
	{memory: "160MiB", ends: cli.ExitOK, args: "swap pdb build --kind gadb --rows 4 --cols 4 --k 4 --out NEW", full: true},
	{memory: "40MiB", ends: cli.ExitOK, args: "swap pdb build --kind apdb --rows 4 --cols 4 --tiles 1,2,3,4,5,6 --out NEW"},
	{memory: "128MiB", ends: cli.ExitOK, args: "swap pdb build --kind apdb --rows 4 --cols 4 --tiles 1,2,3,4,5,6,7 --out NEW", full: true},
	{memory: "64MiB", ends: cli.ExitUsage, args: "swap pdb build --kind gadb --rows 4 --cols 4 --k 4 --out NEW"},
	{memory: "64MiB", ends: cli.ExitOK, args: "swap bench --tables solvers --solves 2", full: true},
	{memory: "16MiB", ends: cli.ExitUsage, args: "swap bench --tables databases"},
	{memory: "36MiB", ends: cli.ExitOK, args: "chemin solve --rows 4 --cols 5 --time 2s --threads 2"},
	{memory: "64MiB", ends: cli.ExitOK, args: "chemin solve --rows 4 --cols 6 --time 2s --dir NEW", full: true},
	{memory: "36MiB", ends: cli.ExitOK, args: "chemin solve --rows 1 --cols 16 --method orientations --all --threads 2", full: true},
	{memory: "20MiB", ends: cli.ExitUsage, args: "chemin solve --rows 3 --cols 3"},
	{memory: "300MiB", ends: cli.ExitOK, args: "solitaire count --threads 2", full: true},
	{memory: "40MiB", ends: cli.ExitOK, args: "solitaire count --threads 2 --board BOARD"},
	{memory: "64MiB", ends: cli.ExitOK, args: "solitaire count --threads 2 --dir NEW", full: true},
	{memory: "40MiB", ends: cli.ExitOK, args: "solitaire count --threads 2 --board LARGER --dir NEW", full: true}, // too large without a directory
	{memory: "300MiB", ends: cli.ExitOK, args: "solitaire solve --threads 2", full: true},
	{memory: "64MiB", ends: cli.ExitOK, args: "solitaire solve --threads 2 --board BOARD", full: true},
	{memory: "32MiB", ends: cli.ExitUsage, args: "solitaire solve --threads 2"},
	{memory: "20MiB", ends: cli.ExitUsage, args: "solitaire count"},
}

// Boards with 27 and 30 holes; the usual one has 33.
const (
	memoryBoard  = "  ooo\n  ooo\noooooo\nooo.oo\noooooo\n  ooo\n"
	memoryLarger = "  ooo\n  ooo\nooooooo\nooo.ooo\nooooooo\n  ooo\n"
)

// reversed is a grid that is far from home.
const reversed = "16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1"

// TestLongMemory runs every command with --memory in a cgroup of that much and some slack:
// it ends as it should, or refuses at once and says what it needs, and is never killed.
func TestLongMemory(t *testing.T) {
	tries.NeedsLong(t, "it takes minutes")
	newCgroup(t, 64<<20) // or skip before anything is solved
	places := memoryPlaces(t)
	for _, row := range memoryRows {
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
