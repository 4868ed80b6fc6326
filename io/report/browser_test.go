//go:build !quick

package report_test

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/tries"
	"grenier/io/report"
)

// TestLongBrowser opens the page in windows of all kinds.
func TestLongBrowser(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	browser := browsertest.Start(t)
	for _, c := range []struct {
		width        int64
		scheme       string
		wide, narrow int // drawings shown
		background   string
	}{
		{1200, "light", 5, 0, "rgb(244, 246, 248)"},
		{800, "dark", 5, 0, "rgb(12, 15, 19)"},
		{390, "dark", 0, 5, "rgb(12, 15, 19)"},
		{320, "light", 0, 5, "rgb(244, 246, 248)"},
	} {
		t.Run(fmt.Sprint(c.width), func(t *testing.T) {
			page := openPage(t, browser, browsertest.Window{Width: c.width, Media: map[string]string{"prefers-color-scheme": c.scheme}})
			browsertest.Want(page, "document.documentElement.scrollWidth <= innerWidth", true)
			browsertest.Want(page, browsertest.Shown(".wide svg"), c.wide)
			browsertest.Want(page, browsertest.Shown(".narrow svg"), c.narrow)
			browsertest.Want(page, "getComputedStyle(document.body).backgroundColor", c.background)
			browsertest.Want(page, browsertest.Shown(".layer"), 1)
			browsertest.Want(page, "document.querySelector('output').textContent", "5 seeds")
		})
	}
	t.Run("choosing", func(t *testing.T) {
		page := openPage(t, browser, browsertest.Window{Width: 1200})
		page.Exec("document.querySelector('.choose button').click()")
		browsertest.Want(page, "document.querySelector('output').textContent", "4 seeds")
		browsertest.Want(page, "document.querySelector('.layer:not([hidden]) h3').textContent", "Scores with 4 seeds")
		browsertest.Want(page, "document.getElementById('tip').hidden", true)
		page.Exec(`{
			const bar = document.querySelector('.layer:not([hidden]) .wide .column'), box = bar.getBoundingClientRect();
			bar.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: box.x + 5, clientY: box.y + 50}));
		}`)
		browsertest.Want(page, "document.getElementById('tip').hidden", false)
		browsertest.Want(page, "document.getElementById('tip').textContent", "score: -4\npositions: 532\nshare: 38.974%")
		page.Exec("document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
		browsertest.Want(page, "document.getElementById('tip').hidden", true)
	})
	t.Run("without scripts", func(t *testing.T) { // everything is there
		page := openPage(t, browser, browsertest.Window{Width: 1200, NoScripts: true})
		browsertest.Want(page, browsertest.Shown(".layer"), 6)
		browsertest.Want(page, browsertest.Shown(".choose"), 0)
		browsertest.Want(page, "document.querySelectorAll('.column title').length > 0", true)
	})
}

func openPage(t *testing.T, browser *browsertest.Browser, w browsertest.Window) *browsertest.Page {
	t.Helper()
	return browser.OpenText(t, written(t, report.WritePage, load(t)), w)
}
