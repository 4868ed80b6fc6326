package awari

import (
	"encoding/json"
	"testing"
	"time"

	"grenier/internal/testkit/should"
	"grenier/pipeline/play/search"
)

// TestSearchDetail has JSON lines tell the bounds so far.
func TestSearchDetail(t *testing.T) {
	r := search.Result{Value: search.Value{Lower: -2, Upper: 5, Estimate: 1}, Depth: 7, Nodes: 3000, NodesPerSecond: 1500, Line: []int{4, 0}, Elapsed: time.Second}
	got, err := json.Marshal(r)
	const want = `{"lower":-2,"upper":5,"estimate":1,"line":[4,0],"depth":7,"nodes":3000,"nodes_per_second":1500}`
	should.Hold(t, err == nil && string(got) == want, "%s, %v, want %s", got, err, want)
}
