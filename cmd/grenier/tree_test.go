package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
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
				should.Not(t, dir != m.place && !slices.Contains(m.users, dir),
					"%v: %s: the place of %s is %s", set.Position(s.Pos()), s.Sel.Name, m.what, m.place)
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
func hasMagic(file *ast.File) bool {
	return slices.ContainsFunc(nodes[*ast.BasicLit](file), func(text *ast.BasicLit) bool { return strings.HasPrefix(text.Value, `"\x89G`) })
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
func hasProgress(file *ast.File) bool {
	return slices.ContainsFunc(nodes[*ast.Field](file), func(field *ast.Field) bool {
		_, isFunc := field.Type.(*ast.FuncType)
		return isFunc && slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.Name == "Progress" })
	})
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
	for _, spec := range nodes[*ast.TypeSpec](tree) {
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				sizes[spec.Name.Name] += max(1, len(f.Names))
			}
		}
	}
	return sizes
}

// allowed lists, for each part of the tree, the parts that it may import
// besides its own packages: imports go downwards only.
//
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

type goPackage struct {
	ImportPath    string
	Imports, Deps []string
}

// TestImportRules checks the architecture: kernels know no files, io knows no games, layers know neither files nor
// engines, nothing imports commands, and the program nothing of internal/testkit.
func TestImportRules(t *testing.T) {
	packages := listPackages(t)
	must.Not(t, len(packages) < 15, "only %d packages found", len(packages))
	for _, p := range packages {
		part := partOf(p.ImportPath)
		rule, known := allowed[part]
		should.Hold(t, known, "%s: there is no part %q in the architecture", p.ImportPath, part)
		for _, imported := range p.Imports {
			target := partOf(imported)
			should.Not(t, target != "" && target != part && !slices.Contains(rule, target),
				"%s imports %s: %s may not import %s", p.ImportPath, imported, part, target)
		}
	}
}

// TestSystemsStandApart checks that no package depends on one of another system, be it by way of
// others: commands share package cli and nothing else, and no engine needs another's.
func TestSystemsStandApart(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		own, place := systemOf(t, p.ImportPath)
		seen[place] = true
		if slices.Contains(wiring, p.ImportPath) || partOf(p.ImportPath) == "internal" {
			continue
		}
		for _, d := range p.Deps {
			other, _ := systemOf(t, d)
			should.Not(t, other != "" && other != own, "%s depends on %s, which is of the system %s", p.ImportPath, d, other)
			from, to := commandOf(p.ImportPath), commandOf(d)
			should.Not(t, to != "" && to != from && to != "cli", "%s depends on %s: commands share only package cli", p.ImportPath, d)
		}
	}
	for system, places := range systems {
		for _, place := range places {
			should.Hold(t, seen[place], "%s: there is no package in %s", system, place)
		}
	}
}

// TestIndependence: packages that verify or prove share with the engine what docs/proof.md names, and nothing else.
func TestIndependence(t *testing.T) {
	const engine, packed = "grenier/pipeline/solve/internal/halfboard", "grenier/layers/awari/packed"
	shared := []string{
		"io/cgroup", "io/corrupt", "io/crew", "io/jsonfile", "io/layerfile", "io/manifest", "io/memory", "io/pagecache", "io/rundir", "io/sealed", "io/tally", "io/vfs",
		"kernels/colex", "kernels/cpu", "kernels/crc32c", "kernels/fault", "kernels/fnv", "kernels/internal/swar", "kernels/ranks", "kernels/rice", "layers", "layers/awari",
	}
	for _, name := range shared {
		should.Has(t, string(must.Read(t, "../../docs/proof.md")), "`"+name+"`")
	}
	deps := map[string][]string{}
	for _, p := range listPackages(t) {
		deps[p.ImportPath] = p.Deps
	}
	for _, check := range []string{"grenier/pipeline/check/verify", "grenier/pipeline/check/prove"} {
		var both []string
		for _, d := range deps[check] {
			if name, ours := strings.CutPrefix(d, "grenier/"); ours && slices.Contains(deps[engine], d) {
				both = append(both, name)
			}
		}
		slices.Sort(both)
		should.Hold(t, slices.Equal(both, shared), "%s shares with the engine %q, want %q", check, both, shared)
	}
	for _, other := range []string{packed, "grenier/pipeline/spaces/retro"} {
		should.Not(t, slices.Contains(deps["grenier/pipeline/check/verify"], other) || slices.Contains(deps["grenier/pipeline/check/prove"], other),
			"a check uses %s", other)
	}
	should.Not(t, slices.Contains(deps[engine], packed), "the engine uses %s", packed)
}

