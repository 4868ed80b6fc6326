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
		users: []string{"pipeline/check/prove", "pipeline/distance", "pipeline/exchange", "pipeline/play/find", "pipeline/play/search"},
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
