package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// TestNohup: a terminal that hangs up does not end what was told to ignore that.
func TestNohup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := command(t, "sh", "-c", `trap "" HUP; exec "$@"`, "sh",
		"grenier", "awari", "solve", "--progress", "none", "--seeds", "24", "--dir", dir).start(t)
	for layer := 3; layer < 8; layer++ {
		awaitFile(t, filepath.Join(dir, rundir.LayerName(layer)))
		s.signal(t, syscall.SIGHUP)
	}
	awaitFile(t, filepath.Join(dir, rundir.LayerName(11)))
	s.signal(t, syscall.SIGTERM)
	r := s.wait(t)
	should.Hold(t, r.status == cli.ExitInterrupted && r.err == wordOfSolve, "status %d, %s", r.status, r.err)
}

// TestSecondSignal: a server that waits for a request to end, which the first signal lets it do, ends at the second
// signal. On a busy machine the time of the request may be over before that: then it is tried again.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	dir := solved(t, "--seeds", "2")
	for range 10 {
		status := signalServer(t, dir)
		if status.Signaled() && status.Signal() == syscall.SIGTERM {
			return
		}
		must.Not(t, status.ExitStatus() != cli.ExitOK && status.ExitStatus() != cli.ExitInterrupted, "status %d", status)
	}
	t.Error("never ended by the second signal")
}

// signalServer sends signals to a server that waits for the rest of a request, and returns how it ends.
func signalServer(t *testing.T, dir string) syscall.WaitStatus {
	s := startServer(t, "--addr", "localhost:0", "--dir", dir)
	half := must.Get(net.Dial("tcp", s.report.Address))(t)
	defer half.Close()
	must.OK(t, must.Err(io.WriteString(half, "GET / HTTP/1.1\r\n")))
	time.Sleep(100 * time.Millisecond) // so that the server has read that
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	for s.cmd.Process.Signal(syscall.SIGTERM) == nil { // SIGHUP may be ignored, as nohup has it
		time.Sleep(100 * time.Millisecond)
	}
	<-ended
	return s.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// TestUnread: commands end when whoever reads their output has gone, and leave things in order.
func TestUnread(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct {
		errs bool // it is stderr that nobody reads
		args []string
	}{
		{false, []string{"awari", "solve", "--seeds", "24", "--threads", "1", "--progress", "none", "--dir", dir}},
		{true, []string{"awari", "solve", "--seeds", "24", "--threads", "1", "--progress", "bar", "--dir", dir}},
		{true, []string{"swap", "bfs", "--rows", "1", "--cols", "12", "--threads", "1", "--progress", "bar", "--dir", filepath.Join(t.TempDir(), "bfs")}},
	} {
		t.Run(strings.Join(c.args[:2], " ")+fmt.Sprint(c.errs), func(t *testing.T) {
			s := command(t, "grenier", c.args...)
			r, w, err := os.Pipe()
			must.OK(t, err)
			if c.errs {
				s.cmd.Stderr = w
			} else {
				s.cmd.Stdout = w
			}
			s.start(t)
			w.Close()
			must.OK(t, must.Err(r.Read(make([]byte, 1))))
			r.Close()
			got := s.wait(t)
			should.Not(t, got.status != cli.ExitUnread || !c.errs && got.err != "", "status %d, %s", got.status, got.err)
		})
	}
	wantNoTemps(t, dir)
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
	mustRun(t, "awari", "solve", "--seeds", "1", "--dir", dir)
}

// TestLongInterruptAnytime interrupts commands at random moments, until they come through.
func TestLongInterruptAnytime(t *testing.T) {
	tries.NeedsLong(t, "runs commands many times")
	siege(t, tries.Pick(0, 12, 400), func(s *solver, r *rand.Rand, took time.Duration) result {
		s.awaitMain(t)
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		s.cmd.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}[r.IntN(3)])
		end := s.wait(t)
		should.Not(t, end.status == -1 || end.status == cli.ExitInterrupted && !strings.HasPrefix(end.err, "grenier: interrupted"),
			"status %d, %s", end.status, end.err)
		return end
	})
}

// awaitMain waits until the process has begun to listen to signals, of which it ignores that of a broken pipe.
func (s *solver) awaitMain(t *testing.T) {
	waitFor(t, "the process", func() bool {
		text := must.Read(t, fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		_, mask, _ := strings.Cut(string(text), "SigIgn:")
		var ignored uint64
		_, err := fmt.Sscanf(mask, "%x", &ignored)
		return err != nil || ignored>>(syscall.SIGPIPE-1)&1 != 0 // or it is a zombie
	})
}
