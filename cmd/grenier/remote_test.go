package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
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

func TestRemoteBadFlags(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "2"))
	refused(t, []badInput{
		{"awari probe --dir . --url http://host/ 1 0 0 0", cli.ExitUsage, "--dir and --url|grenier awari probe --help"},
		{"awari stats --dir . --url http://host/", cli.ExitUsage, "--dir and --url|grenier awari stats --help"},
		{"awari probe 1 0 0 0", cli.ExitUsage, "--dir or --url is required"},
		{"awari stats", cli.ExitUsage, "--dir or --url is required"},
		{"awari probe --url '' 1 0 0 0", cli.ExitUsage, `--url: bad address ""|https://`},
		{"awari probe --url data/awari 1 0 0 0", cli.ExitUsage, `"data/awari"|https://`},
		{"awari stats --url ftp://host/x", cli.ExitUsage, `"ftp://host/x"|https://`},
		{"awari stats --url http://host/x?y=1", cli.ExitUsage, "no ?"},
		{"awari stats --url http://me:secret@host:port/", cli.ExitUsage, "--url|port"},
		{"awari verify --url http://host/", cli.ExitUsage, "unknown flag --url"},
		{"awari remote extra", cli.ExitUsage, "unexpected argument extra: remote takes flags only"},
	})
}

// TestRemoteMessages reads the messages for the usual accidents.
func TestRemoteMessages(t *testing.T) {
	t.Parallel()
	dir, s := served(t, "--seeds", "11")
	layer := filepath.Join(dir, rundir.LayerName(11))
	whole := must.Read(t, layer)
	probe := []string{"1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "0"}
	restore := func(data []byte) { must.Write(t, layer, data) }
	damaged := []byte(strings.Repeat("\xee", len(whole)-30_000))
	onLayer := func(hook http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, rundir.LayerName(11)) {
				return false
			}
			hook(w, r)
			return true
		}
	}
	for _, c := range []struct {
		name   string
		data   []byte
		hook   func(http.ResponseWriter, *http.Request) bool
		status int
		want   string
	}{
		{"ranges ignored", whole, onLayer(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			s.Files(w, r)
		}), cli.ExitFailure, "bytes 0-65535: the server does not support range requests: it sends the whole file, "},
		{"forbidden", whole, onLayer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(403) }), cli.ExitFailure, "the server answers: 403 Forbidden"},
		{"missing", whole, onLayer(http.NotFound), cli.ExitCorrupt, "listed in the manifest, but missing: "},
		{"text", []byte(strings.Repeat("Dear diary, ", 10_000)), nil, cli.ExitCorrupt, "not a file of this program"},
		{"blocks", append(append(append([]byte{}, whole[:20_000]...), damaged...), whole[len(whole)-10_000:]...), nil, cli.ExitCorrupt, ": checksum of the stored bytes "},
		{"cut short", whole[:len(whole)-1], nil, cli.ExitCorrupt, "footer: "},
		{"busy", whole, onLayer(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }), cli.ExitFailure, "after 3 attempts: the server answers: 503 Service Unavailable"},
		{"busy for long", whole, onLayer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(503)
		}), cli.ExitFailure, "bytes 0-65535: the server answers: 503 Service Unavailable; it wants to be left alone for 2h0m0s"},
		{"escape sequences", whole, onLayer(func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\x1b[2Jred\r\n\r\n")
		}), cli.ExitFailure, `\x1b[2Jred`},
	} {
		t.Run(c.name, func(t *testing.T) {
			restore(c.data)
			s.Hook(c.hook)
			r := grenier(t.Context(), "", append([]string{"awari", "probe", "--url", s.URL}, probe...)...)
			oneClearLine(t, r.err)
			should.Hold(t, r.status == c.status && r.out == "" && strings.HasPrefix(r.err, "grenier: "+s.URL+"/layer-11.gl: ") && strings.Contains(r.err, c.want),
				"status %d, %q lacks %q", r.status, r.err, c.want)
		})
	}
	s.Hook(nil)
	restore(whole)
	for url, want := range map[string]string{
		s.URL + "/elsewhere/":       s.URL + "/elsewhere/manifest.json: no run directory: the server answers: 404 Not Found",
		"https" + s.URL[4:] + "/":   "https" + s.URL[4:] + "/manifest.json: no answer: http: server gave HTTP response to HTTPS client",
		secure(t, dir).URL + "/sub": "certificate",
	} {
		r := grenier(t.Context(), "", append([]string{"awari", "probe", "--url", url}, probe...)...)
		oneClearLine(t, r.err)
		should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, want), "status %d, %q lacks %q", r.status, r.err, want)
	}
	r := grenier(t.Context(), "", "awari", "probe", "--url", s.URL, "2", "2", "2", "2", "2", "2", "2", "0", "0", "0", "0", "0")
	should.Hold(t, r.status == cli.ExitUsage && r.err == fmt.Sprintf("grenier: not solved: the board has 14 seeds, but %s/ is solved up to 11\n", s.URL),
		"status %d, %s", r.status, r.err)
	r = grenier(t.Context(), "", "awari", "stats", "--url", strings.Replace(s.URL, "//", "//me:secret@", 1), "--layer", "12")
	should.Hold(t, r.status == cli.ExitUsage && strings.Contains(r.err, "is solved up to 11") && !strings.Contains(r.err, "secret"),
		"status %d, %s", r.status, r.err)
}

// secure returns a server whose certificate nobody trusts.
func secure(t *testing.T, dir string) *remotetest.Server {
	s := remotetest.Serve(t, dir, true)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

// TestRemoteReplacedBatch replaces a layer during a batch: answers are right or missing.
func TestRemoteReplacedBatch(t *testing.T) {
	dir, s := served(t, "--seeds", "12")
	in := strings.Repeat("1 1 1 1 1 1 1 1 1 1 1 1\n0 0 0 0 0 0 1 1 2 2 3 3\n", 1) + "12 0 0 0 0 0 0 0 0 0 0 0\n"
	right := grenier(t.Context(), in, "awari", "probe", "--dir", dir, "-")
	must.Hold(t, right.status == cli.ExitOK, "%v", right.err)
	var n atomic.Int32
	layer := filepath.Join(dir, rundir.LayerName(12))
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, rundir.LayerName(12)) && n.Add(1) == 3 { // head and end are known
			when := time.Now().Add(time.Hour)
			should.OK(t, os.Chtimes(layer, when, when))
		}
		return false
	})
	r := grenier(t.Context(), in, "awari", "probe", "--url", s.URL, "-")
	should.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "replaced on the server since it was opened"),
		"status %d, %s", r.status, r.err)
	want := strings.Split(right.out, "\n")
	for i, line := range strings.Split(r.out, "\n") {
		should.Not(t, line != want[i] && !strings.HasPrefix(line, fmt.Sprintf("error: line %d: ", i+1)),
			"line %d: %q, right is %q", i+1, line, want[i])
	}
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
		if missing := strings.HasSuffix(r.URL.Path, rundir.LayerName(2)); !missing {
			return false
		}
		http.NotFound(w, r)
		return true
	})
	r := grenier(t.Context(), "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0 0 1\n", "awari", "probe", "--json", "--url", s.URL, "-")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	var failed cli.LineError
	if err := json.Unmarshal([]byte(lines[0]), &failed); err != nil || failed.Line != 1 || !strings.Contains(failed.Error, "missing") {
		t.Errorf("%s, %v", lines[0], err)
	}
	should.Hold(t, r.status == cli.ExitCorrupt && len(lines) == 2 && strings.Contains(lines[1], `"value":-1`),
		"status %d, %s", r.status, r.out)
}
