package serve

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

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

// TestConditions checks that each edition of a document has a tag of its own, and
// the answers to clients that know it.
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
