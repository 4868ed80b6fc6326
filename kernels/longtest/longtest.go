// Package longtest chooses the tests that have a long part.
//
// A test does more when the environment variable GRENIER_LONG is set: it asks for the
// variable, or calls a function of its package that does. With GRENIER_LONG=only the
// others, which are the same without the variable, are left out, so that whoever has run
// them does not run them twice. A package takes part by its TestMain:
//
//	func TestMain(m *testing.M) { longtest.Choose(m).Run() }
//
// Others run all of their tests.
package longtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Variable is the environment variable; Only is the value of it that leaves tests out.
const (
	Variable = "GRENIER_LONG"
	Only     = "only"
)

// Tests runs the tests of a package.
type Tests struct{ m *testing.M }

// Choose returns the tests of m.
func Choose(m *testing.M) Tests { return Tests{m} }

// Run runs them, those with a long part alone if the variable asks for that, and returns
// the status to exit with. It reads the tests in the working directory, which is that of
// the package, and panics if it cannot.
func (t Tests) Run() int {
	if os.Getenv(Variable) == Only {
		names, err := Names(".")
		if err == nil {
			err = flag.Set("test.run", "^("+strings.Join(names, "|")+")$")
		}
		if err != nil {
			panic(fmt.Sprintf("%s=%s: %v", Variable, Only, err))
		}
	}
	return t.m.Run()
}

// Names returns the tests in dir that have a long part, in order.
func Names(dir string) (names []string, err error) {
	uses, err := usesIn(dir)
	if err != nil {
		return nil, err
	}
	long := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for name, words := range uses {
			if !long[name] && slices.ContainsFunc(words, func(word string) bool { return word == Variable || long[word] }) {
				long[name], grown = true, true
			}
		}
	}
	for name := range long {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// usesIn returns, for each function and method in the tests in dir, the names and strings
// in it. Methods of the same name are one: the worst that comes of it is a test too many.
func usesIn(dir string) (map[string][]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no tests in %s: %v", dir, err)
	}
	uses := map[string][]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				uses[f.Name.Name] = append(uses[f.Name.Name], wordsOf(f)...)
			}
		}
	}
	return uses, nil
}

// wordsOf returns the names and strings in a function.
func wordsOf(f *ast.FuncDecl) (words []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			words = append(words, n.Name)
		case *ast.BasicLit:
			words = append(words, strings.Trim(n.Value, "\"`"))
		}
		return true
	})
	return words
}
