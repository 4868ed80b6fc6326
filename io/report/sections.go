package report

import (
	"io"

	"grenier/io/chart"
)

// Page is a web page of tables and charts about anything.
type Page struct {
	Heading, Summary string
	Sections         []Section
}

// Section is a part of a page below a heading: a table, or a chart with its numbers
// folded up.
type Section struct {
	// Title and Text are those of the table. A chart has its own.
	Title, Text string
	Table       chart.Table
	// Chart, if not nil, takes the place of all the above.
	Chart *chart.Chart
}

// section is a Section in a page.
type section struct {
	Section
	Figure *figure
}

// Write writes the page, which needs nothing else: no network, no other file. It
// fails with chart.ErrChart, or like w.
func (p *Page) Write(w io.Writer) error {
	shown := newPage(p.Heading, p.Summary)
	for _, s := range p.Sections {
		if s.Chart == nil {
			shown.Sections = append(shown.Sections, section{Section: s})
			continue
		}
		f, err := newFigure(*s.Chart, wideScores)
		if err != nil {
			return err
		}
		s.Title = s.Chart.Title
		shown.Sections = append(shown.Sections, section{s, &f})
	}
	return pageTemplate().Execute(w, shown)
}
