package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Measures in pixels. The width of text is an estimate for a sans serif of 12 px,
// a little too wide for most.
const (
	charWidth  = 6.7
	digitWidth = 7.7
	lineHeight = 18
	topMargin  = 8
	edge       = 10 // right of the plot
	below      = 40 // ticks and label of the x axis
	perTick    = 30 // between two ticks of the y axis, at least
	dotRadius  = 2.6
	widestBar  = 46
)

// pixels is a length or a place, printed with one decimal.
type pixels float64

func (p pixels) String() string {
	return strconv.FormatFloat(math.Round(float64(p)*10)/10, 'f', -1, 64)
}

// drawing is a chart as shapes. The templates print it as it is.
type drawing struct {
	ID, Title, Text string
	Size            Size
	Plot            box
	Label           label // of the y axis
	XLabel          label
	Legend          []entry
	Grid            []gridLine
	XTicks          []label
	Paths           []path
	Columns         []column
}

type box struct{ X, Y, W, H pixels }

// label is text, with its anchor at X and its base line at Y.
type label struct {
	X, Y pixels
	Text string
}

type entry struct {
	Swatch box
	Tone   Tone
	Label  label
}

// gridLine is a line across the plot, with the text of its tick.
type gridLine struct {
	X1, X2, Y pixels
	Zero      bool
	Label     label
}

type path struct {
	Tone Tone
	D    string
}

// column is the part of a drawing that belongs to one whole number.
type column struct {
	Hit  box
	Tip  string
	Bars []bar
	Dots []dot
}

type bar struct {
	box
	Tone Tone
}

type dot struct {
	X, Y, R pixels
	Tone    Tone
}

// layout places a chart, which was checked, in a drawing.
func (c *Chart) layout(size Size) *drawing {
	d := &drawing{ID: c.Name + "-" + strconv.Itoa(size.Width), Title: c.Title, Text: c.Text, Size: size}
	top := d.placeLegend(c)
	low, high := c.extent()
	height := float64(size.Height) - top - below
	s := newScale(c.Y, low, high, max(2, int(height/perTick)))
	left := d.widestTick(&s, &c.Y)*digitWidth + 12
	d.Plot = box{pixels(left), pixels(top), pixels(float64(size.Width) - left - edge), pixels(height)}
	d.placeGrid(&s, &c.Y)
	d.placeXAxis(c)
	for i, row := range c.Table.Rows {
		d.Columns = append(d.Columns, column{Hit: d.columnBox(c, i), Tip: tip(c.Table.Head, row)})
	}
	if c.Kind == Bars {
		d.stack(c, &s)
	} else {
		d.join(c, &s)
	}
	return d
}

// placeLegend places the label of the y axis and the legend above the plot, in
// one line if both fit, and returns where the plot begins.
func (d *drawing) placeLegend(c *Chart) (top float64) {
	d.Label = label{0, topMargin + 10, c.Y.Label}
	if len(c.Series) < 2 {
		return topMargin + lineHeight + 6
	}
	const swatch, gap = 16, 14
	width := -float64(gap)
	for _, s := range c.Series {
		width += swatch + textWidth(s.Name) + gap
	}
	x, y := float64(d.Size.Width)-width, float64(topMargin+10)
	if x < textWidth(c.Y.Label)+gap {
		x, d.Label.Y = 0, d.Label.Y+lineHeight
	}
	for _, s := range c.Series {
		d.Legend = append(d.Legend, entry{
			Swatch: box{pixels(x), pixels(y - 9), 10, 10}, Tone: s.Tone, Label: label{pixels(x + swatch), pixels(y), s.Name},
		})
		x += swatch + textWidth(s.Name) + gap
	}
	return float64(d.Label.Y) + 14
}

func textWidth(s string) float64 { return charWidth * float64(utf8.RuneCountInString(s)) }

