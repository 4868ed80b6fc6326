package serve

import (
	"net/http"

	"grenier/io/chart"
	"grenier/io/manifest"
	"grenier/io/report"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// Sizes of charts in a page: text in them is not scaled, so there is one for phones
// too.
var (
	wideChart   = chart.Size{Width: 540, Height: 300}
	narrowChart = chart.Size{Width: 330, Height: 260}
)

// drawnChart is a chart as two SVG elements, which need the style sheet
// /chart.css.
type drawnChart struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	Wide   string `json:"wide"`
	Narrow string `json:"narrow"`
}

func draw(c chart.Chart) (drawnChart, error) {
	wide, err := c.SVG(wideChart)
	if err != nil {
		return drawnChart{}, err
	}
	narrow, err := c.SVG(narrowChart)
	if err != nil {
		return drawnChart{}, err
	}
	return drawnChart{Name: c.Name, Title: c.Title, Text: c.Text, Wide: string(wide), Narrow: string(narrow)}, nil
}

// solved says what is solved, as a manifest does.
func solved(t *tables.Tables) *manifest.Manifest {
	game := t.Game()
	return &manifest.Manifest{
		Identity: manifest.Identity{Game: catalog.GameName, Rules: game.Rules().String(), Pits: game.Pits()},
		Layers:   (&manifest.Manifest{Layers: t.Layers()}).Listed(),
	}
}

// drawLayers returns the answer to GET /api/charts, the charts that compare
// layers.
func drawLayers(t *tables.Tables) ([]byte, error) {
	drawn := []drawnChart{}
	for _, c := range report.Layers(solved(t)) {
		d, err := draw(c)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, d)
	}
	return encode(struct {
		Charts []drawnChart `json:"charts"`
	}{drawn})
}

// drawScores answers GET /api/charts/scores?seeds=n, the histogram of a layer.
func (s *Server) drawScores(r *http.Request) (any, error) {
	query, err := parseQuery(r.URL.RawQuery, "seeds")
	if err != nil {
		return nil, err
	}
	n, _, err := s.layersWithin(query["seeds"], false)
	if err != nil {
		return nil, err
	}
	return draw(report.Scores(&s.tables.Layers()[n]))
}

// Fixed are the answers that depend on the tables alone, for pages that are shown without a
// server.
type Fixed struct {
	Charts []byte   // GET /api/charts
	Scores [][]byte // GET /api/charts/scores, by seeds; nil of a layer that is left out
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
		if !t.Has(n) {
			f.Scores = append(f.Scores, nil)
			continue
		}
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
