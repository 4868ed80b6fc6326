package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
	"grenier/io/rundir"
)

// TestHosts checks that a server on a loopback address answers to names of this
// machine only, and another one to any name.
func TestHosts(t *testing.T) {
	r := start(t, Options{})
	for host, want := range map[string]int{
		"localhost": 200, "localhost:9": 200, "LOCALHOST": 200, "localhost.": 200, "page.localhost:80": 200,
		"127.0.0.1": 200, "127.9.9.9:8080": 200, "[::1]": 200, "[::1]:8080": 200, "[::ffff:127.0.0.1]": 200,
		"example.com": 421, "localhost.example.com": 421, "notlocalhost": 421, "127.0.0.1.example.com": 421,
		"10.0.0.1": 421, "0.0.0.0:80": 421, "[::]": 421, "[fe80::1]": 421,
	} {
		should.Equal(t, r.get("/", "Host", host).status, want, "host %q: status", host)
	}
	text := raw(t, r.address, "GET / HTTP/1.0\r\n\r\n")
	should.Hold(t, strings.Contains(text, " 421 "), "no host: %.100q", text)
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
		got := r.get("/api/layers", "Sec-Fetch-Site", c.site, "Sec-Fetch-Mode", c.mode)
		should.Hold(t, got.status == c.want, "%s, %s: status %d, want %d", c.site, c.mode, got.status, c.want)
	}
	for into, want := range map[string]int{"document": 200, "iframe": 403, "object": 403, "embed": 403} {
		got := r.get("/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", into)
		should.Hold(t, got.status == want, "into %s: status %d, want %d", into, got.status, want)
	}
	for origin, want := range map[string]int{"http://" + r.address: 200, "http://example.com": 403, "null": 403, "http://localhost:1": 403} {
		should.Equal(t, r.get("/api/layers", "Origin", origin).status, want, "origin %s: status", origin)
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
		should.Hold(t, got.header.Get("Access-Control-Allow-Origin") == "", "other sites may read the answer")
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
	text := raw(t, r.address, "OPTIONS * HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
	should.Hold(t, strings.Contains(text, " 421 "), "OPTIONS *: %.200q", text)
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
		got := r.get(target)
		should.Hold(t, got.status == 200 && got.header.Get("Content-Type") == kind && got.body != "", "%s: %+v", target, got)
		again := r.get(target, "If-None-Match", got.header.Get("ETag"))
		should.Hold(t, again.status == http.StatusNotModified && again.body == "" && again.header.Get("ETag") == got.header.Get("ETag"),
			"%s again: %+v", target, again)
	}
	should.Equal(t, r.get("/healthz").body, "ok\n")
	for name, bad := range map[string]map[string][]byte{
		"no such files": {"index.html": {}, "secret.txt": {}},
		"index.html":    {"app.js": {}},
	} {
		_, err := New(Options{Tables: r.server.tables, Pages: bad})
		should.Not(t, err == nil || !strings.Contains(err.Error(), name), "%v, want %q", err, name)
	}
}

