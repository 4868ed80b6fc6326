package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/writetest"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// replaceLayer gives layer n of a run directory other scores, with checksums and a
// manifest that fit, as a solver would that is wrong.
func replaceLayer(t *testing.T, dir string, n int, scores []int8) {
	t.Helper()
	path := filepath.Join(dir, rundir.LayerName(n))
	old, err := layerfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	header := old.Header()
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	header.Model = "" // that of the old scores
	summary := writetest.File(t, path, header, scores)
	m, err := manifest.Load(filepath.Join(dir, rundir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m.Layers[n] = manifest.NewLayer(rundir.LayerName(n), summary, 0)
	d, err := vfs.OpenDir(dir)
	if err == nil {
		err = errors.Join(m.Save(d, rundir.ManifestName), d.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLongProveCircles has six boards with two seeds that are worth 0, because they are
// played round and round, and gives them the scores 2 and -2, each of which follows
// from those of its moves.
func TestLongProveCircles(t *testing.T) {
	dir := solved(t, "--pits", "4", "--seeds", "3")
	replaceLayer(t, dir, 2, []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2})
	mustRun(t, "awari", "verify", "--dir", dir, "--layer", "2", "--progress", "none")
	r := grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--layer", "2")
	if want := `layer  2: 10 of 10 positions checked, 0 wrong
  not proved: 1 positive, 3 negative are grounded, 6 others are not; the first of them:
  board 0 1 0 1, rank 2: the score 2 is not grounded
  board 1 0 0 1, rank 3: the score -2 is not grounded
  board 1 0 1 0, rank 6: the score 2 is not grounded
  board 0 2 0 0, rank 7: the score 2 is not grounded
  board 1 1 0 0, rank 8: the score -2 is not grounded
  board 2 0 0 0, rank 9: the score 2 is not grounded
`; r.status != cli.ExitDifferences || r.out != want {
		t.Errorf("status %d, %s", r.status, r.out)
	}
	if want := "grenier: layer 2: 6 scores are not grounded: they only back each other, in circles\n"; r.err != want {
		t.Errorf("%q, want %q", r.err, want)
	}
	r = grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--json")
	for _, part := range []string{
		`{"ok":false,"layers":[`, `"ungrounded":6,"first":[{"rank":2,"board":"0 1 0 1","stored":2},`, `"proof":null}],"seconds":`,
	} {
		if r.status != cli.ExitDifferences || !strings.Contains(r.out, part) {
			t.Errorf("status %d, %q lacks %q", r.status, r.out, part)
		}
	}
}
