//go:build unix && !quick

package siegetest_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/siegetest"
)

// target makes a file to damage, others, and canaries.
func target(t *testing.T) (*siegetest.Tree, siegetest.Target) {
	t.Helper()
	tree := siegetest.New(t)
	tree.Write("run/a", []byte("12345 is a number in a file that is long enough for headers of most kinds, and then some more"))
	tree.Write("run/b", []byte("67890"))
	tree.Canary("canary")
	return tree, siegetest.Target{Name: "run/a", Others: []string{"run/b"}, Donors: map[string][]byte{"other/a": []byte("donated")}, Canary: "canary"}
}

// TestLongDamages: each damage changes the files and leaves the canaries alone, and the same seed does the same again.
func TestLongDamages(t *testing.T) {
	for _, d := range siegetest.Damages {
		t.Run(d.Name, func(t *testing.T) {
			for seed := range uint64(3) {
				tree, target := target(t)
				run, canary := tree.Watch("run"), tree.Watch("canary")
				err := d.Do(rand.New(rand.NewPCG(seed, 0)), tree, target)
				switch {
				case d.Name == "forge a layer":
					should.Not(t, err == nil, "this is no layer")
				case d.Name != "device" || os.Getuid() == 0:
					should.Not(t, err != nil || run.Changes() == "", "seed %d: %v", seed, err)
					canary.Check(t)
				}
			}
		})
	}
}

// TestLongDamagesStay: a file that is a link already is not damaged, so that nothing is changed through it.
func TestLongDamagesStay(t *testing.T) {
	tree, target := target(t)
	must.OK(t, tree.Remove("run/a"))
	must.OK(t, tree.Symlink("../canary/diary.txt", "run/a"))
	all := tree.Watch(".")
	for _, d := range siegetest.Damages {
		should.Not(t, d.Do(rand.New(rand.NewPCG(1, 1)), tree, target) == nil, "%s: a link was damaged", d.Name)
	}
	all.Check(t)
}

// TestLongOutside: nothing outside of the tree is touched, neither by name nor through a link.
func TestLongOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must.Write(t, outside, []byte("mine"))
	tree := siegetest.New(t)
	must.OK(t, os.Symlink(outside, tree.Path("link")))
	for _, name := range []string{"link", outside, "../outside"} {
		should.Not(t, tree.WriteFile(name, nil, 0o644) == nil, "%s was written", name)
	}
	should.Equal(t, string(must.Read(t, outside)), "mine")
}

// TestLongWatch notices every kind of change, and Restore undoes it.
func TestLongWatch(t *testing.T) {
	tree := siegetest.New(t)
	canary := tree.Canary("canary")
	canary.Check(t)
	for name, change := range map[string]func() error{
		"contents": func() error { return tree.WriteFile("canary/empty", []byte("x"), 0) },
		"mode":     func() error { return tree.Chmod("canary/empty", 0o600) },
		"new name": func() error { return tree.WriteFile("canary/new", nil, 0o644) },
		"no name":  func() error { return tree.Remove("canary/photos/cat.jpg") },
		"link":     func() error { return tree.Remove("canary/link") },
	} {
		must.OK(t, tree.RemoveAll("canary"))
		canary = tree.Canary("canary")
		must.OK(t, change())
		should.Not(t, canary.Changes() == "", "%s: not noticed", name)
	}
	tree.Write("run/a", []byte("a"))
	whole := tree.Save("run")
	tree.Write("run/a", []byte("b"))
	tree.Write("run/c/d", []byte("b"))
	whole.Restore(t)
	should.Equal(t, len(tree.Look("run")), 2, "entries")
}
