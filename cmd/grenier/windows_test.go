package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

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

// Names of what such a layer has in the run directory, and of its file when it is being sealed.
var (
	workCaptures = filepath.Join(rundir.WorkName, rundir.CapturesName(0, false))
	workWindow   = filepath.Join(rundir.WorkName, rundir.WindowName(0, 0))
	workFound    = filepath.Join(rundir.WorkName, rundir.FoundName)
	workLayer    = rundir.LayerName(windowSeeds) + "." // and what makes its name a temporary one
)

// windowRuns has runs to begin with and to compare with.
type windowRuns struct {
	below string            // all but the last layer
	want  map[string]string // the whole run, solved in memory
}

func newWindowRuns(t *testing.T) *windowRuns {
	seeds := strconv.Itoa(windowSeeds)
	p := &windowRuns{below: solved(t, "--seeds", strconv.Itoa(windowSeeds-1))}
	whole := p.begin(t)
	mustRun(t, "awari", "solve", "--progress", "none", "--dir", whole, "--seeds", seeds)
	p.want = withoutSeconds(t, whole)
	return p
}

// begin returns a directory that lacks the last layer only.
func (p *windowRuns) begin(t *testing.T) string { t.Helper(); return testrun.Copy(t, p.below) }

// windowFlags are those of a solver that adds the last layer, window by window.
func windowFlags(dir string, more ...string) []string {
	return append([]string{
		"--dir", dir, "--seeds", strconv.Itoa(windowSeeds), "--memory", windowMemory, "--checkpoint", "100ms", "--threads", "2",
	}, more...)
}

// start starts a solver.
func (p *windowRuns) start(t *testing.T, dir string) *solver {
	t.Helper()
	return startSolving(t, windowFlags(dir, "--progress", "none")...)
}

// finish runs the solver to its end and compares. It returns the summary and what is said on stderr.
func (p *windowRuns) finish(t *testing.T, dir string) (s solveSummary, errs string) {
	t.Helper()
	r := startSolving(t, windowFlags(dir, "--progress", "json", "--json")...).wait(t)
	must.Hold(t, r.status == cli.ExitOK, "status %d: %s", r.status, r.err)
	s = summaryOf(t, r.out)
	checkReport(t, r.out, s)
	p.compare(t, dir)
	return s, r.err
}

// compare fails unless dir has the files of a run in memory and nothing else.
func (p *windowRuns) compare(t *testing.T, dir string) {
	t.Helper()
	sameFiles(t, p.want, withoutSeconds(t, dir))
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

// interrupt solves in a new directory until there is the file, sends the signal and returns the directory.
func (p *windowRuns) interrupt(t *testing.T, file string, sig os.Signal, meanwhile func(dir string, s *solver)) string {
	t.Helper()
	for range 5 {
		dir := p.begin(t)
		s := p.start(t, dir)
		awaitFile(t, dir+string(filepath.Separator)+file)
		meanwhile(dir, s)
		if err := s.cmd.Process.Signal(sig); err != nil {
			continue // through already
		}
		timer := time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() })
		r := s.wait(t)
		must.Hold(t, timer.Stop(), "the solver does not stop")
		if r.status == cli.ExitOK {
			continue // the signal came too late
		}
		must.Hold(t, r.status == cli.ExitInterrupted && r.err == "grenier: interrupted; the same command resumes\n",
			"status %d, %s", r.status, r.err)
		should.Hold(t, file == workLayer || exists(filepath.Join(dir, workCaptures)), "there is no %s", workCaptures)
		p.intact(t, dir)
		return dir
	}
	t.Fatal("the solver was too fast five times")
	return ""
}

// intact fails unless dir has the layers below the last one, and work in progress.
func (p *windowRuns) intact(t *testing.T, dir string) {
	t.Helper()
	checkLeft(t, dir)
	should.Equal(t, len(layersOf(t, dir)), windowSeeds, "layers are sealed")
	files := withoutSeconds(t, dir)
	for n := range windowSeeds {
		name := rundir.LayerName(n)
		should.Hold(t, files[name] == p.want[name], "%s has changed", name)
	}
}

