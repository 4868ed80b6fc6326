package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// metrics counts requests. It is written by hand in the text format of
// Prometheus, version 0.0.4: a counter by route and status, a histogram and three
// numbers do not outweigh the client library and the seven modules it brings.
type metrics struct {
	inFlight, panics atomic.Int64
	turnedAway       atomic.Int64 // connections

	mu     sync.Mutex
	routes map[string]*routeMetrics // by path; "other" for paths that do not exist
}

// routeMetrics counts the requests for one path.
type routeMetrics struct {
	byStatus map[int]uint64
	within   [len(bounds)]uint64 // those that took at most bounds[i], but more than the one before
	count    uint64
	seconds  float64
}

// bounds are the upper ends of the latency buckets in seconds.
var bounds = [...]float64{0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10}

// other stands for all paths that do not exist: clients must not be able to make
// up labels.
const other = "other"

func newMetrics(routes map[string]route) *metrics {
	m := &metrics{routes: map[string]*routeMetrics{other: {byStatus: map[int]uint64{}}}}
	for path := range routes {
		m.routes[path] = &routeMetrics{byStatus: map[int]uint64{}}
	}
	return m
}

// record counts a request that was answered.
func (m *metrics) record(path string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.routes[path]
	if !ok {
		r = m.routes[other]
	}
	r.byStatus[status]++
	r.count++
	r.seconds += took.Seconds()
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			r.within[i]++
			break
		}
	}
}

// writeMetrics answers GET /metrics.
func (s *Server) writeMetrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	s.metrics.write(&b)
	single(&b, "grenier_solved_layers", "gauge", "Number of layers that the tables have.", int64(len(s.tables.Layers())))
	sendFresh(w, r, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
}

// write writes all metrics, always in the same order.
func (m *metrics) write(b *bytes.Buffer) {
	single(b, "grenier_http_requests_in_flight", "gauge", "Requests being answered now.", m.inFlight.Load())
	single(b, "grenier_http_panics_total", "counter", "Requests that failed because of a bug.", m.panics.Load())
	single(b, "grenier_http_connections_refused_total", "counter", "Connections closed because their client had too many.", m.turnedAway.Load())
	m.mu.Lock()
	defer m.mu.Unlock()
	paths := sortedKeys(m.routes)
	header(b, "grenier_http_requests_total", "counter", "Requests answered, by path and status.")
	for _, path := range paths {
		for _, status := range sortedKeys(m.routes[path].byStatus) {
			fmt.Fprintf(b, "grenier_http_requests_total{path=%q,code=\"%d\"} %d\n", path, status, m.routes[path].byStatus[status])
		}
	}
	header(b, "grenier_http_request_seconds", "histogram", "Time to answer a request, by path.")
	for _, path := range paths {
		if m.routes[path].count > 0 {
			m.routes[path].write(b, path)
		}
	}
}

// write writes the buckets, which count everything up to their bound.
func (r *routeMetrics) write(b *bytes.Buffer, path string) {
	below := uint64(0)
	for i, bound := range bounds {
		below += r.within[i]
		fmt.Fprintf(b, "grenier_http_request_seconds_bucket{path=%q,le=\"%s\"} %d\n", path, decimal(bound), below)
	}
	fmt.Fprintf(b, "grenier_http_request_seconds_bucket{path=%q,le=\"+Inf\"} %d\n", path, r.count)
	fmt.Fprintf(b, "grenier_http_request_seconds_sum{path=%q} %s\n", path, decimal(r.seconds))
	fmt.Fprintf(b, "grenier_http_request_seconds_count{path=%q} %d\n", path, r.count)
}

// single writes a metric without labels.
func single(b *bytes.Buffer, name, kind, help string, value int64) {
	header(b, name, kind, help)
	fmt.Fprintf(b, "%s %d\n", name, value)
}

func header(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// decimal returns the shortest text of x.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
