//go:build !quick

package main

// What tests named TestTree... say of the sources, make lint wants to hold: make test has no time for them.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// rule is something that is done in some places only, each of which does it: packages and files, or all below a folder with "/...".
type rule struct {
	what string
	does func(file *ast.File) func(n ast.Node) bool
	in   []string
}

var rules = []rule{
	{"a note of a check that resumes", selects("ReadNote", "SaveNote", "RemoveNote"), []string{"pipeline/check/internal/notes", "pipeline/check/prove"}},
	{"a list of finished files that resumes", selects("jsonfile.ParseSealed"), []string{"io/listed", "pipeline/check/internal/notes", "pipeline/solve"}},
	{
		"the checksum of a sealed document", selects("jsonfile.EncodeSealed", "jsonfile.Unseal"),
		[]string{"io/listed", "io/manifest", "pipeline/check/internal/notes", "pipeline/solve"},
	},
	{ // verify has halves of its own, which share nothing with it
		"a packed awari board", selects("packed.New", "packed.Board"),
		[]string{"pipeline/distance", "pipeline/exchange", "pipeline/play/find", "pipeline/play/search"},
	},
	{"decoded scores in memory", selects("blocks.New"), []string{"pipeline/play/search", "pipeline/tables"}},
	{"work that many want at the same time", selects("crew.Shared"), []string{"io/layerfile", "io/remote", "pipeline/tables"}},
	// A panic in a goroutine of its own ends the process, so all are started by package crew, which makes errors of panics.
	{"a goroutine", every(startsGoroutine), []string{"io/crew/...", "internal/testkit/..."}},
	{"a magic number", every(isMagic), []string{"io/layerfile", "io/patternfile", "io/sealed", "io/spill", "internal/testkit/..."}},
	{"a magic number without a sealed.Layout, which checks it", isMagicAlone, []string{"io/sealed", "internal/testkit/..."}},
	// The limits of a run, and how it tells how far it is, are defined in pipeline/job. None is to be added.
	{"a Progress instead of a job.Job", every(isProgress),
		[]string{"pipeline/job", "pipeline/solve/internal/halfboard", "pipeline/solve/internal/halfboard/fixpoint"}},
	{"a file, which package vfs is the way to", uses(touching), []string{
		"io/vfs/...",
		"cmd/grenier/cli/rss_linux.go",      // reads /proc
		"io/cgroup/cgroup_linux.go",         // reads /proc and /sys
		"io/processors/processors_linux.go", // reads /proc and /sys
		"io/system/system_linux.go",         // reads /proc and /sys
		"io/pagecache/pagecache_linux.go",   // opens a file again that is open, through /proc
		"internal/testkit/...",
	}},
	// Directories that the program names are opened from the directory that they are in, by Dir.Sub and MakeSub, which refuse links:
	// a path that the program has put together would be followed. By their paths they are opened only where a user names them.
	{"a directory by its path: who names it?", uses(map[string][]string{"grenier/io/vfs": {"Begin", "CheckFile", "MakeDir", "OpenDir", "TempDir", "WriteFile"}}), []string{
		"cmd/dist/build.go",                 // the user's, of releases
		"cmd/dist/licences.go",              // those of modules, for reading
		"cmd/dist/main.go",                  // the user's, of releases
		"cmd/grenier/awari/kept.go",         // the user's, for what may be lost
		"cmd/grenier/awari/metrics.go",      // the user's: --metrics-file
		"cmd/grenier/cli/output.go",         // the user's: files of charts, pictures and calibrations
		"io/rundir/places.go",               // the user's, or what a manifest names, for reading
		"io/rundir/room.go",                 // the user's: --work, for reading
		"io/rundir/rundir.go",               // the user's: --dir, --work and --layers-to
		"pipeline/check/doctor/doctor.go",   // of TempDir
		"pipeline/exchange/all.go",          // the user's: --out
		"pipeline/exchange/internal/output", // the user's: --out
		"pipeline/internal/machine",         // the user's: --dir, and of TempDir in it
		"pipeline/play/find/state.go",       // the user's: --state
		"pipeline/play/publish/list.go",     // the user's: --out
		"internal/testkit/...",
	}},
	{"a directory that is made or opened", selects("Mkdir", "MkdirAll", "MkdirTemp", "OpenInRoot", "OpenRoot"), []string{"io/vfs/door.go", "internal/testkit/..."}},
}

