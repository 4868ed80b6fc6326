package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// endless is a body of too many pits, which all clients share.
var endless = `{"pits":[` + strings.Repeat("0,", 5<<20)

type siege struct {
	*running
	requests, refused, cut atomic.Int64
}

// shots are the requests of clients, and how often they come.
var shots = []struct {
	weight int
	fire   func(s *siege, random *rand.Rand)
}{
	{50, func(s *siege, random *rand.Rand) {
		var b awari.Board
		for pit := range 12 {
			b[pit] = uint8(random.IntN(3))
		}
		s.expect("/api/probe?pits="+query(b, 12), nil, 200)
	}},
	{10, func(s *siege, _ *rand.Rand) { s.expect("/api/layers", nil, 200) }},
	{10, func(s *siege, _ *rand.Rand) { s.expect("/", nil, 200) }},
	{5, func(s *siege, _ *rand.Rand) { s.expect("/metrics", nil, 200) }},
	{5, func(s *siege, _ *rand.Rand) { s.expect("/api/line?pits=1,0,0,0,0,1,1,0,0,0,0,1", nil, 200, 503) }},
	{5, func(s *siege, random *rand.Rand) {
		garbage := make([]byte, random.IntN(300))
		for i := range garbage {
			garbage[i] = byte(random.IntN(256))
		}
		s.expect("/api/probe", strings.NewReader(`{"pits":`+string(garbage)), 400)
	}},
	{5, func(s *siege, _ *rand.Rand) {
		s.expect("/api/probe", strings.NewReader(`{"pits":[0,0,0,0,0,2,1,1,0,0,0,1]}`), 200)
	}},
	{1, func(s *siege, _ *rand.Rand) { s.expect("/api/probe", strings.NewReader(endless), 413) }},
	{4, func(s *siege, random *rand.Rand) {
		s.expect(strings.Repeat("/..%2f", 1+random.IntN(20))+"etc/passwd", nil, 404)
	}},
	{4, func(s *siege, random *rand.Rand) {
		s.requests.Add(1)
		raw(s.t, s.address, fmt.Sprintf("GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n\x00%d", strings.Repeat("../", random.IntN(9)), random.Int()))
	}},
	{1, func(s *siege, _ *rand.Rand) {
		s.requests.Add(1)
		c := s.connect("127.0.0.1", "")
		for _, b := range []byte("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("x", 1000)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		s.t.Error("a client that never ends its request was never cut off")
	}},
}

// expect sends a request, a body by POST, and checks the status. The server may close the connection while it is sent more than it wants to read.
func (s *siege) expect(target string, body io.Reader, want ...int) {
	s.requests.Add(1)
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.address+target, body)
	should.OK(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil && slices.Contains(want, http.StatusRequestEntityTooLarge) {
		s.cut.Add(1)
		return
	}
	must.Be(s.t, err, nil, "%s %s", method, target)
	defer response.Body.Close()
	should.Be(s.t, must.Err(io.Copy(io.Discard, response.Body)), nil, "%s %s", method, target)
	if response.StatusCode == http.StatusTooManyRequests {
		s.refused.Add(1)
		return
	}
	should.Hold(s.t, slices.Contains(want, response.StatusCode), "%s %.80s: status %d, want %v", method, target, response.StatusCode, want)
}

// TestLongSiege lets many clients ask for sense and nonsense at the same time, as fast as they can; the server must
// answer each rightly, and hold little memory while it does and none of it afterwards.
func TestLongSiege(t *testing.T) {
	connections, requests := tries.More(20, 50), tries.More(200, 5_000)
	s := &siege{running: start(t, Options{Rate: 1e6}, func(l *limits) {
		l.header, l.read = tries.More(500*time.Millisecond, time.Second), 2*time.Second
		l.each, l.connections = 8*connections, 8*connections // closed ones are there a little longer
	})}
	s.client.Transport = &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	s.get("/api/line?pits=1,0,0,0,0,1,1,0,0,0,0,1") // data made once are made
	before := awaritest.HeapInUse()
	total := 0
	for _, shot := range shots {
		total += shot.weight
	}
	peak := watchHeap(t, func() {
		var clients sync.WaitGroup
		for client := range connections {
			clients.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(client)))
				for s.requests.Load() < int64(requests) {
					pick, i := random.IntN(total), 0
					for ; pick >= shots[i].weight; i++ {
						pick -= shots[i].weight
					}
					shots[i].fire(s, random)
				}
			})
		}
		clients.Wait()
	})
	s.client.CloseIdleConnections()
	after := awaritest.HeapInUse()
	t.Logf("%d requests, %d cut off; heap %d KiB before, %d KiB after, %d KiB at most",
		s.requests.Load(), s.cut.Load(), before>>10, after>>10, peak>>10)
	n := s.requests.Load()
	should.Not(t, n < int64(requests) || s.refused.Load() > 0, "%d requests made, %d refused", n, s.refused.Load())
	should.Not(t, after > before+4<<20 || peak > before+64<<20, "the heap has grown from %d to %d bytes, %d at most", before, after, peak)
	should.Lacks(t, s.log.String(), "panic", "ERROR")
	should.Equal(t, s.get("/healthz").body, "ok\n")
}

