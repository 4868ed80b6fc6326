package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
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
	t.Helper()
	return must.Get(manifest.Load("testdata/manifest.json"))(t)
}

// written returns what write writes.
func written(t *testing.T, write func(io.Writer, *manifest.Manifest) error, m *manifest.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, write(&b, m))
	return b.String()
}

func TestGolden(t *testing.T) {
	for path, write := range map[string]func(io.Writer, *manifest.Manifest) error{
		"testdata/layers.html": report.WritePage, "testdata/layers.svg": report.WriteSVG,
	} {
		golden.Check(t, path, []byte(written(t, write, load(t))))
	}
}

// parse checks that a text is well formed and that no two elements have the same id, and that every id that is referred to exists.
func parse(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids, wanted := map[string]bool{}, []string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.OK(t, err)
		if e, ok := token.(xml.StartElement); ok {
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
	}
	for _, id := range wanted {
		should.Hold(t, ids[id], "no element has the id %s", id)
	}
	should.Not(t, len(wanted) == 0, "no drawing has a name")
}

// TestPage looks for what a page must not have: anything outside of it. TestGolden has its numbers.
func TestPage(t *testing.T) {
	page := written(t, report.WritePage, load(t))
	parse(t, page)
	outside := regexp.MustCompile(`(?i)(src|href|action|url)\s*[=(]\s*"?[^d"]|@import|https?:`)
	for _, found := range outside.FindAllString(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), -1) {
		t.Errorf("the page refers to something: %s", found)
	}
}

// TestHistogram compares a histogram with the manifest: heights, parity, order.
func TestHistogram(t *testing.T) {
	l := load(t).Layers[5]
	c := report.Scores(&l)
	must.Hold(t, c.First == -5 && len(c.Table.Rows) == 11 && c.Kind == chart.Bars, "from %d on, %d scores", c.First, len(c.Table.Rows))
	for i := range c.Table.Rows {
		score := c.First + i
		want := float64(l.Histogram.Count(int8(score))) / 4368
		odd, even := c.Series[0].Values[i], c.Series[1].Values[i]
		if score%2 == 0 {
			odd, even = even, odd
		}
		should.Hold(t, odd == want && math.IsNaN(even), "score %d: %g and %g, want %g", score, odd, even, want)
	}
	should.Hold(t, c.Series[0].Name == "odd scores" && c.Series[1].Name == "even scores", "%s, %s", c.Series[0].Name, c.Series[1].Name)
	should.Hold(t, strings.Contains(c.Text, "4,368 positions") && strings.Contains(c.Text, "49.6% won, 0.0% drawn, 50.4% lost, mean -0.026"),
		"%v", c.Text)
}

// TestUnknownTime leaves out times that the manifest does not know.
func TestUnknownTime(t *testing.T) {
	m := load(t)
	m.Layers[3].Seconds = 0
	var times *chart.Chart
	for _, c := range report.Layers(m) {
		if c.Name == "seconds" {
			times = &c
		}
	}
	should.Not(t, times == nil || !math.IsNaN(times.Series[0].Values[3]) || times.Table.Rows[3][1] != "" || math.IsNaN(times.Series[0].Values[4]),
		"a layer that was not solved here: %+v", times)
	page := written(t, report.WritePage, m)
	should.Not(t, strings.Contains(page, "solved in"), "the sum of the times is given although one is missing")
	for i := range m.Layers {
		m.Layers[i].Seconds = 0
	}
	page = written(t, report.WritePage, m)
	should.Not(t, strings.Contains(page, "Time by layer"), "a chart without times")
}

// TestSmall draws as little as there can be.
func TestSmall(t *testing.T) {
	m := load(t)
	for _, write := range []func(io.Writer, *manifest.Manifest) error{report.WritePage, report.WriteSVG} {
		should.Be(t, write(io.Discard, &manifest.Manifest{Identity: m.Identity}), report.ErrNothing, "no layers")
		text := written(t, write, &manifest.Manifest{Identity: m.Identity, Layers: m.Layers[5:]})
		if parse(t, text); !strings.Contains(text, "Scores with 5 seeds") || strings.Contains(text, "by layer") {
			t.Error("one layer is compared with others")
		}
		text = written(t, write, &manifest.Manifest{Identity: m.Identity, Layers: make([]manifest.Layer, 3)})
		should.Not(t, strings.Contains(text, "NaN") || strings.Contains(text, "Inf"), "layers without positions have numbers")
	}
}

// TestExtremes counts the scores at both ends of a byte.
func TestExtremes(t *testing.T) {
	var h tally.Histogram
	h.Add([]int8{-128, -128, 127})
	l := manifest.Layer{Seeds: 2, Positions: 3, Win: 1, Loss: 2, Histogram: h}
	rows := report.Scores(&l).Table.Rows
	if len(rows) != 257 || rows[0][1] != "2" || rows[255][1] != "1" || rows[256][1] != "0" {
		t.Errorf("%d scores, %s, %s, %s", len(rows), rows[0], rows[255], rows[256])
	}
}

// openPage shows the page of a few layers.
// choosing moves to another layer and points at a bar.
