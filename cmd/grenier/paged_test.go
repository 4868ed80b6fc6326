package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/io/rundir"
	"grenier/pipeline/batch"
)

// The smallest layer that can be solved out of core, and the memory with which it is.
const (
	pagedSeeds  = 17
	pagedMemory = "72MiB"
)

// Names of what an out-of-core layer has in the run directory, and of its file when it
// is being sealed.
var (
	workFile       = filepath.Join(rundir.WorkName, "tiles")
	workCheckpoint = workFile + ".checkpoint"
	workLayer      = rundir.LayerName(pagedSeeds) + "." // and what makes its name a temporary one
)

// pagedRuns has runs to begin with and to compare with.
type pagedRuns struct {
	below string            // all but the last layer
	want  map[string]string // the whole run, solved in memory
}

func newPagedRuns(t *testing.T) *pagedRuns {
	t.Helper()
	seeds := strconv.Itoa(pagedSeeds)
	p := &pagedRuns{below: solved(t, "--seeds", strconv.Itoa(pagedSeeds-1))}
	whole := p.begin(t)
	mustRun(t, "awari", "solve", "--progress", "none", "--dir", whole, "--seeds", seeds)
	p.want = withoutSeconds(t, whole)
	return p
}

// begin returns a directory that lacks the last layer only.
func (p *pagedRuns) begin(t *testing.T) string {
	t.Helper()
	return copyOf(t, p.below)
}

// copyOf returns a new directory with the same files.
func copyOf(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pagedFlags are those of a solver that adds the last layer, out of core.
func pagedFlags(dir string, more ...string) []string {
	return append([]string{
		"--dir", dir, "--seeds", strconv.Itoa(pagedSeeds), "--memory", pagedMemory, "--checkpoint", "100ms", "--threads", "2",
	}, more...)
}

// start starts a solver.
func (p *pagedRuns) start(t *testing.T, dir string) *solver {
	t.Helper()
	return startSolving(t, pagedFlags(dir, "--progress", "none")...)
}

// finish runs the solver to its end and compares. It returns the summary and what is said
// on stderr.
func (p *pagedRuns) finish(t *testing.T, dir string) (s solveSummary, errs string) {
	t.Helper()
	r := startSolving(t, pagedFlags(dir, "--progress", "json", "--json")...).wait(t)
	if r.status != exitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	last := r.out[strings.LastIndex(strings.TrimSpace(r.out), "\n")+1:]
	if err := json.Unmarshal([]byte(last), &s); err != nil {
		t.Fatal(err)
	}
	checkReport(t, r.out, s)
	p.compare(t, dir)
	return s, r.err
}

// compare fails unless dir has the files of a run in memory and nothing else.
func (p *pagedRuns) compare(t *testing.T, dir string) {
	t.Helper()
	sameFiles(t, p.want, withoutSeconds(t, dir))
}

// sameFiles compares without printing what is in the files.
func sameFiles(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left", name)
		}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of a run in memory", name)
		}
	}
}

// interrupt solves in a new directory until there are the file and a tile, sends the
// signal and returns the directory.
func (p *pagedRuns) interrupt(t *testing.T, file string, sig os.Signal, meanwhile func(dir string, s *solver)) string {
	t.Helper()
	for range 5 {
		dir := p.begin(t)
		s := p.start(t, dir)
		awaitFile(t, dir+string(filepath.Separator)+file)
		awaitBytes(t, filepath.Join(dir, workFile), 1) // the first checkpoint may come before the first tile
		meanwhile(dir, s)
		if err := s.cmd.Process.Signal(sig); err != nil {
			continue // through already
		}
		timer := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
		r := s.wait(t)
		if !timer.Stop() {
			t.Fatal("the solver does not stop")
		}
		if r.status == exitOK {
			continue // the signal came too late
		}
		if r.status != exitInterrupted || r.err != "grenier: interrupted; what is done is kept, the same command continues\n" {
			t.Fatalf("status %d, %s", r.status, r.err)
		}
		for _, name := range []string{workFile, workCheckpoint} {
			if !exists(filepath.Join(dir, name)) {
				t.Errorf("there is no %s", name)
			}
		}
		p.intact(t, dir)
		return dir
	}
	t.Fatal("the solver was too fast five times")
	return ""
}

