//go:build !quick

package web_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// TestLongStranger goes the way of somebody who comes by, on a server and on a published site. Unless it is full, one of
// five comes by, another each time.
func TestLongStranger(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	s := newSiteOf(t, 12, awari.Awari, 12)
	m := publishSite(t, s)
	published := *s
	published.url, published.ends = m.folder, ".html"
	var mistaken atomic.Int32 // games with a mistake that is proven
	t.Cleanup(func() {
		should.Not(t, tries.Full() && mistaken.Load() == 0,
			"no game has a mistake to go to") // one game may be faultless; testAnalysis has mistakes
	})
	desktop, phone := browsertest.Window{Width: 1280, Height: 900}, browsertest.Window{Width: 390, Height: 844}
	ways := []struct {
		name     string
		site     *site
		window   browsertest.Window
		language string
		keys     bool
	}{
		{"served, desktop", s, desktop, "en", false}, {"served, phone", s, phone, "en", false}, {"served, keys", s, desktop, "fr", true},
		{"published, phone", &published, phone, "fr", false}, {"published, keys", &published, desktop, "en", true},
	}
	for _, i := range tries.Rand(t).Perm(len(ways))[:tries.Pick(0, 1, len(ways))] {
		c := ways[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.window.Media = map[string]string{"prefers-reduced-motion": "reduce", "prefers-color-scheme": "light"}
			w := &stranger{&tab{browser.Open(t, c.site.url+"?lang="+c.language, c.window), c.site, c.name}, c.window, c.language, c.keys}
			w.begin()
			w.playToTheEnd()
			if w.analyse() {
				mistaken.Add(1)
			}
			w.share()
			w.Exec(`sessionStorage.clear(); localStorage.clear()`)
		})
	}
}

// stranger is somebody who comes by, with a mouse or finger, or with keys alone.
type stranger struct {
	*tab
	window   browsertest.Window
	language string
	keys     bool
}

// word returns a text in the language of the stranger.
func (w *stranger) word(english, french string) string {
	return map[string]string{"en": english, "fr": french}[w.language]
}

// press uses a button: by a click, or by Tab and Enter.
func (w *stranger) press(id string) {
	w.Helper()
	if !w.keys {
		w.click("#" + id)
		return
	}
	for range 100 {
		if browsertest.Eval[bool](w.Page, fmt.Sprintf(`document.activeElement.id === %q`, id)) {
			w.enter()
			return
		}
		w.key(kb.Tab)
	}
	w.Fatalf("Tab does not lead to %s", id)
}

