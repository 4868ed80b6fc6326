package serve

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
)

// securityHeaders are part of every answer, unless origins are invited (headersFor). The page
// needs nothing but its own files; nothing of anybody else may run in it or show it in a frame.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy": "accelerometer=(), camera=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), " +
		"payment=(), usb=()",
}

// headersFor returns the headers of every answer.
func headersFor(o Origins) map[string]string {
	headers := maps.Clone(securityHeaders)
	if o.some() {
		policy := "Content-Security-Policy"
		headers[policy] = strings.Replace(headers[policy], "frame-ancestors 'none'", o.ancestors(), 1)
		headers["Cross-Origin-Resource-Policy"] = "cross-origin"
		delete(headers, "X-Frame-Options") // it cannot name origins
	}
	return headers
}

// handler returns all of the server. If local is set, requests must name a host
// that means this machine.
func (s *Server) handler(local bool) http.Handler {
	return s.observe(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range s.headers {
			w.Header().Set(name, value)
		}
		invited := s.origins.invite(w.Header(), r)
		if r.Context().Value(unwanted{}) != nil {
			w.Header().Set("Connection", "close")
			fail(w, r, http.StatusTooManyRequests, codeConnections, "too many connections at the same time: close some")
			return
		}
		if local && !isLocalName(r.Host) {
			rest(r.Context(), s.limits.penalty)
			fail(w, r, http.StatusMisdirectedRequest, codeHost, "this server is for this machine only: ask for localhost, not for another name")
			return
		}
		if !invited && isForeign(r) {
			rest(r.Context(), s.limits.penalty)
			fail(w, r, http.StatusForbidden, codeForeign, "pages of other sites may link to this server, but not use it")
			return
		}
		s.dispatch(w, r)
	})
}

// isForeign reports whether, according to the browser, a page of another site
// makes the request, other than by a link that somebody follows. Such a page
// cannot read the answer, but could keep the server busy.
func isForeign(r *http.Request) bool {
	return !isLink(r) && crossOrigin.Check(&http.Request{Method: http.MethodPost, Header: r.Header, Host: r.Host}) != nil
}

// crossOrigin lets pages of other sites make requests that only read, so isForeign asks it about a POST.
var crossOrigin = http.NewCrossOriginProtection()

// isLink reports whether a browser opens the answer as a page. A frame is no page.
func isLink(r *http.Request) bool {
	into := r.Header.Get("Sec-Fetch-Dest")
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && (into == "" || into == "document")
}

// dispatch finds the handler for a request and calls it.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	route, found := s.routes[r.URL.Path]
	handle := route.handler(r.Method)
	if found && isPreflight(r) && s.origins.some() {
		handle = preflight(route)
	}
	switch {
	case !s.rates.of(clientOf(r.RemoteAddr)).Allow():
		rest(r.Context(), s.limits.penalty)
		fail(w, r, http.StatusTooManyRequests, codeRate, "too many requests: slow down")
	case !found:
		fail(w, r, http.StatusNotFound, codePath, "there is nothing here; / is the page, /api/openapi.json lists what can be asked")
	case handle == nil:
		w.Header().Set("Allow", route.methods())
		fail(w, r, http.StatusMethodNotAllowed, codeMethod, "possible here: "+route.methods())
	default:
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(route.body, maxBodyBytes))
		handle(w, r)
	}
}

// rest lets a client wait, on its own connection, before it is refused: so it cannot
// keep the machine busy with refusals.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// handler returns the handler for a method, or nil.
func (r route) handler(method string) http.HandlerFunc {
	switch method {
	case http.MethodGet, http.MethodHead:
		return r.get
	case http.MethodPost:
		return r.post
	}
	return nil
}

// methods lists the methods that are allowed.
func (r route) methods() string {
	switch {
	case r.post == nil:
		return "GET, HEAD"
	case r.get == nil:
		return "POST"
	}
	return "GET, HEAD, POST"
}

// isLocalName reports whether the Host of a request, with or without a port, means
// this machine whoever resolves it.
func isLocalName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, section 6.3
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// maxClients bounds the clients that are remembered. The one seen longest ago is forgotten first, and starts over.
const maxClients = 4096

// perClient has something for each client.
type perClient[V any] struct {
	fresh func() V
	known *lru.Cache[netip.Addr, V]
}

func newPerClient[V any](fresh func() V) *perClient[V] {
	known, err := lru.New[netip.Addr, V](maxClients)
	if err != nil {
		panic(err) // only for sizes below 1
	}
	return &perClient[V]{fresh: fresh, known: known}
}

// of returns what there is for a client.
func (p *perClient[V]) of(client netip.Addr) V {
	if v, ok := p.known.Get(client); ok {
		return v
	}
	v := p.fresh()
	if other, ok, _ := p.known.PeekOrAdd(client, v); ok {
		return other // another request was faster
	}
	return v
}

// clientOf returns who sent a request: an address, or for IPv6 the network of 64
// bits, all of whose addresses one client can use. An address that is not understood
// counts as the zero one.
func clientOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return network.Masked().Addr()
}

