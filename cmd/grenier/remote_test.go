package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// served returns a new run directory and a server of it.
func served(t *testing.T, flags ...string) (dir string, s *remotetest.Server) {
	t.Helper()
	dir = solved(t, flags...)
	s = remotetest.Serve(t, dir, false)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return dir, s
}

// remoteSeeds is the highest layer on the server of TestRemoteSame.
const remoteSeeds = 11

// TestRemoteSame compares three hundred boards from a server with those from the directory.
func TestRemoteSame(t *testing.T) {
	// After the server of this test is closed, nothing runs that did not before.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", func(t *testing.T) {
		const boards, asked = 1_352_078, 300 // of layers 0 to remoteSeeds
		dir, s := served(t, "--seeds", fmt.Sprint(remoteSeeds))
		random := rand.New(rand.NewPCG(1, 2))
		var in strings.Builder
		for range asked {
			in.WriteString(mustRun(t, "awari", "unrank", "--pits", "12", fmt.Sprint(random.Uint64N(boards))))
		}
		for _, form := range []string{"--json", "--json=false"} {
			near := grenier(t.Context(), in.String(), "awari", "probe", form, "--dir", dir, "-")
			far := grenier(t.Context(), in.String(), "awari", "probe", form, "--url", s.URL, "-")
			d := cmp.Diff(near, far, cmp.AllowUnexported(result{}))
			should.Hold(t, d == "" && near.status == cli.ExitOK && strings.Count(near.out, "\n") == asked, "status %d: %s", near.status, d)
			checkOnce(t, dir, s.Take())
		}
		board := strings.Fields(strings.SplitN(in.String(), "\n", 2)[0])
		for _, args := range [][]string{append([]string{"probe"}, board...), append([]string{"probe", "--json"}, board...), {"stats"}, {"stats", "--json", "--layer", "9"}} {
			args = append([]string{"awari"}, args...)
			must.Same(t, fmt.Sprint(args), mustRun(t, append(args, "--dir", dir)...), mustRun(t, append(args, "--url", s.URL)...))
		}
	})
}

// checkOnce checks that nothing was downloaded twice, and nothing but what there
// is: from each layer its head, its end, and blocks.
func checkOnce(t *testing.T, dir string, requests []remotetest.Request) {
	seen := make(map[string]bool)
	var bytes int64
	for _, r := range requests {
		key := r.File + r.Range
		should.Not(t, seen[key], "%s %s: asked twice", r.File, r.Range)
		seen[key] = true
		bytes += r.Bytes
	}
	var most int64
	for n := range remoteSeeds + 1 {
		most += must.Get(os.Stat(filepath.Join(dir, rundir.LayerName(n))))(t).Size()
	}
	should.Not(t, len(requests) < 20 || bytes > most+remoteSeeds<<16+1<<16,
		"%d requests for %d bytes, the layers have %d", len(requests), bytes, most) // heads contain blocks
}

// TestRemoteMessages reads the messages for some accidents: what a server does is tested in package remote, here are the status and the line.
func TestRemoteMessages(t *testing.T) {
	t.Parallel()
	dir, s := served(t, "--seeds", "11")
	layer := filepath.Join(dir, rundir.LayerName(11))
	whole := must.Read(t, layer)
	probe := func(url string) result {
		r := grenier(t.Context(), "", append([]string{"awari", "probe", "--url", url}, strings.Fields("1 1 1 1 1 1 1 1 1 1 1 0")...)...)
		oneClearLine(t, r.err)
		return r
	}
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	damaged := slices.Concat(whole[:20_000], []byte(strings.Repeat("\xee", len(whole)-30_000)), whole[len(whole)-10_000:])
	for _, c := range []struct {
		name   string
		data   []byte
		hook   http.HandlerFunc
		status int
		want   string
	}{
		{"forbidden", whole, answer(403), cli.ExitFailure, "the server answers: 403 Forbidden"},
		{"missing", whole, http.NotFound, cli.ExitCorrupt, "listed in the manifest, but missing: "},
		{"text", []byte(strings.Repeat("Dear diary, ", 10_000)), nil, cli.ExitCorrupt, "not a file of this program"},
		{"blocks", damaged, nil, cli.ExitCorrupt, ": checksum of the stored bytes "},
		{"busy", whole, answer(503), cli.ExitFailure, "after 3 attempts: the server answers: 503 Service Unavailable"},
		{"escape sequences", whole, func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if should.OK(t, err); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\x1b[2Jred\r\n\r\n")
				c.Close()
			}
		}, cli.ExitFailure, `\x1b[2Jred`},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.Write(t, layer, c.data)
			s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
				asked := c.hook != nil && strings.HasSuffix(r.URL.Path, rundir.LayerName(11))
				if asked {
					c.hook(w, r)
				}
				return asked
			})
			r := probe(s.URL)
			should.Hold(t, r.status == c.status && r.out == "" && strings.HasPrefix(r.err, "grenier: "+s.URL+"/layer-11.gl: ") && strings.Contains(r.err, c.want),
				"status %d, %q lacks %q", r.status, r.err, c.want)
		})
	}
	s.Hook(nil)
	must.Write(t, layer, whole)
	r := probe(s.URL + "/elsewhere/")
	should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "no run directory: the server answers: 404 Not Found"), "%+v", r)
	r = grenier(t.Context(), "", "awari", "probe", "--url", s.URL, "2", "2", "2", "2", "2", "2", "2", "0", "0", "0", "0", "0")
	should.Hold(t, r.status == cli.ExitUsage && r.err == fmt.Sprintf("grenier: not solved: the board has 14 seeds, but %s/ is solved up to 11\n", s.URL),
		"status %d, %s", r.status, r.err)
	r = grenier(t.Context(), "", "awari", "stats", "--url", strings.Replace(s.URL, "//", "//me:secret@", 1), "--layer", "12")
	should.Hold(t, r.status == cli.ExitUsage && strings.Contains(r.err, "is solved up to 11") && !strings.Contains(r.err, "secret"),
		"status %d, %s", r.status, r.err)
}

