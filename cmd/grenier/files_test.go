package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

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
			reason := ""
			for place := range reasons {
				if path == place || strings.HasPrefix(path, place+"/") {
					reason, used[place] = reasons[place], true
				}
			}
			if reason == "" {
				t.Errorf("%v: %s: package vfs is the way to files", set.Position(call.Pos()), call.Sel.Name)
			}
		}
	})
	for place := range reasons {
		should.Hold(t, used[place], "%s touches no files: its reason can go", place)
	}
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
			known := false
			for place := range pathsOf {
				if path == place || strings.HasPrefix(path, place+"/") {
					known, used[place] = true, true
				}
			}
			if !known {
				t.Errorf("%v: %s: who names the directory? Those that the program names are opened with vfs.MakeSub or Dir.Sub",
					set.Position(call.Pos()), call.Sel.Name)
			}
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
func selectors(file *ast.File) (all []*ast.SelectorExpr) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			all = append(all, s)
		}
		return true
	})
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
