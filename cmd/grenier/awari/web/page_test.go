package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"grenier/io/browsertest"
	"grenier/kernels/longtest"
	"grenier/layers/awari"
)

func TestMain(m *testing.M) { longtest.Choose(m).Run() }

// TestBrowser uses the page in a real browser.
func TestBrowser(t *testing.T) {
	if os.Getenv("GRENIER_LONG") == "" {
		t.Skip("a browser needs GRENIER_LONG=1")
	}
	browser := browsertest.Start(t)
	s := newSite(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, browser *browsertest.Browser, s *site)
	}{
		{"values", testValues}, {"play", testPlay}, {"program", testProgram}, {"keys", testKeys}, {"edit", testEdit},
		{"links", testLinks}, {"search", testSearch}, {"layers", testLayers}, {"phone", testPhone}, {"dark", testDark}, {"motion", testMotion}, {"gone", testGone}, {"gone layers", testGoneLayers},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, browser, s) })
	}
}

// middle is a position with a choice of moves.
var middle = place{board: awari.Board{1, 0, 1, 0, 0, 2, 1, 1, 0, 1, 0, 1}}

func testValues(t *testing.T, browser *browsertest.Browser, s *site) {
	for i, at := range []place{
		middle,
		{board: middle.board, north: true, taken: [2]int{3, 1}},
		{board: awari.Board{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			page := open(t, browser, s, s.hash(at), 1200)
			page.wantAt(at)
			page.wantValues(at)
		})
	}
}

// testPlay plays both sides, by clicks and by keys, and takes moves back.
func testPlay(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	at := middle
	var before []place
	for turn := range 6 {
		plays := s.game.Plays(at.board)
		pit := 0
		for !plays[pit].Legal {
			pit++
		}
		before = append(before, at)
		if turn%2 == 0 {
			page.key(strconv.Itoa(pit))
		} else {
			number := pit
			if at.north {
				number += 6
			}
			page.click(fmt.Sprintf(`.pit[data-pit="%d"]`, number))
		}
		at = s.after(at, pit)
		page.wantAt(at)
		page.wantValues(at)
		if live := page.Text("#live"); !strings.Contains(live, fmt.Sprintf("plays pit %d", pit)) {
			t.Errorf("the live region says %q", live)
		}
	}
	for i := len(before) - 1; i >= 0; i-- {
		page.key("u")
		page.wantAt(before[i])
	}
	if !browsertest.Eval[bool](page.Page, `document.querySelector("#undo").disabled`) {
		t.Error("there is more to undo")
	}
	page.key("r")
	page.wantAt(before[1])
	page.wantValues(before[1])
}

// testProgram lets the program play both sides to the end of a game: what both have
// taken must differ by the value of the position.
func testProgram(t *testing.T, browser *browsertest.Browser, s *site) {
	at := place{board: awari.Board{1, 0, 1, 0, 0, 2, 1, 1, 0, 1, 0, 1}, north: true}
	page := open(t, browser, s, s.hash(at), 1200)
	probe, err := s.tables.Probe(at.board)
	if err != nil || probe.Value <= 0 {
		t.Fatalf("worth %d (%v), the test wants a position that North wins", probe.Value, err)
	}
	page.Exec(`for (const id of ["seat-0", "seat-1"]) {
		const seat = document.getElementById(id);
		seat.value = "program";
		seat.dispatchEvent(new Event("change"));
	}`)
	page.Await("the end of the game", `document.querySelector("#turn").textContent === "The game is over."`)
	verdict := page.Text("#verdict")
	_, score, _ := strings.Cut(verdict, "North wins, ")
	var north, south int
	if _, err := fmt.Sscanf(score, "%d to %d.", &north, &south); err != nil || north-south != probe.Value {
		t.Errorf("worth %d to North, but %s", probe.Value, verdict)
	}
}

