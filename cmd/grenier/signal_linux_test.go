package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// startCommand starts a process.
func startCommand(t *testing.T, name string, args ...string) *solver {
	t.Helper()
	s := &solver{cmd: exec.CommandContext(t.Context(), name, args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *solver) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
}

const wordOfSolve = "grenier: interrupted; the same command resumes\n"

// TestLongSignals: each signal that ends a command ends it in the same way.
func TestLongSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // by whoever began the tests, and so by the solver
		}
		dir := filepath.Join(t.TempDir(), "run")
		s := startSolver(t, dir, 12, 24)
		awaitFile(t, filepath.Join(dir, rundir.LayerName(5)))
		s.signal(t, sig)
		if r := s.wait(t); r.status != cli.ExitInterrupted || r.err != wordOfSolve {
			t.Errorf("%v: status %d, %s", sig, r.status, r.err)
		}
	}
}

// TestLongNohup: a terminal that hangs up does not end what was told to ignore that.
func TestLongNohup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := startCommand(t, "sh", "-c", `trap "" HUP; exec "$@"`, "sh",
		"grenier", "awari", "solve", "--progress", "none", "--seeds", "24", "--dir", dir)
	for layer := 3; layer < 8; layer++ {
		awaitFile(t, filepath.Join(dir, rundir.LayerName(layer)))
		s.signal(t, syscall.SIGHUP)
	}
	awaitFile(t, filepath.Join(dir, rundir.LayerName(11)))
	s.signal(t, syscall.SIGTERM)
	if r := s.wait(t); r.status != cli.ExitInterrupted || r.err != wordOfSolve {
		t.Errorf("status %d, %s", r.status, r.err)
	}
}

// TestLongSecondSignal: a server that waits for a request to end, which the first signal
// lets it do, ends at the second signal. On a busy machine the time of the request may be
// over before that: then it is tried again.
func TestLongSecondSignal(t *testing.T) {
	t.Parallel()
	dir := solved(t, "--seeds", "2")
	for range 10 {
		status := signalServer(t, dir)
		if status.Signaled() && status.Signal() == syscall.SIGTERM {
			return
		}
		if status.ExitStatus() != cli.ExitOK && status.ExitStatus() != cli.ExitInterrupted {
			t.Fatalf("status %d", status)
		}
	}
	t.Error("never ended by the second signal")
}

// signalServer sends signals to a server that waits for the rest of a request, and returns how
// it ends.
func signalServer(t *testing.T, dir string) syscall.WaitStatus {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "grenier", "awari", "serve", "--json", "--addr", "localhost:0", "--dir", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told serveReport
	if err := json.NewDecoder(out).Decode(&told); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(told.URL)
	if err != nil {
		t.Fatal(err)
	}
	half, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := io.WriteString(half, "GET / HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // so that the server has read that
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for cmd.Process.Signal(syscall.SIGTERM) == nil { // SIGHUP may be ignored, as nohup has it
		time.Sleep(100 * time.Millisecond)
	}
	<-ended
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// TestLongUnread: commands end when whoever reads their output has gone, and leave things
// in order.
func TestLongUnread(t *testing.T) {
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
			s := &solver{cmd: exec.CommandContext(t.Context(), "grenier", c.args...)}
			s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if c.errs {
				s.cmd.Stderr = w
			} else {
				s.cmd.Stdout = w
			}
			if err := s.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if _, err := r.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			r.Close()
			got := s.wait(t)
			if got.status != cli.ExitUnread || !c.errs && got.err != "grenier: nobody reads the output any more\n" {
				t.Errorf("status %d, %s", got.status, got.err)
			}
		})
	}
	wantNoTemps(t, dir)
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
	locked := rundirMustLock(t, dir)
	if err := locked.Unlock(); err != nil {
		t.Error(err)
	}
}

