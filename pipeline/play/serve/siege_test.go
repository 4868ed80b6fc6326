package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// endless is a body with this many pits that takes no memory itself.
type endless int64

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for ; *e > 0 && n+2 <= len(p); *e-- {
		n += copy(p[n:], "0,")
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

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
		pits := make([]string, 12)
		for i := range pits {
			pits[i] = fmt.Sprint(random.IntN(3))
		}
		s.expect(http.MethodGet, "/api/probe?pits="+strings.Join(pits, ","), nil, "", 200)
	}},
	{10, func(s *siege, _ *rand.Rand) { s.expect(http.MethodGet, "/api/layers", nil, "", 200) }},
	{10, func(s *siege, _ *rand.Rand) { s.expect(http.MethodGet, "/", nil, "", 200) }},
	{5, func(s *siege, _ *rand.Rand) { s.expect(http.MethodGet, "/metrics", nil, "", 200) }},
	{5, func(s *siege, _ *rand.Rand) {
		s.expect(http.MethodGet, "/api/line?pits=1,0,0,0,0,1,1,0,0,0,0,1", nil, "", 200, 503)
	}},
	{5, func(s *siege, random *rand.Rand) {
		garbage := make([]byte, random.IntN(300))
		for i := range garbage {
			garbage[i] = byte(random.IntN(256))
		}
		s.expect(http.MethodPost, "/api/probe", strings.NewReader(`{"pits":`+string(garbage)), "application/json", 400)
	}},
	{5, func(s *siege, random *rand.Rand) {
		s.expect(http.MethodPost, "/api/probe", strings.NewReader(`{"pits":[0,0,0,0,0,2,1,1,0,0,0,1]}`), "application/json", 200)
	}},
	{1, func(s *siege, _ *rand.Rand) {
		pits := endless(5 << 20)
		s.expect(http.MethodPost, "/api/probe", io.MultiReader(strings.NewReader(`{"pits":[`), &pits), "application/json", 413)
	}},
	{4, func(s *siege, random *rand.Rand) {
		s.expect(http.MethodGet, strings.Repeat("/..%2f", 1+random.IntN(20))+"etc/passwd", nil, "", 404)
	}},
	{4, func(s *siege, random *rand.Rand) {
		s.requests.Add(1)
		raw(s.t, s.address, fmt.Sprintf("GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n\x00%d", strings.Repeat("../", random.IntN(9)), random.Int()))
	}},
	{1, func(s *siege, _ *rand.Rand) { s.crawl() }},
}

// expect sends a request and checks the status. The server may close the connection
// while it is sent more than it wants to read.
func (s *siege) expect(method, target string, body io.Reader, kind string, want ...int) {
	s.requests.Add(1)
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.address+target, body)
	should.OK(s.t, err)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := s.client.Do(request)
	if err != nil && slices.Contains(want, http.StatusRequestEntityTooLarge) {
		s.cut.Add(1)
		return
	}
	if err != nil {
		s.t.Errorf("%s %s: %v", method, target, err)
		return
	}
	defer response.Body.Close()
	should.Be(s.t, must.Err(io.Copy(io.Discard, response.Body)), nil, "%s %s", method, target)
	if response.StatusCode == http.StatusTooManyRequests {
		s.refused.Add(1)
		return
	}
	should.Hold(s.t, slices.Contains(want, response.StatusCode), "%s %.80s: status %d, want %v", method, target, response.StatusCode, want)
}

func (s *siege) crawl() {
	s.requests.Add(1)
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer c.Close()
	for _, b := range []byte("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("x", 1000)) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Error("a client that never ends its request was never cut off")
}

// TestLongSiege lets many clients ask for sense and nonsense at the same time, as fast as they can; the server must
// answer each rightly, and hold little memory while it does and none of it afterwards.
func TestLongSiege(t *testing.T) {
	connections, requests := tries.More(20, 50), tries.More(200, 5_000)
	tight := usual
	tight.header, tight.read = time.Second, 2*time.Second
	tight.each, tight.connections = 8*connections, 8*connections // closed ones are there a little longer
	s := &siege{running: startWith(t, Options{Rate: 1e6}, tight)}
	s.client.Transport = &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	s.get("/api/line?pits=1,0,0,0,0,1,1,0,0,0,0,1") // data made once are made
	before := heap()
	peak := watchHeap(t, func() { s.storm(connections, requests) })
	s.client.CloseIdleConnections()
	after := heap()
	t.Logf("%d requests, %d cut off; heap %d KiB before, %d KiB after, %d KiB at most",
		s.requests.Load(), s.cut.Load(), before>>10, after>>10, peak>>10)
	n := s.requests.Load()
	should.Not(t, n < int64(requests) || s.refused.Load() > 0, "%d requests made, %d refused", n, s.refused.Load())
	should.Not(t, after > before+4<<20 || peak > before+64<<20, "the heap has grown from %d to %d bytes, %d at most", before, after, peak)
	text := s.log.String()
	should.Not(t, strings.Contains(text, "panic") || strings.Contains(text, "ERROR"), "the log says %.2000s", text)
	got := s.get("/healthz")
	should.Hold(t, got.body == "ok\n", "afterwards: %+v", got)
}

func (s *siege) storm(connections, requests int) {
	total := 0
	for _, shot := range shots {
		total += shot.weight
	}
	var wg sync.WaitGroup
	for client := range connections {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			for s.requests.Load() < int64(requests) {
				pick := random.IntN(total)
				for _, shot := range shots {
					if pick -= shot.weight; pick < 0 {
						shot.fire(s, random)
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // memory that finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap returns the most bytes in use while f runs, garbage included.
func watchHeap(t *testing.T, f func()) uint64 {
	t.Helper()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	return <-most
}

// FuzzRequest sends any query and any body: whatever they are, the server answers
// with sense or names the mistake in them.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][2]string{
		{"pits=0,0,0,0,0,2,1,1,0,0,0,1", `{"pits":[0,0,0,0,0,2,1,1,0,0,0,1]}`}, {"pits=1&ms=1", `{"pits":null}`}, {"%zz", "{"}, {"", ""},
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4", `{"pits":[4,4,4,4,4,4,4,4,4,4,4,4]}`}, {"seeds=3", `[]`},
		{"pits=0,0,0,0,0,2,1,1,0,0,0,1&moves=5,5", `{"pits":[]}`}, {"seeds=1..3&where=only-win&most=margin&count=3", `{"pits":[1.5]}`},
	} {
		f.Add(seed[0], seed[1])
	}
	tab, dir := openRun(f, testrun.Game(f, 12, awari.Awari))
	s, log := newServer(f, Options{Tables: tab, Dir: dir, Family: cpu.Generic, Rate: 1e9})
	handler := s.handler(true)
	f.Fuzz(func(t *testing.T, query, body string) {
		for _, path := range []string{"/api/probe", "/api/game", "/api/line", "/api/find", "/api/hardest", "/api/charts/scores"} {
			checkFuzzed(t, handler, http.MethodGet, path, query, "")
		}
		checkFuzzed(t, handler, http.MethodPost, "/api/probe", "", body)
		should.Equal(t, log.String(), "", "the log")
	})
}

// checkFuzzed sends one request and checks that the answer is one of those that docs/serve.md lists, and JSON.
func checkFuzzed(t *testing.T, handler http.Handler, method, path, query, body string) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.URL.RawQuery, r.Host = query, "localhost"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	should.Hold(t, slices.Contains([]int{200, 202, 400, 413, 422}, w.Code) && json.Valid(w.Body.Bytes()),
		"%s %s?%q %q: status %d, %s", method, path, query, body, w.Code, w.Body)
}
