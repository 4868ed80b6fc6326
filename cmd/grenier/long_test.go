package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// testkit is where tests of several packages have their helpers.
const testkit = "internal/testkit/"

// TestNamesOfLongTests: a test that asks for GRENIER_LONG, itself or by way of a function of
// its package or of internal/testkit, is named TestLong..., and no other is. That is how make test-long finds it.
func TestNamesOfLongTests(t *testing.T) {
	functions := map[string]map[string][]string{} // by folder and name: the words in it
	parseEach(t, func(path string, file *ast.File, _ *token.FileSet) {
		folder := filepath.Dir(path)
		if !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(folder, testkit) {
			return
		}
		if functions[folder] == nil {
			functions[folder] = map[string][]string{}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[folder][f.Name.Name] = append(functions[folder][f.Name.Name], words(f)...)
			}
		}
	})
	asked := []string{"GRENIER_" + "LONG"}
	for folder, words := range functions {
		if kit, ours := strings.CutPrefix(folder, testkit); ours {
			for name := range asking(words, asked[:1]) {
				asked = append(asked, kit+"."+name)
			}
		}
	}
	for folder, words := range functions {
		asks := asking(words, asked)
		for name := range words {
			if folder == "cmd/grenier" && name == "TestScripts" { // the scripts that TestLongScripts leaves, by the same function
				continue
			}
			if isTest := strings.HasPrefix(name, "Test") && name != "TestMain"; isTest && asks[name] != strings.HasPrefix(name, "TestLong") {
				t.Errorf("%s: %s asks for the variable: %t", folder, name, asks[name])
			}
		}
	}
}

// asking returns the functions that have one of the given words, or call one that does, and these words.
func asking(functions map[string][]string, asked []string) map[string]bool {
	asks := map[string]bool{}
	for _, word := range asked {
		asks[word] = true
	}
	for before := 0; before != len(asks); {
		before = len(asks)
		for name, words := range functions {
			for _, word := range words {
				if asks[word] && !strings.HasPrefix(word, "Test") {
					asks[name] = true
				}
			}
		}
	}
	return asks
}

// words returns the names in a function, with their packages too, and the strings.
func words(f *ast.FuncDecl) (words []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			words = append(words, n.Name)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				words = append(words, x.Name+"."+n.Sel.Name)
			}
		case *ast.BasicLit:
			words = append(words, strings.Trim(n.Value, "\"`"))
		}
		return true
	})
	return words
}
