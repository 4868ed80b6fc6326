// Package serve answers questions about solved awari positions over HTTP: a JSON
// interface, and the files of the web page that uses it.
//
//	s, err := serve.New(serve.Options{Tables: t, Pages: pages, Log: log})
//	err = s.Serve(ctx, listener) // until ctx ends
//
// A request goes through these steps: it is counted, timed and, if wanted, logged
// (observe.go); it must come over one of the connections allowed to its client, name a host of the server, a path that exists
// and a method of that path, and its sender must not ask too often
// (guard.go, origins.go); then a handler answers (probe.go, game.go, line.go, search.go, find.go, hardest.go, puzzles.go,
// charts.go, metrics.go, preview.go, pages.go). Paths are compared with a fixed list and never reach a file system:
// the files of the page are read once, when the server is made.
//
// Everything a client can make the server hold is bounded: connections, their
// headers, bodies and times, the requests that compute at a time, and the clients that are remembered. Libraries bound most of
// it: net/http, x/net/netutil, x/time/rate and x/sync/semaphore; guard.go has what they lack.
// docs/serve.md describes the requests.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"grenier/io/chart"
	"grenier/io/crew"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// limits bound what a client can make the server hold or wait for.
type limits struct {
	connections, each         int // at a time, from all clients and from one
	headerBytes               int
	header, read, write, idle time.Duration
	queue                     time.Duration // how long a request waits for its turn to compute
	penalty                   time.Duration // before a client that should not ask is refused
	shutdown                  time.Duration // how long requests may take when the server stops
}

// usual are the limits outside of tests.
var usual = limits{
	connections: MaxConnections, each: DefaultConnections, headerBytes: 16 << 10,
	header: 5 * time.Second, read: 10 * time.Second, write: 30 * time.Second, idle: time.Minute,
	queue: 6 * time.Second, penalty: 100 * time.Millisecond, shutdown: 5 * time.Second,
}

// What a body may have: far more than a board takes, and than maxBoards of them.
const (
	maxBodyBytes   = 16 << 10
	maxBoardsBytes = 256 << 10
)

// DefaultRate is how many requests a second one client may make in the long run
// unless Options say otherwise. Loading the page and pressing keys fast stays
// well below.
const DefaultRate = 100

// DefaultConnections is how many connections one client may have at a time unless
// Options say otherwise. A browser has six, however many tabs show the page.
const DefaultConnections = 64

// MaxConnections is how many connections all clients may have at a time.
const MaxConnections = 512

// Options say what is served and how.
type Options struct {
	// Tables has the scores. It stays open as long as the server.
	Tables *tables.Tables
	// Dir is the run directory of the tables, and Family what decodes them, for searches of
	// whole layers. Without a directory there are none.
	Dir    string
	Family cpu.Family
	// Pages has the files of the web page by name, index.html among them.
	Pages map[string][]byte
	// Log gets what goes wrong inside the server, and a line for each request if
	// LogRequests is set.
	Log         *slog.Logger
	LogRequests bool
	// Rate is how many requests a second one client may make in the long run; 0
	// stands for DefaultRate.
	Rate int
	// Connections is how many connections one client may have at a time; 0 stands
	// for DefaultConnections.
	Connections int
	// Origins are those whose pages may read the answers and show the pages in frames; none
	// unless it is set.
	Origins Origins
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	tables      *tables.Tables
	blocks      *search.Blocks // the scores that searches read
	log         *slog.Logger
	logRequests bool
	routes      map[string]route
	rates       *perClient[*rate.Limiter]
	metrics     *metrics
	quick       *turns // for what takes milliseconds
	searches    *turns // for what takes seconds
	engines     *engines
	processors  int // before anything changed their number
	limits      limits
	origins     Origins
	headers     map[string]string // of every answer
	dir         string
	family      cpu.Family
	finder      *finder
	hardest     *hardest
}

// route has the handlers of a path.
type route struct {
	get, post http.HandlerFunc // nil where the method is not allowed
	body      int64            // bytes that a body may have; 0 stands for maxBodyBytes
}

