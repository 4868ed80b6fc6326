//go:build !quick

package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
)

// openAPI is a description as far as tests look at it.
type openAPI struct {
	Version string `json:"openapi"`
	Paths   map[string]map[string]struct {
		ID         string `json:"operationId"`
		Summary    string
		Parameters []part
		Responses  map[string]part
	}
	Components struct{ Parameters, Responses map[string]part }
	schemas    *jsonschema.Compiler
}

// part is a parameter or a response.
type part struct {
	Ref     string `json:"$ref"`
	Name    string
	Content map[string]struct{ Schema json.RawMessage }
}

func described(t *testing.T) *openAPI {
	d := &openAPI{schemas: jsonschema.NewCompiler()}
	must.OK(t, json.Unmarshal(description, d))
	must.OK(t, d.schemas.AddResource("openapi.json", must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(description)))(t)))
	return d
}

func escape(text string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(text))
}

// check compares an answer with what the description says about it.
func (d *openAPI) check(t *testing.T, path, method string, got reply) {
	o, ok := d.Paths[path][strings.ToLower(method)]
	must.Hold(t, ok, "%s %s is not described", method, path)
	code := strconv.Itoa(got.status)
	at := "/paths/" + escape(path) + "/" + strings.ToLower(method) + "/responses/" + code
	r, ok := o.Responses[code]
	if !ok {
		r = d.Components.Responses[strings.TrimPrefix(o.Responses["default"].Ref, "#/components/responses/")]
		at = "/components/responses/problem"
		should.Not(t, got.status < 400, "%s %s: status %d is not described", method, path, got.status)
	}
	kind := got.header.Get("Content-Type")
	content, ok := r.Content[kind]
	must.Hold(t, ok, "%s %s: status %d with type %q is not described", method, path, got.status, kind)
	if content.Schema == nil || !strings.Contains(kind, "json") {
		return
	}
	schema := must.Get(d.schemas.Compile("openapi.json#" + at + "/content/" + escape(kind) + "/schema"))(t)
	lines := []string{got.body}
	if kind == linesType {
		lines = slices.Collect(strings.Lines(got.body))
	}
	for _, line := range lines {
		v := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(line)))(t)
		should.Be(t, schema.Validate(v), nil, "%s %s: %.300s", method, path, line)
	}
}

// checkTags compares what the description says about entity tags with answers: who has one may be told that nothing changed, and nobody else.
func (d *openAPI) checkTags(t *testing.T, r *running, got reply) {
	path, _, _ := strings.Cut(got.target, "?")
	if got.status != http.StatusOK {
		return
	}
	described, caching, tag := "", "no-store", got.header.Get("ETag")
	if tag != "" {
		described, caching = "#/components/responses/unchanged", "no-cache"
		again := r.want(304, got.target, "If-None-Match", tag)
		should.Equal(t, again.body+again.header.Get("ETag"), tag, "%s with If-None-Match", path)
	}
	should.Equal(t, d.Paths[path]["get"].Responses["304"].Ref, described, "%s has the tag %q, described is", path, tag)
	should.Equal(t, got.header.Get("Cache-Control"), caching, "%s", path)
}

// TestLongDescription compares the description with the routes of the server, in both directions, and their methods and parameters.
func TestLongDescription(t *testing.T) {
	d, r := described(t), startFinding(t)
	should.Equal(t, d.Version, "3.1.0", "version")
	ids := map[string]bool{}
	for path, route := range r.server.routes {
		if _, page := pages()[strings.TrimPrefix(path, "/")]; page || path == "/" {
			continue
		}
		for method, handle := range map[string]http.HandlerFunc{"get": route.get, "post": route.post} {
			o, ok := d.Paths[path][method]
			should.Hold(t, ok == (handle != nil), "%s %s: described %v, served %v", method, path, ok, handle != nil)
			should.Not(t, ok && (ids[o.ID] || o.ID == "" || o.Summary == "" || o.Responses["default"].Ref != "#/components/responses/problem"),
				"%s %s: operation %q, summary %q, or what it answers otherwise", method, path, o.ID, o.Summary)
			ids[o.ID] = true
		}
		o, ok := d.Paths[path]["get"]
		if !ok {
			continue
		}
		want := []string{}
		for _, p := range o.Parameters {
			if name, found := strings.CutPrefix(p.Ref, "#/components/parameters/"); found {
				p = d.Components.Parameters[name]
			}
			want = append(want, p.Name)
		}
		slices.Sort(want)
		got := r.get(path + "?nonsense=1")
		_, list, found := strings.Cut(got.body, `\"nonsense\": must be `)
		if !found {
			should.Hold(t, len(want) == 0 && got.status == http.StatusOK, "%s: parameters %q; status %d, %s", path, want, got.status, got.body)
			continue
		}
		names := strings.Split(strings.Split(list, `"`)[0], ", ")
		slices.Sort(names)
		should.List(t, names, want, "%s: parameters", path)
	}
	for path := range d.Paths {
		_, ok := r.server.routes[path]
		should.Hold(t, ok, "%s is described, but not served", path)
	}
}

