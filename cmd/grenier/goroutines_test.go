package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// crewFolder is where goroutines are started.
const crewFolder = "io/crew/"

// TestGoroutines: a panic in a goroutine of its own ends the process, so all are
// started by package crew, which makes errors of panics. A go statement, an errgroup or
// a WaitGroup anywhere else is a mistake, but for tests and what only they use.
func TestGoroutines(t *testing.T) {
	crew := 0
	eachSource(t, func(path string, file *ast.File, set *token.FileSet) {
		bare := bareGoroutines(file)
		if strings.HasPrefix(path, crewFolder) {
			crew += len(bare)
			return
		}
		for _, n := range bare {
			if !strings.HasPrefix(path, "internal/testkit/") {
				t.Errorf("%v: %s: use package crew", set.Position(n.Pos()), what(n))
			}
		}
	})
	should.Hold(t, crew == 2, "%d goroutines in %s", crew, crewFolder)
}

// bareGoroutines returns the places that start goroutines by themselves.
func bareGoroutines(file *ast.File) (found []ast.Node) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n != nil && what(n) != "" {
			found = append(found, n)
		}
		return true
	})
	return found
}

// what says what starts goroutines in n, "" if nothing does.
func what(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a go statement"
	case *ast.ImportSpec:
		if n.Path.Value == `"golang.org/x/sync/errgroup"` {
			return "an errgroup"
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && n.Sel.Name == "WaitGroup" {
			return "a WaitGroup"
		}
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && n.Sel.Name == "AfterFunc" {
			return "a timer with a function"
		}
	}
	return ""
}

// TestFindsGoroutines: the check finds each kind.
func TestFindsGoroutines(t *testing.T) {
	const source = `package p
import ("sync"; "time"; "golang.org/x/sync/errgroup")
type crew struct { w sync.WaitGroup; g errgroup.Group }
func f() { go f(); time.AfterFunc(1, f); time.Sleep(1) }`
	file := must.Get(parser.ParseFile(token.NewFileSet(), "p.go", source, 0))(t)
	found := bareGoroutines(file)
	should.Hold(t, len(found) == 4, "%d found, want 4", len(found))
}
