package awari

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"grenier/cmd/grenier/cli"
	"grenier/io/crew"
	"grenier/io/exposition"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/pipeline/solve"
)

// metrics tells Prometheus how far a run is, over HTTP and in a file.
type metrics struct {
	watch    *watch
	gatherer prometheus.Gatherer
	file     string // empty for none
}

// newMetrics returns the metrics of a run and of this process.
func newMetrics(w *watch, file string) *metrics {
	m := &metrics{watch: w, file: file}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gatherer = registry
	return m
}

// describe returns the description of a metric.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("grenier_"+name, help, labels, nil)
}

// Metrics of a run.
var (
	runInfo      = describe("run_info", "What runs: always 1.", "version", "kernel", "rules", "pits", "dir")
	runState     = describe("run_state", "1 for the state that the run is in.", "state")
	runStart     = describe("run_start_time_seconds", "Unix time of the start.")
	runLast      = describe("run_last_layer", "Seeds of the last layer wanted.")
	runDone      = describe("run_positions_done", "Positions solved since the start.")
	runTotal     = describe("run_positions", "Positions to solve since the start.")
	runRate      = describe("run_positions_per_second", "Positions solved a second, lately.")
	runRemaining = describe("run_remaining_seconds", "Seconds until all layers are solved, estimated; absent if not known.")

	layerSeeds     = describe("layer_seeds", "Seeds of the layer in progress.")
	layerPositions = describe("layer_positions", "Positions of the layer in progress.")
	layerShare     = describe("layer_share", "Share of the work on the layer in progress that is done, estimated.")
	layerStage     = describe("layer_stage", "1 for the stage that the layer in progress is in.", "stage")
	layerSweep     = describe("layer_sweeps", "Sweeps of the layer in progress.")
	layerRemaining = describe("layer_remaining_seconds", "Seconds until the layer is sealed, estimated; absent if not known.")
	layerRead      = describe("layer_streams_read_bytes", "Bytes of streams read for the layer in progress.", "stage")
	layerWritten   = describe("layer_streams_written_bytes", "Bytes of streams written for the layer in progress.", "stage")

	sealedLayers    = describe("sealed_layers", "Layers in the run directory.")
	sealedPositions = describe("sealed_positions", "Positions of these layers.")
	sealedBytes     = describe("sealed_bytes", "Bytes of their files.")
	sealedAt        = describe("sealed_last_time_seconds", "Unix time at which this run sealed a layer last; absent before.")
	freeBytes       = describe("disk_free_bytes", "Bytes that this process can still write.", "place")
)

// Describe lists the metrics.
func (m *metrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect tells their values.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	c := m.watch.now()
	m.collectRun(gauge, &c)
	collectSealed(gauge, &c)
	for place, path := range m.watch.flags.places() {
		if free, err := rundir.FreeBytes(path); err == nil {
			gauge(freeBytes, float64(free), place)
		}
	}
}

// setter tells the value of a metric.
type setter func(d *prometheus.Desc, value float64, labels ...string)

// collectRun tells how far the run is.
func (m *metrics) collectRun(gauge setter, c *course) {
	f, p := &m.watch.flags, c.progress
	gauge(runInfo, 1, cli.Release, m.watch.family.String(), f.rules, strconv.Itoa(f.pits), f.dir)
	for _, s := range []rundir.State{rundir.Running, rundir.Done, rundir.Paused, rundir.Interrupted, rundir.Failed} {
		gauge(runState, boolean(s == c.state), string(s))
	}
	gauge(runStart, float64(m.watch.start.Unix()))
	gauge(runLast, float64(f.seeds))
	gauge(runDone, p.RunDone)
	gauge(runTotal, p.RunTotal)
	gauge(runRate, p.Rate)
	if p.Positions == 0 || c.state != rundir.Running {
		return // no layer is in progress
	}
	if eta := p.RunETA(); eta >= 0 {
		gauge(runRemaining, eta.Seconds())
	}
	collectLayer(gauge, p)
}

// collectLayer tells how far the layer in progress is.
func collectLayer(gauge setter, p solve.Progress) {
	gauge(layerSeeds, float64(p.Seeds))
	gauge(layerPositions, float64(p.Positions))
	gauge(layerShare, p.Share)
	gauge(layerSweep, float64(p.Sweep))
	for _, stage := range runStages {
		gauge(layerStage, boolean(stage == p.Stage), stage)
	}
	if eta := p.LayerETA(); eta >= 0 {
		gauge(layerRemaining, eta.Seconds())
	}
	for stage, s := range p.Streams {
		gauge(layerRead, float64(s.Read), stage)
		gauge(layerWritten, float64(s.Written), stage)
	}
}

// collectSealed sets the gauges of the sealed layers.
func collectSealed(gauge setter, c *course) {
	positions, bytes := uint64(0), int64(0)
	for _, l := range c.manifest.Layers {
		positions += l.Positions
		bytes += l.Bytes
	}
	gauge(sealedLayers, float64(len(c.manifest.Listed())))
	gauge(sealedPositions, float64(positions))
	gauge(sealedBytes, float64(bytes))
	if !c.sealedAt.IsZero() {
		gauge(sealedAt, float64(c.sealedAt.Unix()))
	}
}

// boolean returns 1 for true.
func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metricsCadence is the number of seconds between two files.
const metricsCadence = 15

// take replaces the file, if there is to be one, when the run begins, now and then, with each
// layer, and when it ends. A failure is told once.
func (m *metrics) take(e solve.Event) error {
	switch e := e.(type) {
	case solve.Locked, solve.Sealed, solve.Ended:
	case tick:
		if e%metricsCadence != 0 {
			return nil
		}
	default:
		return nil
	}
	if m.file == "" {
		return nil
	}
	if err := m.replace(); err != nil {
		m.watch.warn("the metrics cannot be written", err)
	}
	return nil
}

// replace replaces the file. A reader sees the old one or the new one.
func (m *metrics) replace() error {
	text, err := exposition.Text(m.gatherer)
	if err != nil {
		return err
	}
	p, err := vfs.Begin(m.file)
	if err != nil {
		return err
	}
	if _, err := p.Write(text); err != nil {
		return errors.Join(err, p.Abort())
	}
	return p.Replace()
}

// serve answers at addr, host:port, until stop is called. It returns the address. It fails if
// it cannot listen there.
func (m *metrics) serve(ctx context.Context, addr string) (address string, stop func(), err error) {
	l, err := listen(ctx, "--metrics", addr)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.gatherer, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	crew.Go(func() error { return server.Serve(l) }, func(err error) { ended <- err })
	return l.Addr().String(), func() {
		server.Close() // whoever is asking gets no answer any more
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			m.watch.warn("the metrics could not be served", err)
		}
	}, nil
}
