package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
)

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
		"pipeline/check/scrub", "pipeline/check/verify", "pipeline/exchange",
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

// TestImportRules checks the architecture: kernels know no files, io knows no
// games, layers know neither files nor engines, nothing imports commands, and the program
// nothing of internal/testkit.
func TestImportRules(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 15 {
		t.Fatalf("only %d packages found", len(packages))
	}
	for _, p := range packages {
		part := partOf(p.ImportPath)
		rule, known := allowed[part]
		if !known {
			t.Errorf("%s: there is no part %q in the architecture", p.ImportPath, part)
		}
		for _, imported := range p.Imports {
			if target := partOf(imported); target != "" && target != part && !slices.Contains(rule, target) {
				t.Errorf("%s imports %s: %s may not import %s", p.ImportPath, imported, part, target)
			}
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
			if other, _ := systemOf(t, d); other != "" && other != own {
				t.Errorf("%s depends on %s, which is of the system %s", p.ImportPath, d, other)
			}
			if from, to := commandOf(p.ImportPath), commandOf(d); to != "" && to != from && to != "cli" {
				t.Errorf("%s depends on %s: commands share only package cli", p.ImportPath, d)
			}
		}
	}
	for system, places := range systems {
		for _, place := range places {
			if !seen[place] {
				t.Errorf("%s: there is no package in %s", system, place)
			}
		}
	}
}

// TestChecksAreIndependent: packages that verify or prove share no move code with the solver.
func TestChecksAreIndependent(t *testing.T) {
	const engine, halves, packed = "grenier/pipeline/solve/internal/halfboard", "grenier/layers/awari/halves", "grenier/layers/awari/packed"
	rules := map[string][]string{
		"grenier/pipeline/check/verify": {engine, halves, packed, "grenier/pipeline/spaces/retro"},
		"grenier/pipeline/check/prove":  {engine, halves, "grenier/pipeline/spaces/retro", "grenier/kernels/compress", "grenier/kernels/transpose"},
		engine:                          {packed},
	}
	for _, p := range listPackages(t) {
		for _, d := range rules[p.ImportPath] {
			if slices.Contains(p.Deps, d) {
				t.Errorf("%s must not use %s", p.ImportPath, d)
			}
		}
		delete(rules, p.ImportPath)
	}
	if len(rules) > 0 {
		t.Errorf("there are no such packages: %v", rules)
	}
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
			if system != "" {
				t.Fatalf("%s is of %s and of %s", importPath, system, s)
			}
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
	out, err := goList()
	must.OK(t, err)
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
