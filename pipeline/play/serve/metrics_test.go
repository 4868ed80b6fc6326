package serve

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// samples returns the samples in a text, each with its labels.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		found[name] = value
	}
	return found
}

func TestMetrics(t *testing.T) {
	r := start(t, Options{})
	for range 3 {
		r.get("/api/layers")
	}
	r.get("/api/probe?pits=1")
	r.get("/none")
	r.get("/nothing\"}")
	got := r.get("/metrics")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("%+v", got)
	}
	for _, about := range []string{
		"# HELP grenier_http_requests_total Requests answered, by path and status.\n# TYPE grenier_http_requests_total counter\n",
		"# HELP grenier_http_request_seconds Time to answer a request, by path.\n# TYPE grenier_http_request_seconds histogram\n",
		"# HELP grenier_http_requests_in_flight Requests being answered now.\n# TYPE grenier_http_requests_in_flight gauge\n",
		"# HELP grenier_http_panics_total Requests that failed because of a bug.\n# TYPE grenier_http_panics_total counter\n",
		"# HELP grenier_http_connections_refused_total Connections closed because their client had too many.\n# TYPE grenier_http_connections_refused_total counter\n",
		"# HELP grenier_solved_layers Number of layers that the tables have.\n# TYPE grenier_solved_layers gauge\n",
	} {
		if !strings.Contains(got.body, about) {
			t.Errorf("no %q", about)
		}
	}
	found := samples(t, got.body)
	for name, want := range map[string]float64{
		`grenier_http_requests_total{code="200",path="/api/layers"}`:        3,
		`grenier_http_requests_total{code="400",path="/api/probe"}`:         1,
		`grenier_http_requests_total{code="404",path="other"}`:              2,
		`grenier_http_request_seconds_count{path="/api/layers"}`:            3,
		`grenier_http_request_seconds_bucket{path="/api/layers",le="+Inf"}`: 3,
		`grenier_http_request_seconds_count{path="other"}`:                  2,
		`grenier_http_requests_in_flight`:                                   1,
		`grenier_http_panics_total`:                                         0,
		`grenier_solved_layers`:                                             seeds + 1,
	} {
		if value, ok := found[name]; !ok || value != want {
			t.Errorf("%s is %v (%v), want %v", name, value, ok, want)
		}
	}
	below := 0.0
	for _, bound := range bounds {
		value, ok := found[`grenier_http_request_seconds_bucket{path="/api/layers",le="`+strconv.FormatFloat(bound, 'g', -1, 64)+`"}`]
		if !ok || value < below || value > 3 {
			t.Errorf("bucket %v is %v (%v) after %v", bound, value, ok, below)
		}
		below = value
	}
}

// TestBuckets checks where times go, and that what they took is added up.
func TestBuckets(t *testing.T) {
	s, _ := newServer(t, Options{})
	for took, status := range map[time.Duration]int{
		time.Millisecond: 200, // exactly the end of a bucket: in it
		time.Second:      200,
		99 * time.Second: 500, // beyond all
	} {
		s.metrics.record("/", status, took)
	}
	w := httptest.NewRecorder()
	s.handler(false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	found := samples(t, w.Body.String())
	const name = "grenier_http_request_seconds"
	for sample, want := range map[string]float64{
		name + `_bucket{path="/",le="0.00025"}`: 0, name + `_bucket{path="/",le="0.001"}`: 1, name + `_bucket{path="/",le="0.25"}`: 1,
		name + `_bucket{path="/",le="1"}`: 2, name + `_bucket{path="/",le="10"}`: 2, name + `_bucket{path="/",le="+Inf"}`: 3,
		name + `_sum{path="/"}`: 100.001, name + `_count{path="/"}`: 3,
		`grenier_http_requests_total{code="200",path="/"}`: 2, `grenier_http_requests_total{code="500",path="/"}`: 1,
	} {
		if found[sample] != want {
			t.Errorf("%s is %v, want %v", sample, found[sample], want)
		}
	}
}
