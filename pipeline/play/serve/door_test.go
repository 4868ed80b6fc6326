package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// another is the address of another client on this machine: all of 127.0.0.0/8 is.
const another = "127.0.0.7"

// needAnother skips a test where only 127.0.0.1 can be used.
func needAnother(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", another+":0")
	if err != nil {
		t.Skip("this system has one loopback address")
	}
	l.Close()
}

// from returns a client at an address.
func from(t *testing.T, ip string) *http.Client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	transport := &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// connect opens a connection from an address and sends text.
func (r *running) connect(ip, text string) net.Conn {
	r.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	c, err := d.DialContext(r.t.Context(), "tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// status asks from an address, and returns the status.
func (r *running) status(client *http.Client, target string) int {
	r.t.Helper()
	response, err := client.Get("http://" + r.address + target)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		r.t.Error(err)
	}
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
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		c := r.connect("127.0.0.1", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		got := reply{response.StatusCode, response.Header, string(text)}
		r.wantProblem(got, http.StatusTooManyRequests, "too many connections")
		if err != nil || got.header.Get("Retry-After") != "1" || got.header.Get("Content-Type") != "application/json" || !response.Close {
			t.Errorf("%v, %v", got.header, err)
		}
	}
	other := from(t, another)
	if got := r.status(other, "/healthz"); got != 200 {
		t.Errorf("another client: status %d", got)
	}
	if n := r.server.metrics.turnedAway.Load(); n != 3 {
		t.Errorf("%d connections counted", n)
	}
	for _, c := range held {
		c.Close()
	}
	same := from(t, "127.0.0.1")
	for deadline := time.Now().Add(time.Minute); r.status(same, "/healthz") != 200; {
		if time.Now().After(deadline) {
			t.Fatal("a client that let go is not let in again")
		}
	}
}

// TestFarewells has a client open connections that it may not have, and say nothing:
// few of them cost anything, and none for long.
func TestFarewells(t *testing.T) {
	none := usual
	none.each = 0
	r := startWith(t, Options{}, none)
	silent := 2 * maxFarewells
	var closed sync.WaitGroup
	for range silent {
		c := r.connect("127.0.0.1", "")
		closed.Go(func() {
			_, _ = io.Copy(io.Discard, c) // until the server has enough
		})
	}
	closed.Wait()
	if n := r.server.metrics.turnedAway.Load(); n != int64(silent) {
		t.Errorf("%d of %d turned away", n, silent)
	}
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
			if err != nil {
				t.Error(err)
			}
			status := 0
			if response, err := one.Do(request); err == nil {
				status = response.StatusCode
				response.Body.Close()
			}
			statuses <- status
		}()
	}
	r.waitUntil("all requests compute or wait", func(q *turns) bool {
		own := q.clients[clientOf("127.0.0.1:1")]
		return own != nil && own.requests == maxWaiting && own.turns == q.each
	})
	r.wantProblem(r.get(search+"1"), http.StatusTooManyRequests, "other requests of yours")
	if got := r.status(from(t, another), search+"1"); got != 200 {
		t.Errorf("another client: status %d", got)
	}
	leave()
	for range maxWaiting {
		if status := <-statuses; status != 0 {
			t.Errorf("status %d for a client that went away", status)
		}
	}
	r.waitUntil("all turns are back", func(q *turns) bool { return len(q.clients) == 0 && len(q.out) == 0 })
	r.wantNoFailure()
}

// waitUntil waits for a state of the turns.
func (r *running) waitUntil(what string, reached func(*turns) bool) {
	r.t.Helper()
	q := r.server.searches
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		q.mu.Lock()
		done := reached(q)
		q.mu.Unlock()
		if done {
			return
		}
	}
	r.t.Fatal("not reached: " + what)
}

// wantNoFailure checks that the server did not fail, and so did not log or count
// anything.
func (r *running) wantNoFailure() {
	r.t.Helper()
	if text := r.get("/metrics").body; strings.Contains(text, `code="5`) {
		r.t.Errorf("failures are counted: %s", text)
	}
	if text := r.log.String(); text != "" {
		r.t.Errorf("logged: %s", text)
	}
}

// TestGone has clients leave in the middle of things: their work stops, and nothing
// of that is a failure of the server.
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
			r.waitUntil("a search", func(q *turns) bool { return len(q.out) > 0 })
		}
		c.Close()
	}
	r.waitUntil("nothing computed any more", func(q *turns) bool { return len(q.clients) == 0 && len(q.out) == 0 })
	for _, counted := range []string{`path="/api/search",code="499"} 1`, `path="/api/probe",code="499"} 1`} {
		for deadline := time.Now().Add(time.Minute); !strings.Contains(r.get("/metrics").body, counted); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not in %s", counted, r.get("/metrics").body)
			}
		}
	}
	r.wantNoFailure()
}

