package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// nasty is text that would be markup if it were not escaped.
const nasty = `<b onclick="x">&amp;'{{.}}</b>]]>`

// bars is a chart of three stacks; every text of it is nasty.
func bars() Chart {
	return Chart{
		Name: "bars", Title: "Bars " + nasty, Text: "Text " + nasty,
		X: Axis{Label: "x " + nasty}, First: 9, Kind: Bars,
		Y: Axis{Label: "y", Max: 1, Format: func(x float64) string { return fmt.Sprintf("<%g>", x) }},
		Series: []Series{
			{Name: "one " + nasty, Tone: Blue, Values: []float64{0.25, 0.5, math.NaN()}},
			{Name: "two", Tone: Orange, Values: []float64{0.75, 0, math.NaN()}},
		},
		Table: Table{Head: []string{"x", nasty}, Rows: [][]string{{"9", nasty}, {"10", "0.5"}, {"11", ""}}},
	}
}

// line is a chart with a gap in its line.
func line() Chart {
	return Chart{
		Name: "line", Title: "Line", Text: "Powers.", X: Axis{Label: "n"}, Y: Axis{Label: "10^n", Log: true}, Kind: Line,
		Series: []Series{{Name: "power", Tone: Teal, Values: []float64{1, 10, 0, 1000, 10000}}},
		Table:  Table{Head: []string{"n", "power"}, Rows: [][]string{{"0", "1"}, {"1", "10"}, {"2", ""}, {"3", "1000"}, {"4", "10000"}}},
	}
}

// TestGolden has bars as high as their values, one upon the other, in texts that are escaped, and leaves empty cells out of tips.
func TestGolden(t *testing.T) {
	var b bytes.Buffer
	must.OK(t, WriteFile(&b, "Two charts", []Chart{bars(), line()}, Size{400, 220}))
	golden.Check(t, "testdata/charts.svg", b.Bytes())
	must.XML(t, b.String())
}

func TestBadCharts(t *testing.T) {
	for name, damage := range map[string]func(c *Chart){
		"has no values":                          func(c *Chart) { c.Series = nil },
		"row 1 has 1 cells, expected 2":          func(c *Chart) { c.Table.Rows[1] = c.Table.Rows[1][:1] },
		"two has 2 values, the table has 3 rows": func(c *Chart) { c.Series[1].Values = c.Series[1].Values[:2] },
	} {
		c := bars()
		damage(&c)
		should.Says(t, must.Err(c.SVG(Size{400, 220})), ErrChart, name)
		should.Says(t, WriteFile(io.Discard, "", []Chart{line(), c}, Size{400, 220}), ErrChart, name)
	}
	should.Be(t, WriteFile(io.Discard, "none", nil, Size{400, 220}), ErrChart, "no charts")
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		steps     int
		want      string
	}{
		{Axis{}, 0.2, 0.95, 5, "0 0.2 0.4 0.6 0.8 1"},
		{Axis{Max: 1}, 0.2, 0.5, 5, "0 0.2 0.4 0.6 0.8 1"},
		{Axis{}, -0.49, 1.8, 5, "-0.5 0 0.5 1 1.5 2"},
		{Axis{}, 0, 0, 5, "0 0.2 0.4 0.6 0.8 1"},
		{Axis{}, -7, -3, 4, "-8 -6 -4 -2 0"},
		{Axis{}, 1, 3e6, 3, "0 1000000 2000000 3000000"},
		{Axis{Log: true}, 0.004, 615, 5, "0.001 0.01 0.1 1 10 100 1000"},
		{Axis{Log: true}, 1, 100, 5, "1 10 100"},
		{Axis{Log: true}, 5, 5, 5, "1 10"},
		{Axis{Log: true}, 10, 10, 5, "10 100"},
		{Axis{Log: true}, 1e-3, 1e9, 3, "0.001 0.1 10 1000 100000 10000000 1000000000"},
	} {
		s := newScale(c.axis, c.low, c.high, c.steps)
		var got []string
		for _, v := range s.ticks {
			got = append(got, c.axis.text(v))
		}
		should.Equal(t, strings.Join(got, " "), c.want, "%g to %g", c.low, c.high)
		should.Not(t, s.at(s.ticks[0]) != 0 || s.at(c.low) < -1e-9 || s.at(c.high) > 1+1e-9,
			"%g to %g: places %g, %g", c.low, c.high, s.at(c.low), s.at(c.high))
	}
	// Labels below columns do not touch.
	for column, want := range map[float64]int{100: 1, 34: 1, 33: 2, 20: 2, 8: 5, 4: 10, 3: 20, 0.5: 100} {
		should.Equal(t, tickEvery(column), want, "columns of %g px: every", column)
	}
}

// TestInside draws charts of all kinds of values and wants every shape to be inside the drawing.
func TestInside(t *testing.T) {
	values := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e12), rapid.Just(math.NaN()), rapid.Just(0.0))
	rapid.Check(t, func(t *rapid.T) {
		c := Chart{Name: "any", Kind: rapid.SampledFrom([]Kind{Bars, Line}).Draw(t, "kind"), First: rapid.IntRange(-50, 50).Draw(t, "first")}
		c.Y = Axis{Label: "share of positions", Log: rapid.Bool().Draw(t, "log"), Max: rapid.SampledFrom([]float64{0, 1}).Draw(t, "max")}
		if c.Kind == Bars {
			c.Y.Log = false
		}
		n := rapid.IntRange(1, 120).Draw(t, "n")
		for i := range rapid.IntRange(1, 3).Draw(t, "series") {
			c.Series = append(c.Series, Series{Name: "series", Tone: Tone(i), Values: rapid.SliceOfN(values, n, n).Draw(t, "values")})
		}
		c.Table = Table{Head: []string{"x"}, Rows: make([][]string, n)}
		for i := range c.Table.Rows {
			c.Table.Rows[i] = []string{strconv.Itoa(c.First + i)}
		}
		size := Size{rapid.IntRange(300, 1200).Draw(t, "width"), rapid.IntRange(180, 400).Draw(t, "height")}
		for _, e := range must.XML(t, string(must.Get(c.SVG(size))(t))) {
			checkInside(t, e, size)
		}
	})
}

func checkInside(t *rapid.T, e xml.StartElement, size Size) {
	at := map[string]float64{}
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height":
			v, err := strconv.ParseFloat(a.Value, 64)
			must.Not(t, err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0, "%s: %s=%q", e.Name.Local, a.Name.Local, a.Value)
			at[a.Name.Local] = v
		case "d":
			must.Not(t, strings.ContainsAny(a.Value, "NI"), "path %q", a.Value)
		}
	}
	const slack = 0.2 // rounding
	right := max(at["x"]+at["width"], at["x1"], at["x2"], at["cx"])
	bottom := max(at["y"]+at["height"], at["y1"], at["y2"], at["cy"])
	must.Not(t, right > float64(size.Width)+slack || bottom > float64(size.Height)+slack, "%s at %v is outside %v", e.Name.Local, at, size)
}
