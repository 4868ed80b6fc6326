package chemin

import (
	"testing"

	"grenier/internal/testkit/should"
)

// TestGrowth compares the limit with the maxima that are known.
func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		rows, cols int
		maximum    uint32
	}{{1, 1, 1}, {1, 8, 2}, {2, 2, 4}, {2, 8, 2916}, {3, 3, 57}, {3, 4, 300}, {3, 5, 1500}, {4, 4, 2473}, {3, 6, 7557}, {4, 5, 22634}} {
		g := growth(board(t, tt.rows, tt.cols))
		got := g[tt.rows*tt.cols]
		should.Not(t, got < tt.maximum, "%d x %d: limit %d, %d is possible", tt.rows, tt.cols, got, tt.maximum)
	}
}