// TestTreePlaces: what the program does in some places is not done elsewhere.
func TestTreePlaces(t *testing.T) {
	done := map[string]int{}
	eachSource(t, func(file string, tree *ast.File, set *token.FileSet) {
		var does []func(n ast.Node) bool
		for _, r := range rules {
			does = append(does, r.does(tree))
		}
		for n := range ast.Preorder(tree) {
			for i, r := range rules {
				if does[i](n) {
					place := r.place(file)
					done[r.what+place]++
					should.Not(t, place == "", "%v: %s; this is only for %q", set.Position(n.Pos()), r.what, r.in)
				}
			}
		}
	})
	for _, r := range rules {
		for _, place := range r.in {
			should.Not(t, done[r.what+place] == 0, "%s: strike %s off the list", r.what, place)
		}
	}
	should.Equal(t, done["a goroutineio/crew/..."], 2, "goroutines of package crew")
}

// place returns the place of a file, "" if there is none.
func (r *rule) place(file string) string {
	for _, place := range r.in {
		top, all := strings.CutSuffix(place, "...")
		if place == file || place == path.Dir(file) || all && strings.HasPrefix(file, top) {
			return place
		}
	}
	return ""
}

// every is for what is the same in every file.
func every(is func(n ast.Node) bool) func(*ast.File) func(ast.Node) bool {
	return func(*ast.File) func(ast.Node) bool { return is }
}

// selects finds functions with their package, and methods.
func selects(parts ...string) func(*ast.File) func(ast.Node) bool {
	return every(func(n ast.Node) bool {
		of, name := selected(n)
		return name != "" && (slices.Contains(parts, name) || slices.Contains(parts, of+"."+name))
	})
}

// selected returns what a selector selects, and of what, if that is a name.
func selected(n ast.Node) (of, name string) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		of = x.Name
	}
	return of, s.Sel.Name
}

// startsGoroutine finds go statements, errgroups, WaitGroups and timers with functions.
func startsGoroutine(n ast.Node) bool {
	if i, ok := n.(*ast.ImportSpec); ok {
		return i.Path.Value == `"golang.org/x/sync/errgroup"`
	}
	_, ok := n.(*ast.GoStmt)
	of, name := selected(n)
	return ok || of == "sync" && name == "WaitGroup" || of == "time" && name == "AfterFunc"
}

func TestTreeFindsGoroutines(t *testing.T) {
	const source = `package p
import ("sync"; "time"; "golang.org/x/sync/errgroup")
type crew struct { w sync.WaitGroup; g errgroup.Group }
func f() { go f(); time.AfterFunc(1, f); time.Sleep(1) }`
	found := 0
	for n := range ast.Preorder(must.Get(parser.ParseFile(token.NewFileSet(), "p.go", source, 0))(t)) {
		if startsGoroutine(n) {
			found++
		}
	}
	should.Equal(t, found, 4)
}

func isMagic(n ast.Node) bool {
	text, ok := n.(*ast.BasicLit)
	return ok && strings.HasPrefix(text.Value, `"\x89G`)
}

