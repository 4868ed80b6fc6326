//go:build !quick

package browsertest_test

import (
	"testing"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

const faulty = `<!doctype html><meta name="viewport" content="width=device-width"><title>a page</title><p>text</p><p hidden>more</p>
<img src="missing.png">
<script>console.log("a word"); undefinedFunction();</script>`

// TestLongFaults opens a page that has each kind of fault: the tests of pages rely on hearing of all of them.
func TestLongFaults(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	page := browsertest.Start(t).OpenText(t, faulty, browsertest.Window{Width: 400})
	browsertest.Want(page, "document.title", "a page")
	browsertest.Want(page, browsertest.Shown("p"), 1)
	browsertest.Want(page, "innerWidth", 400)
	kinds := []string{"console.log: \"a word\"", "undefinedFunction is not defined", "ERR_FILE_NOT_FOUND"}
	should.Equal(t, len(page.Faults()), len(kinds), "%q: faults", page.Faults())
	for i, kind := range kinds {
		page.Forgive(kind)
		faults := page.Faults()
		should.Hold(t, len(faults) == len(kinds)-1-i, "without %q: %q", kinds[:i+1], faults)
	}
}

// TestLongWindow opens pages without scripts and with wishes of the user.
func TestLongWindow(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	browser := browsertest.Start(t)
	page := browser.OpenText(t, faulty, browsertest.Window{Width: 800, NoScripts: true, Media: map[string]string{"prefers-color-scheme": "dark"}})
	page.Forgive("ERR_FILE_NOT_FOUND")
	browsertest.Want(page, `matchMedia("(prefers-color-scheme: dark)").matches`, true)
	should.List(t, page.Faults(), nil, "scripts ran")
}