// commandOf returns the folder of a package in cmd/grenier, "" for others.
func commandOf(importPath string) string {
	path, _ := strings.CutPrefix(importPath, "grenier/cmd/grenier/")
	if path == importPath {
		return ""
	}
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

// systemOf returns the system of a package, and where in it that is, "" if it is of none.
func systemOf(t *testing.T, importPath string) (system, place string) {
	t.Helper()
	path := strings.TrimPrefix(importPath, "grenier/")
	for s, places := range systems {
		for _, p := range places {
			if path != p && !strings.HasPrefix(path, p+"/") {
				continue
			}
			must.Hold(t, system == "", "%s is of %s and of %s", importPath, system, s)
			system, place = s, p
		}
	}
	return system, place
}

// partOf returns the top-level folder of one of our packages, "" for others.
func partOf(importPath string) string {
	path, ours := strings.CutPrefix(importPath, "grenier/")
	if !ours {
		return ""
	}
	part, _, _ := strings.Cut(path, "/")
	return part
}

// goList describes our packages.
var goList = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "grenier/...").Output()
})

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out := must.Get(goList())(t)
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		must.OK(t, err)
		packages = append(packages, p)
	}
}

// touching lists what packages of the standard library and of x/sys offer for opening,
// making, changing and removing files by their paths.
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

// reasons are the places, besides package vfs, that touch files, and why they may.
var reasons = map[string]string{
	"cmd/grenier/cli/rss_linux.go":      "reads /proc",
	"io/cgroup/cgroup_linux.go":         "reads /proc and /sys",
	"io/processors/processors_linux.go": "reads /proc and /sys",
	"io/system/system_linux.go":         "reads /proc and /sys",
	"io/pagecache/pagecache_linux.go":   "opens a file again that is open, through /proc",
	"internal/testkit":                  "what only tests use",
}

// TestFilesAreTouchedInOnePlace: whoever opens, changes or removes files goes through package vfs.
func TestFilesAreTouchedInOnePlace(t *testing.T) {
	used := map[string]bool{}
	eachSource(t, func(path string, file *ast.File, set *token.FileSet) {
		if strings.HasPrefix(path, "io/vfs/") {
			return
		}
		for _, call := range uses(file, touching) {
			should.Hold(t, listed(reasons, used, path), "%v: %s: package vfs is the way to files", set.Position(call.Pos()), call.Sel.Name)
		}
	})
	for place := range reasons {
		should.Hold(t, used[place], "%s touches no files: its reason can go", place)
	}
}

// listed reports whether a file is in one of some places, which it notes as used.
func listed(places map[string]string, used map[string]bool, path string) (known bool) {
	for place := range places {
		if path == place || strings.HasPrefix(path, place+"/") {
			known, used[place] = true, true
		}
	}
	return known
}

// byPath lists the functions of package vfs that open or make the directory of a path for writing,
// to which links may lead.
var byPath = map[string][]string{"grenier/io/vfs": {"Begin", "CheckFile", "MakeDir", "OpenDir", "TempDir", "WriteFile"}}