// TestRemoteInterrupted interrupts a batch that waits for a mute server.
func TestRemoteInterrupted(t *testing.T) {
	_, s := served(t, "--seeds", "5")
	ctx, cancel := context.WithCancel(t.Context())
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, rundir.LayerName(3)) {
			return false
		}
		cancel()
		<-r.Context().Done()
		return true
	})
	r := grenier(ctx, "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 1 1 1 0 0 0 0 0\n", "awari", "probe", "--url", s.URL, "-")
	// The first line is answered unless both lines were looked up together.
	answered := strings.TrimPrefix(r.out, "value 2; moves . . . . . 2\n")
	should.Hold(t, r.status == cli.ExitInterrupted && answered == "" && r.err == "grenier: interrupted\n", "%+v", r)
}

// TestRemoteJSON gives one object on stdout, even if it is about a failure.
func TestRemoteJSON(t *testing.T) {
	_, s := served(t, "--seeds", "3")
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		missing := strings.HasSuffix(r.URL.Path, rundir.LayerName(2))
		if missing {
			http.NotFound(w, r)
		}
		return missing
	})
	r := grenier(t.Context(), "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0 0 1\n", "awari", "probe", "--json", "--url", s.URL, "-")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	var failed cli.LineError
	must.OK(t, json.Unmarshal([]byte(lines[0]), &failed))
	should.Hold(t, failed.Line == 1 && strings.Contains(failed.Error, "missing"), "%s", lines[0])
	should.Hold(t, r.status == cli.ExitCorrupt && len(lines) == 2 && strings.Contains(lines[1], `"value":-1`),
		"status %d, %s", r.status, r.out)
}

// serving is a process that serves.
type serving struct {
	*solver
	report serveReport
}

// startServer starts a process that serves a directory, and waits until it is ready.
func startServer(t *testing.T, flags ...string) *serving {
	t.Helper()
	s := &serving{solver: command(t, "grenier", append([]string{"awari", "serve", "--json"}, flags...)...)}
	s.cmd.Stdout = nil
	out := must.Get(s.cmd.StdoutPipe())(t)
	s.start(t)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &s.report)
	}
	must.Hold(t, err == nil, "%q: %v", line, err)
	return s
}

// get returns the body of an answer.
func (s *serving) get(t *testing.T, path string) string {
	t.Helper()
	response := must.Get(http.Get(s.report.URL + path))(t)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.Hold(t, err == nil && response.StatusCode == http.StatusOK, "%s: status %d, %s, %v", path, response.StatusCode, text, err)
	return string(text)
}

// TestServe runs the server as a process: it says where it is, answers, and ends with status 0 when it is told to stop.
func TestServe(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "no signals to send")
	dir := solved(t, "--seeds", "5")
	for _, stop := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := startServer(t, "--dir", dir, "--addr", "localhost:0", "--log")
		host, port, err := net.SplitHostPort(s.report.Address)
		should.Hold(t, err == nil && net.ParseIP(host).IsLoopback() && port != "0" && s.report.URL == "http://localhost:"+port+"/",
			"%+v (%v)", s.report, err)
		page := s.get(t, "")
		should.Hold(t, strings.Contains(page, "<title data-t>Grenier"), "the page is %.200s", page)
		var probe struct{ Value int }
		err = json.Unmarshal([]byte(s.get(t, "api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1")), &probe)
		should.Hold(t, err == nil && probe.Value == 5, "%+v, %v", probe, err)
		s.signal(t, stop)
		r := s.wait(t)
		should.Hold(t, r.status == cli.ExitOK, "%v: status %d, %s", stop, r.status, r.err)
		n := strings.Count(s.errs.String(), "msg=request")
		should.Hold(t, n == 2 && strings.Count(s.errs.String(), "\n") == n, "logged: %s", &s.errs)
	}
}

// TestServeTaken asks for a port that another program has.
func TestServeTaken(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	r := grenier(t.Context(), "", "awari", "serve", "--dir", solved(t, "--seeds", "1"), "--addr", l.Addr().String())
	oneClearLine(t, r.err)
	should.Hold(t, r.status == cli.ExitFailure && r.out == "" && strings.Contains(r.err, "cannot listen on "+l.Addr().String()), "%+v", r)
}