// TestLongDescribedAnswers compares answers of all kinds with their schemas; each answer that is described must be among them.
func TestLongDescribedAnswers(t *testing.T) {
	d, r := described(t), startFinding(t)
	const board, above, over = "0,0,0,0,0,2,1,1,0,0,0,1", "4,4,4,4,4,4,4,4,4,4,4,4", "0,0,0,0,0,0,1,0,0,0,0,0"
	seen := map[string]bool{}
	check := func(method string, got reply) {
		t.Helper()
		path, _, _ := strings.Cut(got.target, "?")
		d.check(t, path, method, got)
		seen[strings.ToLower(method)+path+" "+http.StatusText(got.status)+got.header.Get("Content-Type")] = true
	}
	for _, target := range []string{
		"/api/probe?pits=" + board, "/api/probe?pits=" + above, "/api/probe?pits=" + over, "/api/probe", "/api/probe?pits=1",
		"/api/game?pits=" + board + "&moves=5,5,0", "/api/game?pits=" + board + "&moves=0", "/api/game?pits=" + board, "/api/game?pits=x",
		"/api/line?pits=" + board, "/api/line?pits=" + above, "/api/line?pits=" + over, "/api/line?pits=0,0,0,0,0,1,0,0,0,0,0,1",
		"/api/distances?pits=" + board, "/api/distances?pits=" + above, "/api/distances?pits=" + over,
		"/api/search?ms=5&pits=" + above, "/api/search?ms=5&pits=" + board, "/api/search?ms=5&pits=" + over, "/api/search?ms=0&pits=" + board,
		"/api/find?seeds=4&where=only-win", "/api/find?seeds=3..5&most=margin", "/api/find?seeds=0&random=1", "/api/find?seeds=99",
		"/api/find?seeds=5&where=value%3D99", "/api/puzzles?seeds=5&count=3", "/api/puzzles?seeds=4..5&theme=tempo&rating=0..50", "/api/puzzles?pits=1", "/api/puzzles?seeds=99",
		"/api/layers", "/api/charts", "/api/charts/scores?seeds=5", "/api/charts/scores", "/api/openapi.json",
		"/chart.css", "/icon.png", "/preview.png", "/preview.png?pits=" + board + "&turn=north&taken=1,2&moves=fA&at=1&lang=fr", "/preview.png?pits=1", "/healthz", "/metrics",
	} {
		got := r.get(target)
		check(http.MethodGet, got)
		d.checkTags(t, r, got)
	}
	check(http.MethodGet, r.get("/api/find?seeds=4&where=only-win", "Accept", linesType))
	check(http.MethodGet, r.get("/api/hardest?seeds=4"))
	r.await("/api/hardest?seeds=4")
	check(http.MethodGet, r.get("/api/hardest?seeds=4"))
	check(http.MethodGet, r.get("/api/hardest?seeds=3..5"))
	for _, body := range []string{`{"pits":[` + board + `]}`, `{"pits":[`} {
		check(http.MethodPost, r.post("/api/probe", body))
	}
	check(http.MethodPost, r.do(http.MethodPost, "/api/probe", `{}`, "Content-Type", "text/plain"))
	for _, more := range []string{`],[` + above + `],[` + over + `],[` + board, `],[1`} {
		check(http.MethodPost, r.post("/api/probes", `{"boards":[[`+board+more+`]]}`))
	}
	tab, dir := openRun(t, testrun.Game(t, 6, awari.Strict))
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{4}, Job: job.Job{Family: cpu.Generic}})))
	check(http.MethodGet, start(t, Options{Tables: tab, Dir: dir}).get("/api/probe?pits=0,1,0,1,2,0"))
	for path, methods := range d.Paths {
		for method, o := range methods {
			for code, response := range o.Responses {
				for kind := range response.Content {
					status := map[string]int{"200": http.StatusOK, "202": http.StatusAccepted}[code]
					should.Hold(t, seen[method+path+" "+http.StatusText(status)+kind], "%s %s: no answer %s of type %s was seen", method, path, code, kind)
				}
			}
		}
	}
}
