package chart

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// Style is the style sheet that elements for a page need, once a page.
func Style() template.CSS { return template.CSS(style) }

//go:embed chart.css
var style string

//go:embed chart.tmpl
var source string

// templates are parsed when they are first needed: most commands draw nothing.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("chart").Parse(source))
})

// SVG returns the chart as an element for an HTML page that has Style. It fails
// with ErrChart.
func (c *Chart) SVG(size Size) (template.HTML, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, "element", c.layout(size)); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// headingHeight is the room above each chart of a file.
const headingHeight = 34

// file is a drawing of several charts below each other.
type file struct {
	Title  string
	Style  template.CSS
	Margin int
	Size   Size // margins included
	Panels []panel
}

type panel struct {
	Y       int // of the heading
	Heading int // its height
	*drawing
}

// WriteFile writes an SVG file with charts below each other, each of the given
// size and with its title above it. It fails with ErrChart, or like w.
func WriteFile(w io.Writer, title string, charts []Chart, size Size) error {
	const margin, gap = 20, 18
	f := file{Title: title, Style: Style(), Margin: margin}
	y := margin
	for i := range charts {
		c := &charts[i]
		if err := c.check(); err != nil {
			return err
		}
		d := c.layout(size)
		f.Panels = append(f.Panels, panel{Y: y, Heading: headingHeight, drawing: d})
		y += headingHeight + d.Size.Height + gap
	}
	if len(charts) == 0 {
		return fmt.Errorf("%w file %q has no charts", ErrChart, title)
	}
	f.Size = Size{size.Width + 2*margin, y - gap + margin}
	return templates().ExecuteTemplate(w, "file", f)
}
