package tables_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
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
	must.Hold(t, found, "the page shows no output")
	run := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 5)
	server := httptest.NewServer(http.FileServer(http.Dir(run)))
	defer server.Close()

	c := client{t, t.TempDir()}
	must.Write(t, filepath.Join(c.dir, "main.go"), []byte(program))
	must.Write(t, filepath.Join(c.dir, "go.mod"), []byte("module example.org/client\n\ngo 1.26.0\n"))
	c.goRun("work", "init", ".", checkout)
	for _, place := range []string{run, server.URL} {
		should.Equal(t, c.goRun("run", ".", place), output, "%s prints", place)
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
	vendored := c.goRun("run", "-mod=vendor", ".", run)
	should.Hold(t, replaced == output && vendored == output, "with replace it prints\n%swith vendor\n%s", replaced, vendored)
}

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

// randomBoards returns boards drawn among all those with at most seeds seeds, enough of them to touch every block.
func randomBoards(t testing.TB, game awari.Game, seeds int) []awari.Board {
	t.Helper()
	space := testrun.Space(t, game, seeds)
	random := rand.New(rand.NewPCG(3, 4))
	var boards []awari.Board
	for n := range seeds + 1 {
		for range 2*(space.Size(n)>>10) + 1 {
			boards = append(boards, space.Unrank(n, random.Uint64N(space.Size(n))))
		}
	}
	random.Shuffle(len(boards), func(i, j int) { boards[i], boards[j] = boards[j], boards[i] })
	return boards
}

// BenchmarkTables looks up random boards of up to 15 seeds, all blocks cached, on all processors (compare -cpu 1 and 2), and reads a layer from the disk.
func BenchmarkTables(b *testing.B) {
	const seeds = 15
	game := testrun.Game(b, 12, awari.Awari)
	tab, boards := tabletest.Solved(b, game, seeds), randomBoards(b, game, seeds)
	must.OK(b, tab.Scores(b.Context(), boards, make([]int8, len(boards))))
	for name, look := range map[string]func(board awari.Board) error{
		"probe": func(board awari.Board) error { _, err := tab.Probe(b.Context(), board); return err },
		"score": func(board awari.Board) error { _, err := tab.Score(b.Context(), board); return err },
	} {
		b.Run(name, func(b *testing.B) {
			var begun atomic.Int64
			b.RunParallel(func(p *testing.PB) {
				for i := int(begun.Add(1)) * 1000; p.Next(); i++ {
					should.OK(b, look(boards[i%len(boards)]))
				}
			})
		})
	}
	b.Run("read", func(b *testing.B) {
		scores := make([]int8, tab.Layers()[seeds].Positions)
		b.SetBytes(int64(len(scores)))
		for b.Loop() {
			must.OK(b, tab.Read(b.Context(), seeds, 0, scores))
		}
	})
}