func nothing(string, *solver) {}

// TestLongWindows solves a layer that does not fit into memory, with interruptions, and
// compares with one that did. What damage does is tested by TestLongSiegeDamage and in package halfboard.
func TestLongWindows(t *testing.T) {
	tries.NeedsLong(t, "solves 15 seeds several times")
	tries.SkipIf(t, runtime.GOOS == "windows", "there are no such signals")
	t.Parallel()
	p := newWindowRuns(t)
	t.Run("signals", p.testSignals)
	t.Run("full disk", p.testFullDisk)
}

// TestLongWindowsReport solves a small layer window by window and looks at what is told.
func TestLongWindowsReport(t *testing.T) {
	tries.NeedsLong(t, "solves 14 seeds")
	const seeds = 14
	dir := solved(t, "--seeds", strconv.Itoa(seeds-1))
	out := mustRun(t, "awari", "solve", "--progress", "json", "--json", "--dir", dir, "--seeds", strconv.Itoa(seeds),
		"--memory", leastMemory(seeds), "--threads", "2")
	checkReport(t, out, summaryOf(t, out))
}

// summaryOf returns the last line of what solve prints.
func summaryOf(t *testing.T, out string) (s solveSummary) {
	t.Helper()
	must.OK(t, json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &s))
	return s
}

// checkReport looks at what the solver tells of a layer in windows on stdout, of which the last line is s.
func checkReport(t *testing.T, out string, s solveSummary) {
	t.Helper()
	must.Hold(t, len(s.Layers) == 1 && s.Layers[0].Windows >= 2 && s.Layers[0].Bits < 8, "layers %+v", s.Layers)
	streams := s.Layers[0].Streams
	should.Not(t, streams["seal"].Read == 0 || streams["seal"].Written > 0, "streams %+v", streams)
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
		if slices.Contains([]string{"check", "capture", "seal"}, l.Detail.Stage) {
			continue
		}
		should.Hold(t, l.Detail.Window >= window && strings.Contains(line, `"streams":{`), "after window %d: %s", window, line)
		window = l.Detail.Window
	}
	should.Not(t, !told && s.Seconds > 5, "no progress in %v s", s.Seconds)
}

// testSignals interrupts the solver in a sweep and while it seals. A second solver is refused meanwhile.
func (p *windowRuns) testSignals(t *testing.T) {
	dir := p.interrupt(t, workFound, os.Interrupt, func(dir string, s *solver) {
		r := grenier(t.Context(), "", append([]string{"awari", "solve"}, windowFlags(dir)...)...)
		want := "grenier: " + filepath.Join(dir, rundir.LockName) + ": in use by process " + strconv.Itoa(s.cmd.Process.Pid) + "\n"
		should.Hold(t, r.status == cli.ExitFailure && r.err == want, "a second solver: status %d, %s", r.status, r.err)
	})
	l := p.continues(t, dir).Layers[0]
	if s := l.Streams; s["capture"].Read == 0 || s["capture"].Written > 0 || s["dense"].Read == 0 || s["full"].Written == 0 {
		t.Errorf("streams %+v of a layer that was gone on with", s)
	}
	dir = p.interrupt(t, workLayer, syscall.SIGTERM, nothing)
	should.Hold(t, exists(filepath.Join(dir, workWindow)), "there is no %s", workWindow)
	l = p.continues(t, dir).Layers[0]
	s := l.Streams
	should.Not(t, s["dense"].Read > 0 || s["full"].Written > 0, "streams %+v of a layer of which only the file was missing", s)
}

// continues finishes an interrupted run that has nothing to tell.
func (p *windowRuns) continues(t *testing.T, dir string) solveSummary {
	t.Helper()
	s, errs := p.finish(t, dir)
	should.Equal(t, errs, "", "it is told")
	log := must.Read(t, filepath.Join(dir, rundir.LogName))
	should.Not(t, strings.Contains(string(log), "anew") || strings.Contains(string(log), "again"), "the log: %s", log)
	return s
}
