package serve

import (
	"math"
	"net/http"

	"grenier/io/tally"
	"grenier/pipeline/tables"
)

// layersReport lists the solved layers, with the members that stats --json has.
type layersReport struct {
	Rules  string        `json:"rules"`
	Pits   int           `json:"pits"`
	Layers []layerReport `json:"layers"`
}

type layerReport struct {
	Seeds     int             `json:"seeds"`
	Positions uint64          `json:"positions"`
	Win       uint64          `json:"win"`
	Draw      uint64          `json:"draw"`
	Loss      uint64          `json:"loss"`
	Mean      float64         `json:"mean"`
	Hash      tally.Hash      `json:"fnv1a64"`
	Bytes     int64           `json:"bytes"`
	Seconds   float64         `json:"seconds"`
	Histogram tally.Histogram `json:"histogram"`
}

func newLayersReport(t *tables.Tables) layersReport {
	report := layersReport{Rules: t.Game().Rules().String(), Pits: t.Game().Pits(), Layers: []layerReport{}}
	for _, l := range t.Layers() {
		report.Layers = append(report.Layers, layerReport{
			Seeds: l.Seeds, Positions: l.Positions, Win: l.Win, Draw: l.Draw, Loss: l.Loss,
			Mean: math.Round(l.Histogram.Mean()*1e6) / 1e6, Hash: l.Hash, Bytes: l.Bytes, Seconds: l.Seconds,
			Histogram: l.Histogram,
		})
	}
	return report
}

// health answers GET /healthz.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, "text/plain; charset=utf-8", "no-store", []byte("ok\n"))
}
