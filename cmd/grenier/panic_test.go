package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// buggy makes the k-th report of progress panic, in the goroutine that reports, while
// body runs; it returns whether there were so many.
func buggy(t *testing.T, k int64, body func()) bool {
	var reports atomic.Int64
	reported = func() {
		if reports.Add(1) == k {
			aBug(k)
		}
	}
	defer func() { reported = nil }()
	body()
	return reports.Load() >= k
}

// aBug is in the stack that is to be found.
func aBug(k int64) { panic(fmt.Sprintf("bug %d\nhere", k)) }

var bugLine = regexp.MustCompile(`^grenier: internal error: bug \d+; here; this is a bug of grenier ` + regexp.QuoteMeta(cli.Release) +
	` with \w+ kernels, its stack (is in .*|follows\ngoroutine (?s:.*))\n$`)

// wantBug checks what a user sees of a bug: one line, and the stack here or there.
func wantBug(t *testing.T, r result, log string) {
	must.Hold(t, r.status == cli.ExitBug && bugLine.MatchString(r.err), "status %d, %s", r.status, r.err)
	stack := r.err
	if log != "" {
		should.Hold(t, strings.HasSuffix(r.err, "its stack is in "+log+"\n"), "no word of the log: %s", r.err)
		stack = string(must.Read(t, log))
	}
	should.Hold(t, strings.Contains(stack, "grenier.aBug("), "no stack of the bug")
}

// wantNoTemps checks that no temporary file is left below dir.
func wantNoTemps(t *testing.T, dir string) {
	t.Helper()
	for path := range must.Tree(t, dir) {
		_, ok := vfs.TempFor(filepath.Base(path))
		should.Not(t, ok, "%s is left", path)
	}
}

// TestLongBug makes commands panic in the midst of their work, earlier and later: all
// end in order, and the same command continues to the same end.
func TestLongBug(t *testing.T) {
	tables, exported := solved(t, "--seeds", "9"), filepath.Join(t.TempDir(), "exported")
	mustRun(t, "awari", "export", "--dir", tables, "--layer", "0", "--format", "colex", "--out", exported, "--progress", "none")
	places := strings.NewReplacer("TABLES", tables, "EXPORTED", exported, "PEGS", pegBoard(t))
	for _, c := range []struct {
		name, args string // @ is a directory of its own
		log        bool   // there is a log
		long       bool   // it takes its time
	}{
		{name: "solve", args: "awari solve --seeds 9 --threads 2 --dir @", log: true},
		{name: "import", args: "awari import --layer 0 --format colex --dir @ EXPORTED"},
		{name: "export", args: "awari export --dir TABLES --layer 8 --format vu --out @/scores"},
		{name: "verify", args: "awari verify --dir TABLES"},
		{name: "prove", args: "awari verify --prove --dir TABLES", long: true},
		{name: "compare", args: "awari compare TABLES TABLES"},
		{name: "bfs", args: "swap bfs --rows 3 --cols 3"},
		{name: "bfs disk", args: "swap bfs --rows 3 --cols 3 --dir @", long: true},
		{name: "patterns", args: "swap pdb build --kind apdb --rows 3 --cols 3 --tiles 1,2,3 --out @/p.gp"},
		{name: "chemin", args: "chemin solve --rows 3 --cols 3 --dir @", long: true},
		{name: "solitaire", args: "solitaire solve --board PEGS --dir @", long: true},
		{name: "chemin classes", args: "chemin solve --rows 3 --cols 3 --method classes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				tries.NeedsLong(t, "a search on disk")
			}
			start := time.Now()
			whole, broken := t.TempDir(), t.TempDir()
			command := func(dir string) result {
				args := strings.ReplaceAll(places.Replace(c.args), "@", dir)
				return grenier(t.Context(), "", append(strings.Fields(args), "--progress", "none")...)
			}
			r := command(whole)
			must.Hold(t, r.status == cli.ExitOK, "status %d, %s", r.status, r.err)
			log := ""
			if c.log {
				log = filepath.Join(broken, rundir.LogName)
			}
			bugs, factor := 0, tries.More(int64(729), 3)
			for k := int64(1); ; k *= factor {
				var r result
				if !buggy(t, k, func() { r = command(broken) }) {
					should.Hold(t, r.status == cli.ExitOK, "status %d, %s", r.status, r.err)
					break
				}
				bugs++
				wantBug(t, r, log)
				wantNoTemps(t, broken)
			}
			should.Not(t, bugs == 0, "nothing was reported")
			t.Logf("%d bugs, %v", bugs, time.Since(start))
			must.Same(t, "what is left differs", kept(t, whole), kept(t, broken))
		})
	}
}

// brokenWriter panics.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { panic("a broken writer") }

// TestBugInBackground: a bug in what shows progress ends the command at once.
func TestBugInBackground(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"awari", "solve", "--seeds", "24", "--threads", "1", "--dir", dir, "--json", "--progress", "json"},
		strings.NewReader(""), brokenWriter{}, &errs)
	want := "its stack is in " + filepath.Join(dir, rundir.LogName)
	should.Hold(t, status == cli.ExitBug && strings.HasPrefix(errs.String(), "grenier: internal error: a broken writer; ") && strings.Contains(errs.String(), want),
		"status %d, %s%s", status, out.String(), errs.String())
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
}
