package serve

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/io/rundir"
)

// TestHosts checks that a server on a loopback address answers to names of this machine only, and another one to any name.
func TestHosts(t *testing.T) {
	r := start(t, Options{})
	for host, want := range map[string]int{
		"localhost": 200, "localhost:9": 200, "LOCALHOST": 200, "localhost.": 200, "page.localhost:80": 200,
		"127.0.0.1": 200, "127.9.9.9:8080": 200, "[::1]": 200, "[::1]:8080": 200, "[::ffff:127.0.0.1]": 200,
		"example.com": 421, "localhost.example.com": 421, "notlocalhost": 421, "127.0.0.1.example.com": 421,
		"10.0.0.1": 421, "0.0.0.0:80": 421, "[::]": 421, "[fe80::1]": 421,
	} {
		r.want(want, "/", "Host", host)
	}
	should.Has(t, raw(t, r.address, "GET / HTTP/1.0\r\n\r\n"), " 421 ")
	anybody := httptest.NewRecorder()
	r.server.handler(false).ServeHTTP(anybody, httptest.NewRequest(http.MethodGet, "http://example.com/", nil))
	should.Equal(t, anybody.Code, http.StatusOK, "not on a loopback address: status")
}

// TestForeign checks that pages of other sites can link to the server, but not use it.
func TestForeign(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct {
		site, mode string
		want       int
	}{
		{"same-origin", "cors", 200}, {"none", "navigate", 200}, {"cross-site", "navigate", 200},
		{"cross-site", "no-cors", 403}, {"cross-site", "cors", 403}, {"same-site", "no-cors", 403}, {"cross-site", "", 403}, {"new", "cors", 403},
	} {
		r.want(c.want, "/api/layers", "Sec-Fetch-Site", c.site, "Sec-Fetch-Mode", c.mode)
	}
	for into, want := range map[string]int{"document": 200, "iframe": 403, "object": 403, "embed": 403} {
		r.want(want, "/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", into)
	}
	for origin, want := range map[string]int{"http://" + r.address: 200, "http://example.com": 403, "null": 403, "http://localhost:1": 403} {
		r.want(want, "/api/layers", "Origin", origin)
	}
}

// TestHeaders checks that every kind of answer has the security headers.
func TestHeaders(t *testing.T) {
	r := start(t, Options{})
	for _, got := range []reply{
		r.get("/"), r.get("/app.js"), r.get("/api/layers"), r.get("/none"), r.get("/", "Host", "example.com"), r.do(http.MethodPut, "/", ""),
	} {
		for name, want := range securityHeaders {
			should.Equal(t, got.header.Get(name), want, "status %d: %s", got.status, name)
		}
		should.Equal(t, got.header.Get("Access-Control-Allow-Origin"), "", "who may read the answer")
	}
	should.Lacks(t, securityHeaders["Content-Security-Policy"], "unsafe", "*", "http:", "data:")
}

func TestMethods(t *testing.T) {
	r := start(t, Options{})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
		for _, target := range []string{"/", "/style.css", "/api/layers", "/api/probe", "/api/line", "/healthz", "/metrics"} {
			if method == "POST" && target == "/api/probe" {
				continue
			}
			got := r.do(method, target, "")
			r.wantProblem(got, http.StatusMethodNotAllowed, "possible here: ")
			allow := got.header.Get("Allow")
			should.Not(t, allow != "GET, HEAD" && (target != "/api/probe" || allow != "GET, HEAD, POST"), "%s %s allows %q", method, target, allow)
		}
	}
	should.Has(t, raw(t, r.address, "OPTIONS * HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n"), " 421 ")
	got := r.do(http.MethodHead, "/api/layers", "")
	should.Hold(t, got.status == 200 && got.body == "" && got.header.Get("Content-Length") != "0", "HEAD: %+v", got)
}

