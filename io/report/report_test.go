package report_test

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/chart"
	"grenier/io/manifest"
	"grenier/io/report"
	"grenier/io/tally"
)

// load returns the manifest of a run that solved 0 to 5 seeds.
func load(t *testing.T) *manifest.Manifest {
	return must.Get(manifest.Load("testdata/manifest.json"))(t)
}

func written(t *testing.T, write func(io.Writer, *manifest.Manifest) error, m *manifest.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, write(&b, m))
	return b.String()
}

// TestGolden has all numbers of a page and of a file, and looks for what a page must not have: anything outside of it.
func TestGolden(t *testing.T) {
	page := written(t, report.WritePage, load(t))
	golden.Check(t, "testdata/layers.html", []byte(page))
	golden.Check(t, "testdata/layers.svg", []byte(written(t, report.WriteSVG, load(t))))
	parse(t, page)
	outside := regexp.MustCompile(`(?i)(src|href|action|url)\s*[=(]\s*"?[^d"]|@import|https?:`)
	should.List(t, outside.FindAllString(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), -1), nil, "the page refers to")
}

// parse checks that a text is well formed and that no two elements have the same id, and that every id that is referred to exists.
func parse(t *testing.T, text string) {
	t.Helper()
	ids, wanted := map[string]bool{}, []string{}
	for _, e := range must.HTML(t, text) {
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				should.Not(t, ids[a.Value], "two elements have the id %s", a.Value)
				ids[a.Value] = true
			case "aria-labelledby":
				wanted = append(wanted, strings.Fields(a.Value)...)
			}
		}
	}
	for _, id := range wanted {
		should.Hold(t, ids[id], "no element has the id %s", id)
	}
	should.Not(t, len(wanted) == 0, "no drawing has a name")
}

func TestUnknownTime(t *testing.T) {
	m := load(t)
	m.Layers[3].Seconds = 0
	charts := report.Layers(m)
	times := charts[slices.IndexFunc(charts, func(c chart.Chart) bool { return c.Name == "seconds" })]
	should.Not(t, !math.IsNaN(times.Series[0].Values[3]) || times.Table.Rows[3][1] != "" || math.IsNaN(times.Series[0].Values[4]),
		"a layer that was not solved here: %+v", times)
	should.Lacks(t, written(t, report.WritePage, m), "solved in")
	for i := range m.Layers {
		m.Layers[i].Seconds = 0
	}
	should.Lacks(t, written(t, report.WritePage, m), "Time by layer")
}

// TestSmall draws as little as there can be: one layer is not compared with others.
func TestSmall(t *testing.T) {
	m := load(t)
	for _, write := range []func(io.Writer, *manifest.Manifest) error{report.WritePage, report.WriteSVG} {
		should.Be(t, write(io.Discard, &manifest.Manifest{Identity: m.Identity}), report.ErrNothing, "no layers")
		text := written(t, write, &manifest.Manifest{Identity: m.Identity, Layers: m.Layers[5:]})
		parse(t, text)
		should.Has(t, text, "Scores with 5 seeds")
		should.Lacks(t, text, "by layer")
		should.Lacks(t, written(t, write, &manifest.Manifest{Identity: m.Identity, Layers: make([]manifest.Layer, 3)}), "NaN", "Inf")
	}
}

// TestExtremes counts the scores at both ends of a byte.
func TestExtremes(t *testing.T) {
	var h tally.Histogram
	h.Add([]int8{-128, -128, 127})
	rows := report.Scores(&manifest.Layer{Seeds: 2, Positions: 3, Win: 1, Loss: 2, Histogram: h}).Table.Rows
	must.Equal(t, len(rows), 257, "scores")
	should.List(t, []string{rows[0][1], rows[255][1], rows[256][1]}, []string{"2", "1", "0"})
}