// raw sends text over a connection of its own and returns what comes back until the server closes it.
func raw(t testing.TB, address, text string) string {
	t.Helper()
	c := must.Get(net.Dial("tcp", address))(t)
	defer c.Close()
	must.OK(t, c.SetDeadline(time.Now().Add(time.Minute)))
	if _, err := io.WriteString(c, text); err != nil {
		return "" // refused before it was all sent
	}
	answer, err := io.ReadAll(c)
	if err != nil && len(answer) == 0 && !errors.Is(err, net.ErrClosed) {
		return ""
	}
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
		text := raw(t, r.address, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		status := 0
		if _, err := fmt.Sscanf(text, "HTTP/1.1 %d", &status); err != nil {
			t.Errorf("%.60s: %q", target, text)
			continue
		}
		want := []int{http.StatusNotFound, http.StatusBadRequest}
		if strings.HasPrefix(target, "/?") {
			want = []int{http.StatusOK}
		}
		should.Not(t, !slices.Contains(want, status) || strings.Contains(text, "root:"), "%.60s: %.200q", target, text)
	}
	text := raw(t, r.address, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n") // headers have a bound
	should.Not(t, text != "" && !strings.Contains(text, " 431 "), "%.200q", text)
	should.Equal(t, r.get("/").status, 200, "afterwards: status")
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
		for i := range 100 {
			if from(remote) == http.StatusTooManyRequests {
				should.Not(t, i < 4, "%s: refused after %d requests", remote, i)
				return
			}
		}
		t.Errorf("%s: never refused", remote)
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

// TestPanic checks that a bug costs one answer, not the server, also in a goroutine that works for a request; the log has each stack in
// one line.
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
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		should.Hold(t, err == nil && response.StatusCode == http.StatusInternalServerError && !strings.Contains(string(text), "bug"),
			"%s: status %d, %s, %v", path, response.StatusCode, text, err)
	}
	response, err := client.Get(server.URL + "/late")
	if err == nil {
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	should.Not(t, err == nil, "half an answer looks like a whole one")
	should.Has(t, log.String(), "first bug", "second bug", "third bug")
	should.Hold(t, strings.Count(log.String(), "\n") == 3 && strings.Count(log.String(), "guard_test.go") >= 3, "log: %s", log)
	should.Equal(t, s.metrics.panics.Load(), 3, "panics counted")
}

// TestSlowClients checks that clients that send nothing, or too slowly, lose their connection, and that others are
// served meanwhile, even when the slow ones hold all connections for a while.
func TestSlowClients(t *testing.T) {
	tight := usual
	tight.connections, tight.header, tight.read, tight.idle = 8, 500*time.Millisecond, 500*time.Millisecond, 500*time.Millisecond
	r := startWith(t, Options{}, tight)
	var slow []net.Conn
	for i := range 8 {
		c := must.Get(net.Dial("tcp", r.address))(t)
		defer c.Close()
		begin := []string{"", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "POST /api/probe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"}[i%4]
		must.OK(t, must.Err(io.WriteString(c, begin)))
		slow = append(slow, c)
	}
	r.wantServed()
	for i, c := range slow {
		must.OK(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		answer, err := io.ReadAll(bufio.NewReader(c))
		should.Not(t, errors.Is(err, net.ErrClosed) || strings.Contains(string(answer), " 200 ") || isTimeout(err),
			"%d: %.100q, %v", i, answer, err)
	}
}

// wantServed waits until the server answers. It may cut off an honest client too, when the limits are
// tight and the machine has much else to do.
func (r *running) wantServed() {
	waitFor(r.t, "an answer", func() bool {
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

// TestLog checks that requests are logged only if wanted.
func TestLog(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		r := start(t, Options{LogRequests: wanted})
		r.get("/none")
		logged := strings.Contains(r.log.String(), "method=GET path=/none status=404")
		should.Hold(t, logged == wanted, "wanted %v: %s", wanted, r.log)
	}
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

// FuzzAcceptsGzip checks that the last word counts, whatever comes before it.
func FuzzAcceptsGzip(f *testing.F) {
	f.Add("gzip;q=0.5, identity")
	f.Add("*;q=0,,br;;q=1")
	f.Fuzz(func(t *testing.T, text string) {
		for last, want := range map[string]bool{"gzip": true, "gzip;q=0": false} {
			should.Equal(t, acceptsGzip(http.Header{"Accept-Encoding": {text, last}}), want, "%q, %s", text, last)
		}
	})
}

// TestEncodings asks for long and short answers with and without gzip: the bytes are
// the same, and HEAD gives the same headers.
func TestEncodings(t *testing.T) {
	files := pages()
	files["app.js"] = []byte(strings.Repeat("export const x = 1;\n", 500))
	r := start(t, Options{Pages: files})
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
		should.Not(t, long && (unpack(t, packed.body) != plain.body || len(packed.body) >= len(plain.body)),
			"%s: %d bytes do not unpack to %d", target, len(packed.body), len(plain.body))
		for accepted, got := range map[string]reply{"identity": plain, "gzip": packed} {
			head := r.do(http.MethodHead, target, "", "Accept-Encoding", accepted)
			for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "Etag", "Vary"} {
				should.Hold(t, head.header.Get(name) == got.header.Get(name) && head.body == "",
					"HEAD %s, %s: %s is %q, not %q", target, accepted, name, head.header.Get(name), got.header.Get(name))
			}
		}
	}
}

func unpack(t *testing.T, text string) string {
	t.Helper()
	z := must.Get(gzip.NewReader(bytes.NewReader([]byte(text))))(t)
	plain := must.Get(io.ReadAll(z))(t)
	return string(plain)
}

// TestConditions checks that each edition of a document has a tag of its own, and the answers to clients that know it.
func TestConditions(t *testing.T) {
	files := pages()
	files["app.js"] = []byte(strings.Repeat("export const x = 1;\n", 500))
	r := start(t, Options{Pages: files})
	tags := map[string]string{}
	for _, accepted := range []string{"identity", "gzip"} {
		tags[accepted] = r.get("/app.js", "Accept-Encoding", accepted).header.Get("ETag")
	}
	should.Not(t, tags["gzip"] == tags["identity"] || !strings.HasPrefix(tags["gzip"], `"`), "%v", tags)
	for accepted, tag := range tags {
		for known, want := range map[string]int{
			tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `W/"x",W/` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200,
		} {
			got := r.get("/app.js", "Accept-Encoding", accepted, "If-None-Match", known)
			should.Hold(t, got.status == want && (got.body == "") == (want == 304) && got.header.Get("ETag") == tag && got.header.Get("Vary") == "Accept-Encoding",
				"%s, If-None-Match %s: status %d, %v", accepted, known, got.status, got.header)
			should.Not(t, want == 304 && got.header.Get("Content-Encoding")+got.header.Get("Content-Type") != "", "304 with %v", got.header)
		}
		r.wantProblem(r.get("/app.js", "Accept-Encoding", accepted, "If-Match", `W/`+tag), http.StatusPreconditionFailed, "If-Match")
		got := r.get("/app.js", "Accept-Encoding", accepted, "If-Match", tag, "Range", "bytes=0-9")
		should.Hold(t, got.status == 200 && got.header.Get("Content-Range") == "", "a range: status %d", got.status)
	}
	got := r.get("/app.js", "Accept-Encoding", "gzip", "If-None-Match", tags["identity"])
	should.Hold(t, got.status == 200, "the tag of another edition: status %d", got.status)
}

func TestParseOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org": "https://example.org", "HTTPS://Example.ORG:443/": "https://example.org", "http://a:80": "http://a",
		"http://localhost:3000,https://b": "http://localhost:3000 https://b", "http://[::1]:80": "http://[::1]", "https://a:80": "https://a:80",
	} {
		o, err := ParseOrigins(text)
		should.Hold(t, err == nil && strings.Join(o.list, " ") == want && !o.all, "%s: %v, %v", text, o, err)
	}
	for _, text := range []string{
		"", "example.org", "ftp://a", "https://a/b", "https://a?b", "https://a#b", "https://u@a", "https://", "null", "*,https://a", "https://*.a",
		"https://a,", "https://a;script-src", "https://a b", "https://a'", "file:///x",
	} {
		o, err := ParseOrigins(text)
		should.Hold(t, errors.Is(err, ErrOrigin), "%q: %v, %v", text, o, err)
	}
	o, err := ParseOrigins("*")
	should.Hold(t, err == nil && o.all, "*: %v, %v", o, err)
}

func startFor(t *testing.T, origins string) *running {
	t.Helper()
	return start(t, Options{Origins: must.Get(ParseOrigins(origins))(t)})
}

// TestInvited asks as browsers do for pages of other sites: scripts of the origins that are
// invited may read the answers, others not even ask.
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
			got := c.r.get("/api/layers", headers...)
			should.Hold(t, got.status == c.status && got.header.Get("Access-Control-Allow-Origin") == c.allowed && got.header.Get("Access-Control-Allow-Credentials") == "",
				"%s: status %d, %v", c.origin, got.status, got.header)
		}
	}
	got := some.get("/api/layers", "Origin", friend).header.Values("Vary")
	should.Hold(t, strings.Join(got, ", ") == "Origin, Accept-Encoding", "Vary: %q", got)
	refused := some.get("/none", "Origin", friend)
	should.Hold(t, refused.status == 404 && refused.header.Get("Access-Control-Allow-Origin") == friend, "a refusal: %+v", refused)
	// An element of a page that is no script has no origin: only if all are invited it may ask.
	for r, want := range map[*running]int{some: 403, all: 200, none: 403} {
		got := r.get("/api/layers", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image")
		should.Hold(t, got.status == want, "without an origin: status %d, want %d", got.status, want)
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
		h := got.header
		should.Hold(t, got.status == 204 && h.Get("Access-Control-Allow-Origin") == friend && h.Get("Access-Control-Allow-Methods") == methods &&
			strings.Contains(h.Get("Access-Control-Allow-Headers"), "Content-Type"), "%s: status %d, %v", target, got.status, h)
	}
	r.wantProblem(ask(r, "https://stranger.example", "/api/probe"), http.StatusForbidden, "other sites")
	r.wantProblem(ask(r, friend, "/none"), http.StatusNotFound, "nothing here")
	r.wantProblem(ask(start(t, Options{}), friend, "/api/probe"), http.StatusForbidden, "other sites")
	r.wantProblem(r.do(http.MethodOptions, "/api/probe", "", "Origin", friend), http.StatusMethodNotAllowed, "possible here")
	got := r.do(http.MethodPost, "/api/probe", `{"pits":[0,0,0,0,0,1,1,0,0,0,0,0]}`, "Content-Type", "application/json", "Origin", friend)
	should.Hold(t, got.status == 200, "the question itself: status %d, %s", got.status, got.body)
}

// TestFrames checks whose frames may show the page.
func TestFrames(t *testing.T) {
	frame := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	for origins, want := range map[string]string{
		"https://a.example,http://b:1": "frame-ancestors 'self' https://a.example http://b:1", "*": "frame-ancestors *",
	} {
		got := startFor(t, origins).get("/", frame...)
		policy := got.header.Get("Content-Security-Policy")
		should.Hold(t, got.status == 200 && strings.HasSuffix(policy, "; "+want) && got.header.Get("X-Frame-Options") == "" && strings.Contains(policy, "default-src 'none'"),
			"%s: status %d, %v", origins, got.status, got.header)
	}
}
