package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/io/manifest"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seeds is the highest layer of the tables that tests use.
const seeds = 5

// pages is a page that is not about anything.
func pages() map[string][]byte {
	return map[string][]byte{
		"index.html": []byte("<!doctype html><title>page</title>"), "icon.svg": []byte("<svg/>\n"),
		"app.js": []byte("export {};\n"), "style.css": []byte("p { color: red }\n"),
	}
}

func openTables(t testing.TB, game awari.Game) *tables.Tables {
	tab, _ := openRun(t, game)
	return tab
}

// openRun does so, and returns the run directory too.
func openRun(t testing.TB, game awari.Game) (*tables.Tables, string) {
	dir := testrun.Dir(t, game.Pits(), game.Rules(), seeds, 256)
	return tabletest.Open(t, dir, tables.Kernel(cpu.Generic)), dir
}

// newServer returns a server for the 12-pit game; what it logs is in the text returned.
func newServer(t testing.TB, o Options) (*Server, *lockedText) {
	log := &lockedText{}
	if o.Tables == nil {
		o.Tables = openTables(t, testrun.Game(t, 12, awari.Awari))
	}
	if o.Pages == nil {
		o.Pages = pages()
	}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	return must.Get(New(o))(t), log
}

type running struct {
	t       testing.TB
	server  *Server
	address string
	log     *lockedText
	client  *http.Client
	stop    func()
}

// start lets a server listen until the test ends, or until stop is called, with changed limits.
func start(t testing.TB, o Options, changes ...func(*limits)) *running {
	t.Helper()
	s, log := newServer(t, o)
	s.limits = usual
	s.limits.penalty = time.Millisecond
	for _, change := range changes {
		change(&s.limits)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		stop()
		should.Be(t, <-ended, nil, "the server ended with")
	})
	return &running{t, s, l.Addr().String(), log, client, stop}
}

type reply struct {
	status int
	header http.Header
	body   string
	target string // what was asked
}

// do sends a request with headers given as name and value in turn.
func (r *running) do(method, target, body string, headers ...string) reply {
	r.t.Helper()
	request := must.Get(http.NewRequestWithContext(r.t.Context(), method, "http://"+r.address+target, strings.NewReader(body)))(r.t)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	response := must.Get(r.client.Do(request))(r.t)
	defer response.Body.Close()
	return reply{response.StatusCode, response.Header, string(must.Get(io.ReadAll(response.Body))(r.t)), target}
}

func (r *running) get(target string, headers ...string) reply {
	r.t.Helper()
	return r.do(http.MethodGet, target, "", headers...)
}

// post sends JSON.
func (r *running) post(target, body string, headers ...string) reply {
	r.t.Helper()
	return r.do(http.MethodPost, target, body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// want is get for answers that must have a status.
func (r *running) want(status int, target string, headers ...string) reply {
	r.t.Helper()
	got := r.get(target, headers...)
	should.Equal(r.t, got.status, status, "%.99s, %q: %.300s: status", target, headers, got.body)
	return got
}

// ask asks the handler, without a connection, which takes less time.
func ask[T any](r *running, target string) T {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.server.handler(true).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil))
	must.Hold(r.t, w.Code == http.StatusOK && w.Header().Get("Content-Type") == "application/json", "%s: %d, %s", target, w.Code, w.Body)
	return must.JSON[T](r.t, w.Body.Bytes())
}

type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestMetrics counts requests, and has them logged; other tests look for logs that are empty.
func TestMetrics(t *testing.T) {
	r := start(t, Options{LogRequests: true})
	for range 3 {
		r.get("/api/layers")
	}
	r.get("/api/probe?pits=1")
	r.get("/none")
	r.get("/nothing\"}")
	got := r.want(200, "/metrics")
	should.Has(t, r.log.String(), "method=GET path=/none status=404")
	must.Equal(t, got.header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
	for _, kind := range []string{
		"requests_total counter", "request_seconds histogram", "requests_in_flight gauge", "panics_total counter", "connections_refused_total counter",
	} {
		should.Has(t, got.body, "# TYPE grenier_http_"+kind+"\n")
	}
	for _, sample := range []string{
		`requests_total{code="200",path="/api/layers"} 3`, `requests_total{code="400",path="/api/probe"} 1`, `requests_total{code="404",path="other"} 2`,
		`request_seconds_count{path="/api/layers"} 3`, `request_seconds_bucket{path="/api/layers",le="+Inf"} 3`, `request_seconds_count{path="other"} 2`,
		`requests_in_flight 1`, `panics_total 0`,
	} {
		should.Has(t, got.body, "\ngrenier_http_"+sample+"\n")
	}
	should.Has(t, got.body, fmt.Sprintf("\ngrenier_solved_layers %d\n", seeds+1))
	for line := range strings.Lines(got.body) {
		should.Hold(t, regexp.MustCompile(`^(#.*|\S+ [\d.e+-]+)\n$`).MatchString(line), "%q", line)
	}
}

// TestLeftOut: the layer below the last one is left out: it is in no list, what looks through it says so, and all else is answered.
func TestLeftOut(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	_, dir := openRun(t, game)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		below := manifest.Manifest{Identity: m.Identity, Layers: m.Layers[:seeds-1]}
		*m = *below.With(m.Layers[seeds])
	})
	r := start(t, Options{Tables: tabletest.Open(t, dir, tables.Kernel(cpu.Generic)), Dir: dir})
	listed := ask[struct{ Layers []struct{ Seeds int } }](r, "/api/layers")
	should.Hold(t, len(listed.Layers) == seeds && listed.Layers[seeds-1].Seeds == seeds, "layers %+v", listed.Layers)
	for _, target := range []string{"charts/scores?seeds=4", "find?seeds=3..5", "hardest?seeds=4"} {
		r.wantProblem(r.get("/api/"+target), http.StatusBadRequest, "layer 4 is left out in")
	}
	for _, target := range []string{
		"puzzles?seeds=0..5&count=1", "charts", "charts/scores?seeds=5", "find?seeds=5", "find?seeds=0..3", "probe?pits=1,1,1,1,0,0,0,0,0,0,0,0",
		"probe?pits=1,1,1,1,1,0,0,0,0,0,0,0", "line?pits=1,1,1,1,1,0,0,0,0,0,0,0", "search?ms=50&pits=1,1,1,1,0,0,0,0,0,0,0,0",
	} {
		r.want(200, "/api/"+target)
	}
}