// TestPages checks types and caching of files.
func TestPages(t *testing.T) {
	r := start(t, Options{})
	for target, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/style.css": "text/css; charset=utf-8",
		"/icon.svg": "image/svg+xml", "/chart.css": "text/css; charset=utf-8",
	} {
		got := r.want(200, target)
		should.Hold(t, got.header.Get("Content-Type") == kind && got.body != "", "%s: %+v", target, got)
		tag := got.header.Get("ETag")
		again := r.want(304, target, "If-None-Match", tag)
		should.Equal(t, again.body+again.header.Get("ETag"), tag, "%s again", target)
	}
	should.Equal(t, r.get("/healthz").body, "ok\n")
	for name, bad := range map[string]map[string][]byte{
		"no such files": {"index.html": {}, "secret.txt": {}},
		"index.html":    {"app.js": {}},
	} {
		should.Has(t, fmt.Sprint(must.Err(New(Options{Tables: r.server.tables, Pages: bad}))), name)
	}
}

// raw sends text over a connection of its own and returns what comes back until the server closes it.
func raw(t testing.TB, address, text string) string {
	t.Helper()
	c := must.Get(net.Dial("tcp", address))(t)
	defer c.Close()
	must.OK(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, _ = io.WriteString(c, text) // it may be refused before it is all sent
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// TestTraversal asks for files outside of the page in many ways.
func TestTraversal(t *testing.T) {
	r := start(t, Options{})
	for _, target := range []string{
		"/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/./app.js", "/static/app.js",
		"/../app.js", "/app.js/", "/app.js%00.html", "/index.html", "/..\\..\\app.js", "/manifest.json", "/layer-00.gl", "/" + rundir.WorkName + "/",
		"/%ff", "/api", "/api/", "/api/probe/", "/API/PROBE", "/?../../etc/passwd", "http://localhost/../etc/passwd", "file:///etc/passwd", "*", "app.js",
		"/" + strings.Repeat("../", 2000) + "etc/passwd",
	} {
		text, want := raw(t, r.address, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), "40[04]"
		if strings.HasPrefix(target, "/?") {
			want = "200"
		}
		should.Hold(t, regexp.MustCompile("^HTTP/1.1 "+want+" ").MatchString(text), "%.60s: %.200q", target, text)
		should.Lacks(t, text, "root:")
	}
	text := raw(t, r.address, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n") // headers have a bound
	should.Not(t, text != "" && !strings.Contains(text, " 431 "), "%.200q", text)
	r.want(200, "/")
}

// TestRate checks that a client that asks too often is refused, and that others are not affected.
func TestRate(t *testing.T) {
	s, _ := newServer(t, Options{Rate: 1})
	handler := s.handler(false)
	from := func(remote string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/healthz", nil)
		r.RemoteAddr = remote
		handler.ServeHTTP(w, r)
		should.Not(t, w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "1", "headers %v", w.Header())
		return w.Code
	}
	exhaust := func(remote string) {
		n := 0
		for n < 100 && from(remote) != http.StatusTooManyRequests {
			n++
		}
		should.Not(t, n < 4 || n == 100, "%s: refused after %d requests, or never", remote, n)
	}
	start := time.Now()
	exhaust("192.0.2.1:1000")
	should.Not(t, time.Since(start) < s.limits.penalty, "refused at once")
	exhaust("[2001:db8:0:1::1]:1000")
	for remote, want := range map[string]int{
		"192.0.2.1:2000": 429, "[::ffff:192.0.2.1]:1": 429, "192.0.2.2:1000": 200,
		"[2001:db8:0:1:ffff::2]:1": 429, "[2001:db8:0:2::1]:1": 200,
	} {
		should.Equal(t, from(remote), want, "%s: status", remote)
	}
}

// TestPanic checks that a bug costs one answer, not the server, also in a goroutine that works for a request; the log has each stack in one line.
func TestPanic(t *testing.T) {
	s, log := newServer(t, Options{})
	s.routes["/early"] = route{get: func(http.ResponseWriter, *http.Request) { panic("first bug") }}
	s.routes["/late"] = route{get: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half an answer")
		panic("second bug")
	}}
	s.routes["/beside"] = route{get: func(w http.ResponseWriter, r *http.Request) {
		group, _ := crew.WithContext(context.WithoutCancel(r.Context()))
		group.Go(func() error { panic("third bug\nof two lines") })
		s.refuse(w, r, group.Wait())
	}}
	server := httptest.NewServer(s.handler(true))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // so that nothing is tried again
	for _, path := range []string{"/early", "/beside"} {
		response := must.Get(client.Get(server.URL + path))(t)
		should.Lacks(t, string(must.Get(io.ReadAll(response.Body))(t)), "bug")
		response.Body.Close()
		should.Equal(t, response.StatusCode, http.StatusInternalServerError, "%s: status", path)
	}
	if response, err := client.Get(server.URL + "/late"); err == nil {
		should.Not(t, must.Err(io.ReadAll(response.Body)) == nil, "half an answer looks like a whole one")
		response.Body.Close()
	}
	should.Has(t, log.String(), "first bug", "second bug", "third bug")
	should.Hold(t, strings.Count(log.String(), "\n") == 3 && strings.Count(log.String(), "guard_test.go") >= 3, "log: %s", log)
	should.Equal(t, s.metrics.panics.Load(), 3, "panics counted")
}

// TestSlowClients checks that clients that send nothing, or too slowly, lose their connection, and that others are
// served meanwhile, even when the slow ones hold all connections for a while.
func TestSlowClients(t *testing.T) {
	const soon = 300 * time.Millisecond
	r := start(t, Options{}, func(l *limits) { l.connections, l.header, l.read, l.idle = 8, soon, soon, soon })
	var slow []net.Conn
	for i := range 8 {
		slow = append(slow, r.connect("127.0.0.1", []string{"", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", halfBody}[i%4]))
	}
	r.wantServed()
	for i, c := range slow {
		answer, err := io.ReadAll(c)
		should.Not(t, strings.Contains(string(answer), " 200 ") || isTimeout(err), "%d: %.100q, %v", i, answer, err)
	}
}

// wantServed waits until the server answers. It may cut off an honest client too, when the limits are tight and the machine has much else to do.
func (r *running) wantServed() {
	tries.Await(r.t, "an answer", func() bool {
		response, err := r.client.Get("http://" + r.address + "/healthz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return err == nil && string(text) == "ok\n"
	})
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func TestAcceptsGzip(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "gzip": true, "GZip": true, "x-gzip": true, "deflate, gzip": true, "gzip, deflate, br, zstd": true, "br": false,
		"gzip;q=0": false, "gzip;q=0.0": false, "gzip;q=0.001": true, "gzip ; q=1.000": true, "gzip;q=2": false, "gzip;q=-1": false,
		"gzip;q=NaN": false, "gzip;q=0x1p-2": false, "gzip;q": false, "gzip;q=": false, "gzip;level=9": false, "gzip;q=1e0": false,
		"identity": false, "*": true, "*;q=0": false, "gzip;q=0, *": false, "*, gzip;q=0": false, "*;q=0, gzip": true,
		"identity, gzip;q=0.5": false, "identity;q=0.5, gzip;q=1": true, "identity;q=0, gzip": true, "identity;q=0": false, ",,gzip,,": true, "gzipped": false,
	} {
		should.Equal(t, acceptsGzip(http.Header{"Accept-Encoding": {text}}), want, "%q", text)
	}
	should.Hold(t, acceptsGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}), "the second field is not read")
}

// startLong has a page with a long file.
func startLong(t *testing.T) *running {
	files := pages()
	files["app.js"] = []byte(strings.Repeat("export const x = 1;\n", 500))
	return start(t, Options{Pages: files})
}

// TestEncodings asks for long and short answers with and without gzip: the bytes are the same, and HEAD gives the same headers.
func TestEncodings(t *testing.T) {
	r := startLong(t)
	for target, long := range map[string]bool{
		"/app.js": true, "/": false, "/api/charts": true, "/api/charts/scores?seeds=3": true, "/api/probe?pits=1,1,1,0,0,0,0,0,0,0,0,0": false,
		"/healthz": false, "/none": false,
	} {
		plain := r.get(target, "Accept-Encoding", "identity")
		packed := r.get(target, "Accept-Encoding", "gzip")
		for _, got := range []reply{plain, packed} {
			should.Hold(t, got.header.Get("Vary") == "Accept-Encoding" && got.header.Get("Content-Length") == fmt.Sprint(len(got.body)),
				"%s: %d bytes, %v", target, len(got.body), got.header)
		}
		should.Hold(t, plain.header.Get("Content-Encoding") == "" && (packed.header.Get("Content-Encoding") == "gzip") == long,
			"%s: %v and %v", target, plain.header, packed.header)
		if long {
			z := must.Get(gzip.NewReader(strings.NewReader(packed.body)))(t)
			should.Equal(t, string(must.Get(io.ReadAll(z))(t)), plain.body, "%s", target)
			should.Not(t, len(packed.body) >= len(plain.body), "%s: %d bytes become %d", target, len(plain.body), len(packed.body))
		}
		for accepted, got := range map[string]reply{"identity": plain, "gzip": packed} {
			head := r.do(http.MethodHead, target, "", "Accept-Encoding", accepted)
			for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "Etag", "Vary"} {
				should.Equal(t, head.header.Get(name)+head.body, got.header.Get(name), "HEAD %s, %s: %s", target, accepted, name)
			}
		}
	}
}

// TestConditions checks that each edition of a document has a tag of its own, and the answers to clients that know it.
func TestConditions(t *testing.T) {
	r := startLong(t)
	tags := map[string]string{}
	for _, accepted := range []string{"identity", "gzip"} {
		tags[accepted] = r.get("/app.js", "Accept-Encoding", accepted).header.Get("ETag")
	}
	should.Not(t, tags["gzip"] == tags["identity"] || !strings.HasPrefix(tags["gzip"], `"`), "%v", tags)
	for accepted, tag := range tags {
		for known, want := range map[string]int{
			tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `W/"x",W/` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200,
		} {
			got := r.want(want, "/app.js", "Accept-Encoding", accepted, "If-None-Match", known)
			should.Hold(t, (got.body == "") == (want == 304) && got.header.Get("ETag") == tag && got.header.Get("Vary") == "Accept-Encoding",
				"%s, If-None-Match %s: %v", accepted, known, got.header)
			should.Not(t, want == 304 && got.header.Get("Content-Encoding")+got.header.Get("Content-Type") != "", "304 with %v", got.header)
		}
		r.wantProblem(r.get("/app.js", "Accept-Encoding", accepted, "If-Match", `W/`+tag), http.StatusPreconditionFailed, "If-Match")
		got := r.want(200, "/app.js", "Accept-Encoding", accepted, "If-Match", tag, "Range", "bytes=0-9")
		should.Equal(t, got.header.Get("Content-Range"), "", "a range")
	}
	r.want(200, "/app.js", "Accept-Encoding", "gzip", "If-None-Match", tags["identity"]) // of another edition
}

func TestParseOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org": "https://example.org", "HTTPS://Example.ORG:443/": "https://example.org", "http://a:80": "http://a", "*": "",
		"http://localhost:3000,https://b": "http://localhost:3000 https://b", "http://[::1]:80": "http://[::1]", "https://a:80": "https://a:80",
	} {
		o, err := ParseOrigins(text)
		should.Hold(t, err == nil && strings.Join(o.list, " ") == want && o.all == (text == "*"), "%s: %v, %v", text, o, err)
	}
	for _, text := range []string{
		"", "example.org", "ftp://a", "https://a/b", "https://a?b", "https://a#b", "https://u@a", "https://", "null", "*,https://a", "https://*.a",
		"https://a,", "https://a;script-src", "https://a b", "https://a'", "file:///x",
	} {
		should.Be(t, must.Err(ParseOrigins(text)), ErrOrigin, "%q", text)
	}
}

func startFor(t *testing.T, origins string) *running {
	return start(t, Options{Origins: must.Get(ParseOrigins(origins))(t)})
}

// TestInvited asks as browsers do for pages of other sites: scripts of the origins that are invited may read the answers, others not even ask.
func TestInvited(t *testing.T) {
	const friend, stranger = "https://friend.example", "https://stranger.example"
	some, all, none := startFor(t, friend+",http://localhost:3000"), startFor(t, "*"), start(t, Options{})
	for _, c := range []struct {
		r       *running
		origin  string
		status  int
		allowed string
	}{
		{some, friend, 200, friend}, {some, "http://localhost:3000", 200, "http://localhost:3000"}, {some, stranger, 403, ""}, {some, "null", 403, ""},
		{some, "https://friend.example.evil", 403, ""}, {some, "http://friend.example", 403, ""},
		{all, friend, 200, "*"}, {all, "null", 200, "*"}, {none, friend, 403, ""},
	} {
		for _, headers := range [][]string{{"Origin", c.origin}, {"Origin", c.origin, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}} {
			got := c.r.want(c.status, "/api/layers", headers...)
			should.Equal(t, got.header.Get("Access-Control-Allow-Origin"), c.allowed, "%s: allowed", c.origin)
			should.Equal(t, got.header.Get("Access-Control-Allow-Credentials"), "", "%s: credentials", c.origin)
		}
	}
	should.List(t, some.get("/api/layers", "Origin", friend).header.Values("Vary"), []string{"Origin", "Accept-Encoding"}, "Vary")
	should.Equal(t, some.want(404, "/none", "Origin", friend).header.Get("Access-Control-Allow-Origin"), friend, "a refusal")
	// An element of a page that is no script has no origin: only if all are invited it may ask.
	for r, want := range map[*running]int{some: 403, all: 200, none: 403} {
		r.want(want, "/api/layers", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image")
	}
}

// TestPreflight asks which requests are allowed.
func TestPreflight(t *testing.T) {
	const friend = "https://friend.example"
	r := startFor(t, friend)
	ask := func(r *running, origin, target string) reply {
		return r.do(http.MethodOptions, target, "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type")
	}
	for target, methods := range map[string]string{"/api/probe": "GET, HEAD, POST", "/api/layers": "GET, HEAD"} {
		got := ask(r, friend, target)
		allowed := got.header.Get("Access-Control-Allow-Origin") + " " + got.header.Get("Access-Control-Allow-Methods")
		should.Hold(t, got.status == 204 && allowed == friend+" "+methods, "%s: status %d, %v", target, got.status, got.header)
		should.Has(t, got.header.Get("Access-Control-Allow-Headers"), "Content-Type")
	}
	r.wantProblem(ask(r, "https://stranger.example", "/api/probe"), http.StatusForbidden, "other sites")
	r.wantProblem(ask(r, friend, "/none"), http.StatusNotFound, "nothing here")
	r.wantProblem(ask(start(t, Options{}), friend, "/api/probe"), http.StatusForbidden, "other sites")
	r.wantProblem(r.do(http.MethodOptions, "/api/probe", "", "Origin", friend), http.StatusMethodNotAllowed, "possible here")
	got := r.post("/api/probe", `{"pits":[0,0,0,0,0,1,1,0,0,0,0,0]}`, "Origin", friend)
	should.Equal(t, got.status, 200, "the question itself: %s: status", got.body)
}

// TestFrames checks whose frames may show the page.
func TestFrames(t *testing.T) {
	frame := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	for origins, want := range map[string]string{
		"https://a.example,http://b:1": "frame-ancestors 'self' https://a.example http://b:1", "*": "frame-ancestors *",
	} {
		got := startFor(t, origins).want(200, "/", frame...).header
		policy := got.Get("Content-Security-Policy")
		should.Hold(t, strings.HasSuffix(policy, "; "+want) && strings.Contains(policy, "default-src 'none'"), "%s: %s", origins, policy)
		should.Equal(t, got.Get("X-Frame-Options"), "", "%s", origins)
	}
}
