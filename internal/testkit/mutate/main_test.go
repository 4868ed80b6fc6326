//go:build !quick

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// small is a module whose tests look at Low and not at High.
var small = map[string]string{
	"go.mod": "module small\n\ngo 1.24\n",
	"a/a.go": `package a

// Low reports whether x is below 3.
func Low(x int) bool { return x < 3 }

// High reports whether x is above 7.
func High(x int) bool { return x > 7 }
`,
	"a/a_test.go": `package a

import "testing"

func TestLow(t *testing.T) {
	if !Low(2) || Low(3) {
		t.Error(2, 3)
	}
}
`,
	"b/b.go": "package b\n",
	"b/b_test.go": `package b

import (
	"testing"

	"small/a"
)

func TestHigh(t *testing.T) {
	if a.High(0) {
		t.Error(0)
	}
}
`,
	"hand.txt": `# 3 is low
a/a.go
-func Low(x int) bool { return x < 3 }
+func Low(x int) bool { return x <= 3 }

# 7 is high
a/a.go
-func High(x int) bool { return x > 7 }
+func High(x int) bool { return x >= 7 }

# all is high, as the package that uses it finds
a/a.go
-func High(x int) bool { return x > 7 }
+func High(int) bool { return true }

# nothing that compiles
a/a.go
-func High(x int) bool { return x > 7 }
+func High(x int) bool { return x }
`,
}

// lay writes the module and makes it the working directory.
func lay(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for name, text := range small {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Write(t, name, []byte(text))
	}
}

// TestLongHand: changes that the tests of the package, or of one that uses it, notice are told from others, and from those that do not compile.
func TestLongHand(t *testing.T) {
	tries.NeedsLong(t, "compiles and tests four changes")
	lay(t)
	var out strings.Builder
	must.OK(t, run(context.Background(), &options{hand: "hand.txt", timeout: 1e9 * 60}, &out))
	should.Has(t, out.String(),
		"| small/a | a/a.go:4 (3 is low) | ", "| **nobody** | a/a.go:7 (7 is high) | ", "| small/b | a/a.go:7 (all is high", "3 changes, 2 killed (66.7 %), 1 lived; 1 more did not compile")
	// What lived is tried again, with the tests of the package alone.
	out.Reset()
	must.OK(t, run(context.Background(), &options{hand: "hand.txt", timeout: 1e9 * 60, alone: true, lived: "lived.txt"}, &strings.Builder{}))
	must.OK(t, run(context.Background(), &options{hand: "lived.txt", timeout: 1e9 * 60}, &out))
	should.Has(t, out.String(), "2 changes, 1 killed (50.0 %), 1 lived; 0 more")
	should.Equal(t, string(must.Read(t, "a/a.go")), small["a/a.go"], "a.go is now")
}

// TestLongHandApplies: each change by hand can be made in the program as it is; lines that are not there, or nowhere, are refused.
func TestLongHandApplies(t *testing.T) {
	t.Chdir("../../..")
	all := must.Get(readHand("internal/testkit/mutate/testdata/hand.txt"))(t)
	should.Not(t, len(all) < 60, "%d changes", len(all))
	lay(t)
	for _, text := range []string{"# x\na/a.go\n-package b\n+package c", "# x\nno.go\n-package b\n+package c", "# x\na/a.go\n+package c"} {
		must.Write(t, "hand.txt", []byte(text))
		should.Not(t, run(context.Background(), &options{hand: "hand.txt"}, &strings.Builder{}) == nil, "%q is taken", text)
	}
}

// TestLongSites: each kind of change is found where it is, and nowhere else.
func TestLongSites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	must.Write(t, path, []byte(`package a

import "errors"

func f(a, b int) error {
	defer g()
	for a < b {
		a++
		if g(a, b) {
			break
		}
		a = b
	}
	return errors.New("no")
}
`))
	var got []string
	for _, c := range must.Get(sitesInGo(nil, path))(t) {
		should.Equal(t, c.name, "f", "%+v", c)
		got = append(got, c.old+" -> "+c.new)
	}
	should.List(t, got, []string{
		"defer g() -> ", "< -> <=", "a++ -> ", "g(a, b) -> !(g(a, b))", "a, b -> b, a", "break -> continue", "a = b -> ", `errors.New("no") -> nil`,
	})

	// Constants of assembly change, those of comments do not.
	must.Write(t, path, []byte("GLOBL ·four(SB), RODATA, $32\nTEXT ·f(SB), NOSPLIT, $0-8\n\tADDQ $0x10, AX // $3\n\tSHLQ $4, BX\n"))
	found := must.Get(sitesInAssembly(nil, path))(t)
	should.Hold(t, len(found) == 2 && found[0].old == "ADDQ $0x10, AX" && found[0].new == "17" && found[0].line == 3 && found[0].name == "f" && found[1].new == "5",
		"%+v", found)
}
