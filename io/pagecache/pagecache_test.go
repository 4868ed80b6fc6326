package pagecache_test

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/io/pagecache"
)

// TestNoFile shows that a Bound of no file does nothing.
func TestNoFile(t *testing.T) {
	var zero pagecache.Bound
	zero.Wrote(0, 1<<30)
	zero.Read(1 << 30)
	zero.Synced()
	must.OK(t, zero.Close())
}
