package main

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/should"
)

// ownProgress lists the packages of pipeline whose options still have a Progress of their own instead of
// a job.Job. None is to be added.
var ownProgress = []string{"solve/internal/halfboard", "solve/internal/halfboard/fixpoint"}

// TestOneJob: the limits of a run, and how it tells how far it is, are defined in pipeline/job.
func TestOneJob(t *testing.T) {
	found := map[string]bool{}
	eachSource(t, func(file string, tree *ast.File, _ *token.FileSet) {
		if name, ours := strings.CutPrefix(path.Dir(file), "pipeline/"); ours && hasProgress(tree) {
			found[name] = true
		}
	})
	for name := range found {
		should.Not(t, name != "job" && !slices.Contains(ownProgress, name), "pipeline/%s has a Progress of its own: embed a job.Job", name)
	}
	for _, name := range append(ownProgress, "job") {
		should.Hold(t, found[name], "pipeline/%s has no Progress of its own: strike it off the list", name)
	}
}

// hasProgress reports whether a struct in a file has a function called Progress.
func hasProgress(file *ast.File) (has bool) {
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
