package serve

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// samples reads the text format of Prometheus strictly: each sample belongs to the
// metric whose HELP and TYPE came before, and none comes twice.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	help := regexp.MustCompile(`^# HELP ([a-z_]+) [A-Z][^\\]*\.$`)
	kind := regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
	sample := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="[^"\\\n]*"(?:,[a-z]+="[^"\\\n]*")*\})? ([0-9.e+-]+)$`)
	found, seen := map[string]float64{}, map[string]bool{}
	var name, of string
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line does not end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch m := sample.FindStringSubmatch(line); {
		case help.MatchString(line):
			name, of = help.FindStringSubmatch(line)[1], ""
			if seen[name] {
				t.Errorf("%s comes twice", name)
			}
			seen[name] = true
		case kind.MatchString(line) && kind.FindStringSubmatch(line)[1] == name && of == "":
			of = kind.FindStringSubmatch(line)[2]
		case m != nil && of != "" && belongs(m[1], name, of):
			value, err := strconv.ParseFloat(m[3], 64)
			if _, twice := found[m[1]+m[2]]; twice || err != nil {
				t.Errorf("%q: twice %v, %v", line, twice, err)
			}
			found[m[1]+m[2]] = value
		default:
			t.Errorf("after %s, %s: %q", name, of, line)
		}
	}
	return found
}

// belongs reports whether a sample is one of a metric.
func belongs(sample, name, kind string) bool {
	if kind != "histogram" {
		return sample == name && (kind == "counter") == strings.HasSuffix(name, "_total")
	}
	suffix, ok := strings.CutPrefix(sample, name)
	return ok && (suffix == "_bucket" || suffix == "_sum" || suffix == "_count")
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
	found := samples(t, got.body)
	for name, want := range map[string]float64{
		`grenier_http_requests_total{path="/api/layers",code="200"}`:        3,
		`grenier_http_requests_total{path="/api/probe",code="400"}`:         1,
		`grenier_http_requests_total{path="other",code="404"}`:              2,
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
		value, ok := found[`grenier_http_request_seconds_bucket{path="/api/layers",le="`+decimal(bound)+`"}`]
		if !ok || value < below || value > 3 {
			t.Errorf("bucket %v is %v (%v) after %v", bound, value, ok, below)
		}
		below = value
	}
}

// TestBuckets checks where times go.
func TestBuckets(t *testing.T) {
	m := newMetrics(map[string]route{"/": {}})
	m.record("/", 200, 1e6)  // exactly 1 ms: in the bucket that ends there
	m.record("/", 200, 1e9)  // 1 s
	m.record("/", 500, 99e9) // beyond all
	got := m.routes["/"]
	if got.count != 3 || got.within[2] != 1 || got.within[8] != 1 || got.byStatus[200] != 2 || got.byStatus[500] != 1 || got.seconds != 100.001 {
		t.Errorf("%+v", got)
	}
}