// intact fails unless dir has the layers below the last one, and work in progress.
func (p *pagedRuns) intact(t *testing.T, dir string) {
	t.Helper()
	checkLeft(t, dir)
	if n := len(layersOf(t, dir)); n != pagedSeeds {
		t.Errorf("%d layers are sealed", n)
	}
	files := withoutSeconds(t, dir)
	for n := range pagedSeeds {
		if name := rundir.LayerName(n); files[name] != p.want[name] {
			t.Errorf("%s has changed", name)
		}
	}
}

func nothing(string, *solver) {}

// TestPaged solves a layer that does not fit into memory, with interruptions, and
// compares with one that did.
func TestPaged(t *testing.T) {
	if !long() {
		t.Skip("solves 17 seeds several times: needs GRENIER_LONG=1")
	}
	if runtime.GOOS == "windows" {
		t.Skip("there are no such signals")
	}
	t.Parallel()
	p := newPagedRuns(t)
	t.Run("signals", p.testSignals)
	t.Run("damage", p.testDamage)
	t.Run("full disk", p.testFullDisk)
}

// checkReport looks at what the solver tells of an out-of-core layer on stdout, of which
// the last line is s.
func checkReport(t *testing.T, out string, s solveSummary) {
	t.Helper()
	if len(s.Layers) != 1 || s.Layers[0].Pipeline == nil {
		t.Fatalf("layers %+v", s.Layers)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	told := 0
	for _, line := range lines[:len(lines)-1] {
		var l struct{ Detail batch.Progress }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Detail.Pipeline == nil {
			if l.Detail.Stage == "dense" {
				t.Errorf("no pipeline: %s", line)
			}
			continue
		}
		told++
		for _, name := range []string{"read", "unpack", "compute", "pack", "write"} {
			if !strings.Contains(line, `"`+name+`_seconds":`) {
				t.Errorf("no %s: %s", name, line)
			}
		}
	}
	if told == 0 && s.Seconds > 5 {
		t.Errorf("no progress in %v s", s.Seconds)
	}
	var text strings.Builder
	(&app{out: &output{w: &text}}).printSummary(s)
	if !outOfCore.MatchString(text.String()) {
		t.Errorf("summary %s", text.String())
	}
}

// outOfCore matches the last line of the summary.
var outOfCore = regexp.MustCompile(`\nout of core: [0-9.]+ s; on average [0-9.]+ goroutines computed, [0-9.]+ unpacked, [0-9.]+ packed, [0-9.]+ read \([0-9.]+ .*B\), [0-9.]+ wrote \([0-9.]+ .*B\)\n$`)

// testSignals interrupts the solver in a sweep and while it seals. A second solver is
// refused meanwhile.
func (p *pagedRuns) testSignals(t *testing.T) {
	dir := p.interrupt(t, workCheckpoint, os.Interrupt, func(dir string, s *solver) {
		r := grenier(t.Context(), "", append([]string{"awari", "solve"}, pagedFlags(dir)...)...)
		want := "grenier: " + filepath.Join(dir, rundir.LockName) + ": in use by process " + strconv.Itoa(s.cmd.Process.Pid) + "\n"
		if r.status != exitFailure || r.err != want {
			t.Errorf("a second solver: status %d, %s", r.status, r.err)
		}
	})
	g := p.continues(t, dir).Layers[0].Pipeline
	if g.Compute <= 0 || g.Pack <= 0 || g.Unpack <= 0 || g.Write <= 0 || g.BytesWritten == 0 || g.Fetched == 0 || g.Saved == 0 || g.File == 0 {
		t.Errorf("pipeline %+v", g)
	}
	g = p.continues(t, p.interrupt(t, workLayer, syscall.SIGTERM, nothing)).Layers[0].Pipeline
	if g.Saved == 0 {
		t.Errorf("what the run before took is not counted: %+v", g)
	}
}

// continues finishes an interrupted run that has nothing to tell.
func (p *pagedRuns) continues(t *testing.T, dir string) solveSummary {
	t.Helper()
	s, errs := p.finish(t, dir)
	if errs != "" {
		t.Errorf("it is told: %s", errs)
	}
	log, err := os.ReadFile(filepath.Join(dir, rundir.LogName))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "anew") || strings.Contains(string(log), "again") {
		t.Errorf("the log: %s", log)
	}
	return s
}

