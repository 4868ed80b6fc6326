package serve

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

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

// startFor starts a server that invites origins.
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
	if got := some.get("/none", "Origin", friend); got.status != 404 || got.header.Get("Access-Control-Allow-Origin") != friend {
		t.Errorf("a refusal: status %d, %v", got.status, got.header)
	}
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
		if h := got.header; got.status != 204 || h.Get("Access-Control-Allow-Origin") != friend || h.Get("Access-Control-Allow-Methods") != methods ||
			!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Content-Type") {
			t.Errorf("%s: status %d, %v", target, got.status, h)
		}
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
