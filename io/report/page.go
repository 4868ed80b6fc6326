package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/io/chart"
	"grenier/io/manifest"
)

// ErrNothing reports a manifest without layers.
var ErrNothing = errors.New("no layer is solved")

// Sizes of the drawings in a page, for wide windows and for phones, and in a
// file.
var (
	wide         = chart.Size{Width: 500, Height: 280}
	wideScores   = chart.Size{Width: 1040, Height: 320}
	narrow       = chart.Size{Width: 340, Height: 270}
	inFile       = chart.Size{Width: 760, Height: 270}
	pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })
)

//go:embed page.tmpl
var pageSource string

// page is the data of the template.
type page struct {
	Heading, Summary string
	Style            template.CSS
	Scores           []figure // by layer
	Layers           []figure
}

// figure is a chart in a page.
type figure struct {
	chart.Chart
	Wide, Narrow template.HTML
}

// WritePage writes a web page of solved layers that needs nothing else: no network, no other
// file. It fails with ErrNothing, or like w.
func WritePage(w io.Writer, m *manifest.Manifest) error {
	if len(m.Layers) == 0 {
		return ErrNothing
	}
	p := page{Heading: heading(m), Summary: summary(m), Style: chart.Style()}
	for i := range m.Layers {
		f, err := newFigure(Scores(&m.Layers[i]), wideScores)
		if err != nil {
			return err
		}
		p.Scores = append(p.Scores, f)
	}
	for _, c := range Layers(m) {
		f, err := newFigure(c, wide)
		if err != nil {
			return err
		}
		p.Layers = append(p.Layers, f)
	}
	return pageTemplate().Execute(w, p)
}

// WriteCharts writes a web page of charts. It fails like w.
func WriteCharts(w io.Writer, heading, summary string, charts []chart.Chart) error {
	p := page{Heading: heading, Summary: summary, Style: chart.Style()}
	for _, c := range charts {
		f, err := newFigure(c, wide)
		if err != nil {
			return err
		}
		p.Layers = append(p.Layers, f)
	}
	return pageTemplate().Execute(w, p)
}

func newFigure(c chart.Chart, size chart.Size) (figure, error) {
	large, err := c.SVG(size)
	if err != nil {
		return figure{}, err
	}
	small, err := c.SVG(narrow)
	return figure{c, large, small}, err
}

// WriteSVG writes an SVG file with the charts by layer and the histogram of the
// last layer. It fails with ErrNothing, or like w.
func WriteSVG(w io.Writer, m *manifest.Manifest) error {
	if len(m.Layers) == 0 {
		return ErrNothing
	}
	charts := append(Layers(m), Scores(&m.Layers[len(m.Layers)-1]))
	return chart.WriteFile(w, heading(m), charts, inFile)
}

// heading names the run.
func heading(m *manifest.Manifest) string {
	return fmt.Sprintf("%s on %d pits, rules %s", m.Game, m.Pits, m.Rules)
}

// summary returns sums over the layers; the time only if all are known.
func summary(m *manifest.Manifest) string {
	first, last := m.Layers[0].Seeds, m.Layers[len(m.Layers)-1].Seeds
	var positions, size uint64
	seconds, known := 0.0, true
	for _, l := range m.Layers {
		positions, size, seconds = positions+l.Positions, size+uint64(l.Bytes), seconds+l.Seconds
		known = known && l.Seconds > 0
	}
	text := fmt.Sprintf("Layers %d to %d", first, last)
	if first == last {
		text = fmt.Sprintf("Layer %d", first)
	}
	text += fmt.Sprintf(": %s positions, %s on disk", comma(positions), humanize.IBytes(size))
	if known {
		text += ", solved in " + duration(seconds)
	}
	return text
}

// duration returns seconds as text.
func duration(seconds float64) string {
	if seconds < 60 {
		return secondsText(seconds) + " s"
	}
	return (time.Duration(seconds) * time.Second).String()
}
