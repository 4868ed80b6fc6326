package serve

import (
	"grenier/io/chart"
	"grenier/io/report"
	"grenier/pipeline/tables"
)

// Fixed are the answers that depend on the tables alone, for pages that are shown without a
// server.
type Fixed struct {
	Charts []byte   // GET /api/charts
	Scores [][]byte // GET /api/charts/scores, by seeds
	Style  []byte   // GET /chart.css
	Icon   []byte   // GET /icon.png
}

// NewFixed returns the answers for tables. It fails if a chart cannot be drawn.
func NewFixed(t *tables.Tables) (f Fixed, err error) {
	f.Style = []byte(chart.Style())
	if f.Charts, err = drawLayers(t); err != nil {
		return f, err
	}
	layers := t.Layers()
	for n := range layers {
		drawn, err := draw(report.Scores(&layers[n]))
		if err != nil {
			return f, err
		}
		text, err := encode(drawn)
		if err != nil {
			return f, err
		}
		f.Scores = append(f.Scores, text)
	}
	f.Icon, err = drawIcon()
	return f, err
}
