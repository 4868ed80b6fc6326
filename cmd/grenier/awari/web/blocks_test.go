package web_test

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/pipeline/tables"
)

// inSmallBlocks returns the same layers in blocks of so few scores that indexes are long, as
// they are of layers with hundreds of millions of positions. There is no server for it.
func inSmallBlocks(t *testing.T, s *site, blockSize int) *site {
	t.Helper()
	layers := make([][]int8, len(s.tables.Layers()))
	for n := range layers {
		f, err := s.tables.File(t.Context(), n)
		if err == nil {
			layers[n] = make([]int8, f.Header().Positions)
			err = s.tables.Read(t.Context(), n, 0, layers[n])
		}
		must.OK(t, err)
	}
	dir := testrun.Write(t, s.game, layers, blockSize)
	tab := must.Get(tables.Open(t.Context(), dir))(t)
	t.Cleanup(func() { tab.Close() })
	return &site{game: s.game, dir: dir, tables: tab}
}
