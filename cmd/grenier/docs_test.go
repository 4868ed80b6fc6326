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

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// documents returns the texts that describe the program by path, README.md first.
func documents(t *testing.T) (paths []string, texts map[string]string) {
	t.Helper()
	paths = []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/python/*.md", "../../docs/format/*.md"} {
		found, err := filepath.Glob(pattern)
		must.Not(t, err != nil || len(found) == 0, "%s: %d files, %v", pattern, len(found), err)
		paths = append(paths, found...)
	}
	texts = map[string]string{}
	for _, path := range paths {
		texts[path] = string(must.Read(t, path))
	}
	return paths, texts
}

// TestCommandsWithoutJSON: docs/commands.md names the commands that have no --json, and no other.
func TestCommandsWithoutJSON(t *testing.T) {
	_, texts := documents(t)
	_, sentence, _ := strings.Cut(texts["../../docs/commands.md"], "All have `--json`")
	sentence, _, _ = strings.Cut(sentence, ".")
	var want []string
	for _, cmd := range everyCommand() {
		if !cmd.HasSubCommands() && cmd.Flags().Lookup("json") == nil {
			want = append(want, strings.TrimPrefix(cmd.CommandPath(), "grenier "))
		}
	}
	var got []string
	for _, found := range regexp.MustCompile("`([a-z ]+)`").FindAllStringSubmatch(sentence, -1) {
		got = append(got, found[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	must.Same(t, "commands without --json", want, got)
}

// named matches links, and paths of this tree between backquotes.
var named = regexp.MustCompile("\\]\\(([^)#:]+)[^)]*\\)|`((?:cmd|docs|io|kernels|layers|pipeline)/[\\w./-]+)`")

// TestLinks: the targets of links in documents, and the paths that they name, are there. README.md has links to all documents.
func TestLinks(t *testing.T) {
	paths, texts := documents(t)
	checked := 0
	for i, path := range paths {
		should.Hold(t, i == 0 || strings.Contains(texts[paths[0]], "]("+strings.TrimPrefix(path, "../../")+")"), "README.md has no link to %s", path)
		for _, match := range named.FindAllStringSubmatch(texts[path], -1) {
			target := filepath.Join(filepath.Dir(path), match[1])
			if match[1] == "" {
				target = filepath.Join("../..", match[2])
			}
			if match[1] == "http" || match[1] == "https" || strings.Contains(target, "NAME") {
				continue
			}
			checked++
			should.Hold(t, exists(target), "%s names %s", filepath.Base(path), target)
		}
	}
	should.Not(t, checked < 50, "only %d links were found", checked)
}

func everyCommand() []*cobra.Command {
	root := commands.Root(&cli.App{})
	root.InitDefaultHelpCmd()
	return withAll(root)
}

func withAll(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, withAll(sub)...)
	}
	return all
}

// TestHelp checks that every command explains itself and gives an example that names it, in
// both ways of asking. The root explains exit statuses, others only their differences.
func TestHelp(t *testing.T) {
	all := everyCommand()
	should.Not(t, len(all) < 11, "only %d commands", len(all))
	for _, cmd := range all {
		path := strings.Fields(cmd.CommandPath())[1:]
		text := mustRun(t, append(path, "--help")...)
		should.Not(t, cmd.Long == "", "%s explains nothing", cmd.CommandPath())
		should.Has(t, text, cmd.Long, "Examples:\n", "Usage:\n", cmd.Example)
		should.Equal(t, strings.Contains(text, cli.ExitHelp), len(path) == 0, "%s: all exit statuses", cmd.CommandPath())
		should.Has(t, cmd.Example, cmd.CommandPath()+" ")
		should.Equal(t, mustRun(t, append([]string{"help"}, path...)...), text, "%s: help and --help differ", cmd.CommandPath())
		checkHelpLines(t, cmd, text)
	}
}

// checkHelpLines checks that help fits a terminal, without tabs or gaps.
func checkHelpLines(t *testing.T, cmd *cobra.Command, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		isExample := strings.Contains(cmd.Example, line) // to be copied in one piece
		should.Not(t, len([]rune(line)) > 80 && !isExample || strings.Contains(line, "\t"), "%s: %q", cmd.CommandPath(), line)
	}
	should.Not(t, strings.Contains(text, "\n\n\n") || strings.HasSuffix(text, "\n\n"), "%s: empty lines:\n%s", cmd.CommandPath(), text)
}

// TestSources checks docs/sources.md: each section of the source documents has a test in the packages of its row, or of
// the row above if it names none, and these, what they declare, commands and their flags exist.
func TestSources(t *testing.T) {
	text := string(must.Read(t, "../../docs/sources.md"))
	tree, rows := readTree(t), 0
	var row sourceRow
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || strings.Contains(cells[2], "package, command") || strings.HasPrefix(cells[0], "---") {
			continue
		}
		rows++
		row = sourceRow{sourceTree: tree, packages: row.packages, test: t, section: strings.TrimSpace(cells[0])}
		row.works(cells[2])
		row.tests(cells[3])
	}
	should.Not(t, rows < 40, "only %d sections were found", rows)
	for _, name := range testName.FindAllString(text, -1) {
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

func readTree(t *testing.T) *sourceTree {
	s := &sourceTree{map[string][]string{}, map[string]*cobra.Command{}}
	parseEach(t, func(path string, file *ast.File, _ *token.FileSet) {
		folder := filepath.Dir(path)
		s.names[folder] = append(s.names[folder], filepath.Base(path))
		for _, d := range file.Decls {
			s.names[folder] = append(s.names[folder], declared(d)...)
		}
	})
	for _, path := range must.Get(filepath.Glob("testdata/script/*.txtar"))(t) {
		s.names["cmd/grenier"] = append(s.names["cmd/grenier"], filepath.Base(path))
	}
	for _, cmd := range everyCommand() {
		s.commands[strings.TrimPrefix(cmd.CommandPath(), "grenier ")] = cmd
	}
	return s
}

// declared returns the names of functions, methods and types.
func declared(d ast.Decl) (names []string) {
	if f, ok := d.(*ast.FuncDecl); ok {
		return []string{f.Name.Name}
	}
	for _, spec := range d.(*ast.GenDecl).Specs {
		if named, ok := spec.(*ast.TypeSpec); ok {
			names = append(names, named.Name.Name)
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

type sourceRow struct {
	*sourceTree
	packages []string // of this row, or of the row above
	system   string   // of its commands
	test     *testing.T
	section  string
}

// within reports whether a folder is of the row: a package, one below, or the commands.
func (r *sourceRow) within(folder string) bool {
	for _, p := range r.packages {
		if folder == p || strings.HasPrefix(folder, p+"/") {
			return true
		}
	}
	return folder == "cmd/grenier" || folder == "cmd/grenier/"+r.system
}

// works checks the packages, names and commands of the row.
func (r *sourceRow) works(cell string) {
	own := []string{}
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		name := match[1]
		words := strings.Fields(name)
		switch {
		case r.names[name] != nil:
			own = append(own, name)
			r.packages = own
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
}

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
			of, name := selected(n)
			words = append(words, of+"."+name)
		case *ast.BasicLit:
			words = append(words, strings.Trim(n.Value, "\"`"))
		}
	}
	return words
}
