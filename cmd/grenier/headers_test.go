package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/should"
)

// headers are the packages with binary headers, which all stand on io/sealed.
var headers = []string{"io/layerfile", "io/patternfile", "io/sealed", "io/spill"}

// TestHeadersAreSealed: whoever has a magic number of this program has a sealed.Layout, which is
// the one place that checks it.
func TestHeadersAreSealed(t *testing.T) {
	var found []string
	eachSource(t, func(path string, file *ast.File, set *token.FileSet) {
		folder := path[:strings.LastIndexByte(path, '/')]
		if strings.HasPrefix(folder, "internal/testkit") || !hasMagic(file) {
			return
		}
		found = append(found, folder)
		should.Not(t, !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"grenier/io/sealed"` }) && folder != "io/sealed",
			"%s has a magic number, but does not use package sealed", path)
	})
	slices.Sort(found)
	should.Hold(t, slices.Equal(slices.Compact(found), headers), "magic numbers are in %v, want %v", found, headers)
}

// hasMagic reports whether a file has a magic number.
func hasMagic(file *ast.File) (has bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		has = has || ok && strings.HasPrefix(text.Value, `"\x89G`)
		return !has
	})
	return has
}
