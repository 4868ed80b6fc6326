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
	"grenier/io/rundir"
)

// TestRefusals: each of many wrong command lines ends with the status that the one rule for statuses says, and with one
// line that has the flag or argument, what was given, what is allowed, and, where it helps, what was probably meant.
func TestRefusals(t *testing.T) {
	all := refusals(t)
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	t.Setenv(cli.DirVariable, "")
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "other/manifest.json": `{"name": "site"}`, "short": "x", "grid.txt": "1 2\n", "cal.json": "{}",
		"board.txt": "xyz\n",
	})
	refused(t, all)
}

func refusals(t *testing.T) (all []badInput) {
	for line := range strings.Lines(string(must.Read(t, "testdata/refusals.txt"))) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		status, rest, _ := strings.Cut(line, " ")
		args, words, ok := strings.Cut(rest, " => ")
		must.Hold(t, ok && words != "", "%q has no words", line)
		all = append(all, badInput{args, must.Get(strconv.Atoi(status))(t), words})
	}
	should.Not(t, len(all) < 150, "only %d", len(all))
	return all
}

// TestDamage: every command that comes across damage tells it in one line, which names the command that mends it.
func TestDamage(t *testing.T) {
	dir, other, out := filepath.Join(t.TempDir(), "my run"), solved(t, "--pits", "4", "--seeds", "3"), filepath.Join(t.TempDir(), "out")
	must.OK(t, os.CopyFS(dir, os.DirFS(other)))
	layer, manifest := filepath.Join(dir, rundir.LayerName(2)), filepath.Join(dir, rundir.ManifestName)
	text, repair := string(must.Read(t, layer)), "; to repair it: grenier awari repair --dir '"+dir+"'\n"
	const diary = "not a file of this program"
	for _, c := range []struct {
		path, text, words string // of a damaged file
	}{
		{layer, "", "header: truncated: 0 bytes"}, {layer, "Dear diary", diary}, {layer, strings.Repeat("Dear diary, ", 100), diary},
		{layer, text[:40], "header: truncated"}, {layer, text[:len(text)-1], "footer: "},
		{layer, string(must.Read(t, filepath.Join(dir, rundir.LayerName(1)))), "number of seeds 1"},
		{layer, text[:8] + "\x04" + text[9:], "version 4"}, {manifest, "Dear diary", diary}, {layer, "gone", "missing"},
	} {
		whole, remedy := must.Read(t, c.path), repair
		if c.words == "version 4" {
			remedy = "\n" // a newer program reads it
		}
		must.Write(t, c.path, []byte(c.text))
		if c.text == "gone" {
			must.OK(t, os.Remove(c.path))
			mustRun(t, "awari", "stats", "--dir", dir)
		}
		commands := []string{
			"probe 1 1 0 0", "search 1 1 0 0", "verify", "verify --prove", "scrub", "solve --pits 4 --seeds 4", "export --layer 2 --format colex --out " + out, "compare " + other,
		}
		if c.path == manifest {
			commands = append(commands, "stats", "status", "plan --pits 4 --seeds 4")
		} else {
			mustRun(t, "awari", "probe", "--dir", dir, "1", "0", "0", "0") // other layers serve
		}
		for _, command := range commands {
			args := append([]string{"awari"}, append(strings.Fields(command), "--dir", dir)...)
			if args[1] == "compare" {
				args[len(args)-2] = "--" // two directories
			}
			r := grenier(t.Context(), "", args...).wants(t, cli.ExitCorrupt)
			oneClearLine(t, r.err)
			should.Hold(t, strings.HasSuffix(r.err, remedy), "%s: %s", command, r.err)
			if command != "scrub" { // which tells of each layer on stdout
				should.Has(t, r.err, filepath.Base(c.path)+": ", c.words)
			}
		}
		must.Write(t, c.path, whole)
	}
	should.Lacks(t, do(t, "awari probe 1 1 0 0 --dir "+t.TempDir()).err, "repair")
}

// badInput is a command line that must fail; words that the message must have are separated by "|". Of choices in braces, "{a|b}", each
// is a command line of its own; the first that is made stands for {} in the words.
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
	var all []badInput
	for _, c := range cases {
		all = append(all, c.each()...)
	}
	for _, c := range all {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.Trim(args[i], `'`) // '' is an empty argument
			}
			r := grenier(t.Context(), "", args...)
			should.Equal(t, r.status, c.status, "status")
			oneClearLine(t, r.err)
			should.Has(t, r.err, strings.Split(c.words, "|")...)
			must.Same(t, "changed", before, layerContents(t, "."))
		})
	}
}

func (c badInput) each() (all []badInput) {
	before, rest, found := strings.Cut(c.args, "{")
	if !found {
		return []badInput{c}
	}
	choices, after, _ := strings.Cut(rest, "}")
	for choice := range strings.SplitSeq(choices, "|") {
		all = append(all, badInput{before + choice + after, c.status, strings.ReplaceAll(c.words, "{}", choice)}.each()...)
	}
	return all
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
		should.Has(t, said, strings.Split(c.words, "|")...)
	}
}

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
	const solve, readers = "awari solve --pits 4 --seeds 3 --dir ", "awari {probe 1 0 0 0|stats|verify|status} --dir "
	const every = "awari {solve --pits 4 --seeds 3|probe 1 0 0 0|stats|verify|status} --dir "
	refused(t, []badInput{
		{solve + "strict", cli.ExitUsage, "strict holds|rules strict, 4 pits|asked for|rules awari, 4 pits"},
		{"awari solve --rules strict --seeds 1 --dir strict", cli.ExitUsage, "rules strict, 4 pits|asked for|rules strict, 12 pits"},
		{readers + "none", cli.ExitFailure, "none|no run directory"},
		{readers + "empty", cli.ExitFailure, "empty|no run directory"},
		{every + "file", cli.ExitFailure, "file|not a directory"},
		{every + "file/below", cli.ExitFailure, "file/below|not a directory"},
		{solve + "photos", cli.ExitCorrupt, "photos|not a run directory|cat.jpg"},
		{readers + "photos", cli.ExitCorrupt, "photos|not a run directory"},
		{every + "other", cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
		{every + "begun", cli.ExitCorrupt, "begun/manifest.json"},
		{every + "newer", cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
	})
}