// maxUnwanted bounds the connections beyond the shares of clients that are let in, only to be refused.
const maxUnwanted = 32

// door is a listener that counts the connections of each client. Those beyond its share are unwanted: what they ask
// for is answered with 429. If too many of them are open, more are closed without a word.
type door struct {
	net.Listener
	shares     *perClient[*semaphore.Weighted]
	unwanted   *semaphore.Weighted
	turnedAway *atomic.Int64
}

func newDoor(l net.Listener, each int, turnedAway *atomic.Int64) *door {
	shares := newPerClient(func() *semaphore.Weighted { return semaphore.NewWeighted(int64(each)) })
	return &door{l, shares, semaphore.NewWeighted(maxUnwanted), turnedAway}
}

// Accept waits for a connection that may come in.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		share := d.shares.of(clientOf(c.RemoteAddr().String()))
		if share.TryAcquire(1) {
			return &guest{Conn: c, place: share}, nil
		}
		d.turnedAway.Add(1)
		if d.unwanted.TryAcquire(1) {
			return &guest{Conn: c, place: d.unwanted, unwanted: true}, nil
		}
		c.Close()
	}
}

// guest is a connection that was let in.
type guest struct {
	net.Conn
	place    *semaphore.Weighted
	unwanted bool
	left     sync.Once
}

// Close ends the connection and gives its place back.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.left.Do(func() { g.place.Release(1) })
	return err
}

// unwanted marks the contexts of requests over unwanted connections.
type unwanted struct{}

// markUnwanted returns the context for the requests of a connection.
func markUnwanted(ctx context.Context, c net.Conn) context.Context {
	if g, ok := c.(*guest); ok && g.unwanted {
		return context.WithValue(ctx, unwanted{}, true)
	}
	return ctx
}

const (
	// maxShare bounds the requests of one client that compute at a time, whatever the
	// machine has: each may have an engine, with its memory.
	maxShare = 4
	// maxTurns bounds the requests of all clients that compute at a time.
	maxTurns = 8
	// maxWaiting bounds the requests of one client that compute or wait for it. A
	// page makes one or two.
	maxWaiting = 16
	// slice is how long a search goes on although others wait for a turn.
	slice = 100 * time.Millisecond
)

var (
	// errBusy reports that too much is being computed for others.
	errBusy = badRequest{http.StatusServiceUnavailable, codeBusy, errors.New("the server is busy with others: try again")}
	// errGreedy reports that too much is being computed for the client itself.
	errGreedy = badRequest{http.StatusTooManyRequests, codeGreedy, errors.New("the server is busy with other requests of yours: wait for them")}
)

// turns let requests compute: a few at a time, in the order in which they came, and fewer of each client.
type turns struct {
	most, each int
	all        *semaphore.Weighted
	shares     *perClient[*share]
	waiting    atomic.Int64 // requests that wait although their client has a turn left
}

// share is the places of one client.
type share struct {
	requests *semaphore.Weighted // that compute or wait
	turns    *semaphore.Weighted
}

func newTurns(most, each int) *turns {
	fresh := func() *share { return &share{semaphore.NewWeighted(maxWaiting), semaphore.NewWeighted(int64(each))} }
	return &turns{most: most, each: each, all: semaphore.NewWeighted(int64(most)), shares: newPerClient(fresh)}
}

// turnsFor returns turns for a machine. Where it has few processors, they are enough for two clients that take
// all they can get and a third one: each turn takes memory.
func turnsFor(processors int) *turns {
	each := min(processors, maxShare)
	return newTurns(min(2*each+1, maxTurns), each)
}

// take calls f once the client has a turn, and returns its error. It fails with errGreedy when other
// requests of the client are in the way for too long, with errBusy when requests of
// others are, and with the cause of ctx when nobody waits any more.
func (q *turns) take(ctx context.Context, client netip.Addr, patience time.Duration, f func() error) error {
	own := q.shares.of(client)
	if !own.requests.TryAcquire(1) {
		return errGreedy
	}
	defer own.requests.Release(1)
	patient, end := context.WithTimeout(ctx, patience)
	defer end()
	if !enter(patient, own.turns) {
		return whyNot(ctx, errGreedy)
	}
	defer own.turns.Release(1)
	if !q.enter(patient) {
		return whyNot(ctx, errBusy)
	}
	defer q.all.Release(1)
	return f()
}

// enter waits for a turn of all clients, as the function enter does.
func (q *turns) enter(ctx context.Context) bool {
	q.waiting.Add(1)
	defer q.waiting.Add(-1)
	return enter(ctx, q.all)
}

// enter takes a place; if there is none, it waits for one until ctx ends, and reports whether one came.
func enter(ctx context.Context, places *semaphore.Weighted) bool {
	return places.TryAcquire(1) || places.Acquire(ctx, 1) == nil
}

// whyNot returns the cause of ctx if that has ended, or else late.
func whyNot(ctx context.Context, late error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return late
}

// yield returns when a search that begins now should end for others, or ctx does.
func (q *turns) yield(ctx context.Context) {
	for rest(ctx, slice); ctx.Err() == nil && q.waiting.Load() == 0; {
		rest(ctx, slice)
	}
}
