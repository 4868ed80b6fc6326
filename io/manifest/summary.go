package manifest

import (
	"math"

	"grenier/io/tally"
)

// Summary is the JSON about solved layers that the command stats and the web server
// give to programs.
type Summary struct {
	Rules  string         `json:"rules"`
	Pits   int            `json:"pits"`
	Layers []LayerSummary `json:"layers"`
}

// LayerSummary is a layer of a Summary.
type LayerSummary struct {
	Seeds     int             `json:"seeds"`
	Positions uint64          `json:"positions"`
	Win       uint64          `json:"win"`
	Draw      uint64          `json:"draw"`
	Loss      uint64          `json:"loss"`
	Mean      float64         `json:"mean"` // of the scores, rounded to a millionth
	Hash      tally.Hash      `json:"fnv1a64"`
	Bytes     int64           `json:"bytes"`
	Seconds   float64         `json:"seconds"`
	Histogram tally.Histogram `json:"histogram"`
}

// Summary returns the summary of the layers of the manifest.
func (m *Manifest) Summary() Summary {
	s := Summary{Rules: m.Rules, Pits: m.Pits, Layers: make([]LayerSummary, 0, len(m.Layers))}
	for _, l := range m.Listed() {
		s.Layers = append(s.Layers, LayerSummary{
			Seeds: l.Seeds, Positions: l.Positions, Win: l.Win, Draw: l.Draw, Loss: l.Loss,
			Mean: math.Round(l.Histogram.Mean()*1e6) / 1e6, Hash: l.Hash, Bytes: l.Bytes, Seconds: l.Seconds,
			Histogram: l.Histogram,
		})
	}
	return s
}
