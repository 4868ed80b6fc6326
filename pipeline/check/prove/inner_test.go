package prove

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/tables"
)

// TestRows: each worker that verifies 48 seeds, or proves them, has room for the longest row: one for each way to lay 48 seeds in six pits.
func TestRows(t *testing.T) {
	const n, row = awari.MaxSeeds, 2869685 // 53 choose 5
	tab := must.Get(tables.Open(t.Context(), testrun.Dir(t, 12, awari.Awari, 1, 64)))(t)
	defer tab.Close()
	proving := func(workers int) uint64 {
		r := run{tables: tab, space: testrun.Space(t, tab.Game(), n)}
		r.options.Workers = workers
		return r.fixed(n)
	}
	verifying := func(workers int) uint64 { return verify.Fixed(tab, n, workers) }
	grounding := func(workers int) uint64 { return verify.GroundingBytes(tab.Game(), n, workers) }
	share := func(bytes func(workers int) uint64) uint64 { return bytes(2) - bytes(1) }
	less, more := share(verifying), share(proving)-share(verifying)-share(grounding)-share(tab.Overhead)
	should.Hold(t, row < less && less < 2*row && row+row/8+1<<19 <= more && more < 2*row, "each worker takes %d bytes to verify, and %d more to prove, besides grounding and tables", less, more)
}
