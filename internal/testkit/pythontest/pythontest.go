// Package pythontest finds Python interpreters for tests.
package pythontest

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Paths returns the interpreters in the path, Python 3.8 or newer, each once.
func Paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		known := map[string]bool{}
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			// What is in the path may be a wrapper that takes longer than the tests.
			out, err := exec.Command(filepath.Join(dir, "python3"), "-c", "import os, sys; print(os.path.realpath(sys.executable)); sys.exit(sys.version_info < (3, 8))").Output()
			if path := strings.TrimSpace(string(out)); err == nil && !known[path] {
				known[path] = true
				if !yield(path) {
					return
				}
			}
		}
	}
}

// Has reports whether an interpreter has modules, whose names stand with commas between.
func Has(path, modules string) bool { return exec.Command(path, "-c", "import "+modules).Run() == nil }

// With returns the first interpreter that has modules, and skips the test if none does.
func With(t testing.TB, modules string) string {
	t.Helper()
	for path := range Paths() {
		if Has(path, modules) {
			return path
		}
	}
	t.Skip("no Python 3.8 or newer has " + modules)
	return ""
}