// testKeys chooses pits with arrow keys, and opens and closes help.
func testKeys(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	focused := func() string {
		return browsertest.Eval[string](page.Page, `document.activeElement.dataset.pit ?? document.activeElement.id`)
	}
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "0"}, {kb.ArrowRight, "1"}, {kb.ArrowUp, "10"}, {kb.ArrowLeft, "11"}, {kb.ArrowLeft, "6"},
		{kb.ArrowDown, "5"}, {kb.ArrowDown, "5"}, {kb.ArrowRight, "0"}, {kb.ArrowLeft, "5"},
	} {
		page.key(step.key)
		if got := focused(); got != step.want {
			t.Fatalf("%q leads to %q, want %q", step.key, got, step.want)
		}
	}
	if style := browsertest.Eval[string](page.Page, `getComputedStyle(document.activeElement).outlineStyle`); style != "solid" {
		t.Errorf("the outline of the pit with the focus is %s", style)
	}
	page.enter()
	page.wantAt(s.after(middle, 5))
	page.key("?")
	page.Await("help", `document.querySelector("#help").open`)
	page.Shoot("help")
	page.key(kb.Escape)
	page.Await("no help", `!document.querySelector("#help").open`)
	page.key("h")
	page.Await("no values", `document.querySelector("#moves-card").hidden`)
	for _, pit := range page.mover() {
		if pit.Chip != "" || strings.Contains(pit.Label, "value") {
			t.Errorf("hidden, but %+v", pit)
		}
	}
	page.key("1") // empty, or not: nothing may break
	if n := browsertest.Eval[int](page.Page, `document.querySelectorAll('.pit[tabindex="0"]').length`); n != 1 {
		t.Errorf("Tab reaches %d pits", n)
	}
}

// testEdit sets up a position with keys, buttons and text.
func testEdit(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	page.key("e")
	page.Await("the editor", `!document.querySelector("#editor").hidden`)
	page.click("#edit-clear")
	page.click(`.pit[data-pit="2"]`)
	page.key("3")
	page.key(kb.ArrowRight)
	page.key("+")
	page.key("+")
	page.key("-")
	page.click(`.pit[data-pit="6"]`)
	page.click("#edit-more")
	page.click(`input[name="edit-turn"][value="1"]`)
	page.Shoot("open")
	page.click("#edit-done")
	at := place{board: s.game.Turn(awari.Board{0, 0, 3, 1, 0, 0, 2}), north: true}
	page.wantAt(at)
	page.wantValues(at)

	page.key("e")
	page.write("#edit-text", "0 0 0 0 0 2 1 1 0 0 0 1")
	page.enter()
	at = place{board: awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 1}}
	at.board, at.north = s.game.Turn(at.board), true
	page.wantAt(at)
	page.wantValues(at)

	page.key("e")
	page.write("#edit-text", "40 0 0 0 0 9 0 0 0 0 0 0")
	page.Await("a complaint", `document.querySelector("#problem").textContent.includes("at most 48 seeds, these are 49")`)
	page.Do(chromedp.SendKeys(chromedp.CSS("#edit-text"), kb.Escape))
	page.wantAt(at)
	page.Await("no editor", `document.querySelector("#editor").hidden && document.querySelector("#problem").hidden`)
}

