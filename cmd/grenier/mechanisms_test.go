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

// mechanism is something that the program does in one place.
type mechanism struct {
	what, place string
	// parts are what it is made of: functions with their package, or methods. Only these places use them, and
	// the place itself.
	parts []string
	users []string
}

var mechanisms = []mechanism{
	{
		what: "notes of a check that resumes", place: "pipeline/check/internal/notes",
		parts: []string{"ReadNote", "SaveNote", "RemoveNote"}, users: []string{"pipeline/check/prove"}, // the marks of its notes
	},
	{
		what: "a list of finished files that resumes", place: "io/listed",
		parts: []string{"jsonfile.ParseSealed"}, users: []string{"pipeline/check/internal/notes", "pipeline/solve"}, // a plan of steps
	},
	{
		what: "the checksum of a sealed document", place: "io/jsonfile",
		parts: []string{"jsonfile.EncodeSealed", "jsonfile.Unseal"},
		users: []string{"io/listed", "io/manifest", "pipeline/check/internal/notes", "pipeline/solve"},
	},
	{ // verify has halves of its own, which share nothing with it
		what: "a packed awari board", place: "layers/awari/packed",
		parts: []string{"packed.New", "packed.Board"},
		users: []string{"pipeline/distance", "pipeline/exchange", "pipeline/play/find", "pipeline/play/search"},
	},
	{
		what: "decoded scores in memory", place: "pipeline/internal/blocks",
		parts: []string{"blocks.New"},
		users: []string{"pipeline/play/search", "pipeline/tables"},
	},
	{
		what: "work that many want at the same time", place: "io/crew",
		parts: []string{"crew.Shared"},
		users: []string{"io/layerfile", "io/remote", "pipeline/tables"},
	},
}

// TestMechanisms: what the program does in one place is not written again elsewhere.
func TestMechanisms(t *testing.T) {
	used := map[string]bool{}
	eachSource(t, func(file string, tree *ast.File, set *token.FileSet) {
		dir := path.Dir(file)
		for _, m := range mechanisms {
			used[m.place] = used[m.place] || dir == m.place
			for _, s := range selected(tree, m.parts) {
				used[m.place+" for "+dir] = true
				if dir != m.place && !slices.Contains(m.users, dir) {
					t.Errorf("%v: %s: the place of %s is %s", set.Position(s.Pos()), s.Sel.Name, m.what, m.place)
				}
			}
		}
	})
	for _, m := range mechanisms {
		should.Hold(t, used[m.place], "%s: there is no package %s", m.what, m.place)
		for _, user := range m.users {
			should.Hold(t, used[m.place+" for "+user], "%s: %s does not use it", m.what, user)
		}
	}
}

// selected returns the uses of functions and methods.
func selected(tree *ast.File, parts []string) (found []*ast.SelectorExpr) {
	for _, s := range selectors(tree) {
		for _, part := range parts {
			of, name, function := strings.Cut(part, ".")
			if !function {
				name = part
			}
			if x, ok := s.X.(*ast.Ident); s.Sel.Name == name && (!function || ok && x.Name == of) {
				found = append(found, s)
			}
		}
	}
	return found
}

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
