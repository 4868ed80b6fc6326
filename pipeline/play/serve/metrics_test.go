package serve

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
		should.Hold(t, err == nil, "%q: %v", line, err)
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
	must.Hold(t, got.status == http.StatusOK && got.header.Get("Content-Type") == "text/plain; version=0.0.4; charset=utf-8", "%+v", got)
	for _, kind := range []string{
		"requests_total counter", "request_seconds histogram", "requests_in_flight gauge", "panics_total counter", "connections_refused_total counter",
	} {
		should.Hold(t, strings.Contains(got.body, "# TYPE grenier_http_"+kind+"\n"), "no %q", kind)
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
		value, ok := found[name]
		should.Hold(t, ok && value == want, "%s is %v (%v), want %v", name, value, ok, want)
	}
}
