package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// another is the address of another client on this machine: all of 127.0.0.0/8 is.
const another = "127.0.0.7"

// needAnother skips a test where only 127.0.0.1 can be used.
func needAnother(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", another+":0")
	tries.SkipIf(t, err != nil, "this system has one loopback address")
	l.Close()
}

func dialer(ip string) *net.Dialer { return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}} }

func from(t *testing.T, ip string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: dialer(ip).DialContext, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

func (r *running) connect(ip, text string) net.Conn {
	r.t.Helper()
	c := must.Get(dialer(ip).DialContext(r.t.Context(), "tcp", r.address))(r.t)
	r.t.Cleanup(func() { c.Close() })
	must.OK(r.t, c.SetDeadline(time.Now().Add(time.Minute)))
	must.OK(r.t, must.Err(io.WriteString(c, text)))
	return c
}

func (r *running) status(client *http.Client, target string) int {
	r.t.Helper()
	response, err := client.Get("http://" + r.address + target)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	defer response.Body.Close()
	should.OK(r.t, must.Err(io.Copy(io.Discard, response.Body)))
	return response.StatusCode
}

// TestDoor has one client hold all connections that it may have: more are answered
// with 429, other clients come in, and so does the first when it lets go.
func TestDoor(t *testing.T) {
	needAnother(t)
	few := usual
	few.each = 5
	r := startWith(t, Options{}, few)
	var held []net.Conn
	for range few.each {
		held = append(held, r.connect("127.0.0.1", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	for _, c := range held { // all are let in once all are answered
		must.OK(t, must.Err(bufio.NewReader(c).ReadString('\n')))
	}
	for range 3 {
		c := r.connect("127.0.0.1", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response := must.Get(http.ReadResponse(bufio.NewReader(c), nil))(t)
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		got := reply{response.StatusCode, response.Header, string(text), "/healthz"}
		r.wantProblem(got, http.StatusTooManyRequests, "too many connections")
		should.Hold(t, err == nil && got.header.Get("Retry-After") == "1" && got.header.Get("Content-Type") == "application/json" && response.Close,
			"%v, %v", got.header, err)
	}
	should.Equal(t, r.status(from(t, another), "/healthz"), 200, "another client: status")
	should.Equal(t, r.server.metrics.turnedAway.Load(), 3, "connections counted")
	for _, c := range held {
		c.Close()
	}
	same := from(t, "127.0.0.1")
	waitFor(t, "a client that let go is let in again", func() bool { return r.status(same, "/healthz") == 200 })
}

// TestUnwanted has a client open connections that it may not have, and say nothing: few of them stay open, and none
// for long.
func TestUnwanted(t *testing.T) {
	none := usual
	none.each, none.header = 0, 50*time.Millisecond
	r := startWith(t, Options{}, none)
	silent := 2 * maxUnwanted
	var closed sync.WaitGroup
	for range silent {
		c := r.connect("127.0.0.1", "")
		closed.Go(func() {
			_, _ = io.Copy(io.Discard, c) // until the server has enough
		})
	}
	closed.Wait()
	n := r.server.metrics.turnedAway.Load()
	should.Hold(t, n == int64(silent), "%d of %d turned away", n, silent)
}

// TestGreedy has one client ask for more searches than it may have at a time: it is
// refused, and another client gets its turn at once.
func TestGreedy(t *testing.T) {
	needAnother(t)
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	statuses := make(chan int, maxWaiting)
	one := from(t, "127.0.0.1")
	const search = "/api/search?pits=4,4,4,4,4,4,4,4,4,4,4,4&ms="
	for range maxWaiting {
		go func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+search+"5000", nil)
			should.OK(t, err)
			status := 0
			if response, err := one.Do(request); err == nil {
				status = response.StatusCode
				response.Body.Close()
			}
			statuses <- status
		}()
	}
	q := r.server.searches
	own := q.shares.of(clientOf("127.0.0.1:1"))
	waitFor(t, "all requests compute or wait", func() bool {
		return isUsed(own.requests, maxWaiting, maxWaiting) && isUsed(own.turns, q.each, q.each) && isUsed(q.all, q.most, q.each)
	})
	r.wantProblem(r.get(search+"1"), http.StatusTooManyRequests, "other requests of yours")
	should.Equal(t, r.status(from(t, another), search+"1"), 200, "another client: status")
	leave()
	for range maxWaiting {
		status := <-statuses
		should.Hold(t, status == 0, "status %d for a client that went away", status)
	}
	waitFor(t, "all turns are back", func() bool { return isUsed(own.requests, maxWaiting, 0) && q.isIdle() })
	r.wantNoFailure()
}

func waitFor(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !reached(); time.Sleep(time.Millisecond) {
		must.Not(t, time.Now().After(deadline), "%v", "not reached: "+what)
	}
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
		"", "GET /hea", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
		"GET /api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		strings.Repeat("GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n", 20),
	} {
		c := r.connect("127.0.0.1", text)
		if strings.Contains(text, "search") {
			waitFor(t, "a search", func() bool { return !r.server.searches.isIdle() })
		}
		c.Close()
	}
	waitFor(t, "nothing computed any more", r.server.searches.isIdle)
	for _, counted := range []string{`code="499",path="/api/search"} 1`, `code="499",path="/api/probe"} 1`} {
		waitFor(t, counted, func() bool { return strings.Contains(r.get("/metrics").body, counted) })
	}
	r.wantNoFailure()
}

// TestSlowBody sends the beginning of a body, or nonsense. On a machine with much else to do a request may miss the short time for its
// headers; it is made again then.
func TestSlowBody(t *testing.T) {
	tight := usual
	tight.read = 200 * time.Millisecond
	r := startWith(t, Options{}, tight)
	send := func(rest string) (text string) {
		waitFor(t, "an answer", func() bool {
			c := r.connect("127.0.0.1", "POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+rest)
			all, err := io.ReadAll(c)
			text = string(all)
			return err == nil && text != ""
		})
		return text
	}
	if text := send("Content-Length: 50\r\n\r\n{"); !strings.HasPrefix(text, "HTTP/1.1 408 ") || !strings.Contains(text, "did not come in time") || strings.Contains(text, "127.0.0.1") {
		t.Error(text)
	}
	text := send("Transfer-Encoding: chunked\r\n\r\nzz\r\n")
	should.Hold(t, strings.HasPrefix(text, "HTTP/1.1 400 "), "%v", text)
}

// slowReaders has a client ask for an answer that never ends and read nothing, on all connections that it may have. It
// returns these, and how many the server has cut off.
func (r *running) slowReaders() (slow []net.Conn, cut *atomic.Int64) {
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
	for range DefaultConnections {
		slow = append(slow, r.connect("127.0.0.1", "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"+
			"GET /api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	return slow, cut
}

// TestSlowReader: clients that ask for much and read nothing keep neither turns nor others waiting.
func TestSlowReader(t *testing.T) {
	needAnother(t)
	patient := usual
	patient.header, patient.read, patient.write = time.Hour, time.Hour, time.Hour
	r := startWith(t, Options{}, patient)
	slow, cut := r.slowReaders()
	waitFor(t, "all answers under way", func() bool { return r.server.metrics.inFlight.Load() == DefaultConnections })
	should.Equal(t, r.status(from(t, another), "/api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4"), 200, "beside slow readers: status")
	should.Equal(t, cut.Load(), 0, "slow readers were cut off")
	for _, c := range slow {
		c.Close()
	}
	waitFor(t, "no answer under way", func() bool { return r.server.metrics.inFlight.Load() == 0 })
	r.wantNoFailure()
}

// TestSlowReaderCut: such clients lose their connections in time.
func TestSlowReaderCut(t *testing.T) {
	tight := usual
	tight.header, tight.read, tight.write = time.Hour, time.Hour, 200*time.Millisecond
	r := startWith(t, Options{}, tight)
	slow, cut := r.slowReaders()
	waitFor(t, "all cut off", func() bool { return cut.Load() == DefaultConnections })
	for _, c := range slow {
		_, err := io.Copy(io.Discard, c)
		should.Not(t, isTimeout(err), "the connection of a slow reader is open")
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
	before := heap()
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	var floods sync.WaitGroup
	peak := watchHeap(t, func() {
		for i := range 4 {
			for worker := range 100 {
				floods.Go(func() { r.flood(ctx, fmt.Sprintf("127.0.1.%d", i+1), worker) })
			}
		}
		r.askBeside(ctx)
		floods.Wait()
	})
	t.Logf("heap %d KiB before, %d KiB at most; %d connections turned away", before>>10, peak>>10, r.server.metrics.turnedAway.Load())
	should.Not(t, peak > before+600<<20, "the heap has grown from %d to %d bytes", before, peak) // five engines have 320 MiB
	r.wantNoFailure()
}

func (r *running) askBeside(ctx context.Context) {
	client, slowest, asked := from(r.t.(*testing.T), another), time.Duration(0), 0
	for ; ctx.Err() == nil; asked++ {
		start := time.Now()
		for _, target := range []string{"/", "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"} {
			should.Equal(r.t, r.status(client, target), 200, "%s: status", target)
		}
		slowest = max(slowest, time.Since(start))
		time.Sleep(50 * time.Millisecond)
	}
	r.t.Logf("%d times asked, %v at most", asked, slowest)
	should.Not(r.t, asked == 0, "another client is not served")
}

// flood opens connections from an address, one after another, and misuses each.
func (r *running) flood(ctx context.Context, ip string, kind int) {
	text := []string{
		"", "GET / HTTP/1.1\r\nHost: loc",
		"POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
		strings.Repeat("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 50),
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
			mu       sync.Mutex
			held     = map[int]int{}
			total    int
			computed int
			all      sync.WaitGroup
		)
		hold := func(client, n int) {
			mu.Lock()
			defer mu.Unlock()
			held[client] += n
			if n < 0 {
				computed++
			}
			total += n
			should.Not(t, held[client] > each || total > most, "%d turns of a client, %d of all", held[client], total)
		}
		for client := range clients {
			for range requests {
				all.Go(func() {
					err := q.take(context.Background(), address(client), time.Hour, func() error {
						hold(client, 1)
						<-let
						hold(client, -1)
						return nil
					})
					should.OK(t, err)
				})
			}
		}
		waitFor(t, "all turns that there may be", func() bool { return isUsed(q.all, most, min(most, each*clients)) })
		close(let)
		all.Wait()
		should.Not(t, computed != clients*requests || !q.isIdle() || q.waiting.Load() != 0,
			"%d of %d requests computed, %d wait", computed, clients*requests, q.waiting.Load())
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
	gone, leave := context.WithCancel(t.Context())
	leave()
	should.Be(t, must.Err(s.search(gone, start, time.Hour)), context.Canceled)
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
