package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// badInput is a command line that must fail; words that the message must have are separated by "|".
type badInput struct {
	args   string
	status int
	words  string
}

// refused runs bad command lines in the current directory, none of which may
// change anything there that results depend on.
func refused(t *testing.T, cases []badInput) {
	t.Helper()
	before := layerContents(t, ".")
	for _, c := range cases {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.Trim(args[i], `'`) // '' is an empty argument
			}
			r := grenier(t.Context(), "", args...)
			should.Equal(t, r.status, c.status, "status")
			oneClearLine(t, r.err)
			for word := range strings.SplitSeq(c.words, "|") {
				should.Hold(t, strings.Contains(r.err, word), "%q lacks %q", r.err, word)
			}
			must.Same(t, "changed", before, layerContents(t, "."))
		})
	}
}

// TestHugeLines sends lines of 2 MB among others. They are told and skipped; where there can be only one
// line they are refused.
func TestHugeLines(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	must.Write(t, "row.txt", []byte("oo.o\n"))
	const told = "more than 65536 bytes"
	long := strings.Repeat("1 ", 1<<20) + "\n"
	for _, c := range []struct {
		args, in string
		status   int
		words    string // of stdout, or of stderr in case of a failure
	}{
		{"awari probe --dir . -", "1 1 1 1\n" + long + "0 1 1 1\n", cli.ExitUsage, "line 2: " + told},
		{"awari play --dir .", "help\n0" + strings.Repeat(" ", 2<<20) + "\nquit\n", cli.ExitOK, told + "|you left the game"},
		{"awari uci --dir .", "isready\n" + long + "uci\n", cli.ExitOK, "readyok|info string error: a line is skipped: " + told + "|uciok"},
		{"awari search --dir . -", long, cli.ExitUsage, "stdin: " + told},
		{"chemin play --rows 3 --cols 3 -", long, cli.ExitUsage, "stdin: " + told},
		{"solitaire play --board row.txt --progress none", "board\n" + long + "quit\n", cli.ExitOK, told + "|you left the game with 3 pegs"},
		{"swap solve -", long, cli.ExitUsage, "line 1 has more than 4096 bytes"},
	} {
		r := grenier(t.Context(), c.in, strings.Fields(c.args)...)
		said := r.err
		if c.status == cli.ExitOK {
			said = r.out
		}
		should.Hold(t, r.status == c.status && len(r.err) <= 500, "%s: status %d, want %d: %.500s", c.args, r.status, c.status, r.err)
		for word := range strings.SplitSeq(c.words, "|") {
			should.Hold(t, strings.Contains(said, word), "%s: %.300q lacks %q", c.args, said, word)
		}
	}
}

// writeFiles makes files in the current directory.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Write(t, name, []byte(text))
	}
}

func TestBadDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "2", "--rules", "strict", "--dir", "strict")
	newer := must.Tree(t, "strict")[rundir.ManifestName]
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "begun/manifest.json": "", "other/manifest.json": `{"name": "site"}`,
		"newer/manifest.json": strings.Replace(newer, `"version": 1`, `"version": 5`, 1),
	})
	must.OK(t, os.Mkdir("empty", 0o755))
	solve, probe := "awari solve --pits 4 --seeds 3 --dir ", " 1 0 0 0"
	refused(t, []badInput{
		{solve + "strict", cli.ExitUsage, "strict holds|rules strict, 4 pits|asked for|rules awari, 4 pits"},
		{"awari solve --rules strict --seeds 1 --dir strict", cli.ExitUsage, "rules strict, 4 pits|asked for|rules strict, 12 pits"},
		{solve + "file", cli.ExitFailure, "file|not a directory"},
		{solve + "file/below", cli.ExitFailure, "file/below|not a directory"},
		{solve + "photos", cli.ExitCorrupt, "photos|not a run directory|cat.jpg"},
		{solve + "other", cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
		{solve + "begun", cli.ExitCorrupt, "begun/manifest.json"},
		{solve + "newer", cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
	})
	for command, rest := range map[string]string{"probe": probe, "stats": "", "verify": "", "status": ""} {
		c := "awari " + command + " --dir "
		refused(t, []badInput{
			{c + "none" + rest, cli.ExitFailure, "none|no run directory"},
			{c + "empty" + rest, cli.ExitFailure, "empty|no run directory"},
			{c + "file" + rest, cli.ExitFailure, "file|not a directory"},
			{c + "file/below" + rest, cli.ExitFailure, "file/below|not a directory"},
			{c + "photos" + rest, cli.ExitCorrupt, "photos|not a run directory"},
			{c + "other" + rest, cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
			{c + "begun" + rest, cli.ExitCorrupt, "begun/manifest.json"},
			{c + "newer" + rest, cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
		})
	}
}

// TestLockedDirectory also reads while somebody else writes.
func TestLockedDirectory(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "3"))
	locked := must.Get(rundir.Lock(".", manifest.Identity{Game: "awari", Rules: "awari", Pits: 4}))(t)
	defer func() { must.OK(t, locked.Unlock()) }()
	refused(t, []badInput{
		{"awari solve --pits 4 --seeds 4 --dir .", cli.ExitFailure, "lock|in use by process " + strconv.Itoa(os.Getpid())},
	})
	mustRun(t, "awari", "probe", "--dir", ".", "1", "1", "1", "0")
	mustRun(t, "awari", "stats", "--dir", ".")
	mustRun(t, "awari", "status", "--dir", ".")
	mustRun(t, "awari", "verify", "--dir", ".", "--progress", "none")
}

// TestDamageMessages reads the messages for the usual accidents.
func TestDamageMessages(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "3"))
	name := rundir.LayerName(2)
	text := string(must.Read(t, name))
	newer := []byte(text)
	newer[8] = 4
	for _, c := range [][2]string{
		{"", "header: truncated: 0 bytes"},
		{"Dear diary", "not a file of this program"},
		{strings.Repeat("Dear diary, ", 100), "not a file of this program"},
		{string(newer), "version 4"},
		{text[:40], "header: truncated"},
		{text[:len(text)-1], "footer: "},
		{string(must.Read(t, rundir.LayerName(1))), "number of seeds 1"},
	} {
		must.Write(t, name, []byte(c[0]))
		words := name + ": |" + c[1]
		refused(t, []badInput{
			{"awari probe --dir . 1 1 0 0", cli.ExitCorrupt, words},
			{"awari verify --dir .", cli.ExitCorrupt, words},
			{"awari solve --pits 4 --seeds 4 --dir .", cli.ExitCorrupt, words},
		})
	}
}

// TestMissingLayer removes a file that the manifest lists.
func TestMissingLayer(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "4"))
	must.OK(t, os.Remove(rundir.LayerName(2)))
	refused(t, []badInput{
		{"awari probe --dir . 1 1 0 0", cli.ExitCorrupt, "layer-02.gl|missing"},
		{"awari verify --dir .", cli.ExitCorrupt, "layer-02.gl|missing"},
		{"awari solve --pits 4 --seeds 5 --dir .", cli.ExitCorrupt, "solving layer 5|layer-02.gl|missing"},
	})
	mustRun(t, "awari", "probe", "--dir", ".", "1", "0", "0", "0")
	mustRun(t, "awari", "stats", "--dir", ".")
}
