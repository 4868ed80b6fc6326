// Package chart draws plain charts as SVG: stacked bars and lines over
// consecutive whole numbers, with axes, a legend, tooltips and a description for
// those who cannot see them. It knows numbers and words, but no game.
//
//	c := chart.Chart{
//		Name: "mean", Title: "Mean score by layer", Text: "It rises.",
//		X: chart.Axis{Label: "seeds"}, Y: chart.Axis{Label: "mean"},
//		Kind: chart.Line, Series: []chart.Series{{Name: "mean", Tone: chart.Teal, Values: []float64{0, 0.5, 0.75}}},
//		Table: chart.Table{Head: []string{"seeds", "mean"}, Rows: [][]string{{"0", "0"}, {"1", "0.5"}, {"2", "0.75"}}},
//	}
//	svg, err := c.SVG(chart.Size{Width: 480, Height: 280}) // an element of an HTML page
//	err = chart.WriteFile(w, "Means", []chart.Chart{c}, size) // a file of its own
//
// # Colours
//
// Style is the style sheet that the elements of a page need; a file of its own
// contains it. All colours are variables (--chart-ink, --chart-blue, ...) on the
// class chart, with other values when the reader prefers a dark scheme. A page
// that has its own idea of dark sets the variables on .chart itself. The tones
// can be distinguished by people who do not see all colours (Okabe and Ito, "Color
// Universal Design", 2008), and differ in lightness too.
//
// # Size
//
// A drawing has text of 12 px and fits one width; it does not get better by
// being scaled. A page that is read on phones too holds a narrow drawing and a
// wide one and shows the one that fits.
//
// # Safety
//
// Everything is written by html/template: no text of a chart becomes markup.
package chart

import (
	"errors"
	"fmt"
)

// ErrChart reports a chart that contradicts itself.
var ErrChart = errors.New("chart")

// Chart is values over the whole numbers First, First+1, ...; the number of rows of
// Table says how many.
type Chart struct {
	// Name is a word of letters, digits and hyphens. It begins the ids of the
	// elements, and no two charts in a page have the same.
	Name string
	// Title names the chart in a few words. A file shows it; an element
	// for a page only has it for screen readers, as pages have headings.
	Title string
	// Text describes the chart in a sentence or two.
	Text string
	X, Y Axis
	// First is the whole number that the first value of each series belongs to.
	First int
	Kind  Kind
	// Series are drawn in order: the first is lowest in a stack, and first in
	// the legend. There is a legend when there is more than one.
	Series []Series
	// Table holds the numbers behind the chart.
	Table Table
}

// Kind is a way of drawing.
type Kind uint8

const (
	// Bars stacks the values of all series, none of them negative.
	Bars Kind = iota
	// Line draws a dot for each value and joins neighbours.
	Line
)

// Series is a row of values.
type Series struct {
	Name string
	Tone Tone
	// Values has one value for each row of the table; NaN where there is none.
	Values []float64
}

// Tone is a colour that suits light and dark pages.
type Tone uint8

// The tones.
const (
	Blue Tone = iota
	Gray
	Orange
	Teal
	Mist // a pale Teal
)

// String returns the class of elements with this tone.
func (t Tone) String() string { return [...]string{"blue", "gray", "orange", "teal", "mist"}[t] }

// Axis says how values are placed and named. A linear axis shows 0; a
// logarithmic one shows whole powers of ten, and only positive values.
type Axis struct {
	// Label names the quantity and its unit.
	Label string
	// Log makes the axis logarithmic. The X axis never is.
	Log bool
	// Max is where a linear axis ends at least: 1 for shares of a whole.
	Max float64
	// Format returns the text of a tick; nil stands for the shortest number.
	Format func(float64) string
}

// Table holds the numbers behind a chart as text, ready to be read. Row i belongs
// to the whole number First+i, and the first cell names it. Cells that are empty
// are values that do not exist. The tooltip at a whole number is its row.
type Table struct {
	Head []string
	Rows [][]string
}

// Size is the size of a drawing in CSS pixels.
type Size struct{ Width, Height int }

// check fails with ErrChart unless all parts have the same length.
func (c *Chart) check() error {
	if len(c.Table.Rows) == 0 || len(c.Series) == 0 {
		return fmt.Errorf("%w %q has no values", ErrChart, c.Name)
	}
	for i, row := range c.Table.Rows {
		if len(row) != len(c.Table.Head) {
			return fmt.Errorf("%w %q: row %d has %d cells, expected %d", ErrChart, c.Name, i, len(row), len(c.Table.Head))
		}
	}
	for _, s := range c.Series {
		if len(s.Values) != len(c.Table.Rows) {
			return fmt.Errorf("%w %q: %s has %d values, the table has %d rows", ErrChart, c.Name, s.Name, len(s.Values), len(c.Table.Rows))
		}
	}
	return nil
}