// New returns a server. It fails when the page has a file of a kind that it does
// not know, or no index.html.
func New(o Options) (*Server, error) {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Connections == 0 {
		o.Connections = DefaultConnections
	}
	processors := runtime.GOMAXPROCS(0)
	searches := turnsFor(processors)
	s := &Server{
		tables: o.Tables, blocks: search.NewBlocks(o.Tables, blocksBytes), log: o.Log, logRequests: o.LogRequests,
		rates: newPerClient(func() *rate.Limiter { return rate.NewLimiter(rate.Limit(o.Rate), 4*o.Rate) }), // so that a page can load
		quick: turnsFor(processors), searches: searches, engines: &engines{most: searches.each + 1},
		processors: processors, limits: usual, routes: map[string]route{},
		origins: o.Origins, headers: headersFor(o.Origins),
		dir: o.Dir, family: o.Family, finder: newFinder(), hardest: &hardest{wanted: make(chan int, awari.MaxSeeds+1), layers: map[int]*hardestReport{}, failed: map[int]error{}},
	}
	s.limits.each = o.Connections
	if err := s.addPages(o.Pages); err != nil {
		return nil, err
	}
	layers, err := encode(solved(o.Tables).Summary())
	if err != nil {
		return nil, err
	}
	charts, err := drawLayers(o.Tables)
	if err != nil {
		return nil, err
	}
	icon, err := drawIcon()
	if err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s.routes, len(o.Tables.Layers()))
	maps.Copy(s.routes, map[string]route{
		"/api/probe":         {get: s.askTagged(s.probe(s.boardOfQuery)), post: s.ask(s.probe(s.boardOfBody))},
		"/api/probes":        {post: s.ask(s.probeMany), body: maxBoardsBytes},
		"/api/game":          {get: s.askTagged(s.walkGame)},
		"/api/line":          {get: s.askTagged(s.findLine)},
		"/api/distances":     {get: s.askTagged(s.findDistances)},
		"/api/search":        {get: s.ask(s.searchBoard)},
		"/api/puzzles":       {get: s.askTagged(s.findPuzzles)},
		"/api/layers":        {get: document("application/json", layers)},
		"/api/openapi.json":  {get: document("application/json", description)},
		"/api/charts":        {get: document("application/json", charts)},
		"/api/charts/scores": {get: s.askTagged(s.drawScores)},
		"/chart.css":         {get: document(kinds[".css"], []byte(chart.Style()))},
		"/preview.png":       {get: s.drawPreview},
		"/icon.png":          {get: document(kinds[".png"], icon)},
		"/healthz":           {get: health},
		"/metrics":           {get: s.writeMetrics},
	})
	if o.Dir != "" {
		s.routes["/api/find"] = route{get: s.findBoards}
		s.routes["/api/hardest"] = route{get: s.findHardest}
	}
	return s, nil
}

// Serve answers the connections of l until ctx ends, and closes l. It then gives
// requests in progress a few seconds to finish, and returns nil. If l is bound to
// a loopback address, requests must name a host that means this machine: a page
// of somebody else could otherwise point a name of its own at it and read the
// answers (DNS rebinding).
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	local := isLoopback(l.Addr())
	if !local {
		s.log.Warn("other machines can reach this server", "address", l.Addr().String())
	}
	base, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { end(errStopping) })()
	defer end(nil)
	server := s.newHTTP(base, local)
	sought := make(chan error, 1)
	crew.Go(func() error { return s.seekHardest(base) }, func(err error) { sought <- err })
	defer func() {
		end(nil)
		<-sought
	}()
	failed := make(chan error, 1)
	serve := func() error {
		return server.Serve(newDoor(netutil.LimitListener(l, s.limits.connections), s.limits.each, &s.metrics.turnedAway))
	}
	crew.Go(serve, func(err error) { failed <- err })
	select {
	case err := <-failed:
		return fmt.Errorf("serving %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	err := s.shutDown(server)
	<-failed
	return err
}

// newHTTP returns what speaks HTTP. What is computed for requests ends with ctx.
func (s *Server) newHTTP(ctx context.Context, local bool) *http.Server {
	return &http.Server{
		Handler:           s.handler(local),
		ReadHeaderTimeout: s.limits.header,
		ReadTimeout:       s.limits.read,
		WriteTimeout:      s.limits.write,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    s.limits.headerBytes,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       markUnwanted,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		// OPTIONS * would be answered without the checks of the handler.
		DisableGeneralOptionsHandler: true,
	}
}

// shutDown stops the server, at once if waiting for requests takes too long.
func (s *Server) shutDown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limits.shutdown)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// isLoopback reports whether an address can only be reached from this machine.
func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
