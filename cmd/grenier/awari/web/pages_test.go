package web_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
)

// board returns the board that the address of a puzzle has.
func (p *tab) board() awari.Board {
	p.Helper()
	text := browsertest.Eval[string](p.Page, `new URLSearchParams(location.search).get("pits") ?? ""`)
	board, err := p.game.Parse(strings.Split(text, ","))
	if err != nil {
		p.Fatalf("the address has the pits %q: %v", text, err)
	}
	return board
}

// wantMessage waits until the page says something with a word.
func (p *tab) wantMessage(word string) { p.Helper(); p.says("#message", word) }

// testPuzzles solves puzzles of each kind, one of them after a wrong move, and follows the
// link of one; what is called right must be the only move that wins by the tables.
func testPuzzles(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "puzzles", 1024)
	page.Exec(`localStorage.removeItem("streak")`)
	page.wantMessage("moves and wins")
	if title := page.Text("#title"); !strings.HasPrefix(title, "The puzzle of ") {
		t.Errorf("the page opens with %q", title)
	}
	for i, kind := range []string{"only", "greedy", "sacrifice"} {
		before := browsertest.Eval[string](page.Page, "location.search")
		page.Exec(fmt.Sprintf(`document.querySelector("#kind").value = %q`, kind))
		page.click("#next")
		page.Await("another puzzle", fmt.Sprintf(`location.search !== %q && document.querySelector("#message").textContent.includes("moves and wins")`, before))
		board := page.board()
		probe, err := s.tables.Probe(t.Context(), board)
		must.OK(t, err)
		right, wrong, most := -1, -1, 0
		for pit, m := range probe.Moves[:6] {
			switch {
			case m.Legal && m.Value > 0 && right < 0:
				right = pit
			case m.Legal && m.Value >= 0:
				t.Errorf("%v: pit %d is worth %d too", board, pit, m.Value)
			case m.Legal:
				wrong = pit
			}
			most = max(most, m.Captured)
		}
		if kind == "greedy" && (most < 2 || probe.Moves[right].Captured > 0) {
			t.Errorf("%v: the right move takes %d, some other %d", board, probe.Moves[right].Captured, most)
		}
		if i == 1 {
			page.key(strconv.Itoa(wrong + 1))
			page.wantMessage("No: after")
		}
		page.key(strconv.Itoa(right + 1))
		page.wantMessage(fmt.Sprintf("Right: pit %c takes %d more", 'A'+right, probe.Value))
	}
	if streak := page.Text("#streak"); streak != "Solved in a row: 1" {
		t.Errorf("after a wrong move: %q", streak)
	}
	board := page.board()
	page.Do(chromedp.Reload())
	page.wantMessage("moves and wins")
	if page.board() != board {
		t.Error("after a reload it is another puzzle")
	}
	page.back()
	page.Await("the puzzle before", fmt.Sprintf(`!location.search.includes(%q)`, strings.ReplaceAll(s.game.Text(board), " ", ",")))
	page.Exec(`location.href = location.pathname + "?pits=4,4,4,4,4,4,4,4,4,4,4,4"`)
	page.says("#problem", "This is no puzzle")
	page.Exec(`location.href = location.pathname + "?pits=4"`)
	page.says("#problem", "pits must be 12 numbers")
}

