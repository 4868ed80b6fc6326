package solve_test

import (
	"path/filepath"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestFalseLower puts wrong scores under right checksums into each lower layer: the few positions
// that are checked give them away.
func TestFalseLower(t *testing.T) {
	game := awaritest.Game(t, 8, awari.Awari)
	for n := 1; n <= 7; n++ {
		layers := testrun.Solve(t, game, 7)
		for i, score := range layers[n] {
			if layers[n][i] = -score; score == 0 {
				layers[n][i] = 1
			}
		}
		dir := testrun.Write(t, game, layers, 64)
		path := filepath.Join(dir, rundir.LayerName(n))
		refuses(t, dir, game, 8, path, "false scores")
		should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, options(7))), nil, "nothing is to be built on it")
	}
}
