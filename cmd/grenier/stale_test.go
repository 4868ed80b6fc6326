package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/rundir"
	"grenier/layers/awari"
)

// staleRun returns a run of 8 pits whose layer 11 was computed over a layer 9 with one wrong score, which has
// been replaced by the right one.
func staleRun(t *testing.T) (dir, whole string) {
	t.Helper()
	const wrong = 9
	whole = solved(t, "--pits", "8", "--seeds", "11")
	game := testrun.Game(t, 8, awari.Awari)
	layers := slices.Clone(testrun.Solve(t, game, wrong))
	layers[wrong] = slices.Clone(layers[wrong])
	layers[wrong][5000] = testrun.Other(layers[wrong][5000])
	dir = testrun.Write(t, game, layers, 4096)
	for grenier(t.Context(), "", "awari", "solve", "--pits", "8", "--seeds", "11", "--dir", dir).status != cli.ExitOK {
		// The few positions that were checked have shown the wrong score.
	}
	testrun.TakeLayer(t, dir, whole, wrong)
	return dir, whole
}

// TestStale: all commands that look at layers as a whole say of which others a layer was made, and repair
// makes it anew.
func TestStale(t *testing.T) {
	dir, whole := staleRun(t)
	eleven := filepath.Join(t.TempDir(), "eleven")
	mustRun(t, "awari", "export", "--dir", whole, "--layer", "11", "--format", "colex", "--out", eleven)
	const text, remedy = "layer 11 was made from another layer 9", "grenier awari repair --set-aside --dir "
	for _, c := range []struct {
		args   string
		status int
	}{
		{"status --dir DIR", cli.ExitOK},
		{"scrub --dir DIR", cli.ExitCorrupt},
		{"verify --dir DIR", cli.ExitCorrupt},
		{"verify --prove --dir DIR", cli.ExitCorrupt},
		{"compare DIR WHOLE --layer 8", cli.ExitCorrupt},
		{"repair --dir DIR --dry-run", cli.ExitCorrupt},
		{"repair --dir DIR", cli.ExitCorrupt},
		{"solve --pits 8 --seeds 11 --dir DIR", cli.ExitCorrupt},
		{"solve --pits 8 --seeds 12 --dir DIR", cli.ExitCorrupt},
		{"import --pits 8 --dir DIR --layer 12 --format colex " + eleven, cli.ExitCorrupt},
	} {
		args := strings.Fields(strings.NewReplacer("DIR", dir, "WHOLE", whole).Replace(c.args))
		r := grenier(t.Context(), "", append([]string{"awari"}, args...)...)
		if all := r.out + r.err; r.status != c.status || !strings.Contains(all, text) || !strings.Contains(all, remedy+dir) {
			t.Errorf("%s: status %d, %s%s", c.args, r.status, r.out, r.err)
		}
	}
	r := grenier(t.Context(), "", "awari", "status", "--json", "--dir", dir)
	should.Hold(t, strings.Contains(r.out, `"made_from_others":[9]`), "%v", r.out)
	out := mustRun(t, "awari", "repair", "-q", "--set-aside", "--dir", dir)
	should.Hold(t, strings.Contains(out, "layer 11: solved again") && strings.Contains(out, "the old file is now layer-11.gl.damaged-"),
		"%v", out)
	mustRun(t, "awari", "scrub", "-q", "--dir", dir)
	mustRun(t, "awari", "compare", "-q", dir, whole)
	name := rundir.LayerName(11)
	should.Hold(t, string(must.Read(t, filepath.Join(whole, name))) == string(must.Read(t, filepath.Join(dir, name))),
		"layer 11 has other bytes")
}
