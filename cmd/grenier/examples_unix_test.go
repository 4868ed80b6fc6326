//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/examples"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/pythontest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestExamples runs the commands that the documents show, each page in a directory of its own, but those that take
// a second.
func TestExamples(t *testing.T) { runPages(t, false) }

// TestLongExamples runs the pages that have commands that take longer, with all their commands.
func TestLongExamples(t *testing.T) {
	tries.NeedsFull(t, "takes half an hour")
	runPages(t, true)
}

// runPages runs README.md first, whose layers are those that other pages need.
func runPages(t *testing.T, long bool) {
	t.Helper()
	paths, texts := documents(t)
	solved := filepath.Join(t.TempDir(), "solved")
	run := 0
	for i, path := range paths {
		all := examples.Read(t, path)
		commands := slices.DeleteFunc(slices.Clone(all), func(c examples.Command) bool {
			return c.Test != "" || c.Elsewhere || c.Clone || c.Long && !long
		})
		isLong := slices.ContainsFunc(all, func(c examples.Command) bool { return c.Long })
		if len(commands) == 0 || long && !isLong && i > 0 {
			continue
		}
		run += len(commands)
		page := strings.TrimPrefix(path, "../../")
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			if i > 0 {
				t.Parallel()
				must.OK(t, os.CopyFS(filepath.Join(dir, "docs"), os.DirFS("../../docs"))) // as a release has them
			}
			if strings.Contains(texts[path], needsLayers) {
				must.OK(t, os.CopyFS(filepath.Join(mkdir(t, dir, "data"), "awari"), os.DirFS(solved)))
			}
			env := []string{"HOME=" + t.TempDir(), "PYTHONDONTWRITEBYTECODE=1", "TERM=dumb"}
			if slices.ContainsFunc(commands, func(c examples.Command) bool { return strings.Contains(c.Text, "python3") }) {
				env = append(env, "PATH="+filepath.Dir(pythontest.With(t, "numpy"))+":"+os.Getenv("PATH"))
			}
			examples.Run(t, page, dir, env, commands)
			if i == 0 {
				must.OK(t, os.Rename(filepath.Join(dir, "data", "awari"), solved))
			}
		})
	}
	should.Not(t, run < map[bool]int{false: 30, true: 50}[long], "only %d commands were found", run)
}

// needsLayers is how a page says that it begins with the layers that README.md solves.
const needsLayers = "Needs layers 0 to 16: `grenier awari solve --seeds 16 --dir data/awari`."