// testExplore looks at positions in each way, and opens one.
func testExplore(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "explore", 1024)
	choose := func(id, value, about string) {
		page.Exec(fmt.Sprintf(`{ const e = document.querySelector("#%s"); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, value))
		page.Await(about, fmt.Sprintf(`document.querySelector("#about").textContent.includes(%q) && document.querySelectorAll("#found li").length > 0`, about))
	}
	page.Await("swings", `document.querySelectorAll("#found li").length === 12`)
	if s.ends != "" { // what was found when the site was made
		browsertest.Want(page.Page, `[...document.querySelector("#what").options].map((o) => o.value).join()`, "swing,hard,score")
	}
	choose("seeds", "5", "") // what is hardest takes long in larger layers
	choose("what", "hard", "among all 4,368 of the layer")
	page.Shoot("hard")
	for _, text := range browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll("#found li")].map((l) => l.textContent)`) {
		if !regexp.MustCompile(`^\d{12}[A-F]: \+\d+ in \d+ moves(Nothing else wins: [A-F]: [0−]\d* comes next\.|The only move\.)$`).MatchString(text) {
			t.Errorf("a card says %q", text)
		}
	}
	lengths := browsertest.Eval[[]int](page.Page, `[...document.querySelectorAll("#found li")].map((l) => Number(l.textContent.match(/in (\d+) moves/)[1]))`)
	hardest, err := s.game.Parse(strings.Split(browsertest.Eval[string](page.Page, `new URL(document.querySelector("#found a").href).searchParams.get("pits")`), ","))
	must.OK(t, err)
	best, err := line.Best(t.Context(), s.tables, hardest, line.Options{})
	if err != nil || len(best.Moves) != lengths[0] || !slices.IsSortedFunc(lengths, func(a, b int) int { return b - a }) {
		t.Errorf("lines of %d moves; the first one has %d (%v)", lengths, len(best.Moves), err)
	}
	page.Exec(`{ globalThis.real = fetch; globalThis.fetch = () => new Promise(() => {}); const e = document.querySelector("#seeds"); e.value = "4"; e.dispatchEvent(new Event("change")); }`)
	browsertest.Want(page.Page, `document.querySelectorAll("#found li").length`, 0) // the old results are gone before there are new ones
	page.Exec(`globalThis.fetch = real`)
	choose("seeds", "5", "")
	choose("score", "3", "") // an odd number of seeds has few even scores
	choose("what", "score", "have this score")
	href := browsertest.Eval[string](page.Page, `document.querySelector("#found a").getAttribute("href")`)
	page.click("#found a")
	page.Await("the board", settled)
	page.wantAddress(href[strings.IndexByte(href, '?'):])
	board, err := s.game.Parse(strings.Split(browsertest.Eval[string](page.Page, `new URLSearchParams(location.search).get("pits")`), ","))
	must.OK(t, err)
	if board.Seeds() != 5 {
		t.Errorf("%v does not have 5 seeds", board)
	}
	page.wantValues(place{board: board})
	if value, err := s.tables.Score(t.Context(), board); err != nil || value != 3 {
		t.Errorf("%v is worth %d (%v)", board, value, err)
	}
}

// testLearn goes through the course, with a wrong move, to the short game; it remembers which lessons are done.
func testLearn(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "learn", 1024)
	page.key("1")
	page.wantMessage("There is no seed in pit A. The lower row")
	page.key("2")
	page.wantMessage("Not pit B.")
	page.click(`.pit[data-pit="11"]`)
	page.says("#bubble", "This is a pit of North.")
	boards, pits := s.steps(t)
	for i, pit := range pits {
		page.Await("the step", fmt.Sprintf(`[...document.querySelectorAll(".pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((b) => b.querySelector(".count").textContent).join(" ") === %q && document.querySelectorAll(".pit.playable").length > 0`, s.game.Text(boards[i])))
		page.key(strconv.Itoa(pit + 1))
		page.wantMessage("South plays pit " + string(rune('A'+pit)))
		if i == 3 && !strings.Contains(page.Text("#message"), "takes 6") {
			t.Errorf("%q", page.Text("#message"))
		}
		if i+1 < len(pits) {
			page.click("#next")
		}
	}
	browsertest.Want(page.Page, `document.querySelectorAll("#lessons .passed").length === document.querySelectorAll("#lessons li").length`, true)
	page.click("#play")
	page.wantAt(place{board: awari.Board{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}})
	page.wantAddress("seats=you,4")
	page.key("1")
	page.Await("the answer of the program", `document.querySelectorAll("#record .ply").length === 2`)
}

// testFrenchCharts looks for English words in charts, in French.
func testFrenchCharts(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "layers", 1024)
	page.Exec(`localStorage.setItem("language", "fr")`)
	page.Do(chromedp.Reload())
	page.Await("charts in French", `document.querySelector("#scores-title")?.textContent === "Valeurs avec 8 graines" && document.querySelectorAll(".charts svg").length >= 8`)
	texts := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll(".charts svg text, .charts svg title, .charts svg desc, .charts h3, .charts .hint")].map((e) => e.textContent)`)
	english := regexp.MustCompile(`(?i)\b(seeds?|share|score|win|draw|loss|won|drawn|lost|bytes|a second|player|mean|even|odd|time|length|each|layers?)\b|\d\.\d`)
	if len(texts) < 100 {
		t.Errorf("only %d texts", len(texts))
	}
	for _, text := range texts {
		if word := english.FindString(text); word != "" {
			t.Errorf("%q in %q", word, text)
		}
	}
	cut := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll(".charts svg")].filter((s) => s.checkVisibility()).flatMap((svg) => {
		const { left, right } = svg.getBoundingClientRect();
		return [...svg.querySelectorAll("text")].filter((t) => { const b = t.getBoundingClientRect(); return b.left < left - 1 || b.right > right + 1; }).map((t) => t.textContent);
	})`)
	if len(cut) > 0 {
		t.Errorf("cut off: %q", cut)
	}
	page.Shoot("charts")
	page.wantAccess()
	page.Exec(`localStorage.clear()`)
}

// testFrenchRefusals lets the server refuse: the page says so in its language.
func testFrenchRefusals(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "explore", 1024)
	page.Exec(`localStorage.setItem("language", "fr")`)
	page.Do(chromedp.Reload())
	page.Await("the page", `document.body?.dataset.ready === "yes" && document.documentElement.lang === "fr"`)
	for code, want := range map[string]string{
		"damaged": "Une table nécessaire est endommagée\u00a0; le journal du serveur la nomme.",
		"request": "Le serveur refuse\u00a0: a reason",
	} {
		page.Exec(fmt.Sprintf(`globalThis.fetch = async () => new Response(JSON.stringify({ error: "a reason", code: %q }), { status: 400 })`, code))
		page.click("#less")
		page.Await(want, fmt.Sprintf(`document.querySelector("#problem").textContent === %q`, want))
	}
	page.Exec(`localStorage.clear()`)
}