// testLinks reloads a position from its address, and follows links that make no
// sense.
func testLinks(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	page.key("0")
	at := s.after(middle, 0)
	page.wantAt(at)
	page.Do(chromedp.Reload())
	page.wantAt(at)
	page.wantValues(at)
	page.Exec(fmt.Sprintf("location.hash = %q", strings.ReplaceAll(s.hash(middle), ",", "%2C")))
	page.wantAt(middle)
	for _, c := range []struct{ hash, want string }{
		{"#pits=1,2,3", "pits must be 12 numbers"},
		{"#pits=1,2,3,4,5,6,7,8,9,10,11,12", "at most 48 seeds, these are 78"},
		{"#pits=<img src=x onerror=alert(1)>,0,0,0,0,0,0,0,0,0,0,0", "pits must be 12 numbers"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&turn=east", "turn must be south or north"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&taken=1", "taken must be 2 numbers"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&x=1", "“x” has no place in the link"},
		{"#%", "it has a % that means nothing"},
	} {
		page.Exec(fmt.Sprintf("location.hash = %q", c.hash))
		quoted, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		page.Await(c.want, fmt.Sprintf(`document.querySelector("#problem").textContent.includes(%s)`, quoted))
	}
}

// testSearch looks at a board above the solved layers: nothing may be called exact
// that is not.
func testSearch(t *testing.T, browser *browsertest.Browser, s *site) {
	at := place{board: awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}}
	page := open(t, browser, s, s.hash(at), 1200)
	page.Await("a search", `document.querySelector("#moves-hint").textContent.includes("plies deep")`)
	for i, pit := range page.mover() {
		if !strings.ContainsAny(pit.Chip, "≈≥≤") || !strings.Contains(pit.Label, "a guess") && !strings.Contains(pit.Label, "at ") {
			t.Errorf("pit %d: %+v", i, pit)
		}
	}
	if verdict := page.Text("#verdict"); strings.Contains(verdict, "exact") {
		t.Errorf("%q", verdict)
	}
	page.key("b")
	page.Await("a move", `document.querySelectorAll("#past li").length === 1`)

	// A board whose moves all capture into the tables has an exact value.
	at = place{board: awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 4, 1}}
	play := s.game.Plays(at.board)[5]
	if at.board.Seeds() <= solved || !play.Legal || play.Child.Seeds() > solved {
		t.Fatal("the position is not what the test wants")
	}
	score, err := s.tables.Score(play.Child)
	if err != nil {
		t.Fatal(err)
	}
	page.Exec(fmt.Sprintf("location.hash = %q", s.hash(at)))
	page.wantAt(at)
	if pit := page.mover()[5]; pit.Chip != signed(play.Captured-int(score)) {
		t.Errorf("%+v, want %d", pit, play.Captured-int(score))
	}
}

func testLayers(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, "", 1200)
	page.Await("charts", `document.querySelectorAll(".charts svg.chart.wide").length >= 4 && !document.querySelector("#scores").hidden`)
	if title := page.Text("#scores-title"); title != fmt.Sprintf("Scores with %d seeds", solved) {
		t.Errorf("%q", title)
	}
	page.click("#scores-less")
	page.Await("the layer below", fmt.Sprintf(`document.querySelector("#scores-title").textContent === "Scores with %d seeds"`, solved-1))
	page.click(".layers summary")
	if n := browsertest.Eval[int](page.Page, `document.querySelectorAll("#layers-table tbody tr").length`); n != solved+1 {
		t.Errorf("%d layers listed", n)
	}
	if fill := browsertest.Eval[string](page.Page, `getComputedStyle(document.querySelector(".charts .wide .teal")).fill`); fill != "rgb(0, 121, 107)" {
		t.Errorf("charts have the colour %s: the style sheet is missing", fill)
	}
}

// testPhone checks that nothing is wider than a small phone, and that what one taps
// is large enough for a finger.
func testPhone(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.hash(middle), 390)
	page.Await("charts", `!document.querySelector("#scores").hidden`)
	for _, keys := range []string{"", "e"} {
		if keys != "" {
			page.key(keys)
		}
		if width := browsertest.Eval[int](page.Page, `document.scrollingElement.scrollWidth`); width > 390 {
			t.Errorf("%q: the page is %d pixels wide", keys, width)
		}
		small := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll("button, select, input[type=text]")].filter((e) => {
			const box = e.getBoundingClientRect();
			return e.checkVisibility() && (box.width < 40 || box.height < 34);
		}).map((e) => e.outerHTML)`)
		for _, element := range small {
			t.Errorf("%q: too small to tap: %s", keys, element)
		}
		page.Shoot("phone" + keys)
	}
	page.key(kb.Escape)
}

// testDark compares the contrast of text with its background in both schemes with
// what WCAG 2.1, 1.4.3, asks for.
func testDark(t *testing.T, browser *browsertest.Browser, s *site) {
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			page := open(t, browser, s, s.hash(middle), 1200, "prefers-color-scheme", scheme)
			page.Await("charts", `!document.querySelector("#scores").hidden`)
			dark := browsertest.Eval[float64](page.Page, contrastScript+`luminance(rgb(getComputedStyle(document.body).backgroundColor))`) < 0.2
			if dark != (scheme == "dark") {
				t.Errorf("dark: %v", dark)
			}
			for _, bad := range browsertest.Eval[[]string](page.Page, contrastScript+`lowContrast()`) {
				t.Error(bad)
			}
		})
	}
}

// contrastScript finds text that is hard to read on the nearest background that is
// one colour. The formulas are those of WCAG 2.1.
const contrastScript = `
	function rgb(text) { return text.match(/[\d.]+/g).map(Number); }
	function luminance([r, g, b]) {
		const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * x + 0.7152 * y + 0.0722 * z;
	}
	function background(e) {
		for (; e; e = e.parentElement) {
			const style = getComputedStyle(e);
			if (style.backgroundImage !== "none") return null;
			const color = rgb(style.backgroundColor);
			if (style.backgroundColor.startsWith("rgb") && color[3] !== 0) return color[3] === undefined ? color : null;
			if (!style.backgroundColor.startsWith("rgb")) return null;
		}
		return [255, 255, 255];
	}
	function lowContrast() {
		const bad = [];
		for (const e of document.querySelectorAll("body *")) {
			const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
			if (!text || !e.checkVisibility({ visibilityProperty: true }) || e.closest("svg, :disabled")) continue;
			const back = background(e);
			if (!back) continue;
			const [a, b] = [luminance(rgb(getComputedStyle(e).color)), luminance(back)];
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (contrast < 4.5) bad.push(text.slice(0, 30) + ": contrast " + contrast.toFixed(2));
		}
		return bad;
	}
