package tables_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// TestLongLibraryPage builds the module of docs/library.md in a workspace, and in the long run in the other ways that the page
// names, and runs it: it prints what the page shows.
func TestLongLibraryPage(t *testing.T) {
	checkout := must.Get(filepath.Abs("../.."))(t)
	page := string(must.Read(t, filepath.Join(checkout, "docs", "library.md")))
	mod, program := fenced(t, page, "module example.org/client"), fenced(t, page, "// Command client")
	_, output, found := strings.Cut(fenced(t, page, "$ go mod tidy"), "data/awari\n")
	if !found {
		t.Fatal("the page shows no output")
	}
	run := solveRun(t, testrun.Game(t, 12, awari.Awari), 5)
	server := httptest.NewServer(http.FileServer(http.Dir(run)))
	defer server.Close()

	c := client{t, t.TempDir()}
	must.Write(t, filepath.Join(c.dir, "main.go"), []byte(program))
	must.Write(t, filepath.Join(c.dir, "go.mod"), []byte("module example.org/client\n\ngo 1.26.0\n"))
	c.goRun("work", "init", ".", checkout)
	for _, place := range []string{run, server.URL} {
		if got := c.goRun("run", ".", place); got != output {
			t.Errorf("%s prints\n%swant\n%s", place, got, output)
		}
	}
	must.OK(t, os.Remove(filepath.Join(c.dir, "go.work")))
	if !tries.Long() {
		return
	}
	must.Write(t, filepath.Join(c.dir, "go.mod"), []byte(strings.Replace(mod, "../grenier", checkout, 1)))
	must.Write(t, filepath.Join(c.dir, "go.sum"), must.Read(t, filepath.Join(checkout, "go.sum"))) // else it asks for the sums
	c.goRun("mod", "tidy")
	c.goRun("vet", "./...")
	replaced := c.goRun("run", ".", run)
	c.goRun("mod", "vendor")
	if vendored := c.goRun("run", "-mod=vendor", ".", run); replaced != output || vendored != output {
		t.Errorf("with replace it prints\n%swith vendor\n%s", replaced, vendored)
	}
}

// fenced returns the block of a page that begins with some text.
func fenced(t *testing.T, page, begin string) string {
	t.Helper()
	for i, block := range strings.Split(page, "```") {
		if _, text, _ := strings.Cut(block, "\n"); i%2 == 1 && strings.HasPrefix(text, begin) {
			return text
		}
	}
	t.Fatalf("the page has no block that begins with %q", begin)
	return ""
}

// client is the directory of a module that uses this one.
type client struct {
	*testing.T
	dir string
}

// goRun runs the go command there, on what this module has fetched already, and returns its output.
func (c *client) goRun(args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "go", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if exit, failed := err.(*exec.ExitError); failed {
		c.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	must.OK(c, err)
	return string(out)
}
