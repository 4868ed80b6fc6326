package longtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/kernels/longtest"
)

// TestMain, long, kit and the tests from TestDirect to TestQuick are the example that
// TestRun runs.
func TestMain(m *testing.M) { longtest.Choose(m).Run() }

func long() bool { return os.Getenv("GRENIER_LONG") != "" }

type kit struct{}

func (kit) times() int {
	if long() {
		return 2
	}
	return 1
}

func TestDirect(t *testing.T) {
	if !long() {
		t.Skip("needs GRENIER_LONG=1")
	}
}

func TestByWayOfOthers(t *testing.T) {
	for range (kit{}).times() {
		t.Log("done")
	}
}

func TestQuick(t *testing.T) { t.Log("done") }

// TestRun runs this program with each value of the variable.
func TestRun(t *testing.T) {
	for value, want := range map[string]string{
		"":     "TestDirect TestByWayOfOthers TestQuick",
		"1":    "TestDirect TestByWayOfOthers TestQuick",
		"only": "TestDirect TestByWayOfOthers",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.skip=^(TestRun|TestNames)$")
		cmd.Env = append(os.Environ(), longtest.Variable+"="+value)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var ran []string
		for line := range strings.Lines(string(out)) {
			if name, found := strings.CutPrefix(line, "=== RUN   "); found {
				ran = append(ran, strings.TrimSpace(name))
			}
		}
		if got := strings.Join(ran, " "); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// TestNames reads a package that has no tests, and one that cannot be read.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	if _, err := longtest.Names(dir); err == nil {
		t.Error("no tests, no error")
	}
	path := filepath.Join(dir, "a_test.go")
	for text, want := range map[string][]string{
		"package a; func TestA() { b() }; func b() { c(`GRENIER_LONG`) }; func TestC() { c() }": {"TestA"},
		"package a; func": nil,
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		names, err := longtest.Names(dir)
		if diff := cmp.Diff(want, names); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
}
