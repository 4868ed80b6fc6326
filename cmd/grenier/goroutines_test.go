package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// crewFolder is where goroutines are started.
const crewFolder = "io/crew/"

// TestGoroutines: a panic in a goroutine of its own ends the process, so all are
// started by package crew, which makes errors of panics. A go statement, an errgroup or
// a WaitGroup anywhere else is a mistake.
func TestGoroutines(t *testing.T) {
	root, crew, seen := filepath.Join("..", ".."), 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		seen++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		ours := strings.HasPrefix(filepath.ToSlash(name), crewFolder)
		for _, bare := range bareGoroutines(file) {
			if ours {
				crew++
				continue
			}
			t.Errorf("%v: %s: use package crew", files.Position(bare.Pos()), what(bare))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 || crew != 2 {
		t.Errorf("%d files looked at, %d goroutines in %s", seen, crew, crewFolder)
	}
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
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if found := bareGoroutines(file); len(found) != 4 {
		t.Errorf("%d found, want 4", len(found))
	}
}
