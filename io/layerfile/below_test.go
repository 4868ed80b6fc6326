package layerfile

import (
	"maps"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/tally"
)

// TestBelow: a reader gets the layers that the writer named; layers that cannot be below are refused.
func TestBelow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below.gl")
	writeFile(t, path, goldenHeader("below"), goldenScores())
	f := must.Get(Open(path))(t)
	defer f.Close()
	got := maps.Collect(f.Header().Below.All())
	should.Hold(t, maps.Equal(got, map[int]tally.Hash{4: 0x0123456789abcdef, 5: 1}), "%v", got)
	for name, below := range map[string]Below{
		"twice": Below("").With(4, 1) + Below("").With(4, 1), "falling": Below("").With(5, 1) + Below("").With(4, 1),
		"not below": Below("").With(8, 1), "cut": Below("").With(4, 1)[1:],
	} {
		h := goldenHeader("below")
		h.Below = below
		should.Not(t, h.Validate() == nil, "%s: accepted", name)
		if len(below)%belowSize != 0 {
			continue
		}
		data := (&layerfiletest.File{Below: []byte(below), Header: func(h *layerfiletest.Header) { h.Seeds = 7 }}).Encode()
		mustBeCorrupt(t, path, data, name)
	}
}