// extent returns the least and the greatest value to be shown.
func (c *Chart) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range c.Table.Rows {
		sum := 0.0
		for _, s := range c.Series {
			v := s.Values[i]
			if !c.shows(v) {
				continue
			}
			sum += v
			if c.Kind == Bars {
				v = sum
			}
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > high { // nothing to show
		return 1, 1
	}
	return low, high
}

// shows reports whether a value has a place in the chart.
func (c *Chart) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !c.Y.Log)
}

// widestTick returns the number of characters of the longest tick.
func (d *drawing) widestTick(s *scale, a *Axis) float64 {
	widest := 0
	for _, v := range s.ticks {
		widest = max(widest, utf8.RuneCountInString(a.text(v)))
	}
	return float64(widest)
}

// y returns the place of a value in pixels.
func (d *drawing) y(s *scale, value float64) float64 {
	return float64(d.Plot.Y) + float64(d.Plot.H)*(1-s.at(value))
}

func (d *drawing) placeGrid(s *scale, a *Axis) {
	for _, v := range s.ticks {
		y := d.y(s, v)
		d.Grid = append(d.Grid, gridLine{
			X1: d.Plot.X, X2: d.Plot.Right(), Y: pixels(y), Zero: v == 0 && !s.log,
			Label: label{d.Plot.X - 7, pixels(y + 4), a.text(v)},
		})
	}
}

// placeXAxis places ticks at multiples of a round number.
func (d *drawing) placeXAxis(c *Chart) {
	bottom := d.Plot.Y + d.Plot.H
	d.XLabel = label{d.Plot.X + d.Plot.W/2, bottom + 34, c.X.Label}
	every := tickEvery(float64(d.Plot.W) / float64(len(c.Table.Rows)))
	for i := range c.Table.Rows {
		if x := c.First + i; x%every == 0 {
			d.XTicks = append(d.XTicks, label{pixels(d.center(c, i)), bottom + 16, c.X.text(float64(x))})
		}
	}
}

// columnBox returns the part of the plot that belongs to value i.
func (d *drawing) columnBox(c *Chart, i int) box {
	w := d.Plot.W / pixels(len(c.Table.Rows))
	return box{d.Plot.X + w*pixels(i), d.Plot.Y, w, d.Plot.H}
}

// center returns the middle of column i.
func (d *drawing) center(c *Chart, i int) float64 {
	b := d.columnBox(c, i)
	return float64(b.X + b.W/2)
}

// stack places the bars.
func (d *drawing) stack(c *Chart, s *scale) {
	for i := range d.Columns {
		col := &d.Columns[i]
		w := math.Min(widestBar, float64(col.Hit.W)*0.82)
		x := d.center(c, i) - w/2
		sum := 0.0
		for _, series := range c.Series {
			v := series.Values[i]
			if !c.shows(v) || v <= 0 {
				continue
			}
			lower, upper := d.y(s, sum), d.y(s, sum+v)
			col.Bars = append(col.Bars, bar{box{pixels(x), pixels(upper), pixels(w), pixels(lower - upper)}, series.Tone})
			sum += v
		}
	}
}

// join places dots, and lines from each to the next one if that belongs to the
// next whole number.
func (d *drawing) join(c *Chart, s *scale) {
	for _, series := range c.Series {
		var points strings.Builder
		step := byte('M')
		for i, v := range series.Values {
			if !c.shows(v) {
				step = 'M'
				continue
			}
			x, y := pixels(d.center(c, i)), pixels(d.y(s, v))
			points.WriteByte(step)
			points.WriteString(x.String() + " " + y.String())
			d.Columns[i].Dots = append(d.Columns[i].Dots, dot{x, y, dotRadius, series.Tone})
			step = 'L'
		}
		d.Paths = append(d.Paths, path{series.Tone, points.String()})
	}
}

// tip returns a row of the table as lines of text, without the cells that are
// empty.
func tip(head, row []string) string {
	var lines []string
	for i, cell := range row {
		if cell != "" {
			lines = append(lines, head[i]+": "+cell)
		}
	}
	return strings.Join(lines, "\n")
}

// Right returns the right edge.
func (b box) Right() pixels { return b.X + b.W }
