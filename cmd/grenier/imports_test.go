package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
	page := must.Get(os.ReadFile("../../docs/proof.md"))(t)
	for _, name := range shared {
		should.Hold(t, strings.Contains(string(page), "`"+name+"`"), "docs/proof.md does not name %s", name)
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
		if slices.Contains(deps["grenier/pipeline/check/verify"], other) || slices.Contains(deps["grenier/pipeline/check/prove"], other) {
			t.Errorf("a check uses %s", other)
		}
	}
	if slices.Contains(deps[engine], packed) {
		t.Errorf("the engine uses %s", packed)
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
