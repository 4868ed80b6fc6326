package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/rundir"
)

// TestRemedy: whoever meets damage is told what to do.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		command, file string
		cause         error
		want          string
	}{
		{"grenier awari probe", "run/layer-07.gl", nil, "to mend it: grenier awari repair --dir run"},
		{"grenier awari solve", "manifest.json", nil, "to mend it: grenier awari repair --dir ."},
		{"grenier awari stats", "/my runs/it's/manifest.json", corrupt.ErrMismatch, `to mend it: grenier awari repair --dir '/my runs/it'\''s'`},
		{"grenier awari probe", "run/layer-07.gl", corrupt.ErrVersion, "use the version of grenier that wrote it"},
		{"grenier awari probe", "https://host/run/layer-07.gl", nil, "who runs the server can mend it: grenier awari repair"},
		{"grenier swap bfs", "run/work/checkpoint", nil, "to begin anew, remove run/work"},
		{"grenier swap bfs", "run/manifest.json", nil, "to begin anew, remove run/manifest.json and run/work"},
		{"grenier chemin solve", "run/work/blocks", nil, "to begin anew, remove run/work"},
		{"grenier swap solve", "all.gp", nil, "to make it anew: grenier swap pdb"},
		{"grenier swap solve", "all.gp", corrupt.ErrMismatch, "is the path right?"},
		{"grenier awari plan", "c.json", nil, "to measure anew: grenier awari plan --save-calibration FILE"},
		{"grenier awari probe", "five", corrupt.ErrForeign, "is the path right?"},
	} {
		if c.cause == nil {
			c.cause = errors.New("checksum")
		}
		err := fmt.Errorf("layer 7: %w", corrupt.New(c.file, "", "%w", c.cause))
		if got := remedy(c.command, err); got != c.want {
			t.Errorf("%s, %s, %v: %q, want %q", c.command, c.file, c.cause, got, c.want)
		}
	}
	if got := remedy("grenier awari probe", errors.New("no damage")); got != "" {
		t.Errorf("no damage: %q", got)
	}
}

// TestDamageNamesRepair: every command that comes across damage names the one that mends it.
func TestDamageNamesRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my run")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "3", "--dir", dir)
	other := filepath.Join(t.TempDir(), "other")
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "3", "--dir", other)
	commands := [][]string{
		{"probe", "1", "1", "0", "0"}, {"verify"}, {"verify", "--prove"}, {"scrub"}, {"solve", "--pits", "4", "--seeds", "4"},
		{"export", "--layer", "2", "--format", "colex", "--out", filepath.Join(t.TempDir(), "out")}, {"search", "1", "1", "0", "0"},
	}
	layer, manifest := filepath.Join(dir, rundir.LayerName(2)), filepath.Join(dir, rundir.ManifestName)
	for _, c := range []struct {
		path, text string
		commands   [][]string
	}{
		{layer, "", commands},
		{layer, "Dear diary", commands},
		{manifest, "Dear diary", append(commands, []string{"stats"}, []string{"status"}, []string{"plan", "--pits", "4", "--seeds", "4"})},
	} {
		whole, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, command := range c.commands {
			r := grenier(t.Context(), "", append([]string{"awari", command[0], "--dir", dir}, command[1:]...)...)
			oneClearLine(t, r.err)
			if r.status != exitCorrupt || !strings.HasSuffix(r.err, "; to mend it: grenier awari repair --dir '"+dir+"'\n") {
				t.Errorf("%s: status %d, %s", command, r.status, r.err)
			}
		}
		r := grenier(t.Context(), "", "awari", "compare", other, dir)
		if r.status != exitCorrupt || !strings.Contains(r.err, "repair --dir '"+dir+"'") {
			t.Errorf("compare: status %d, %s", r.status, r.err)
		}
		if err := os.WriteFile(c.path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := grenier(t.Context(), "", "awari", "probe", "--dir", t.TempDir(), "1", "1", "0", "0"); strings.Contains(r.err, "repair") {
		t.Errorf("nothing to mend: %s", r.err)
	}
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"data/awari": "data/awari", "my run": "'my run'", "it's": `'it'\''s'`, "": "''", "-x": "'-x'", "a$b": "'a$b'",
	} {
		if got := word(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
