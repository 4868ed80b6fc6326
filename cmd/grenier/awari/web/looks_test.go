//go:build !quick

package web_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// A view is something that the pages show.
type view struct {
	name    string
	address string     // of a page
	act     func(*tab) // the steps to take there, if any
	ready   string     // a condition that is true then; if empty, the condition of the page
}

// views returns the views of all pages, but for the one that only published sites have.
func (s *site) views() []view {
	places, _, moves := s.longGame(60)
	press := func(key string) func(*tab) { return func(p *tab) { p.key(key) } }
	choose := func(values ...string) func(*tab) {
		return func(p *tab) {
			for i := 0; i < len(values); i += 2 {
				p.choose(values[i], values[i+1])
			}
		}
	}
	at := s.address(middle) + "&moves=Fd"
	all := []view{
		{"start", "", nil, settled},
		{"first game", "?seats=you,0", press("1"), `document.querySelectorAll("#record .ply").length >= 2 && ` + settled},
		{"above the tables", "?turn=south", nil, `document.querySelectorAll("#moves .guess").length > 0`},
		{"play", at, nil, settled},
		{"game", s.address(places[0]) + "&moves=" + moves, nil, settled},
		{"variations", "?moves=CdF(Ab)a", nil, settled},
		{"edit", at, press("e"), `!document.querySelector("#editor").hidden`},
		{"text", at, press("t"), `document.querySelector("#text").open`},
		{"help", at, press("?"), `document.querySelector("#help").open`},
		{"program", at + "&seats=you,4", nil, settled},
		{"over", "?pits=0,0,0,0,0,0,1,0,0,0,0,0&turn=south", nil, settled},
		{"bad address", "?pits=1,2,3", nil, settled + ` && !document.querySelector("#problem").hidden`},
		{"new game", at, press("n"), `!document.querySelector("#notice").hidden && ` + settled},
	}
	if s.ends == "" { // a published site needs no server here
		all = append(all, view{"silence", at, func(p *tab) {
			p.Exec(`globalThis.fetch = async () => { throw new TypeError("no network"); }`)
			p.key("1")
		}, `!document.querySelector("#problem").hidden`})
	}
	for _, name := range []string{"puzzles", "explore", "learn", "layers"} {
		all = append(all, view{name: name, address: name + s.ends})
	}
	return append(all,
		view{"puzzle, no", "puzzles" + s.ends, func(p *tab) { // at least one of them is wrong
			p.Await("a puzzle", `document.querySelector("#board").dataset.turn === "0" && document.querySelectorAll(".pit.playable").length > 1`)
			p.Exec(`for (const pit of document.querySelectorAll(".pit.playable")) pit.click()`)
		}, `document.querySelector("#message").textContent.length > 40`},
		view{"no puzzle", "puzzles" + s.ends + "?pits=4,4,4,4,4,4,4,4,4,4,4,4", nil, `!document.querySelector("#problem")?.hidden`},
		view{"by score", "explore" + s.ends, choose("#seeds", "5", "#score", "3", "#what", "score"), `document.querySelectorAll("#found li").length === 12 && !document.querySelector("#score-choice").hidden`},
		view{"hardest", "explore" + s.ends, choose("#seeds", "5", "#what", "hard"), `document.querySelector("#about").textContent.includes("368")`},
		view{"a step", "learn" + s.ends, press("3"), `!document.querySelector("#next").hidden`},
		view{"table", "layers" + s.ends, func(p *tab) { p.click(".layers summary") }, `document.querySelector(".layers details").open`},
	)
}

// widths are those of the windows in which views are looked at, by language and scheme: few of them, and all. Texts are as wide in both schemes.
type widths map[string][]int64

var fewWidths, allWidths = widths{"en light": {1440, 320}, "en dark": {390}, "fr light": {320}},
	widths{"en light": {1440, 1024, 390, 320}, "en dark": {1440, 390}, "fr light": {1440, 1024, 390, 320}}

// wantLooks checks that views can be read in each language, window and scheme: nothing is cut off or wider than the
// window, text has contrast (WCAG 2.1, 1.4.3) and is translated, each control has a name, and on a phone a finger can
// tap it. Unless tests are full, it looks at an eighth of the views, at others each time.
func (s *site) wantLooks(t *testing.T, browser *browsertest.Browser, views []view) {
	for _, i := range tries.Rand(t).Perm(len(views))[:tries.Pick(0, (len(views)+7)/8, len(views))] {
		v := views[i]
		t.Run(v.name, func(t *testing.T) {
			english := s.look(t, browser, v, "en")
			for _, text := range s.look(t, browser, v, "fr") {
				should.Not(t, regexp.MustCompile(`\pL{3}`).MatchString(text) && !same.MatchString(text) && slices.Contains(english, text),
					"not translated: %q", text)
			}
		})
	}
}