// watchHeap returns the most bytes in use while f runs, garbage included.
func watchHeap(t *testing.T, f func()) int64 {
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		var m runtime.MemStats
		peak := int64(0)
		for ended := false; !ended; peak = max(peak, int64(m.HeapAlloc)) {
			select {
			case <-done:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
			runtime.ReadMemStats(&m)
		}
		most <- peak
	}()
	f()
	close(done)
	return <-most
}

// FuzzRequest sends any query and any body: whatever they are, the server answers with sense or names the mistake in them.
// What it reads of an address of the page is a board of the game, by legal moves.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][2]string{
		{"pits=0,0,0,0,0,2,1,1,0,0,0,1", `{"pits":[0,0,0,0,0,2,1,1,0,0,0,1]}`}, {"pits=1&ms=1", `{"pits":null}`}, {"%zz", "{"}, {"", ""},
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4", `{"pits":[4,4,4,4,4,4,4,4,4,4,4,4]}`}, {"seeds=3", `[]`},
		{"pits=0,0,0,0,0,2,1,1,0,0,0,1&moves=5,5", `{"pits":[]}`}, {"seeds=1..3&where=only-win&most=margin&count=3", `{"pits":[1.5]}`},
		{"moves=Cd(Fa)E&at=3", "gzip;q=0.5, identity"}, {"pits=1,0,0,0,0,2,1,1,0,0,0,0&turn=north&taken=3,1", "*;q=0,,br;;q=1"}, {"moves=)))(((", ""},
		{"at=-5&moves=C", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	tab, dir := openRun(f, testrun.Game(f, 12, awari.Awari))
	s, log := newServer(f, Options{Tables: tab, Dir: dir, Family: cpu.Generic, Rate: 1e9})
	handler := s.handler(true)
	f.Fuzz(func(t *testing.T, query, body string) {
		send := func(method, path, query, body string) { // the answer is one of those that docs/serve.md lists, and JSON
			r, w := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
			r.URL.RawQuery, r.Host = query, "localhost"
			r.Header.Set("Content-Type", "application/json")
			handler.ServeHTTP(w, r)
			should.Hold(t, slices.Contains([]int{200, 202, 400, 413, 422}, w.Code) && json.Valid(w.Body.Bytes()),
				"%s %s?%q %q: status %d, %s", method, path, query, body, w.Code, w.Body)
		}
		for _, path := range []string{"/api/probe", "/api/game", "/api/line", "/api/find", "/api/hardest", "/api/charts/scores"} {
			send(http.MethodGet, path, query, "")
		}
		send(http.MethodPost, "/api/probe", "", body)
		should.Equal(t, log.String(), "", "the log")
		for last, want := range map[string]bool{"gzip": true, "gzip;q=0": false} { // the last word counts, whatever comes before it
			should.Equal(t, acceptsGzip(http.Header{"Accept-Encoding": {body, last}}), want, "%q, %s", body, last)
		}
		p, err := s.readPlace(query)
		if _, refused := errors.AsType[badRequest](err); !refused {
			should.Not(t, err != nil || p.board.Seeds() > awari.MaxSeeds || s.title(t.Context(), p) == "", "%q: %+v", query, p)
		}
	})
}

