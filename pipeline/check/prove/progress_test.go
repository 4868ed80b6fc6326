package prove

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/pipeline/job"
)

// TestStep: a step names the layer, and the pass over it.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		of   *meter
		want string
	}{
		{&meter{}, "layer 3"},
		{&meter{looked: 5, positions: 20}, "layer 3, moves (25%)"},
		{&meter{pass: 4}, "layer 3, pass 4"},
		{&meter{pass: 4, looked: 5, positions: 20}, "layer 3, pass 4 (25%)"},
	} {
		c.of.seeds, c.of.begun, c.of.done, c.of.total = 3, 10, 50, 200
		must.Same(t, "another result", job.Step{Doing: c.want, Seeds: 3, Begun: 10, Done: 50, Total: 200}, c.of.step())
	}
}