// look looks at a view in a language, and returns its texts.
func (s *site) look(t *testing.T, browser *browsertest.Browser, v view, language string) []string {
	address, mark := s.url+v.address, "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	page := openAt(t, browser, s, address+mark+"lang="+language, 1440)
	complete := ready
	if v.address == "" || v.address[0] == '?' { // one plays there
		complete = settled
	}
	page.Await("the page", fmt.Sprintf(`document.documentElement?.lang === %q && `, language)+complete)
	if v.act != nil {
		v.act(page)
	}
	if v.ready != "" {
		page.Await(v.name, v.ready)
	}
	texts := page.texts()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range tries.Pick(fewWidths, fewWidths, allWidths)[language+" "+scheme] {
			page.Show(browsertest.Window{Width: width, Media: map[string]string{"prefers-reduced-motion": "reduce", "prefers-color-scheme": scheme}})
			page.Exec(`globalThis.drawn = false; requestAnimationFrame(() => requestAnimationFrame(() => { drawn = true; }))`)
			page.Await("a new picture", "drawn")
			page.where = fmt.Sprint(language, " ", scheme, " ", width)
			dark := browsertest.Eval[float64](page.Page, contrastScript+`luminance(rgb(getComputedStyle(document.body).backgroundColor))`) < 0.2
			should.Equal(t, dark, scheme == "dark", "%s: dark", page.where)
			page.wantReadable(width)
			page.Shoot(strings.ReplaceAll(page.where, " ", "-"))
		}
	}
	page.Exec(`sessionStorage.clear(); localStorage.clear()`)
	return texts
}

// texts returns all texts that a page shows or tells assistive programs, and its title.
func (p *tab) texts() []string {
	return browsertest.Eval[[]string](p.Page, `(() => {
		const all = [document.title], clean = (s) => s.replace(/\s+/g, " ").trim();
		for (const e of document.querySelectorAll("body *")) {
			if (e.closest("code, kbd, noscript, #language, textarea") || !(e.checkVisibility() || e.closest("select"))) continue;
			for (const n of e.childNodes) if (n.nodeType === 3) all.push(clean(n.textContent));
			for (const a of ["aria-label", "title", "placeholder", "alt"]) if (e.hasAttribute(a)) all.push(clean(e.getAttribute(a)));
		}
		return all;
	})()`)
}

// same are words that are the same in both languages.
var same = regexp.MustCompile(`^(Grenier|SHA-256|[\w-]+\.(gl|json)|SHA256SUMS|awari|awari, [\d–]+|.*\b[KM]iB\.?|[\d.,]+ B|exact|club|Position|Positions|Solution|Pages|[A-Fa-f]|.*[A-F] [a-f].*)$`)

// screens are the pages whose pictures docs/serve.md shows: addresses, and what is to be seen there first.
var screens = []struct{ name, address, ready string }{
	{"play", "?moves=CdFaBe&seats=you,4", settled},
	{"analysis", "?pits=1,1,1,2,1,2,1,0,1,1,2,1&turn=south&moves=EaFfDe&at=2", `document.querySelector("#moves td:last-child") && document.querySelectorAll("#line button").length > 0 && ` + settled},
	{"puzzles", "puzzles", ready},
	{"explore", "explore", `document.querySelectorAll("#found li").length === 12`},
	{"learn", "learn", `document.querySelectorAll(".pit.playable").length > 0`},
}

// sheet has the pictures of a page beside each other.
const sheet = `<!doctype html><html lang="en"><title>pictures</title><link rel="icon" href="data:,">
<style>body { margin: 8px; display: flex; gap: 8px; background: #8a7d70 } img { height: 420px; border-radius: 6px }</style>`

// TestLongScreens looks at the pages as docs/serve.md shows them. With GRENIER_SCREENS=DIR it writes pictures there. If not full, it looks at one.
func TestLongScreens(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	seeds, shown := 14, screens
	if !tries.Full() && os.Getenv("GRENIER_SCREENS") == "" {
		seeds, shown = solved, screens[:1]
	}
	s := newSiteOf(t, 12, awari.Awari, seeds)
	for _, screen := range shown {
		t.Run(screen.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(sheet)
			for i := range 4 {
				look := []browsertest.Window{desktop, phone}[i/2]
				look.Media = map[string]string{"prefers-color-scheme": []string{"light", "dark"}[i%2]}
				p := browser.Open(t, s.url+screen.address, look)
				p.Await(screen.name, screen.ready)
				wide := browsertest.Eval[int64](p, `document.scrollingElement.scrollWidth`)
				should.Not(t, wide > look.Width, "it is %d pixels wide in a window of %d", wide, look.Width)
				if screen.name == "play" && i == 0 {
					keep(t, "game", p.Picture(80)) // for README.md
				}
				fmt.Fprintf(&text, `<img alt="" src="data:image/webp;base64,%s">`, base64.StdEncoding.EncodeToString(p.Picture(100)))
			}
			keep(t, screen.name, browser.OpenText(t, text.String(), browsertest.Window{Width: 1630, Height: 436}).Picture(80))
		})
	}
}

// keep writes a picture, which is to be small.
func keep(t *testing.T, name string, picture []byte) {
	should.Not(t, len(picture) < 10_000 || len(picture) > 150_000, "%s has %d bytes", name, len(picture))
	if dir := os.Getenv("GRENIER_SCREENS"); dir != "" {
		must.Write(t, filepath.Join(dir, name+".webp"), picture)
	}
}
