package chart

import (
	"math"
	"strconv"
)

// Measures of charts over names, in pixels.
const (
	rowHeight   = 22
	tallRow     = 38 // with the name above the bar
	rowBar      = 14
	perRowTick  = 90 // between two ticks, at least
	nameGap     = 8  // between a name and the plot
	widestNames = 0.4
	rowDot      = 4.5
)

// layoutRows places a chart over names in a drawing of some width.
func (c *Chart) layoutRows(width int) *drawing {
	d := &drawing{ID: c.Name + "-" + strconv.Itoa(width), Title: c.Title, Text: c.Text}
	d.Size.Width = width
	top := d.placeLegend(c)
	names := nameGap + c.widestName()
	above := names > widestNames*float64(width)
	height := rowHeight
	if above {
		height, names = tallRow, 0
	}
	height *= len(c.Table.Rows)
	low, high := c.extent()
	steps := (float64(width) - names) / perRowTick
	if c.Y.Log {
		steps /= 2 // newScale makes up to twice as many
	}
	s := newScale(c.Y, low, high, max(1, int(steps)))
	half := d.widestTick(&s, &c.Y)*digitWidth/2 + 2
	left := math.Max(names, half)
	d.Plot = box{pixels(left), pixels(top), pixels(float64(width) - left - half), pixels(height)}
	d.Size.Height = int(top) + height + below - lineHeight
	d.placeColumnsOfGrid(&s, &c.Y)
	for i := range c.Table.Rows {
		d.placeRow(c, &s, i, above)
	}
	return d
}

// widestName returns the width of the longest name of a row.
func (c *Chart) widestName() float64 {
	widest := 0.0
	for _, row := range c.Table.Rows {
		widest = math.Max(widest, textWidth(row[0]))
	}
	return widest
}

// placeColumnsOfGrid places the lines of a horizontal axis and its ticks.
func (d *drawing) placeColumnsOfGrid(s *scale, a *Axis) {
	bottom := d.Plot.Y + d.Plot.H
	for _, v := range s.ticks {
		x := pixels(d.x(s, v))
		d.Grid = append(d.Grid, gridLine{X1: x, Y1: d.Plot.Y, X2: x, Y2: bottom, Zero: v == 0 && !s.log})
		d.XTicks = append(d.XTicks, label{x, bottom + 16, a.text(v)})
	}
}

// x returns the place of a value in pixels.
func (d *drawing) x(s *scale, value float64) float64 {
	return float64(d.Plot.X) + float64(d.Plot.W)*s.at(value)
}

// placeRow places the name of row i and what is drawn of its values.
func (d *drawing) placeRow(c *Chart, s *scale, i int, above bool) {
	row := c.Table.Rows[i]
	h := d.Plot.H / pixels(len(c.Table.Rows))
	y := d.Plot.Y + h*pixels(i)
	middle := y + h/2
	name := rowName{label{d.Plot.X - nameGap, middle + 4, row[0]}, true}
	if above {
		middle = y + h - rowBar/2 - 3
		name = rowName{label{d.Plot.X + 4, y + 14, row[0]}, false}
	}
	d.Names = append(d.Names, name)
	col := column{Hit: box{0, y, pixels(d.Size.Width), h}, Tip: tip(c.Table.Head, row)}
	if c.stacked() {
		col.Bars = d.rowBars(c, s, i, middle)
	} else {
		col.Dots = d.rowDots(c, s, i, middle)
	}
	d.Columns = append(d.Columns, col)
}

// rowBars returns the bars of row i, from left to right.
func (d *drawing) rowBars(c *Chart, s *scale, i int, middle pixels) (bars []bar) {
	sum := 0.0
	for _, series := range c.Series {
		v := series.Values[i]
		if !c.shows(v) || v <= 0 {
			continue
		}
		from, to := d.x(s, sum), d.x(s, sum+v)
		bars = append(bars, bar{box{pixels(from), middle - rowBar/2, pixels(to - from), rowBar}, series.Tone})
		sum += v
	}
	return bars
}

// rowDots returns the dots of row i, and adds the line that joins them.
func (d *drawing) rowDots(c *Chart, s *scale, i int, middle pixels) (dots []dot) {
	left, right := pixels(math.Inf(1)), pixels(math.Inf(-1))
	for _, series := range c.Series {
		if v := series.Values[i]; c.shows(v) {
			x := pixels(d.x(s, v))
			dots = append(dots, dot{x, middle, rowDot, series.Tone})
			left, right = min(left, x), max(right, x)
		}
	}
	if left < right {
		d.Paths = append(d.Paths, path{Gray, "M" + left.String() + " " + middle.String() + "L" + right.String() + " " + middle.String()})
	}
	return dots
}
