package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// buggy makes the k-th report of progress panic, in the goroutine that reports, while
// body runs; it returns whether there were so many.
func buggy(t *testing.T, k int64, body func()) bool {
	t.Helper()
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
	t.Helper()
	if r.status != cli.ExitBug || !bugLine.MatchString(r.err) {
		t.Fatalf("status %d, %s", r.status, r.err)
	}
	stack := r.err
	if log != "" {
		if !strings.HasSuffix(r.err, "its stack is in "+log+"\n") {
			t.Errorf("no word of the log: %s", r.err)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		stack = string(text)
	}
	if !strings.Contains(stack, "grenier.aBug(") {
		t.Error("no stack of the bug")
	}
}

// wantNoTemps checks that no temporary file is left below dir.
func wantNoTemps(t *testing.T, dir string) {
	t.Helper()
	for path := range contents(t, dir) {
		if _, ok := vfs.TempFor(filepath.Base(path)); ok {
			t.Errorf("%s is left", path)
		}
	}
}

// TestLongBug makes commands panic in the midst of their work, earlier and later: all
// end in order, and the same command continues to the same end.
func TestLongBug(t *testing.T) {
	tables := solved(t, "--seeds", "9")
	exported, pegs := filepath.Join(t.TempDir(), "exported"), pegBoard(t)
	mustRun(t, "awari", "export", "--dir", tables, "--layer", "0", "--format", "colex", "--out", exported, "--progress", "none")
	for _, c := range []struct {
		name string
		log  bool // there is a log
		long bool // it takes its time
		args func(dir string) []string
	}{
		{"solve", true, false, func(dir string) []string {
			return []string{"awari", "solve", "--seeds", "9", "--threads", "2", "--dir", dir}
		}},
		{"import", false, false, func(dir string) []string {
			return []string{"awari", "import", "--layer", "0", "--format", "colex", "--dir", dir, exported}
		}},
		{"export", false, false, func(dir string) []string {
			return []string{"awari", "export", "--dir", tables, "--layer", "8", "--format", "vu", "--out", filepath.Join(dir, "scores")}
		}},
		{"verify", false, false, func(string) []string { return []string{"awari", "verify", "--dir", tables} }},
		{"prove", false, true, func(string) []string { return []string{"awari", "verify", "--prove", "--dir", tables} }},
		{"compare", false, false, func(string) []string { return []string{"awari", "compare", tables, tables} }},
		{"bfs", false, false, func(string) []string { return []string{"swap", "bfs", "--rows", "3", "--cols", "3"} }},
		{"bfs disk", false, true, func(dir string) []string { return []string{"swap", "bfs", "--rows", "3", "--cols", "3", "--dir", dir} }},
		{"patterns", false, false, func(dir string) []string {
			return []string{"swap", "pdb", "build", "--kind", "apdb", "--rows", "3", "--cols", "3", "--tiles", "1,2,3", "--out", filepath.Join(dir, "p.gp")}
		}},
		{"chemin", false, true, func(dir string) []string {
			return []string{"chemin", "solve", "--rows", "3", "--cols", "3", "--dir", dir}
		}},
		{"solitaire", false, true, func(dir string) []string {
			return []string{"solitaire", "solve", "--board", pegs, "--dir", dir}
		}},
		{"chemin classes", false, false, func(dir string) []string {
			return []string{"chemin", "solve", "--rows", "3", "--cols", "3", "--method", "classes"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !tries.Long() {
				t.Skip("needs GRENIER_LONG=1")
			}
			start := time.Now()
			whole, broken := t.TempDir(), t.TempDir()
			command := func(dir string) result {
				return grenier(t.Context(), "", append(c.args(dir), "--progress", "none")...)
			}
			if r := command(whole); r.status != cli.ExitOK {
				t.Fatalf("status %d, %s", r.status, r.err)
			}
			log := ""
			if c.log {
				log = filepath.Join(broken, rundir.LogName)
			}
			bugs, factor := 0, int64(729)
			if tries.Long() {
				factor = 3
			}
			for k := int64(1); ; k *= factor {
				var r result
				if !buggy(t, k, func() { r = command(broken) }) {
					if r.status != cli.ExitOK {
						t.Errorf("status %d, %s", r.status, r.err)
					}
					break
				}
				bugs++
				wantBug(t, r, log)
				wantNoTemps(t, broken)
			}
			if bugs == 0 {
				t.Error("nothing was reported")
			}
			t.Logf("%d bugs, %v", bugs, time.Since(start))
			if diff := cmp.Diff(kept(t, whole), kept(t, broken)); diff != "" {
				t.Errorf("what is left differs (-undisturbed +buggy):\n%s", diff)
			}
		})
	}
}

// kept returns the files below dir that stay, but for times.
func kept(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := withoutSeconds(t, dir)
	maps.DeleteFunc(files, func(path, _ string) bool {
		return filepath.Base(path) == rundir.LockName || filepath.Base(filepath.Dir(path)) == rundir.WorkName
	})
	return files
}

// brokenWriter panics.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { panic("a broken writer") }

// TestLongBugInBackground: a bug in what shows progress ends the command at once.
func TestLongBugInBackground(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	status := run(t.Context(), []string{"awari", "solve", "--seeds", "24", "--threads", "1", "--dir", dir, "--json", "--progress", "json"},
		strings.NewReader(""), brokenWriter{}, &errs)
	want := "its stack is in " + filepath.Join(dir, rundir.LogName)
	if status != cli.ExitBug || !strings.HasPrefix(errs.String(), "grenier: internal error: a broken writer; ") || !strings.Contains(errs.String(), want) {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
	mustRun(t, "awari", "verify", "--dir", dir, "--progress", "none", "--sample", "1000")
}
