package main

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// TestMain makes this program available as the command grenier, to scripts and
// to tests that need a process, and as one that runs many command lines.
func TestMain(m *testing.M) {
	os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), "missing", "grenier")) // tests keep no calibration for the user
	testscript.Main(m, map[string]func(){"grenier": func() { cli.Main(silent) }, "grenier-worker": workerMain})
}

type result struct {
	status   int
	out, err string
}

// reported, unless it is nil, is called whenever work reports its progress.
var reported func()

// processors is how many this process began with.
var processors = runtime.GOMAXPROCS(0)

// run executes a command line in this process and returns the exit status. The processors that a
// command takes are not the default of the next one, which may run at the same time.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	defer runtime.GOMAXPROCS(processors)
	return cli.Run(ctx, func(a *cli.App) *cobra.Command {
		a.Reported = reported
		return silent(a)
	}, args, in, out, errs)
}

// silent returns the command line of main, but for --progress: none is usual, so that the words of a command do not
// depend on how long it takes.
func silent(a *cli.App) *cobra.Command {
	root := commands.Root(a)
	silence(root)
	return root
}

func silence(cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("progress"); f != nil {
		if f.Value.String() != "auto" || f.Value.Set("none") != nil {
			panic(cmd.CommandPath() + " shows no progress of its own accord")
		}
	}
	for _, below := range cmd.Commands() {
		silence(below)
	}
}

func grenier(ctx context.Context, in string, args ...string) result {
	var out, errs strings.Builder
	status := run(ctx, args, strings.NewReader(in), &out, &errs)
	return result{status, out.String(), errs.String()}
}

// do runs a command line that is one text.
func do(t *testing.T, line string) result { return grenier(t.Context(), "", strings.Fields(line)...) }

// wants fails unless a command line has ended with a status, and its stderr has parts.
func (r result) wants(t *testing.T, status int, parts ...string) result {
	t.Helper()
	should.Equal(t, r.status, status, "status; %s%s", r.out, r.err)
	should.Has(t, r.err, parts...)
	return r
}

// mustDo fails the test unless such a command line succeeds without a word.
func mustDo(t *testing.T, line string) string {
	t.Helper()
	return mustRun(t, strings.Fields(line)...)
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	r := grenier(t.Context(), "", args...)
	must.Hold(t, r.status == cli.ExitOK && r.err == "", "%s: status %d, %s", strings.Join(args, " "), r.status, r.err)
	return r.out
}

// runs has a testrun.Fixture for each run, by its flags.
var runs sync.Map

// solved returns a new run directory. A process solves it once.
func solved(t *testing.T, flags ...string) string {
	t.Helper()
	made, _ := runs.LoadOrStore(strings.Join(flags, " "), new(testrun.Fixture))
	return made.(*testrun.Fixture).Copy(t, func(dir string) {
		mustRun(t, append([]string{"awari", "solve", "--progress", "none", "--dir", dir}, flags...)...)
	})
}

// layerContents returns the files below dir that results depend on: all but the ones that report the work of a solver.
func layerContents(t *testing.T, dir string) map[string]string {
	files := must.Tree(t, dir)
	maps.DeleteFunc(files, func(path, _ string) bool {
		name := filepath.Base(path)
		return name == rundir.LogName || name == rundir.StatusName
	})
	return files
}

// kept returns the files of a run that a later command needs, but for times. Those in work are a command's own
// affair, and temporary ones may be left by a kill.
func kept(t *testing.T, dir string) map[string]string {
	files := withoutSeconds(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool {
		_, temp := vfs.TempFor(filepath.Base(name))
		return temp || name == rundir.LockName || strings.HasPrefix(name, rundir.WorkName) || strings.Contains(name, ".damaged-")
	})
	return files
}

// oneClearLine checks the message of a failure: one line that names the program, and neither the language it is written in nor its insides.
func oneClearLine(t *testing.T, errs string) {
	t.Helper()
	should.Hold(t, strings.HasPrefix(errs, "grenier: ") && strings.Count(errs, "\n") == 1 && strings.HasSuffix(errs, "\n"),
		"not one line: %q", errs)
	should.Lacks(t, errs, "panic", "goroutine", "runtime error", ".go:", "strconv", "0x", "%!", "<nil>", "; ;")
}
