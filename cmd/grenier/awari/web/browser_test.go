//go:build !quick

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/play/serve"
	"grenier/pipeline/tables"
)

// solved is the number of seeds of the highest layer that the tests solve.
const solved = 8

// site is a running server with the page and its tables.
type site struct {
	game   awari.Game
	dir    string // run directory
	tables *tables.Tables
	url    string
	ends   string // of the names of its pages, but for the first one
	stop   func() // ends the server
}

// newSite solves a few layers and serves them until the test ends, to pages of some origins too.
func newSite(t *testing.T, origins ...string) *site {
	return newSiteOf(t, 12, awari.Awari, solved, origins...)
}

// newSiteOf does so for a game and a number of seeds. Clients may ask often.
func newSiteOf(t *testing.T, pits int, rules awari.Rules, seeds int, origins ...string) *site {
	game := awaritest.Game(t, pits, rules)
	dir := tabletest.Solve(t, game, seeds)
	tab := tabletest.Open(t, dir)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	o := serve.Options{Tables: tab, Dir: dir, Family: cpu.Best(), Pages: web.Files(), Rate: 1e6, Log: log}
	if len(origins) > 0 {
		o.Origins = must.Get(serve.ParseOrigins(strings.Join(origins, ",")))(t)
	}
	server := must.Get(serve.New(o))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, l) }()
	end := sync.OnceFunc(func() {
		stop()
		should.OK(t, <-ended)
	})
	t.Cleanup(end)
	return &site{game, dir, tab, "http://" + l.Addr().String() + "/", "", end}
}

// tab is a tab of the browser that shows the page.
type tab struct {
	*browsertest.Page
	*site
	where string // language, scheme and width, for messages
}

var desktop, phone = browsertest.Window{Width: 1280, Height: 900}, browsertest.Window{Width: 390, Height: 844}

// calm are the wishes of most readers: no motion.
var calm = map[string]string{"prefers-reduced-motion": "reduce", "prefers-color-scheme": "light"}

// openAt opens an address in a tab of its own, in a window of the given width. Motion is reduced.
func openAt(t *testing.T, browser *browsertest.Browser, s *site, url string, width int64) *tab {
	return &tab{browser.Open(t, url, browsertest.Window{Width: width, Media: calm}), s, ""}
}

// open opens the page at an address of the site.
func open(t *testing.T, browser *browsertest.Browser, s *site, address string, width int64) *tab {
	t.Helper()
	page := openAt(t, browser, s, s.url+address, width)
	page.Await("the values", settled)
	return page
}

// ready is true when a page on which one does not play is complete.
const ready = `document.body?.dataset.ready === "yes"`

// openOther opens another page of the site, with a query if there is one, and waits until it is complete.
func openOther(t *testing.T, browser *browsertest.Browser, s *site, name string, width int64) *tab {
	t.Helper()
	name, query, _ := strings.Cut(name, "?")
	page := openAt(t, browser, s, s.url+name+s.ends+"?"+query, width)
	page.Await(name, ready)
	return page
}

// leave ends the server, once the page has a worker that can answer in its place.
func (p *tab) leave() {
	p.Await("the worker", `navigator.serviceWorker.controller !== null`)
	p.Forgive("ERR_CONNECTION_REFUSED")
	p.Forgive("ERR_FAILED") // the worker asks again what was asked before it ran
	p.stop()
}

// says waits until an element has some text in its own.
func (p *tab) says(selector, text string) {
	p.Helper()
	quoted := must.Get(json.Marshal(text))(p)
	p.Await(text, fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%s)`, selector, quoted))
}

// wantGone waits until the page says that there is no server.
func (p *tab) wantGone() {
	p.Await("a word about it", `document.querySelector("#problem").checkVisibility() && document.querySelector("#problem").textContent.includes("does not answer")`)
}

// click clicks on an element that stands still, as a reader does.
func (p *tab) click(selector string) {
	p.Helper()
	p.Await(selector+" to stand still", fmt.Sprintf(`((before) => (globalThis.place = JSON.stringify(document.querySelector(%q).getBoundingClientRect())) === before)(globalThis.place)`, selector))
	p.Do(chromedp.Click(chromedp.CSS(selector)))
}

// choose gives a field a value, as a reader who chooses it.
func (p *tab) choose(selector, value string) {
	p.Helper()
	p.Exec(fmt.Sprintf(`{ const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, selector, value))
}

