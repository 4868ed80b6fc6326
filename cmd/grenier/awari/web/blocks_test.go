package web_test

import (
	"testing"

	"grenier/internal/testkit/writetest"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/pipeline/tables"
)

// inSmallBlocks returns the same layers in blocks of so few scores that indexes are long, as
// they are of layers with hundreds of millions of positions. There is no server for it.
func inSmallBlocks(t *testing.T, s *site, blockSize int) *site {
	t.Helper()
	dir := t.TempDir()
	id := manifest.Identity{Game: tables.GameName, Rules: s.game.Rules().String(), Pits: s.game.Pits()}
	run, err := rundir.Lock(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{Identity: id}
	for n := range s.tables.Layers() {
		m.Layers = append(m.Layers, rewrite(t, s.tables, run, n, blockSize))
	}
	if err := run.SaveManifest(m); err != nil {
		t.Fatal(err)
	}
	if err := run.Unlock(); err != nil {
		t.Fatal(err)
	}
	tab, err := tables.Open(dir, tables.Options{Family: cpu.Best()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tab.Close() })
	return &site{game: s.game, dir: dir, tables: tab}
}

// rewrite writes a layer in blocks of another size.
func rewrite(t *testing.T, tab *tables.Tables, run *rundir.Locked, n, blockSize int) manifest.Layer {
	t.Helper()
	f, err := tab.File(n)
	if err != nil {
		t.Fatal(err)
	}
	h := f.Header()
	h.BlockSize = blockSize
	scores := make([]int8, h.Positions)
	if err := tab.Read(n, 0, scores); err != nil {
		t.Fatal(err)
	}
	p, err := run.NewLayer(n)
	if err != nil {
		t.Fatal(err)
	}
	summary := writetest.Layer(t, p, h, scores)
	return manifest.NewLayer(rundir.LayerName(n), summary, 0)
}