// TestSlowBody sends the beginning of a body.
func TestSlowBody(t *testing.T) {
	tight := usual
	tight.read = 200 * time.Millisecond
	r := startWith(t, Options{}, tight)
	c := r.connect("127.0.0.1", "POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{")
	text, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 408 ") || !strings.Contains(string(text), "did not come in time") || strings.Contains(string(text), "127.0.0.1") {
		t.Errorf("%s, %v", text, err)
	}
	c = r.connect("127.0.0.1", "POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	if text, err = io.ReadAll(c); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestSlowReader has clients ask for much and read nothing, on all connections that
// they may have; each must lose them in time, and keep neither turns nor others waiting.
func TestSlowReader(t *testing.T) {
	needAnother(t)
	tight := usual
	tight.write = 500 * time.Millisecond
	r := startWith(t, Options{}, tight)
	long := strings.Repeat("x", 1<<20)
	r.server.routes["/long"] = route{get: func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, "text/plain", "no-store", []byte(long))
	}}
	var slow []net.Conn
	for range DefaultConnections {
		slow = append(slow, r.connect("127.0.0.1", strings.Repeat("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n", 10)+
			"GET /api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	if got := r.status(from(t, another), "/api/search?ms=1&pits=4,4,4,4,4,4,4,4,4,4,4,4"); got != 200 {
		t.Errorf("beside slow readers: status %d", got)
	}
	for deadline := time.Now().Add(time.Minute); r.server.metrics.inFlight.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d answers are still under way", r.server.metrics.inFlight.Load())
		}
	}
	for _, c := range slow {
		if n, err := io.Copy(io.Discard, c); isTimeout(err) || n >= 10<<20 {
			t.Errorf("a slow reader got %d bytes, %v", n, err)
		}
	}
	r.wantNoFailure()
}

// TestLongFlood lets a few clients flood the server in all ways for some time, while
// another one asks from time to time: it must be answered rightly and soon, and memory
// stays bounded. The length of it needs GRENIER_LONG=1.
func TestLongFlood(t *testing.T) {
	if os.Getenv("GRENIER_LONG") == "" {
		t.Skip("floods for 10 s; set GRENIER_LONG=1")
	}
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
	if peak > before+600<<20 { // five engines have 320 MiB
		t.Errorf("the heap has grown from %d to %d bytes", before, peak)
	}
	r.wantNoFailure()
}

// TestLongCrowd has one client keep 500 connections busy, each with requests one after the other, some of them
// searches, or with attempts to come in: another client must be served all the same. It logs how long that takes, alone and
// beside the crowd.
func TestLongCrowd(t *testing.T) {
	if os.Getenv("GRENIER_LONG") == "" {
		t.Skip("hundreds of connections; set GRENIER_LONG=1")
	}
	needAnother(t)
	const connections, asks = 300, 100
	r := startWith(t, Options{}, usual)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.server.Processors()))
	alone := r.ask200(asks)
	ctx, end := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	for i := range connections {
		target := "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"
		if i%8 == 0 {
			target = "/api/search?ms=1000&pits=4,4,4,4,4,4,4,4,4,4,4,4"
		}
		crowd.Go(func() { r.crowd(ctx, "127.0.1.1", target) })
	}
	for r.server.metrics.turnedAway.Load() == 0 { // all places of the client are taken
		rest(ctx, time.Millisecond)
	}
	beside := r.ask200(asks)
	end()
	crowd.Wait()
	t.Logf("%d times asked: alone %v in the middle, %v at most; beside %d connections of another client %v and %v; %d of these turned away",
		asks, alone[asks/2], alone[asks-1], connections, beside[asks/2], beside[asks-1], r.server.metrics.turnedAway.Load())
	r.wantNoFailure()
}

// ask200 asks so many times as another client, which must be answered, and returns the times in
// order.
func (r *running) ask200(n int) []time.Duration {
	r.t.Helper()
	client, times := from(r.t.(*testing.T), another), make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if got := r.status(client, "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"); got != http.StatusOK {
			r.t.Errorf("status %d", got)
		}
		times[i] = time.Since(start)
		rest(r.t.Context(), 20*time.Millisecond) // below the rate that a client may have
	}
	slices.Sort(times)
	return times
}

// crowd keeps a connection from an address busy; when it is closed, it comes again a little later.
func (r *running) crowd(ctx context.Context, ip, target string) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	for ; ctx.Err() == nil; rest(ctx, 100*time.Millisecond) {
		c, err := d.DialContext(ctx, "tcp", r.address)
		if err != nil {
			continue
		}
		leave := context.AfterFunc(ctx, func() { c.Close() })
		answers := bufio.NewReader(c)
		for {
			if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				break
			}
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				break
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.Close {
				break
			}
		}
		leave()
		c.Close()
	}
}

// askBeside asks as an ordinary client beside a flood.
func (r *running) askBeside(ctx context.Context) {
	client, slowest, asked := from(r.t.(*testing.T), another), time.Duration(0), 0
	for ; ctx.Err() == nil; asked++ {
		start := time.Now()
		for _, target := range []string{"/", "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1"} {
			if got := r.status(client, target); got != 200 {
				r.t.Errorf("%s: status %d", target, got)
			}
		}
		slowest = max(slowest, time.Since(start))
		time.Sleep(50 * time.Millisecond)
	}
	r.t.Logf("%d times asked, %v at most", asked, slowest)
	if asked == 0 {
		r.t.Error("another client is not served")
	}
}

// flood opens connections from an address, one after another, and misuses each.
func (r *running) flood(ctx context.Context, ip string, kind int) {
	text := []string{
		"", "GET / HTTP/1.1\r\nHost: loc",
		"POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
		strings.Repeat("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 50),
		"GET /api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	}[kind%5]
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	for ctx.Err() == nil {
		c, err := d.DialContext(ctx, "tcp", r.address)
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
