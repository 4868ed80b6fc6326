package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownProgress lists the packages of pipeline whose options still have a Progress of their own instead of
// a job.Job. None is to be added.
var ownProgress = []string{
	"chemin", "internal/runs", "solitaire", "solve/internal/halfboard", "solve/internal/halfboard/fixpoint", "swap/bench", "swap/bfs", "swap/patterns", "swap/search",
}

// TestOneJob: what a run may take, and how it tells how far it is, is defined in pipeline/job.
func TestOneJob(t *testing.T) {
	const root = "../../pipeline"
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if hasProgress(t, path) {
			name, err := filepath.Rel(root, filepath.Dir(path))
			found[filepath.ToSlash(name)] = true
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range found {
		if name != "job" && !slices.Contains(ownProgress, name) {
			t.Errorf("pipeline/%s has a Progress of its own: embed a job.Job", name)
		}
	}
	for _, name := range append(ownProgress, "job") {
		if !found[name] {
			t.Errorf("pipeline/%s has no Progress of its own: strike it off the list", name)
		}
	}
}

// hasProgress reports whether a struct in a file has a function called Progress.
func hasProgress(t *testing.T, path string) (has bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		_, isFunc := field.Type.(*ast.FuncType)
		for _, name := range field.Names {
			has = has || isFunc && name.Name == "Progress"
		}
		return true
	})
	return has
}
