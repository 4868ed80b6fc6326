package tables_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// forge puts a forged file of layer 3 in place of the true one, and into the manifest as
// far as it can be opened. It returns the scores that it should hold, and the directory.
func forge(t *testing.T, change func(f *layerfiletest.File, scores []int8)) (dir string) {
	t.Helper()
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 4)
	dir = testrun.Write(t, game, layers, 64)
	scores := layers[3]
	f := layerfiletest.File{Header: func(h *layerfiletest.Header) { h.Pits, h.Seeds = 4, 3 }}
	f.Blocks = []layerfiletest.Block{layerfiletest.Plain(scores)}
	if change != nil {
		change(&f, scores)
	}
	path := filepath.Join(dir, rundir.LayerName(3))
	must.Write(t, path, f.Encode())
	file, err := layerfile.Open(path)
	if err != nil {
		return dir
	}
	defer file.Close()
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		l, foot := &m.Layers[3], file.Footer()
		l.Bytes, l.Hash, l.Checksum = foot.Bytes, foot.Hash, manifest.Checksum(foot.Checksum)
	})
	return dir
}

// TestForged has files whose checksums are right, and which the manifest lists: a score that
// cannot be is an error, and so is a file of something else.
func TestForged(t *testing.T) {
	header := func(set func(*layerfiletest.Header)) func(*layerfiletest.File, []int8) {
		return func(f *layerfiletest.File, _ []int8) {
			f.Header = func(h *layerfiletest.Header) { h.Pits, h.Seeds = 4, 3; set(h) }
		}
	}
	if tab := open(t, forge(t, nil)); tab != nil {
		should.Be(t, must.Err(tab.Score(t.Context(), awari.Board{1, 1, 1})), nil, "nothing is changed")
	}
	for name, c := range map[string]struct {
		change func(f *layerfiletest.File, scores []int8)
		text   string
	}{
		"a larger score": {func(_ *layerfiletest.File, scores []int8) {
			for i, x := range scores {
				if x > 0 {
					scores[i] = 4
					break
				}
			}
		}, "is 4: must be -3 to 3"},
		"the smallest score": {func(_ *layerfiletest.File, scores []int8) {
			for i, x := range scores {
				if x < 0 {
					scores[i] = -128
					break
				}
			}
		}, "is -128: must be -3 to 3"},
		"other counts": {func(_ *layerfiletest.File, scores []int8) { scores[0], scores[1] = 1, 1 }, "the manifest"},
		"255 seeds":    {header(func(h *layerfiletest.Header) { h.Seeds = 255 }), "number of seeds 255 does not match"},
		"no pits":      {header(func(h *layerfiletest.Header) { h.Pits = 0 }), "number of pits 0 does not match"},
		"60 pits":      {header(func(h *layerfiletest.Header) { h.Pits = 60 }), "number of pits 60 does not match"},
		"other rules":  {header(func(h *layerfiletest.Header) { h.Rules = "strict" }), "rules strict does not match"},
		"another game": {header(func(h *layerfiletest.Header) { h.Game = "swap" }), "game swap does not match"},
		"a block more": {func(f *layerfiletest.File, _ []int8) {
			f.Blocks = append(f.Blocks, layerfiletest.Plain([]int8{0}))
		}, "number of positions 21 does not match"},
	} {
		dir := forge(t, c.change)
		tab, err := tables.Open(t.Context(), dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer tab.Close()
		_, err = tab.Score(t.Context(), awari.Board{1, 1, 1})
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), c.text) && strings.Contains(err.Error(), rundir.LayerName(3)),
			"%s: error %v", name, err)
	}
}

// TestForgedManifest has manifests of layers that awari does not have.
func TestForgedManifest(t *testing.T) {
	for name, change := range map[string]func(m *manifest.Manifest){
		"no pits":      func(m *manifest.Manifest) { m.Pits = 0 },
		"odd pits":     func(m *manifest.Manifest) { m.Pits = 5 },
		"60 pits":      func(m *manifest.Manifest) { m.Pits = 60 },
		"other pits":   func(m *manifest.Manifest) { m.Pits = 6 },
		"other rules":  func(m *manifest.Manifest) { m.Rules = "chess" },
		"another game": func(m *manifest.Manifest) { m.Game = "swap" },
		"positions": func(m *manifest.Manifest) {
			l := &m.Layers[2]
			l.Positions, l.Draw, l.Histogram[0] = l.Positions+1, l.Draw+1, l.Histogram[0]+1
		},
		"score": func(m *manifest.Manifest) {
			h := &m.Layers[2].Histogram
			h[100], h[2] = h[2], 0
		},
		"many layers": func(m *manifest.Manifest) {
			for n := len(m.Layers); n < 60; n++ {
				l := m.Layers[4]
				l.Seeds, l.File = n, rundir.LayerName(n)
				m.Layers = append(m.Layers, l)
			}
		},
	} {
		dir := testrun.Dir(t, 4, awari.Awari, 4, 64)
		testrun.EditManifest(t, dir, change)
		d := must.Get(rundir.Open(dir))(t)
		_, opened := tables.Open(t.Context(), dir)
		_, listed := catalog.Manifest(d)
		for _, err := range []error{opened, listed} {
			should.Hold(t, errors.Is(err, corrupt.ErrMismatch) && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), rundir.ManifestName),
				"%s: error %v", name, err)
		}
	}
}