// write replaces the text of a field by keys.
func (p *tab) write(selector, text string) {
	p.Helper()
	p.Exec(fmt.Sprintf("document.querySelector(%q).select()", selector))
	p.Do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// key presses a key, wherever the focus is.
func (p *tab) key(key string) { p.Helper(); p.Do(chromedp.KeyEvent(key)) }

// enter presses Enter as a keyboard does: if the page takes the key for itself when it goes down, it does not type a line break as well.
func (p *tab) enter() {
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"}
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	p.Do(browsertest.Command(input.DispatchKeyEvent, down), browsertest.Command(input.DispatchKeyEvent, up))
}

// place is a position: pits, who moves, what both have taken.
type place struct {
	board awari.Board // seen by the player to move
	north bool        // North moves
	taken [2]int
}

// settled is true when the page says what it knows about a position.
const settled = `!["", "Asking the tables …", undefined].includes(document.querySelector("#moves-hint")?.textContent)`

// pits are those of the board, South's first, and counts the seeds that they say they have.
const (
	pits   = `[...document.querySelectorAll("#board .pit")].sort((a, b) => a.dataset.pit - b.dataset.pit)`
	counts = pits + `.map((p) => Number(p.querySelector(".count").textContent))`
)

// shown is the position that the page shows, as place.text writes it.
const shown = `[` + counts + `.join(","), ["south", "north"][document.querySelector("#board")?.dataset.turn],
	[0, 1].map((i) => document.querySelector("#store-" + i + " .count")?.textContent).join(",")].join(" ")`

// commas returns a board as the page writes it.
func (s *site) commas(b awari.Board) string { return strings.ReplaceAll(s.game.Text(b), " ", ",") }

// text returns a place as text: pits, South's first, who moves, what was taken.
func (s *site) text(at place) string {
	board, turn := at.board, "south"
	if at.north {
		board, turn = s.game.Turn(board), "north"
	}
	return fmt.Sprintf("%s %s %d,%d", s.commas(board), turn, at.taken[0], at.taken[1])
}

// address returns the address of a game that begins at a place.
func (s *site) address(at place) string {
	fields := strings.Fields(s.text(at))
	address := "?pits=" + fields[0] + "&turn=" + fields[1]
	if at.taken != [2]int{} {
		address += "&taken=" + fields[2]
	}
	return address
}

// letter returns the letter of a pit of the player to move.
func letter(at place, pit int) string {
	if at.north {
		return string(rune('a' + pit))
	}
	return string(rune('A' + pit))
}

// after returns the place after a legal move.
func (s *site) after(at place, pit int) place {
	play := s.game.Plays(at.board)[pit]
	mover := 0
	if at.north {
		mover = 1
	}
	at.taken[mover] += play.Captured
	at.board, at.north = play.Child, !at.north
	return at
}

// wantAt waits until the page shows a place, and its values if there are any.
func (p *tab) wantAt(at place) {
	p.Helper()
	p.Await(p.text(at), fmt.Sprintf(`%s === %q && %s`, shown, p.text(at), settled))
}

// keyTo presses a key, which leads to a place.
func (p *tab) keyTo(key string, at place) {
	p.Helper()
	p.key(key)
	p.wantAt(at)
}

// wantAddress waits until the address ends with some text.
func (p *tab) wantAddress(text string) {
	p.Helper()
	p.Await("the address "+text, fmt.Sprintf(`(location.pathname + location.search + location.hash).endsWith(%q)`, text))
}

// goTo goes to an address of the site, and waits for the document there: what follows is not true of the one before.
func (p *tab) goTo(address string) { p.Helper(); p.Do(chromedp.Navigate(p.url + address)) }

// back and forward go through the history of the browser.
func (p *tab) back()    { p.Helper(); p.Exec("history.back()") }
func (p *tab) forward() { p.Helper(); p.Exec("history.forward()") }

// pitInfo holds the texts of a pit of the player to move.
type pitInfo struct{ Label, Chip string }

// mover returns the pits of the player to move.
func (p *tab) mover() []pitInfo {
	return browsertest.Eval[[]pitInfo](p.Page, pits+`.filter((b) => b.matches(document.querySelector("#board").dataset.turn === "0" ? ".south" : ".north"))
		.map((b) => ({ Label: b.getAttribute("aria-label"), Chip: b.querySelector(".chip").textContent }))`)
}

// wantExact waits until the page shows a place, and compares its values with the tables.
func (p *tab) wantExact(at place) {
	p.Helper()
	p.wantAt(at)
	probe := must.Get(p.tables.Probe(p.Context(), at.board))(p)
	for i, shown := range p.mover() {
		want := ""
		if m := probe.Moves[i]; m.Legal {
			want = signed(m.Value)
		}
		should.Equal(p, shown.Chip, want, "%s: pit %d shows", p.text(at), i)
		should.Has(p, shown.Label, fmt.Sprintf("pit %s, %d seed", letter(at, i), at.board[i]))
	}
	verdict, want := p.Text("#verdict"), "Even from here on."
	if value := probe.Value; value != 0 {
		want = fmt.Sprintf("South takes %d more than North from here on.", max(value, -value))
		if at.north != (value < 0) {
			want = strings.NewReplacer("South", "North", "North", "South").Replace(want)
		}
	}
	should.Hold(p, strings.HasSuffix(verdict, "exact") && strings.Contains(verdict, want), "%s: %q, want %q", p.text(at), verdict, want)
}

// signed returns a number as the page writes it.
func signed(n int) string {
	if n == 0 {
		return "0"
	}
	return strings.Replace(fmt.Sprintf("%+d", n), "-", "−", 1)
}
