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

// engine is the awari engine.
const engine = "grenier/pipeline/solve/internal/halfboard"

// rooms are the rooms of the engine, from the lowest to the entry, which puts them together: each
// may import those before it only.
var rooms = []string{engine + "/board", engine + "/fixpoint", engine + "/stream", engine}

// TestRoomsOfTheEngine checks the order of the rooms, and that others enter by the entry only.
func TestRoomsOfTheEngine(t *testing.T) {
	found := 0
	for _, p := range listPackages(t) {
		room := slices.Index(rooms, p.ImportPath)
		if room >= 0 {
			found++
		} else if strings.HasPrefix(p.ImportPath, engine) {
			t.Errorf("%s is not in the list of rooms", p.ImportPath)
		}
		for _, imported := range p.Imports {
			below := slices.Index(rooms, imported)
			should.Not(t, room >= 0 && below >= room || room < 0 && below >= 0 && imported != engine,
				"%s imports %s", p.ImportPath, imported)
		}
	}
	should.Hold(t, found == len(rooms), "%d rooms, want %d", found, len(rooms))
}

// TestStructsOfTheEngine keeps structs small: the fields of a struct must fit into a head.
func TestStructsOfTheEngine(t *testing.T) {
	const most, mostOfWindows = 19, 10
	seen := false
	eachSource(t, func(file string, tree *ast.File, _ *token.FileSet) {
		if !slices.Contains(rooms, "grenier/"+path.Dir(file)) {
			return
		}
		for name, fields := range structsOf(tree) {
			should.Not(t, fields > most || name == "Windows" && fields > mostOfWindows, "%s: struct %s has %d fields", file, name, fields)
			seen = seen || name == "Windows"
		}
	})
	should.Hold(t, seen, "there is no struct Windows")
}

// structsOf returns the numbers of fields of the structs that a file defines.
func structsOf(tree *ast.File) map[string]int {
	sizes := map[string]int{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					sizes[spec.Name.Name] += max(1, len(f.Names))
				}
			}
		}
		return true
	})
	return sizes
}