func rundirMustLock(t *testing.T, dir string) *rundir.Locked {
	t.Helper()
	d, err := rundir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := rundir.Lock(dir, m.Identity)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLongInterruptAnytime interrupts commands at random moments, until they come through.
func TestLongInterruptAnytime(t *testing.T) {
	tries.NeedsLong(t, "runs commands many times")
	wanted := 2 * kills()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	tables := solved(t, "--seeds", "13")
	scores, pegs := filepath.Join(t.TempDir(), "scores"), pegBoard(t)
	mustRun(t, "awari", "export", "--dir", tables, "--layer", "0", "--format", "colex", "--out", scores, "--progress", "none")
	for _, c := range []struct {
		name string
		args func(dir string) []string
	}{
		{"solve", func(dir string) []string { return []string{"awari", "solve", "--seeds", "13", "--dir", dir} }},
		{"export", func(dir string) []string {
			return []string{"awari", "export", "--dir", tables, "--layer", "13", "--format", "csv", "--out", filepath.Join(dir, "scores")}
		}},
		{"verify", func(string) []string { return []string{"awari", "verify", "--prove", "--layer", "10", "--dir", tables} }},
		{"bfs", func(dir string) []string {
			return []string{"swap", "bfs", "--rows", "1", "--cols", "10", "--dir", filepath.Join(dir, "bfs")}
		}},
		{"patterns", func(dir string) []string {
			return []string{"swap", "pdb", "build", "--kind", "apdb", "--rows", "3", "--cols", "4", "--tiles", "1,2,3,4,5,6", "--out", filepath.Join(dir, "p.gp")}
		}},
		{"chemin", func(dir string) []string {
			return []string{"chemin", "solve", "--rows", "3", "--cols", "3", "--dir", filepath.Join(dir, "chemin")}
		}},
		{"solitaire", func(dir string) []string {
			return []string{"solitaire", "solve", "--board", pegs, "--dir", filepath.Join(dir, "solitaire")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := func(dir string) *solver {
				return startCommand(t, "grenier", append(c.args(dir), "--progress", "none", "--threads", "2", "--json")...)
			}
			whole, dir := t.TempDir(), t.TempDir()
			start := time.Now()
			want := command(whole).wait(t)
			if want.status != cli.ExitOK {
				t.Fatalf("status %d, %s", want.status, want.err)
			}
			took, worst, done := time.Since(start), time.Duration(0), 0
			for range wanted {
				s := command(dir)
				s.awaitMain(t)
				time.Sleep(time.Duration(random.Float64() * float64(took)))
				sig := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}[random.IntN(3)]
				sent := time.Now()
				if s.cmd.Process.Signal(sig) == nil {
					done++
				}
				r := s.wait(t)
				worst = max(worst, time.Since(sent))
				switch {
				case r.status == cli.ExitOK:
				case r.status != cli.ExitInterrupted || !strings.HasPrefix(r.err, "grenier: interrupted"):
					t.Fatalf("%v: status %d, %s", sig, r.status, r.err)
				}
				wantNoTemps(t, dir)
			}
			t.Logf("%d signals in commands of %v; the longest time to end was %v", done, took, worst)
			got := command(dir).wait(t)
			if got.status != cli.ExitOK {
				t.Fatalf("status %d, %s", got.status, got.err)
			}
			if diff := cmp.Diff(answerOf(t, want), answerOf(t, got)); diff != "" {
				t.Errorf("the answer differs (-undisturbed +interrupted):\n%s", diff)
			}
			if diff := cmp.Diff(kept(t, whole), kept(t, dir)); diff != "" {
				t.Errorf("what is left differs (-undisturbed +interrupted):\n%s", diff)
			}
		})
	}
}

// answerOf returns what a command prints that does not depend on how it came to it.
func answerOf(t *testing.T, r result) map[string]any {
	t.Helper()
	answer := map[string]any{}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatalf("%s: %v", r.out, err)
	}
	maps.DeleteFunc(answer, func(name string, _ any) bool {
		return strings.Contains(name, "second") || slices.Contains([]string{"peak_rss_bytes", "file", "layers", "positions", "states_per_layer", "solutions"}, name)
	})
	return answer
}

// awaitMain waits until the process has begun to listen to signals, of which it ignores
// that of a broken pipe.
func (s *solver) awaitMain(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, mask, _ := strings.Cut(string(text), "SigIgn:")
		var ignored uint64
		if _, err := fmt.Sscanf(mask, "%x", &ignored); err != nil || ignored>>(syscall.SIGPIPE-1)&1 != 0 {
			return // or it is a zombie
		}
	}
	t.Fatal("the process does not begin")
}