var (
	tileAgain = regexp.MustCompile(`^(grenier: note: layer 17: (the tile of \d+ seeds of the mover, panels \d+-\d+, (open|full) chunks \d+-\d+ is computed|all tiles are swept) again: .*tiles: extent at \d+: .*\n)+$`)
	beginAnew = regexp.MustCompile(`^grenier: note: layer 17 begins anew: the checkpoint is of no use: .*tiles.*\n$`)
)

// testDamage damages what an interrupted run left.
func (p *pagedRuns) testDamage(t *testing.T) {
	cases := []struct {
		name, file string
		damage     func(text []byte) []byte // nil: the file is removed
		note       *regexp.Regexp           // nil: none
		seal       bool                     // the stage makes a difference
	}{
		{"flipped", workFile, flipMany, tileAgain, true},
		{"cut", workFile, func(text []byte) []byte { return text[:len(text)/2] }, beginAnew, true},
		{"no work file", workFile, nil, beginAnew, false},
		{"checkpoint", workCheckpoint, flipMany, beginAnew, false},
		{"cut checkpoint", workCheckpoint, func(text []byte) []byte { return text[:len(text)-1] }, beginAnew, false},
		{"empty checkpoint", workCheckpoint, func([]byte) []byte { return nil }, beginAnew, false},
		{"no checkpoint", workCheckpoint, nil, nil, true},
	}
	stages := map[string]string{"sweep": workCheckpoint, "seal": workLayer}
	for stage, file := range stages {
		interrupted := p.interrupt(t, file, os.Interrupt, nothing)
		for _, c := range cases {
			if stage == "seal" && !c.seal {
				continue
			}
			t.Run(stage+" "+c.name, func(t *testing.T) {
				t.Parallel()
				dir := copyOf(t, interrupted)
				path := filepath.Join(dir, c.file)
				if c.damage == nil {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				} else {
					damageFile(t, path, c.damage)
				}
				_, errs := p.finish(t, dir)
				if c.note == nil && errs != "" || c.note != nil && !c.note.MatchString(errs) {
					t.Errorf("it is told: %.2000s", errs)
				}
			})
		}
	}
}

func damageFile(t *testing.T, path string, damage func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// flipMany flips bits of one byte in a hundredth of the file each: not all bytes are in
// use.
func flipMany(text []byte) []byte {
	for i := range 100 {
		text[i*len(text)/100] ^= 0x41
	}
	return text
}

// TestPagedKill kills solve at random moments of a run of which the last two layers are
// out of core.
func TestPagedKill(t *testing.T) {
	if !long() {
		t.Skip("solves 18 seeds several times: needs GRENIER_LONG=1")
	}
	t.Parallel()
	const seeds = pagedSeeds + 1
	flags := func(dir string) []string {
		return []string{"--dir", dir, "--seeds", strconv.Itoa(seeds), "--progress", "none", "--memory", "80MiB", "--checkpoint", "200ms"}
	}
	start := time.Now()
	want, dir := withoutSeconds(t, solved(t, "--seeds", strconv.Itoa(seeds))), filepath.Join(t.TempDir(), "run")
	took := time.Since(start) // less than out of core
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	paged, through := 0, 0
	for done := 0; done < kills() && through < 10*kills(); {
		patience := time.Duration(random.Float64() * float64(took))
		s := startSolving(t, flags(dir)...)
		killed := s.killAfter(t, patience)
		if strings.Contains(s.errs.String(), "note") {
			t.Errorf("after a kill it is told: %s", s.errs.String())
		}
		if !killed {
			through++
			sameFiles(t, want, withoutSeconds(t, dir))
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		done++
		if exists(filepath.Join(dir, workCheckpoint)) {
			paged++
		}
		t.Logf("killed after %v with %d layers sealed", patience, sealedLike(t, want, dir))
	}
	if r := startSolving(t, flags(dir)...).wait(t); r.status != exitOK || r.err != "" {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	t.Logf("killed %d times, %d of them with a checkpoint, through %d times", kills(), paged, through)
	sameFiles(t, want, withoutSeconds(t, dir))
}
