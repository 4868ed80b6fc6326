package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

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