// another is the address of another client on this machine: all of 127.0.0.0/8 is.
const another = "127.0.0.7"

// needAnother skips a test where only 127.0.0.1 can be used.
func needAnother(t *testing.T) {
	l, err := net.Listen("tcp", another+":0")
	tries.SkipIf(t, err != nil, "this system has one loopback address")
	l.Close()
}

func dialer(ip string) *net.Dialer { return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}} }

func from(t testing.TB, ip string) *http.Client {
	transport := &http.Transport{DialContext: dialer(ip).DialContext, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

func (r *running) connect(ip, text string) net.Conn {
	c := must.Get(dialer(ip).DialContext(r.t.Context(), "tcp", r.address))(r.t)
	r.t.Cleanup(func() { c.Close() })
	must.OK(r.t, c.SetDeadline(time.Now().Add(time.Minute)))
	must.OK(r.t, must.Err(io.WriteString(c, text)))
	return c
}

func (r *running) status(client *http.Client, target string) int {
	r.t.Helper()
	response := must.Get(client.Get("http://" + r.address + target))(r.t)
	defer response.Body.Close()
	should.OK(r.t, must.Err(io.Copy(io.Discard, response.Body)))
	return response.StatusCode
}

// halfBody is a request that ends too early.
const halfBody = "POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"

// TestDoor has one client hold all connections that it may have: more are answered
// with 429, other clients come in, and so does the first when it lets go.
func TestDoor(t *testing.T) {
	needAnother(t)
	r := start(t, Options{}, func(l *limits) { l.each = 5 })
	var held []net.Conn
	for range 5 {
		held = append(held, r.connect("127.0.0.1", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	for _, c := range held { // all are let in once all are answered
		must.OK(t, must.Err(bufio.NewReader(c).ReadString('\n')))
	}
	for range 3 {
		c := r.connect("127.0.0.1", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response := must.Get(http.ReadResponse(bufio.NewReader(c), nil))(t)
		text := must.Get(io.ReadAll(response.Body))(t)
		response.Body.Close()
		r.wantProblem(reply{response.StatusCode, response.Header, string(text), "/healthz"}, http.StatusTooManyRequests, "too many connections")
		h := response.Header
		should.Hold(t, h.Get("Retry-After") == "1" && h.Get("Content-Type") == "application/json" && response.Close, "%v", h)
	}
	should.Equal(t, r.status(from(t, another), "/healthz"), 200, "another client: status")
	should.Equal(t, r.server.metrics.turnedAway.Load(), 3, "connections counted")
	for _, c := range held {
		c.Close()
	}
	same := from(t, "127.0.0.1")
	tries.Await(t, "a client that let go is let in again", func() bool { return r.status(same, "/healthz") == 200 })
}

// TestUnwanted has a client open connections that it may not have, and say nothing: few of them stay open, and none for long.
func TestUnwanted(t *testing.T) {
	r := start(t, Options{}, func(l *limits) { l.each, l.header = 0, 50*time.Millisecond })
	var closed sync.WaitGroup
	for range 2 * maxUnwanted {
		c := r.connect("127.0.0.1", "")
		closed.Go(func() {
			_, _ = io.Copy(io.Discard, c) // until the server has enough
		})
	}
	closed.Wait()
	should.Equal(t, r.server.metrics.turnedAway.Load(), 2*maxUnwanted, "turned away")
}

// TestGreedy has one client ask for more searches than it may have at a time: it is refused, and another client gets its turn at once.
func TestGreedy(t *testing.T) {
	needAnother(t)
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	statuses := make(chan int, maxWaiting)
	one := from(t, "127.0.0.1")
	const search = "/api/search?pits=4,4,4,4,4,4,4,4,4,4,4,4&ms="
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+search+"5000", nil))(t)
	for range maxWaiting {
		go func() {
			status := 0
			if response, err := one.Do(request.Clone(ctx)); err == nil {
				status = response.StatusCode
				response.Body.Close()
			}
			statuses <- status
		}()
	}
	q := r.server.searches
	own := q.shares.of(clientOf("127.0.0.1:1"))
	tries.Await(t, "all requests compute or wait", func() bool {
		return isUsed(own.requests, maxWaiting, maxWaiting) && isUsed(own.turns, q.each, q.each) && isUsed(q.all, q.most, q.each)
	})
	r.wantProblem(r.get(search+"1"), http.StatusTooManyRequests, "other requests of yours")
	should.Equal(t, r.status(from(t, another), search+"1"), 200, "another client: status")
	leave()
	for range maxWaiting {
		should.Equal(t, <-statuses, 0, "a client that went away: status")
	}
	tries.Await(t, "all turns are back", func() bool { return isUsed(own.requests, maxWaiting, 0) && q.isIdle() })
	r.wantNoFailure()
}

// wantNoFailure checks that the server did not fail, and so did not log or count anything.
func (r *running) wantNoFailure() {
	r.t.Helper()
	text := r.get("/metrics").body
	should.Not(r.t, strings.Contains(text, `code="5`), "failures are counted: %s", text)
	should.Equal(r.t, r.log.String(), "", "logged")
}

// TestGone has clients leave in the middle of things: their work stops, and nothing of that is a failure of the server.
func TestGone(t *testing.T) {
	r := start(t, Options{})
	for _, text := range []string{
		"", "GET /hea", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", halfBody,
		"GET /api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		strings.Repeat("GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n", 20),
	} {
		c := r.connect("127.0.0.1", text)
		if strings.Contains(text, "search") {
			tries.Await(t, "a search", func() bool { return !r.server.searches.isIdle() })
		}
		c.Close()
	}
	tries.Await(t, "nothing computed any more", r.server.searches.isIdle)
	for _, counted := range []string{`code="499",path="/api/search"} 1`, `code="499",path="/api/probe"} 1`} {
		tries.Await(t, counted, func() bool { return strings.Contains(r.get("/metrics").body, counted) })
	}
	r.wantNoFailure()
}

// TestSlowBody sends the beginning of a body, or nonsense; again if the machine has much else to do and headers miss the short time for them.
func TestSlowBody(t *testing.T) {
	r := start(t, Options{}, func(l *limits) { l.read = 200 * time.Millisecond })
	send := func(begin string) (text string) {
		tries.Await(t, "an answer", func() bool {
			all, err := io.ReadAll(r.connect("127.0.0.1", begin))
			text = string(all)
			return err == nil && text != ""
		})
		return text
	}
	late := send(halfBody)
	should.Has(t, late, "HTTP/1.1 408 ", "did not come in time")
	should.Lacks(t, late, "127.0.0.1")
	should.Has(t, send(strings.Replace(halfBody, "Content-Length: 50\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 1)), "HTTP/1.1 400 ")
}

// slowConnections is how many connections a slow reader has.
func slowConnections() int { return tries.More(12, DefaultConnections) }

// slowReaders starts a server, and has a client ask for an answer that never ends and read nothing, on all connections that it may have. It
// returns these, and how many the server has cut off.
func slowReaders(t *testing.T, write time.Duration) (r *running, slow []net.Conn, cut *atomic.Int64) {
	r = start(t, Options{}, func(l *limits) { l.header, l.read, l.write, l.each = time.Hour, time.Hour, write, slowConnections() })
	cut = &atomic.Int64{}
	long := bytes.Repeat([]byte("x"), 1<<16)
	r.server.routes["/long"] = route{get: func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(long); err != nil {
				cut.Add(1)
				return
			}
		}
	}}
	for range slowConnections() {
		slow = append(slow, r.connect("127.0.0.1", "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"+
			"GET /api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	return r, slow, cut
}

// TestLongSlowReader: clients that ask for much and read nothing keep neither turns nor others waiting.
func TestLongSlowReader(t *testing.T) {
	needAnother(t)
	r, slow, cut := slowReaders(t, time.Hour)
	tries.Await(t, "all answers under way", func() bool { return r.server.metrics.inFlight.Load() == int64(slowConnections()) })
	should.Equal(t, r.status(from(t, another), "/api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4"), 200, "beside slow readers: status")
	should.Equal(t, cut.Load(), 0, "slow readers were cut off")
	for _, c := range slow {
		c.Close()
	}
	tries.Await(t, "no answer under way", func() bool { return r.server.metrics.inFlight.Load() == 0 })
	r.wantNoFailure()
}

// TestLongSlowReaderCut: such clients lose their connections in time.
func TestLongSlowReaderCut(t *testing.T) {
	r, slow, cut := slowReaders(t, 100*time.Millisecond)
	tries.Await(t, "all cut off", func() bool { return cut.Load() == int64(slowConnections()) })
	for _, c := range slow {
		should.Not(t, isTimeout(must.Err(io.Copy(io.Discard, c))), "the connection of a slow reader is open")
	}
	should.Equal(t, r.log.String(), "", "logged")
}

// TestLongFlood lets a few clients flood the server in all ways for some time, while another one asks from time to
// time: it must be answered rightly and soon, and memory stays bounded. The length of it needs GRENIER_LONG=1.
func TestLongFlood(t *testing.T) {
	tries.NeedsLong(t, "floods for 10 s")
	needAnother(t)
	r := start(t, Options{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.server.Processors()))
	before := awaritest.HeapInUse()
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	var floods sync.WaitGroup
	peak := watchHeap(t, func() {
		for i := range 400 {
			floods.Go(func() { r.flood(ctx, fmt.Sprintf("127.0.1.%d", i%4+1), i/4) })
		}
		client, slowest, asked := from(t, another), time.Duration(0), 0
		for ; ctx.Err() == nil; asked++ {
			start := time.Now()
			for _, target := range []string{"/", "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"} {
				should.Equal(t, r.status(client, target), 200, "%s: status", target)
			}
			slowest = max(slowest, time.Since(start))
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("%d times asked, %v at most", asked, slowest)
		should.Not(t, asked == 0, "another client is not served")
		floods.Wait()
	})
	t.Logf("heap %d KiB before, %d KiB at most; %d connections turned away", before>>10, peak>>10, r.server.metrics.turnedAway.Load())
	should.Not(t, peak > before+600<<20, "the heap has grown from %d to %d bytes", before, peak) // five engines have 320 MiB
	r.wantNoFailure()
}

// flood opens connections from an address, one after another, and misuses each.
func (r *running) flood(ctx context.Context, ip string, kind int) {
	text := []string{
		"", "GET / HTTP/1.1\r\nHost: loc", halfBody, strings.Repeat("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 50),
		"GET /api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	}[kind%5]
	for ctx.Err() == nil {
		c, err := dialer(ip).DialContext(ctx, "tcp", r.address)
		if err != nil {
			continue
		}
		_, _ = io.WriteString(c, text) // the server may have enough of it
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, c)
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
}

func address(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }

// isUsed reports whether n of size places are taken. There is nothing to take while somebody waits.
func isUsed(places *semaphore.Weighted, size, n int) bool {
	if n < size {
		free := int64(size - n)
		if !places.TryAcquire(free) {
			return false
		}
		defer places.Release(free)
	}
	if places.TryAcquire(1) {
		places.Release(1)
		return false
	}
	return true
}

func (q *turns) isIdle() bool { return isUsed(q.all, q.most, 0) }

// TestTurns has clients make requests that compute until they are let go: no client has more turns than its
// share, all together no more than there are, and once all are let go each request has had one.
func TestTurns(t *testing.T) {
	const most, each, requests = 5, 2, 10
	for _, clients := range []int{1, 2, 3, 9} {
		q, let := newTurns(most, each), make(chan struct{})
		var (
			held            [9]atomic.Int64
			total, computed atomic.Int64
			all             sync.WaitGroup
		)
		for i := range clients * requests {
			client := i % clients
			all.Go(func() {
				should.OK(t, q.take(context.Background(), address(client), time.Hour, func() error {
					own, others := held[client].Add(1), total.Add(1)
					should.Not(t, own > each || others > most, "%d turns of a client, %d of all", own, others)
					<-let
					held[client].Add(-1)
					total.Add(-1)
					computed.Add(1)
					return nil
				}))
			})
		}
		tries.Await(t, "all turns that there may be", func() bool { return isUsed(q.all, most, min(most, each*clients)) })
		close(let)
		all.Wait()
		should.Not(t, computed.Load() != int64(clients*requests) || !q.isIdle() || q.waiting.Load() != 0,
			"%d of %d requests computed, %d wait", computed.Load(), clients*requests, q.waiting.Load())
	}
}

// TestTurnsRefused: who waits for other requests of its own is told so, and who waits for others.
func TestTurnsRefused(t *testing.T) {
	q := newTurns(2, 1)
	none := func() error { return nil }
	hold := func(client int, inside func()) {
		should.OK(t, q.take(t.Context(), address(client), time.Hour, func() error { inside(); return nil }))
	}
	gone, leave := context.WithCancelCause(t.Context())
	leave(errStopping)
	hold(1, func() {
		should.Be(t, q.take(t.Context(), address(1), 0, none), errGreedy, "beside one of its own")
		hold(2, func() {
			should.Be(t, q.take(t.Context(), address(3), 0, none), errBusy, "beside others")
			should.Be(t, q.take(gone, address(3), time.Hour, none), errStopping, "when the server stops")
		})
	})
	should.Hold(t, q.shares.of(address(1)).requests.TryAcquire(maxWaiting) && q.isIdle(), "not all is given back")
	should.Be(t, q.take(t.Context(), address(1), time.Hour, none), errGreedy, "beside as many as may wait")
}

// TestCutSearch: the result so far when a search ends for others is an answer; if nobody wants it any more, it is none.
func TestCutSearch(t *testing.T) {
	s, _ := newServer(t, Options{})
	start := awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	s.searches.waiting.Add(1)
	result, err := s.search(t.Context(), start, time.Hour)
	should.Hold(t, err == nil && !result.Exact() && result.Reason == "time" && result.Lower <= result.Upper, "%+v, %v", result, err)
	should.Be(t, must.Err(s.search(must.Ended(t), start, time.Hour)), context.Canceled)
}

// TestPerClient: the clients seen last are remembered.
func TestPerClient(t *testing.T) {
	p := newPerClient(func() *int { return new(int) })
	first, second := p.of(address(0)), p.of(address(1))
	for i := range maxClients - 1 {
		p.of(address(0)) // seen again and again
		p.of(address(2 + i))
	}
	should.Hold(t, p.of(address(0)) == first && p.of(address(1)) != second && p.known.Len() == maxClients, "%d are remembered", p.known.Len())
	should.Not(t, slices.Contains([]*int{first, second}, p.of(address(5))), "two clients share what they have")
}
