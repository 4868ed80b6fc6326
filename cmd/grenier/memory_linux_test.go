package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
	text, err := os.ReadFile(filepath.Join(g.path, file))
	if err != nil {
		t.Fatal(err)
	}
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
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), "sh", append(enter, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// memoryRow is a command that is run within some memory.
type memoryRow struct {
	memory string
	ends   int // its status: exitUsage if it is to refuse
	args   string
}

// Names in the rows below: DIR has layers up to 17, BELOW up to 16, FILE a layer as
// colex, VU and PACKED as vu, NEW is a directory of its own for each row.
var memoryRows = []memoryRow{
	{"64MiB", exitOK, "awari verify --dir DIR --layer 15 --prove"},
	{"64MiB", exitOK, "awari verify --dir DIR --layer 17 --prove"},
	{"20MiB", exitUsage, "awari verify --dir DIR --layer 17 --prove"},
	{"32MiB", exitOK, "awari verify --dir DIR --layer 12 --prove"},
	{"64MiB", exitOK, "awari verify --dir DIR --sample 20000"},
	{"128MiB", exitOK, "awari verify --dir DIR --layer 17 --threads 8"},
	{"24MiB", exitOK, "awari verify --dir DIR --sample 2000"},
	{"17MiB", exitUsage, "awari verify --dir DIR --layer 17 --sample 2000"},
	{"64MiB", exitOK, "awari export --dir DIR --layer 17 --format csv --out NEW"},
	{"48MiB", exitOK, "awari export --dir DIR --layer 17 --format npy --codec lz4 --out NEW --threads 1"},
	{"64MiB", exitOK, "awari export --dir DIR --layer 17 --format vu --codec zstd --out NEW"},
	{"32MiB", exitUsage, "awari export --dir DIR --layer 17 --format csv --out NEW"},
	{"64MiB", exitOK, "awari import --dir BELOW --layer 17 --format colex FILE"},
	{"64MiB", exitOK, "awari import --dir BELOW --layer 17 --format vu VU"},
	{"80MiB", exitOK, "awari import --dir BELOW --layer 17 --format vu --codec zstd PACKED"},
	{"20MiB", exitUsage, "awari import --dir BELOW --layer 17 --format vu VU"},
	{"32MiB", exitOK, "awari search --dir DIR --time 4s 4 4 4 4 4 4 4 4 4 4 4 4"},
	{"128MiB", exitOK, "awari search --dir DIR --time 4s 4 4 4 4 4 4 4 4 4 4 4 4"},
	{"32MiB", exitOK, "awari search --dir DIR 1 1 1 1 1 2 4 2 3 0 0 0"},
	{"8MiB", exitUsage, "awari search --dir DIR 1 1 1 1 1 2 4 2 3 0 0 0"},
	{"32MiB", exitOK, "awari play --dir DIR --time 2s"},
	{"72MiB", exitOK, "awari solve --seeds 17 --dir NEW"},
	{"96MiB", exitOK, "awari solve --seeds 17 --dir NEW --threads 8 --codec zstd"},
	{"160MiB", exitOK, "awari solve --seeds 18 --dir NEW"},
	{"64MiB", exitUsage, "awari solve --seeds 17 --dir NEW"},
	{"96MiB", exitOK, "awari plan --seeds 17 --threads 4"},
	{"72MiB", exitUsage, "awari plan --seeds 17"},
	{"40MiB", exitUsage, "awari plan --seeds 17"},
	{"32MiB", exitOK, "swap bfs --rows 3 --cols 3"},
	{"96MiB", exitOK, "swap bfs --rows 3 --cols 4 --dir NEW"},
	{"128MiB", exitOK, "swap bfs --rows 3 --cols 4"},
	{"40MiB", exitOK, "swap bfs --rows 2 --cols 5 --symmetry --dir NEW"},
	{"32MiB", exitUsage, "swap bfs --rows 3 --cols 4"},
	{"24MiB", exitOK, "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{"64MiB", exitOK, "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{"256MiB", exitOK, "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan --time 60s " + reversed},
	{"64MiB", exitOK, "swap solve --rows 4 --cols 4 --solver astar-bucket --heuristic manhattan " + reversed},
	{"64MiB", exitOK, "swap solve --rows 4 --cols 4 --solver bidirectional " + reversed},
	{"64MiB", exitOK, "swap solve --rows 4 --cols 4 --solver beam --time 10s " + reversed},
	{"16MiB", exitUsage, "swap solve --rows 4 --cols 4 --solver astar --heuristic manhattan " + reversed},
	{"32MiB", exitOK, "swap pdb build --kind gadb --rows 4 --cols 4 --k 3 --out NEW"},
	{"160MiB", exitOK, "swap pdb build --kind gadb --rows 4 --cols 4 --k 4 --out NEW"},
	{"40MiB", exitOK, "swap pdb build --kind apdb --rows 4 --cols 4 --tiles 1,2,3,4,5,6 --out NEW"},
	{"128MiB", exitOK, "swap pdb build --kind apdb --rows 4 --cols 4 --tiles 1,2,3,4,5,6,7 --out NEW"},
	{"64MiB", exitUsage, "swap pdb build --kind gadb --rows 4 --cols 4 --k 4 --out NEW"},
	{"128MiB", exitOK, "swap plan --rows 3 --cols 4"},
	{"64MiB", exitOK, "swap bench --tables solvers --solves 10"},
	{"16MiB", exitUsage, "swap bench --tables databases"},
	{"36MiB", exitOK, "chemin solve --rows 4 --cols 5 --time 20s --threads 2"},
	{"64MiB", exitOK, "chemin solve --rows 4 --cols 6 --time 10s --dir NEW"},
	{"36MiB", exitOK, "chemin solve --rows 1 --cols 20 --method orientations --all --threads 2"},
	{"20MiB", exitUsage, "chemin solve --rows 3 --cols 3"},
}

// reversed is a grid that is far from home.
const reversed = "16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1"

// TestMemory runs every command with --memory in a cgroup of that much and some slack:
// it ends as it should, or refuses at once and says what it needs, and is never killed.
func TestMemory(t *testing.T) {
	if !long() {
		t.Skip("it takes minutes")
	}
	newCgroup(t, 64<<20) // or skip before anything is solved
	places := memoryPlaces(t)
	for _, row := range memoryRows {
		t.Run(row.memory+" "+row.args, func(t *testing.T) { row.check(t, places) })
	}
}

// memoryPlaces makes the files that rows name.
func memoryPlaces(t *testing.T) map[string]string {
	dir := solved(t, "--seeds", "17")
	files := t.TempDir()
	places := map[string]string{
		"DIR": dir, "FILE": filepath.Join(files, "colex"), "VU": filepath.Join(files, "vu"), "PACKED": filepath.Join(files, "packed"),
	}
	export := []string{"awari", "export", "--progress", "none", "--dir", dir, "--layer", "17"}
	mustRun(t, append(export, "--format", "colex", "--out", places["FILE"])...)
	mustRun(t, append(export, "--format", "vu", "--out", places["VU"])...)
	mustRun(t, append(export, "--format", "vu", "--codec", "zstd", "--out", places["PACKED"])...)
	return places
}

func (r memoryRow) check(t *testing.T, places map[string]string) {
	args := strings.Fields(r.args)
	for i, arg := range args {
		switch path, named := places[arg]; {
		case named:
			args[i] = path
		case arg == "NEW":
			args[i] = filepath.Join(t.TempDir(), "new")
		case arg == "BELOW":
			args[i] = solved(t, "--seeds", "16")
		}
	}
	args = append(args, "--memory", r.memory)
	if args[1] != "play" {
		args = append(args, "--progress", "none")
	}
	allowed, err := parseBytes("--memory", r.memory)
	if err != nil {
		t.Fatal(err)
	}
	group := newCgroup(t, allowed+slack)
	start := time.Now()
	got := group.run(t, args...)
	killed := group.number(t, "memory.oom_control", "oom_kill")
	t.Logf("status %d, %d MiB at most, limit met %d times, %.1f s", got.status, group.number(t, "memory.max_usage_in_bytes", "")>>20,
		group.number(t, "memory.failcnt", ""), time.Since(start).Seconds())
	if got.status != r.ends || killed != 0 {
		t.Errorf("status %d, want %d; killed %d times; %s", got.status, r.ends, killed, got.err)
	}
	if r.ends == exitUsage && (!strings.Contains(got.err, "--memory "+r.memory) || !strings.Contains(got.err, "needs") || time.Since(start) > 10*time.Second) {
		t.Errorf("refused after %v by %q", time.Since(start), got.err)
	}
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
		{nil, exitOK, "has 100 MiB, so --memory is 88 MiB (91750400 bytes)\n"},
		{[]string{"--memory", "64MiB"}, exitOK, ""},
		{[]string{"--memory", "101MiB"}, exitUsage, " has 100 MiB; --force begins all the same\n"},
		{[]string{"--memory", "101MiB", "--force"}, exitOK, ""},
	} {
		r := group.run(t, append(grid, tt.flags...)...)
		if r.status != tt.status || !strings.HasSuffix(r.err, tt.errs) || tt.errs == "" && r.err != "" {
			t.Errorf("%v: status %d, %q", tt.flags, r.status, r.err)
		}
	}
}
