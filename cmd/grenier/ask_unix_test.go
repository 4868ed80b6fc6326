//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

// TestAsk sends the signal USR1 to a run, again and again: it tells how far it is
// each time, and the files are those of a run that nobody asked.
func TestAsk(t *testing.T) {
	t.Parallel()
	want := withoutSeconds(t, solved(t, "--seeds", "11"))
	for _, progress := range []string{"none", "bar"} {
		for told := 0; told == 0; { // it may have been through before it was asked
			told = ask(t, progress, want)
		}
	}
}

// ask asks a run whose files should be those wanted, and returns how often it told something.
func ask(t *testing.T, progress string, want map[string]string) (told int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolving(t, "--seeds", "11", "--threads", "1", "--dir", dir, "--progress", progress)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(8)))
	asked := 0
	for range 10 {
		if err := s.cmd.Process.Signal(syscall.SIGUSR1); err == nil {
			asked++
		}
		time.Sleep(5 * time.Millisecond)
	}
	r := s.wait(t)
	told = strings.Count(r.err, dir+": game awari, rules awari, 12 pits\nsolver   process ")
	must.Hold(t, r.status == cli.ExitOK && told <= asked, "%s: status %d, told %d times:\n%s", progress, r.status, told, r.err)
	for _, part := range []string{"\nsealed   layers 0 to ", "\ndoing    layer ", "\nrun      ", "\nreport   "} {
		should.Not(t, strings.Count(r.err, part) < told, "%s: %d answers lack %q:\n%s", progress, told, part, r.err)
	}
	lines := strings.Count(r.out, "\n")
	should.Hold(t, lines == 1+12+1, "%s: the table has %d lines:\n%s", progress, lines, r.out)
	must.Same(t, progress+": a run that was asked differs", want, withoutSeconds(t, dir))
	return told
}

// statusOfDir returns what status says.
func statusOfDir(t *testing.T, dir string) (r statusReport) {
	t.Helper()
	must.OK(t, json.Unmarshal([]byte(mustRun(t, "awari", "status", "--json", "--dir", dir)), &r))
	return r
}

// TestStatusOfKilled kills a run with a signal that it cannot notice, looks, and continues it.
func TestStatusOfKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolver(t, dir, 12, 24)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(9)))
	pid := s.cmd.Process.Pid
	if r := statusOfDir(t, dir); r.State != rundir.Running || !r.Locked || !r.Alive || r.PID != pid {
		t.Errorf("running: %+v", r)
	}
	must.OK(t, s.cmd.Process.Kill())
	s.wait(t)
	r := statusOfDir(t, dir)
	should.Hold(t, r.State == rundir.Killed && !r.Locked && !r.Alive && r.PID == pid && r.Report != nil && r.Report.PID == pid &&
		r.Report.ETA == nil && len(r.Layers) == len(layersOf(t, dir)), "killed: %+v", r)
	text := mustRun(t, "awari", "status", "--dir", dir)
	should.Hold(t, strings.Contains(text, " was killed after 20") && strings.Contains(text, "; the same command resumes\n"),
		"killed: %s", text)
	mustRun(t, "awari", "solve", "--seeds", "10", "--dir", dir, "--progress", "none")
	r = statusOfDir(t, dir)
	should.Hold(t, r.State == rundir.Done && r.PID == 0, "continued: %+v", r)
	log := must.Tree(t, dir)[rundir.LogName]
	should.Hold(t, strings.Count(log, " msg=start ") == 2 && strings.Count(log, " msg=done ") == 1 && !strings.Contains(log, "interrupted"),
		"log:\n%s", log)
}

// TestWatch watches a directory before a run begins there, until the run is interrupted.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	begun := make(chan struct{})
	out := &firstWrite{do: func() { close(begun) }}
	var errs strings.Builder
	ended := make(chan int)
	go func() {
		ended <- run(t.Context(), []string{"awari", "status", "--watch", "--json", "--dir", dir}, strings.NewReader(""), out, &errs)
	}()
	s := startSolving(t, "--dir", dir, "--progress", "none", "--seeds", "24", "--threads", "1")
	awaitFile(t, filepath.Join(dir, rundir.LayerName(9)))
	<-begun
	s.cmd.Process.Signal(syscall.SIGINT)
	status := <-ended
	must.Hold(t, status == cli.ExitOK && errs.Len() == 0, "status %d, %s", status, errs.String())
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted, "status %d, %s", r.status, r.err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		var r statusReport
		must.OK(t, json.Unmarshal([]byte(line), &r))
		want := rundir.Running
		if i == len(lines)-1 {
			want = rundir.Interrupted
		}
		should.Equal(t, r.State, want, "line %d of %d", i+1, len(lines))
	}
	should.Not(t, len(lines) < 2, "watched: %s", out.String())
	log := must.Tree(t, dir)[rundir.LogName]
	should.Hold(t, strings.Count(log, " level=WARN msg=interrupted layer=") == 1 && strings.Count(log, "msg=sealed") == len(layersOf(t, dir)),
		"log:\n%s", log)
}