// pathsOf are the places that use them, and whose paths these are.
var pathsOf = map[string]string{
	"cmd/dist/build.go":                 "the user's, of releases",
	"cmd/dist/licences.go":              "those of modules, for reading",
	"cmd/dist/main.go":                  "the user's, of releases",
	"cmd/grenier/awari/kept.go":         "the user's, for what may be lost",
	"cmd/grenier/awari/metrics.go":      "the user's: --metrics-file",
	"cmd/grenier/cli/output.go":         "the user's: files of charts, pictures and calibrations",
	"internal/testkit":                  "what only tests use",
	"io/rundir/places.go":               "the user's, or what a manifest names, for reading",
	"io/rundir/room.go":                 "the user's: --work, for reading",
	"io/rundir/rundir.go":               "the user's: --dir, --work and --layers-to",
	"pipeline/check/doctor/doctor.go":   "of TempDir",
	"pipeline/exchange/all.go":          "the user's: --out",
	"pipeline/exchange/internal/output": "the user's: --out",
	"pipeline/internal/machine":         "the user's: --dir, and of TempDir in it",
	"pipeline/play/find/state.go":       "the user's: --state",
	"pipeline/play/publish/list.go":     "the user's: --out",
}

// TestDirectoriesHaveOneDoor: directories are opened and made in io/vfs/door.go, and by their paths only where a user
// names them. Those that the program names are opened from the directory that they are in, by Dir.Sub and MakeSub,
// which refuse links: a path that the program has put together would be followed.
func TestDirectoriesHaveOneDoor(t *testing.T) {
	used := map[string]bool{}
	eachSource(t, func(path string, file *ast.File, set *token.FileSet) {
		for _, call := range uses(file, byPath) {
			should.Hold(t, listed(pathsOf, used, path),
				"%v: %s: who names the directory? Those that the program names are opened with vfs.MakeSub or Dir.Sub", set.Position(call.Pos()), call.Sel.Name)
		}
		if path != "io/vfs/door.go" && !strings.HasPrefix(path, "internal/testkit/") {
			for _, call := range making(file) {
				t.Errorf("%v: %s: io/vfs/door.go is the one place that opens and makes directories", set.Position(call.Pos()), call.Sel.Name)
			}
		}
	})
	for place := range pathsOf {
		should.Hold(t, used[place], "%s opens no directory by its path: its reason can go", place)
	}
}

// making returns what opens or makes directories, be it a function of package os or a method.
func making(file *ast.File) []*ast.SelectorExpr {
	return slices.DeleteFunc(selectors(file), func(s *ast.SelectorExpr) bool {
		return !slices.Contains([]string{"Mkdir", "MkdirAll", "MkdirTemp", "OpenInRoot", "OpenRoot"}, s.Sel.Name)
	})
}

// selectors returns what a file selects: functions of packages, methods, fields.
func selectors(file *ast.File) []*ast.SelectorExpr { return nodes[*ast.SelectorExpr](file) }

// nodes returns all nodes of a kind.
func nodes[N ast.Node](file *ast.File) (all []N) {
	for n := range ast.Preorder(file) {
		if n, ok := n.(N); ok {
			all = append(all, n)
		}
	}
	return all
}

// eachSource parses the sources of the program, without tests.
func eachSource(t *testing.T, visit func(path string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	parseEach(t, func(path string, file *ast.File, set *token.FileSet) {
		if !strings.HasSuffix(path, "_test.go") {
			visit(path, file, set)
		}
	})
}

// source is a Go file, with its path in this tree.
type source struct {
	path string
	file *ast.File
	set  *token.FileSet
}

// sources parses all Go files.
var sources = sync.OnceValues(func() (all []source, err error) {
	root := filepath.Join("..", "..")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		all = append(all, source{filepath.ToSlash(name), file, set})
		return err
	})
	return all, err
})

// parseEach visits the Go files.
func parseEach(t *testing.T, visit func(path string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	all, err := sources()
	must.Hold(t, err == nil && len(all) >= 100, "%d files, %v", len(all), err)
	for _, s := range all {
		visit(s.path, s.file, s.set)
	}
}

// uses returns the uses of functions, which are listed by packages.
func uses(file *ast.File, wanted map[string][]string) []*ast.SelectorExpr {
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
	return slices.DeleteFunc(selectors(file), func(s *ast.SelectorExpr) bool {
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		functions, bad := names[x.Name]
		return !bad || functions != nil && !slices.Contains(functions, s.Sel.Name)
	})
}
