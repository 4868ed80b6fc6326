package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

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

// TestRemoteMessages reads the messages for accidents that are no damage. Others are in remote.txtar, all that a server can do wrong in the
// tests of packages remote and tables.
func TestRemoteMessages(t *testing.T) {
	_, s := served(t, "--seeds", "3")
	for want, answer := range map[string]http.HandlerFunc{
		"the server answers: 403 Forbidden":                             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) },
		"after 3 attempts: the server answers: 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		`\x1b[2Jred`: func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if should.OK(t, err); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\x1b[2Jred\r\n\r\n")
				c.Close()
			}
		},
	} {
		s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
			asked := strings.HasSuffix(r.URL.Path, rundir.LayerName(3))
			if asked {
				answer(w, r)
			}
			return asked
		})
		r := grenier(t.Context(), "", append([]string{"awari", "probe", "--url", s.URL}, strings.Fields("1 1 1 0 0 0 0 0 0 0 0 0")...)...)
		oneClearLine(t, r.err)
		should.Hold(t, r.status == cli.ExitFailure && r.out == "" && strings.HasPrefix(r.err, "grenier: "+s.URL+"/layer-03.gl: ") && strings.Contains(r.err, want),
			"status %d, %q lacks %q", r.status, r.err, want)
	}
	r := grenier(t.Context(), "", "awari", "stats", "--url", strings.Replace(s.URL, "//", "//me:secret@", 1), "--layer", "4")
	should.Hold(t, r.status == cli.ExitUsage && strings.Contains(r.err, "is solved up to 3") && !strings.Contains(r.err, "secret"),
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
	process, _, out := talk(t, append([]string{"awari", "serve", "--json"}, flags...)...)
	s := &serving{solver: process}
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