// hostPage is a page of another site with a frame.
const hostPage = `<!doctype html><html lang="en"><title>host</title><link rel="icon" href="data:,"><h1>host</h1><iframe title="awari" %s src="%s"></iframe>`

// testGuests shows the page in a frame of another origin, and lets a script of that origin read
// an answer; one that is not invited can do neither. A frame that may keep nothing shows the page too.
func testGuests(t *testing.T, browser *browsertest.Browser, _ *site) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, hostPage, r.URL.Query().Get("how"), html.EscapeString(r.URL.Query().Get("frame")))
	}))
	defer host.Close()
	show := func(s *site, how string) *browsertest.Page {
		query := url.Values{"frame": {s.url}, "how": {how}}
		return browser.Open(t, host.URL+"/?"+query.Encode(), browsertest.Window{Width: 1024})
	}
	read := func(page *browsertest.Page, s *site) string {
		page.Exec(fmt.Sprintf(`globalThis.got = ""; fetch("%sapi/charts").then((r) => r.json()).then((l) => { got = "charts" in l ? "read" : "nonsense"; }, () => { got = "refused"; })`, s.url))
		page.Await("an answer", `got !== ""`)
		return browsertest.Eval[string](page, "got")
	}
	friend, other, anybody := newSite(t, host.URL), newSite(t), newSite(t, "*")
	page := show(friend, "")
	if got := read(page, friend); got != "read" {
		t.Errorf("an origin that is invited: %s", got)
	}
	friend.awaitAsked(t, page)
	page = show(anybody, `sandbox="allow-scripts"`)
	anybody.awaitAsked(t, page)
	page = show(other, "")
	for _, words := range []string{"CORS", "ERR_FAILED", "frame", "ERR_BLOCKED_BY_RESPONSE", "403"} {
		page.Forgive(words)
	}
	if got := read(page, other); got != "refused" {
		t.Errorf("an origin that is not invited: %s", got)
	}
	if other.wasAsked(t) {
		t.Error("a frame that is not invited shows the page")
	}
}

// wasAsked reports whether a page that was shown has asked for its position.
func (s *site) wasAsked(t *testing.T) bool {
	t.Helper()
	answer, err := http.Get(s.url + "metrics")
	must.OK(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.OK(t, err)
	return strings.Contains(string(text), `grenier_http_requests_total{code="200",path="/api/game"}`) ||
		strings.Contains(string(text), `grenier_http_requests_total{code="200",path="/api/probe"}`)
}

// awaitAsked waits until a page that is shown in a frame has asked for its position, as long as Await
// waits for something on a page.
func (s *site) awaitAsked(t *testing.T, page *browsertest.Page) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !s.wasAsked(t); {
		if time.Now().After(end) {
			t.Fatal("the page in the frame asks for nothing")
		}
		page.Await("some time", `(globalThis.turns ??= 0, ++turns % 3 === 0)`)
	}
}

// lessonSteps matches the steps of the course.
var lessonSteps = regexp.MustCompile(`pits: \[([\d, ]+)\], pit: (\d)`)

// steps returns the boards of the course and the pits that are asked for.
func (s *site) steps(t *testing.T) (boards []awari.Board, pits []int) {
	t.Helper()
	for _, m := range lessonSteps.FindAllStringSubmatch(string(web.Files()["lessons.js"]), -1) {
		board, err := s.game.Parse(strings.Split(m[1], ", "))
		must.OK(t, err)
		pit, err := strconv.Atoi(m[2])
		must.OK(t, err)
		boards, pits = append(boards, board), append(pits, pit)
	}
	return boards, pits
}

// TestLongLessons: the move that a lesson asks for is the only best one; in short tests, of boards with few seeds.
func TestLongLessons(t *testing.T) {
	most := solved
	if tries.Long() {
		most = 15
	}
	s := newSiteOf(t, 12, awari.Awari, most)
	boards, pits := s.steps(t)
	if len(boards) < 12 {
		t.Fatalf("%d steps", len(boards))
	}
	for i, board := range boards {
		if board.Seeds() > most && !tries.Long() {
			continue
		}
		probe, err := s.tables.Probe(t.Context(), board)
		must.OK(t, err)
		if !probe.Moves[pits[i]].Legal || probe.Moves[pits[i]].Value != probe.Value {
			t.Errorf("%s: pit %d is asked for: %+v", s.game.Text(board), pits[i], probe.Moves)
		}
		for pit, m := range probe.Moves {
			if pit != pits[i] && m.Legal && m.Value >= probe.Value {
				t.Errorf("%s: pit %d is worth %d too", s.game.Text(board), pit, m.Value)
			}
		}
	}
}
