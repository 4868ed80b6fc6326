package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each part of the tree, the parts that it may import
// besides its own packages: imports go downwards only.
var allowed = map[string][]string{
	"kernels":  {},
	"layers":   {"kernels"},
	"io":       {"kernels"},
	"pipeline": {"layers", "io", "kernels"},
	"cmd":      {"pipeline", "layers", "io", "kernels"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestImportRules checks the architecture: kernels know no files, io knows no
// games, layers know neither files nor engines, and nothing imports commands.
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

// partOf returns the top-level folder of one of our packages, "" for others.
func partOf(importPath string) string {
	path, ours := strings.CutPrefix(importPath, "grenier/")
	if !ours {
		return ""
	}
	part, _, _ := strings.Cut(path, "/")
	return part
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "grenier/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
