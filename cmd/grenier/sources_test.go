package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestSources checks docs/sources.md: each section of the source documents has a test in the packages of its row, or of
// the row above if it names none, and these, what they declare, commands and their flags exist.
func TestSources(t *testing.T) {
	text := must.Read(t, "../../docs/sources.md")
	tree, rows := readTree(t), 0
	var row sourceRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || strings.Contains(cells[2], "package, command") || strings.HasPrefix(cells[0], "---") {
			continue
		}
		rows++
		row = sourceRow{sourceTree: tree, above: row.packages, test: t, section: strings.TrimSpace(cells[0])}
		row.works(cells[2])
		row.tests(cells[3])
	}
	should.Not(t, rows < 40, "only %d sections were found", rows)
	for _, name := range testName.FindAllString(string(text), -1) {
		should.Hold(t, tree.has(name, func(string) bool { return true }), "there is no %s", name)
	}
}

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*`)
)

// sourceTree is what docs/sources.md can name.
type sourceTree struct {
	names    map[string][]string       // by folder: functions, types and files
	commands map[string]*cobra.Command // by path, without "grenier"
}

// readTree reads the sources.
func readTree(t *testing.T) *sourceTree {
	s := &sourceTree{map[string][]string{}, map[string]*cobra.Command{}}
	parseEach(t, func(path string, file *ast.File, _ *token.FileSet) {
		folder := filepath.Dir(path)
		s.names[folder] = append(s.names[folder], filepath.Base(path))
		for _, d := range file.Decls {
			s.names[folder] = append(s.names[folder], declared(d)...)
		}
	})
	scripts := must.Get(filepath.Glob("testdata/script/*.txtar"))(t)
	for _, path := range scripts {
		s.names["cmd/grenier"] = append(s.names["cmd/grenier"], filepath.Base(path))
	}
	for _, cmd := range everyCommand() {
		s.commands[strings.TrimPrefix(cmd.CommandPath(), "grenier ")] = cmd
	}
	return s
}

// declared returns the names of functions, methods and types.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if named, ok := spec.(*ast.TypeSpec); ok {
				names = append(names, named.Name.Name)
			}
		}
	}
	return names
}

// has reports whether one of some folders has a name.
func (s *sourceTree) has(name string, in func(folder string) bool) bool {
	for folder, names := range s.names {
		if in(folder) && slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// sourceRow is a row of a table.
type sourceRow struct {
	*sourceTree
	packages, above []string // of this row, and of the row above
	system          string   // of its commands
	test            *testing.T
	section         string
}

// within reports whether a folder is of the row: a package, one below, or the commands.
func (r *sourceRow) within(folder string) bool {
	packages := r.packages
	if packages == nil {
		packages = r.above
	}
	for _, p := range packages {
		if folder == p || strings.HasPrefix(folder, p+"/") {
			return true
		}
	}
	return folder == "cmd/grenier" || folder == "cmd/grenier/"+r.system
}

// works checks the packages, names and commands of the row.
func (r *sourceRow) works(cell string) {
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		name := match[1]
		words := strings.Fields(name)
		switch {
		case r.names[name] != nil:
			r.packages = append(r.packages, name)
			continue
		case r.has(name, r.within):
			continue
		case r.commands[strings.Join(words[:min(2, len(words))], " ")] != nil:
			r.system = words[0]
		default: // of the system named before
			words = append([]string{r.system}, words...)
		}
		r.command(words)
	}
	if r.packages == nil {
		r.packages = r.above
	}
}

// command checks a command and its flags.
func (r *sourceRow) command(words []string) {
	cmd := r.commands[strings.Join(words[:min(2, len(words))], " ")]
	if cmd == nil {
		r.test.Errorf("%s: there is no package, name or command %s", r.section, strings.Join(words, " "))
		return
	}
	for _, word := range words {
		flag, ok := strings.CutPrefix(word, "--")
		should.Not(r.test, ok && cmd.Flags().Lookup(flag) == nil, "%s: %s has no flag %s", r.section, cmd.CommandPath(), word)
	}
}

// tests checks the tests of the row.
func (r *sourceRow) tests(cell string) {
	tests := quoted.FindAllStringSubmatch(cell, -1)
	should.Not(r.test, len(tests) == 0, "%s: no test", r.section)
	for _, match := range tests {
		should.Not(r.test, r.names[match[1]] == nil && !r.has(match[1], r.within),
			"%s: there is no test %s in %v", r.section, match[1], r.packages)
	}
}

// testkit is where tests of several packages have their helpers.
const testkit = "internal/testkit/"

// TestNamesOfLongTests: a test that asks for GRENIER_LONG, itself or by way of a function of
// its package or of internal/testkit, is named TestLong..., and no other is. That is how make test-long finds it. Files that
// make test leaves out (quick) have no others.
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
				name := f.Name.Name
				should.Not(t, len(file.Comments) > 0 && file.Comments[0].List[0].Text == "//go:build !quick" && strings.HasPrefix(name, "Test") &&
					name != "TestMain" && !strings.HasPrefix(name, "TestLong"), "%s: nobody runs %s", path, name)
				functions[folder][name] = append(functions[folder][name], words(f)...)
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
			isTest := strings.HasPrefix(name, "Test") && name != "TestMain"
			should.Not(t, isTest && asks[name] != strings.HasPrefix(name, "TestLong"), "%s: %s asks for the variable: %t", folder, name, asks[name])
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
	for n := range ast.Preorder(f) {
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
	}
	return words
}
