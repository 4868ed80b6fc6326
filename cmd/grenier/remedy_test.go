package main

import (
	"path/filepath"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

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
		whole := must.Read(t, c.path)
		must.Write(t, c.path, []byte(c.text))
		for _, command := range c.commands {
			r := grenier(t.Context(), "", append([]string{"awari", command[0], "--dir", dir}, command[1:]...)...)
			oneClearLine(t, r.err)
			should.Hold(t, r.status == cli.ExitCorrupt && strings.HasSuffix(r.err, "; to repair it: grenier awari repair --dir '"+dir+"'\n"),
				"%s: status %d, %s", command, r.status, r.err)
		}
		r := grenier(t.Context(), "", "awari", "compare", other, dir)
		should.Hold(t, r.status == cli.ExitCorrupt && strings.Contains(r.err, "repair --dir '"+dir+"'"),
			"compare: status %d, %s", r.status, r.err)
		must.Write(t, c.path, whole)
	}
	r := grenier(t.Context(), "", "awari", "probe", "--dir", t.TempDir(), "1", "1", "0", "0")
	should.Not(t, strings.Contains(r.err, "repair"), "nothing to mend: %s", r.err)
}