// isMagicAlone finds magic numbers in files that do not use package sealed.
func isMagicAlone(file *ast.File) func(n ast.Node) bool {
	uses := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"grenier/io/sealed"` })
	return func(n ast.Node) bool { return !uses && isMagic(n) }
}

// isProgress finds fields that are functions called Progress.
func isProgress(n ast.Node) bool {
	field, ok := n.(*ast.Field)
	if !ok {
		return false
	}
	_, ok = field.Type.(*ast.FuncType)
	return ok && slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.Name == "Progress" })
}

// engine is the awari engine, which others enter by this package only.
const engine = "grenier/pipeline/solve/internal/halfboard"

// rooms are the rooms of the engine, from the lowest to the entry, which puts them together: each may import those before it only.
var rooms = []string{engine + "/board", engine + "/fixpoint", engine + "/stream", engine}

// TestTreeStructsOfTheEngine keeps structs small: the fields of a struct must fit into a head.
func TestTreeStructsOfTheEngine(t *testing.T) {
	const most, mostOfWindows = 19, 10
	seen := false
	eachSource(t, func(file string, tree *ast.File, _ *token.FileSet) {
		if !slices.Contains(rooms, "grenier/"+path.Dir(file)) {
			return
		}
		for n := range ast.Preorder(tree) {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				name, fields := spec.Name.Name, s.Fields.NumFields()
				should.Not(t, fields > most || name == "Windows" && fields > mostOfWindows, "%s: struct %s has %d fields", file, name, fields)
				seen = seen || name == "Windows"
			}
		}
	})
	should.Hold(t, seen, "there is no struct Windows")
}

// allowed lists, for each part of the tree, the parts that it may import besides its own packages: imports go downwards only.
// internal/testkit is the floor that only tests stand on: no other part lists it.
var allowed = map[string][]string{
	"internal": {"pipeline", "layers", "io", "kernels"},
	"kernels":  {},
	"layers":   {"kernels"},
	"io":       {"kernels"},
	"pipeline": {"layers", "io", "kernels"},
	"cmd":      {"pipeline", "layers", "io", "kernels"},
}

// systems lists, for each system, where its packages are, with all below. The systems share all
// other packages, which do not depend on any system.
var systems = map[string][]string{
	"awari": {
		"cmd/grenier/awari", "layers/awari", "pipeline/check/compare", "pipeline/check/internal", "pipeline/check/prove",
		"pipeline/check/scrub", "pipeline/check/verify", "pipeline/distance", "pipeline/exchange",
		"pipeline/play", "pipeline/solve", "pipeline/spaces/access", "pipeline/spaces/census", "pipeline/tables",
	},
	"swap":      {"cmd/grenier/swap", "layers/swap", "pipeline/swap"},
	"chemin":    {"cmd/grenier/chemin", "layers/chemin", "pipeline/chemin"},
	"solitaire": {"cmd/grenier/solitaire", "layers/solitaire", "pipeline/solitaire"},
	"pijersi":   {"cmd/grenier/pijersi", "layers/pijersi"},
}

// wiring lists the packages that put the systems together, and the programs made of them.
var wiring = []string{"grenier/cmd/grenier", "grenier/cmd/grenier/commands", "grenier/cmd/dist"}

// TestTreeImportRules checks the architecture: kernels know no files, io knows no games, layers know neither files nor
// engines, nothing imports commands, and the program nothing of internal/testkit.
func TestTreeImportRules(t *testing.T) {
	found := 0
	for _, p := range listPackages(t) {
		part, room := below(p.path, "grenier"), slices.Index(rooms, p.path)
		rule, known := allowed[part]
		should.Hold(t, known, "%s: there is no part %q in the architecture", p.path, part)
		should.Not(t, room < 0 && strings.HasPrefix(p.path, engine), "%s is not in the list of rooms", p.path)
		if room >= 0 {
			found++
		}
		for _, imported := range p.imports {
			target, lower := below(imported, "grenier"), slices.Index(rooms, imported)
			should.Not(t, target != "" && target != part && !slices.Contains(rule, target) ||
				room >= 0 && lower >= room || room < 0 && lower >= 0 && imported != engine, "%s may not import %s", p.path, imported)
		}
	}
	should.Equal(t, found, len(rooms), "rooms")
}

// TestTreeSystemsStandApart checks that no package depends on one of another system, be it by way of
// others: commands share package cli and nothing else, and no engine needs another's.
func TestTreeSystemsStandApart(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		own, place := systemOf(t, p.path)
		seen[place] = true
		if slices.Contains(wiring, p.path) || below(p.path, "grenier") == "internal" {
			continue
		}
		for _, d := range p.deps {
			other, _ := systemOf(t, d)
			from, to := below(p.path, commandsIn), below(d, commandsIn)
			should.Not(t, other != "" && other != own || to != "" && to != from && to != "cli", "%s depends on %s", p.path, d)
		}
	}
	for system, places := range systems {
		for _, place := range places {
			should.Hold(t, seen[place], "%s: there is no package in %s", system, place)
		}
	}
}

// TestTreeIndependence: packages that verify or prove share with the engine what docs/proof.md names, and nothing else.
func TestTreeIndependence(t *testing.T) {
	const packed = "grenier/layers/awari/packed"
	shared := []string{
		"io/cgroup", "io/corrupt", "io/crew", "io/jsonfile", "io/layerfile", "io/manifest", "io/memory", "io/pagecache", "io/rundir", "io/sealed", "io/tally", "io/vfs",
		"kernels/colex", "kernels/cpu", "kernels/crc32c", "kernels/fault", "kernels/fnv", "kernels/internal/swar", "kernels/ranks", "kernels/rice", "layers", "layers/awari",
	}
	for _, name := range shared {
		should.Has(t, string(must.Read(t, "../../docs/proof.md")), "`"+name+"`")
	}
	deps := map[string][]string{}
	for _, p := range listPackages(t) {
		deps[p.path] = p.deps
	}
	for _, check := range []string{"grenier/pipeline/check/verify", "grenier/pipeline/check/prove"} {
		var both []string
		for _, d := range deps[check] {
			if name, ours := strings.CutPrefix(d, "grenier/"); ours && slices.Contains(deps[engine], d) {
				both = append(both, name)
			}
		}
		slices.Sort(both)
		should.List(t, both, shared, "%s shares with the engine", check)
	}
	for _, other := range []string{packed, "grenier/pipeline/spaces/retro"} {
		should.Not(t, slices.Contains(deps["grenier/pipeline/check/verify"], other) || slices.Contains(deps["grenier/pipeline/check/prove"], other),
			"a check uses %s", other)
	}
	should.Not(t, slices.Contains(deps[engine], packed), "the engine uses %s", packed)
}

// commandsIn is where commands are, those of a system in a folder.
const commandsIn = "grenier/cmd/grenier"

// below returns the folder of a package right below another one, "" if it is elsewhere.
func below(importPath, top string) string {
	path, ours := strings.CutPrefix(importPath, top+"/")
	if !ours {
		return ""
	}
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

// systemOf returns the system of a package, and where in it that is, "" if it is of none.
func systemOf(t *testing.T, importPath string) (system, place string) {
	path := strings.TrimPrefix(importPath, "grenier/")
	for s, places := range systems {
		for _, p := range places {
			if strings.HasPrefix(path+"/", p+"/") {
				must.Hold(t, system == "", "%s is of %s and of %s", importPath, system, s)
				system, place = s, p
			}
		}
	}
	return system, place
}

type goPackage struct {
	path          string
	imports, deps []string
}

// goList describes our packages, one a line.
var goList = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports ","}} {{join .Deps ","}}`, "grenier/...").Output()
})