`

// testMotion checks that seeds fly where motion is wanted, that they all arrive, and
// that none does where it is not wanted.
func testMotion(t *testing.T, browser *browsertest.Browser, s *site) {
	for _, wish := range []string{"no-preference", "reduce"} {
		t.Run(wish, func(t *testing.T) {
			page := open(t, browser, s, s.hash(middle), 1200, "prefers-reduced-motion", wish)
			page.Exec(`globalThis.flown = 0;
				new MutationObserver((changes) => { for (const c of changes) flown += c.addedNodes.length; }).observe(document.querySelector("#flight"), { childList: true })`)
			page.key("5")
			at := s.after(middle, 5)
			page.wantAt(at)
			page.Await("the seeds", `document.querySelector("#flight").childElementCount === 0`)
			want := int(middle.board[5]) + s.game.Plays(middle.board)[5].Captured
			if wish == "reduce" {
				want = 0
			}
			if flown := browsertest.Eval[int](page.Page, "flown"); flown != want {
				t.Errorf("%d seeds flew, want %d", flown, want)
			}
			page.key("u")
			page.wantAt(middle)
			page.key("5")
			page.key("u") // while seeds fly, if they do
			page.wantAt(middle)
			page.key("r")
			page.wantAt(at)
			page.Await("the seeds", `document.querySelector("#flight").childElementCount === 0`)
			counts := browsertest.Eval[[]int](page.Page, `[...document.querySelectorAll(".pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((b) => Number(b.querySelector(".count").textContent))`)
			drawn := browsertest.Eval[[]int](page.Page, `[...document.querySelectorAll(".pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((b) => b.querySelectorAll(".seed").length)`)
			if board := s.game.Turn(at.board); fmt.Sprint(counts) != fmt.Sprint(board) || fmt.Sprint(drawn) != fmt.Sprint(board) {
				t.Errorf("the board shows %v and draws %v, want %v", counts, drawn, board)
			}
		})
	}
}

// testGone stops the server: the page says so, and does not pretend to know anything.
func testGone(t *testing.T, browser *browsertest.Browser, _ *site) {
	s := newSite(t)
	page := open(t, browser, s, s.hash(middle), 1200)
	page.Forgive("ERR_CONNECTION_REFUSED")
	s.stop()
	page.key("0")
	page.Await("a word about it", `document.querySelector("#problem").checkVisibility() && document.querySelector("#problem").textContent.includes("does not answer")`)
	if verdict := page.Text("#verdict"); verdict != "" {
		t.Errorf("%q", verdict)
	}
}

// testGoneLayers asks for a chart that was not shown before.
func testGoneLayers(t *testing.T, browser *browsertest.Browser, _ *site) {
	s := newSite(t)
	page := open(t, browser, s, s.hash(middle), 1200)
	page.Await("charts", `!document.querySelector("#scores").hidden`)
	page.Forgive("ERR_CONNECTION_REFUSED")
	s.stop()
	page.click("#scores-less")
	page.Await("a word about it", `document.querySelector("#problem").checkVisibility() && document.querySelector("#problem").textContent.includes("does not answer")`)
}
