// Package exposition writes metrics in the text format of Prometheus, for an answer over HTTP or a
// file that a collector reads. The metrics themselves are made with prometheus/client_golang.
package exposition

import (
	"bytes"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// Type is the media type of Text.
const Type = "text/plain; version=0.0.4; charset=utf-8"

// Text returns the metrics as they are now, ordered by name. It fails if two of them contradict each other.
func Text(g prometheus.Gatherer) ([]byte, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