func listPackages(t *testing.T) (packages []goPackage) {
	for line := range strings.Lines(string(must.Get(goList())(t))) {
		words := strings.Split(strings.TrimSpace(line)+"  ", " ") // there may be no imports
		packages = append(packages, goPackage{words[0], strings.Split(words[1], ","), strings.Split(words[2], ",")})
	}
	must.Not(t, len(packages) < 15, "only %d packages found", len(packages))
	return packages
}

// touching lists what packages of the standard library and of x/sys offer for opening, making, changing and removing files by their paths.
var touching = map[string][]string{
	"os": {
		"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "DirFS", "Lchown", "Link", "Mkdir", "MkdirAll",
		"MkdirTemp", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Remove", "RemoveAll", "Rename",
		"Symlink", "Truncate", "WriteFile",
	},
	"io/ioutil":             nil, // all of it
	"path/filepath":         {"Walk", "WalkDir", "Glob"},
	"syscall":               {"Open", "Unlink", "Rename", "Mkdir", "Rmdir", "Truncate", "Link", "Symlink"},
	"golang.org/x/sys/unix": {"Open", "Openat", "Unlink", "Unlinkat", "Rename", "Renameat", "Mkdir", "Rmdir", "Truncate", "Link", "Symlink"},
}

// eachSource parses the sources of the program, without tests.
func eachSource(t *testing.T, visit func(path string, file *ast.File, set *token.FileSet)) {
	parseEach(t, false, visit)
}

// parseEach parses the sources, with those of tests or without. It keeps no tree: all of them would be most of the memory
// of this package's tests, and each collection of garbage would go through them.
func parseEach(t *testing.T, tests bool, visit func(path string, file *ast.File, set *token.FileSet)) {
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || !tests && strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files++
		visit(filepath.ToSlash(name), file, set)
		return err
	})
	must.Hold(t, err == nil && files >= 100, "%d files, %v", files, err)
}

// uses finds functions, which are listed by packages.
func uses(wanted map[string][]string) func(*ast.File) func(ast.Node) bool {
	return func(file *ast.File) func(ast.Node) bool {
		names := map[string][]string{} // of packages in this file
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			functions, bad := wanted[path]
			if !bad {
				continue
			}
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = functions
		}
		return func(n ast.Node) bool {
			of, name := selected(n)
			functions, bad := names[of]
			return bad && (functions == nil || slices.Contains(functions, name))
		}
	}
}

// TestTreeSources checks docs/sources.md: each section of the source documents has a test in the packages of its row, or of
// the row above if it names none, and these, what they declare, commands and their flags exist.
func TestTreeSources(t *testing.T) {
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
	parseEach(t, true, func(path string, file *ast.File, _ *token.FileSet) {
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
	in := func(p string) bool { return strings.HasPrefix(folder+"/", p+"/") }
	return slices.ContainsFunc(r.packages, in) || folder == "cmd/grenier" || folder == "cmd/grenier/"+r.system
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

// TestTreeNamesOfLongTests: a test that asks for GRENIER_LONG, itself or by way of a function of
// its package or of internal/testkit, or is in a file that make test leaves out (quick), is named TestLong..., and no other is. That
// is how make test-long finds it. TestTree... is left to make lint.
func TestTreeNamesOfLongTests(t *testing.T) {
	asked := []string{"GRENIER_" + "LONG"}
	functions := map[string]map[string][]string{} // by folder and name: the words in it
	parseEach(t, true, func(path string, file *ast.File, _ *token.FileSet) {
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
				functions[folder][name] = append(functions[folder][name], words(f)...)
				if strings.HasPrefix(name, "Test") && len(file.Comments) > 0 && strings.HasSuffix(file.Comments[0].List[0].Text, "!quick") {
					functions[folder][name] = append(functions[folder][name], asked...)
				}
			}
		}
	})
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
			isTest := strings.HasPrefix(name, "Test") && name != "TestMain" && !strings.HasPrefix(name, "TestTree")
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
			if slices.ContainsFunc(words, func(word string) bool { return asks[word] && !strings.HasPrefix(word, "Test") }) {
				asks[name] = true
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
