package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// badInput is a command line that must fail; words that the message must have
// are separated by "|".
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
			if r.status != c.status {
				t.Errorf("status %d, want %d", r.status, c.status)
			}
			oneClearLine(t, r.err)
			for word := range strings.SplitSeq(c.words, "|") {
				if !strings.Contains(r.err, word) {
					t.Errorf("%q lacks %q", r.err, word)
				}
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
		if r.status != c.status || len(r.err) > 500 {
			t.Errorf("%s: status %d, want %d: %.500s", c.args, r.status, c.status, r.err)
		}
		for word := range strings.SplitSeq(c.words, "|") {
			if !strings.Contains(said, word) {
				t.Errorf("%s: %.300q lacks %q", c.args, said, word)
			}
		}
	}
}

func TestBadBoards(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	probe := "awari probe --dir . "
	refused(t, []badInput{
		{probe + "1 1 1", cli.ExitUsage, "3 pits given|4 are needed"},
		{probe + "- 1", cli.ExitUsage, "2 pits given|4 are needed"},
		{probe, cli.ExitUsage, "0 arguments|a board|or -|grenier awari probe --help"},
		{probe + "1 -1 1 1", cli.ExitUsage, `"-1"|number from 0 up`},
		{probe + "-- 1 -1 1 1", cli.ExitUsage, `"-1"|pit 1|0 to 48`},
		{probe + "1 x 1 1", cli.ExitUsage, `"x"|pit 1|0 to 48`},
		{probe + "1 '' 1 1", cli.ExitUsage, `""|pit 1|0 to 48`},
		{probe + "1 49 1 1", cli.ExitUsage, "49|48"},
		{probe + "1 18446744073709551617 1 1", cli.ExitUsage, "18446744073709551617|pit 1|48"},
		{probe + "24 24 1 0", cli.ExitUsage, "more than 48"},
		{probe + "2 2 2 0", cli.ExitUsage, "not solved|6 seeds|up to 5"},
	})
}

func TestBadFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	solve := "awari solve --dir new --seeds 3 "
	refused(t, []badInput{
		{"awari solve --seeds 3", cli.ExitUsage, `"dir" not set|grenier awari solve --help`},
		{"awari solve --dir new", cli.ExitUsage, `"seeds" not set`},
		{"awari probe 1 1 1 1", cli.ExitUsage, `"dir" not set`},
		{solve + "--pits 7", cli.ExitUsage, "7|4, 6, 8, 10 and 12"},
		{solve + "--pits -12", cli.ExitUsage, "-12|4, 6, 8, 10 and 12"},
		{solve + "--pits twelve", cli.ExitUsage, `--pits "twelve"|whole number`},
		{solve + "--rules kalah", cli.ExitUsage, `"kalah"|awari, strict`},
		{solve + "--rules Awari", cli.ExitUsage, `"Awari"|awari, strict`},
		{solve + "--seeds 49", cli.ExitUsage, "49|0 to 48"},
		{solve + "--seeds -1", cli.ExitUsage, "-1|0 to 48"},
		{solve + "--seeds 99999999999999999999", cli.ExitUsage, `--seeds "99999999999999999999"|whole number`},
		{solve + "--memory much", cli.ExitUsage, `--memory "much"|8GiB`},
		{solve + "--memory 0", cli.ExitUsage, `--memory "0"|8GiB`},
		{solve + "--memory 1KiB", cli.ExitUsage, "--memory 1KiB|layer 3 needs|1.0 KiB are allowed|too little for any layer"},
		{solve + "--seeds 40 --memory 1GiB", cli.ExitUsage, "--memory 1GiB|layer 40 needs|1.0 GiB are allowed|enough up to layer"},
		{solve + "--threads 0", cli.ExitUsage, "--threads 0|1 to 1024"},
		{solve + "--threads 1000000", cli.ExitUsage, "--threads 1000000|1 to 1024"},
		{solve + "--progress loud", cli.ExitUsage, `--progress "loud"|auto, bar, plain, json and none`},
		{solve + "--frobnicate", cli.ExitUsage, "unknown flag: --frobnicate|grenier awari solve --help"},
		{solve + "-f", cli.ExitUsage, "'f' in -f"},
		{solve + "--json=perhaps", cli.ExitUsage, `--json "perhaps"|true or false`},
		{solve + "extra", cli.ExitUsage, `"extra"|flags only`},
		{"awari solve --seeds 3 --dir ''", cli.ExitUsage, `--dir ""|name`},
		{"awari solve --seeds 3 --dir http://host/", cli.ExitUsage, `--dir "http://host/"|a name, no address`},
		{"awari serve --dir https://host/awari/", cli.ExitUsage, "a name, no address"},
		{"awari solve --seeds 3 --dir", cli.ExitUsage, "needs an argument: --dir"},
		{"awari status --dir . extra", cli.ExitUsage, `"extra"|flags only`},
		{"awari verify --dir . --sample -1", cli.ExitUsage, `--sample "-1"|from 0 up`},
		{"awari verify --dir . --threads 0", cli.ExitUsage, "--threads 0|1 to 1024"},
		{"version extra", cli.ExitUsage, `"extra"|flags only`},
		{"solve --seeds 3 --dir new", cli.ExitUsage, `unknown command "solve"|awari, |version`},
		{"awari sovle --seeds 3 --dir new", cli.ExitUsage, `unknown command "sovle"|solve|grenier awari --help`},
	})
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
		"newer/manifest.json": strings.Replace(newer, `"version": 1`, `"version": 3`, 1),
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
		{solve + "newer", cli.ExitCorrupt, "newer/manifest.json|version 3|versions 1 to 2"},
	})
	for command, rest := range map[string]string{"probe": probe, "stats": "", "verify": "", "status": "", "status --json --watch": ""} {
		c := "awari " + command + " --dir "
		refused(t, []badInput{
			{c + "none" + rest, cli.ExitFailure, "none|no run directory"},
			{c + "empty" + rest, cli.ExitFailure, "empty|no run directory"},
			{c + "file" + rest, cli.ExitFailure, "file|not a directory"},
			{c + "file/below" + rest, cli.ExitFailure, "file/below|not a directory"},
			{c + "photos" + rest, cli.ExitCorrupt, "photos|not a run directory"},
			{c + "other" + rest, cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
			{c + "begun" + rest, cli.ExitCorrupt, "begun/manifest.json"},
			{c + "newer" + rest, cli.ExitCorrupt, "newer/manifest.json|version 3|versions 1 to 2"},
		})
	}
}

// TestLockedDirectory also reads while somebody else writes.
func TestLockedDirectory(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "3"))
	locked, err := rundir.Lock(".", manifest.Identity{Game: "awari", Rules: "awari", Pits: 4})
	must.OK(t, err)
	defer func() {
		must.OK(t, locked.Unlock())
	}()
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
