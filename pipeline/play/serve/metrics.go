package serve

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"grenier/io/exposition"
)

// metrics counts requests, for Prometheus.
type metrics struct {
	inFlight, panics atomic.Int64
	turnedAway       atomic.Int64 // connections

	registry *prometheus.Registry
	routes   map[string]route
	requests *prometheus.CounterVec   // by path and code
	seconds  *prometheus.HistogramVec // by path
}

// bounds are the upper ends of the latency buckets in seconds.
var bounds = []float64{0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10}

// other stands for all paths that do not exist: clients must not be able to make
// up labels.
const other = "other"

func newMetrics(routes map[string]route, layers int) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(), routes: routes,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "grenier_http_requests_total", Help: "Requests answered, by path and status.",
		}, []string{"path", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "grenier_http_request_seconds", Help: "Time to answer a request, by path.", Buckets: bounds,
		}, []string{"path"}),
	}
	m.registry.MustRegister(m.requests, m.seconds,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "grenier_http_requests_in_flight", Help: "Requests being answered now.",
		}, reader(&m.inFlight)),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "grenier_http_panics_total", Help: "Requests that failed because of a bug.",
		}, reader(&m.panics)),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "grenier_http_connections_refused_total", Help: "Connections closed because their client had too many.",
		}, reader(&m.turnedAway)),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "grenier_solved_layers", Help: "Number of layers that the tables have.",
		}, func() float64 { return float64(layers) }))
	return m
}

// reader returns a function that reads n.
func reader(n *atomic.Int64) func() float64 { return func() float64 { return float64(n.Load()) } }

// record counts a request that was answered.
func (m *metrics) record(path string, status int, took time.Duration) {
	if _, ok := m.routes[path]; !ok {
		path = other
	}
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
}

// writeMetrics answers GET /metrics.
func (s *Server) writeMetrics(w http.ResponseWriter, r *http.Request) {
	text, err := exposition.Text(s.metrics.registry)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	sendFresh(w, r, http.StatusOK, exposition.Type, text)
}