// begin opens the page and starts a game with one tap, without scrolling. No value is shown before it is asked for.
func (w *stranger) begin() {
	w.Await("the page", fmt.Sprintf(`document.documentElement?.lang === %q && `, w.language)+settled)
	for _, what := range []string{"#new", "#who", "#level", `#setup a[href^="learn"]`, "#board", "#turn"} {
		bottom := browsertest.Eval[float64](w.Page, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().bottom`, what))
		should.Not(w, bottom > float64(w.window.Height), "%s ends at %.0f pixels", what, bottom)
	}
	w.says("#verdict", w.word("this is a draw", "c’est la nulle"))
	w.says("#fact", "ICGA Journal 25")
	w.says("#fact", w.word("From 12 seeds on I know everything: 36 more to take.", "À partir de 12 graines je sais tout"))
	w.wantNoValues()
	w.wantAccess()
	w.wantFits(w.window.Width)
	w.press("new")
	w.wantAddress("?seats=you,4")
	w.click(`.pit[data-pit="7"]`)
	w.says("#bubble", w.word("This is a pit of North. South to move.", "Cette case est à Nord. Au tour de Sud."))
}

// wantNoValues checks that no pit has a value, and that nothing else tells it.
func (w *stranger) wantNoValues() {
	w.Helper()
	browsertest.Want(w.Page, `[...document.querySelectorAll(".pit .chip")].map((c) => c.textContent).join("")`, "")
	browsertest.Want(w.Page, browsertest.Shown("#bar, #moves-card, #line-card, #graph-card, .lost, .badge"), 0)
}

// over is true when the game has ended.
const over = `document.querySelector("#rematch").checkVisibility()`

// playToTheEnd plays whatever is legal, and the worst move once the tables know it, until the banner says how the game ended.
func (w *stranger) playToTheEnd() {
	for turn := 0; ; turn++ {
		w.Await("a turn", over+` || document.querySelector("#board").dataset.turn === "0" && document.querySelectorAll(".pit.south.playable").length > 0`)
		if browsertest.Eval[bool](w.Page, over) {
			break
		}
		pits := browsertest.Eval[[]int](w.Page, `[...document.querySelectorAll(".pit.south.playable")].map((p) => Number(p.dataset.pit))`)
		pit := w.worst(pits, turn)
		before := browsertest.Eval[int](w.Page, `document.querySelectorAll("#record .ply").length`)
		if w.keys {
			w.key(strconv.Itoa(pit + 1))
		} else {
			w.click(fmt.Sprintf(`.pit[data-pit="%d"]`, pit))
		}
		w.Await("the move", fmt.Sprintf(`document.querySelectorAll("#record .ply").length > %d`, before))
	}
	taken := browsertest.Eval[[]int](w.Page, `document.querySelector("#result").textContent.match(/\d+/g).map(Number)`)
	should.Hold(w, len(taken) == 2 && taken[0] >= taken[1] && taken[0]+taken[1] <= 48, "the banner says %q", w.Text("#result"))
	w.wantNoValues()
	w.wantAccess()
	w.wantFits(w.window.Width)
}

// seeds are those in each pit, South's first.
const seeds = `[...document.querySelectorAll("#board .pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((p) => Number(p.querySelector(".count").textContent))`

// worst returns the worst of South's moves if the tables know the position, otherwise one in turn.
func (w *stranger) worst(pits []int, turn int) int {
	w.Helper()
	var board awari.Board
	for i, n := range browsertest.Eval[[]int](w.Page, seeds) {
		board[i] = uint8(n)
	}
	if board.Seeds() > w.tables.MaxSeeds() {
		return pits[turn%len(pits)]
	}
	p := must.Get(w.tables.Probe(w.Context(), board))(w)
	return slices.MinFunc(pits, func(a, b int) int { return int(p.Moves[a].Value - p.Moves[b].Value) })
}

// analyse looks at the game and goes to the worst mistake in it: the one whose cost is the greatest of all that the list shows. It
// reports false if there is none.
func (w *stranger) analyse() bool {
	w.Helper()
	w.press("to-analysis")
	w.Await("an analysis", `document.querySelector("#graph").checkVisibility() && document.querySelector("#graph .curve") !== null`)
	if browsertest.Eval[string](w.Page, `document.querySelector("#analyse").textContent`) == w.word("Stop", "Arrêter") {
		w.press("analyse")
	}
	w.Await("its end", fmt.Sprintf(`document.querySelector("#analyse").textContent === %q`, w.word("Analyse the game", "Analyser la partie")))
	exact := browsertest.Eval[int](w.Page, `Number(document.querySelector("#graph-hint").textContent.match(/\d+/)[0])`)
	should.Not(w, exact == 0, "no point of the graph is exact, not even the end")
	if browsertest.Eval[bool](w.Page, `document.querySelectorAll("#record .lost").length === 0`) {
		browsertest.Want(w.Page, browsertest.Shown("#report-card"), 0)
		return false
	}
	browsertest.Want(w.Page, browsertest.Shown("#report-card"), 1)
	w.press("worst")
	worst := browsertest.Eval[int](w.Page, `Math.max(...[...document.querySelectorAll("#record .lost")].map((l) => Number(l.textContent.match(/\d+/)[0])))`)
	w.Await("the worst mistake", fmt.Sprintf(`document.querySelector("#gave").textContent.match(/\d+/)?.[0] === "%d"`, worst))
	sum := browsertest.Eval[[2]int](w.Page, `[[...document.querySelectorAll("#report td:last-child")], [...document.querySelectorAll("#record .lost")]].map((all) => all.reduce((n, e) => n + Number(e.textContent.match(/\d+/)?.[0] ?? 0), 0))`)
	should.Hold(w, sum[0] == sum[1] && sum[0] >= worst, "the report adds up to %d, the list to %d", sum[0], sum[1])
	w.wantAccess()
	w.wantFits(w.window.Width)
	return true
}

// share copies the link and opens it where nobody was before: the same point of the same game is there, with its values, and with what the
// move before gave away if the tables know that.
func (w *stranger) share() {
	w.Helper()
	w.Exec(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`)
	w.press("share")
	w.Await("the link", `globalThis.copied?.startsWith("http")`)
	link := browsertest.Eval[string](w.Page, "copied")
	here := browsertest.Eval[string](w.Page, shown)
	w.key(kb.ArrowLeft)
	w.Await("the position before", fmt.Sprintf(`%s !== %q`, shown, here))
	known := browsertest.Eval[int](w.Page, seeds+`.reduce((a, b) => a + b)`) <= w.tables.MaxSeeds()
	w.key(kb.ArrowRight)
	w.Await("the position", fmt.Sprintf(`%s === %q`, shown, here))
	same, want := shown, here
	if known {
		same, want = same+` + document.querySelector("#gave")?.textContent`, want+w.Text("#gave")
	}
	fresh := browsertest.Start(w.TB).Open(w.TB, link, w.window)
	fresh.Await("the same", fmt.Sprintf(`%s === %q`, same, want))
	browsertest.Want(fresh, `document.documentElement.lang`, w.language)
	browsertest.Want(fresh, `document.querySelector("#hints").checked`, true)
}
