//go:build !quick

package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
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
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/puzzle"
)

// board returns the board that the address of a puzzle has.
func (p *tab) board() awari.Board {
	p.Helper()
	text := browsertest.Eval[string](p.Page, `new URLSearchParams(location.search).get("pits") ?? ""`)
	board, err := p.game.Parse(strings.Split(text, ","))
	must.Hold(p, err == nil, "the address has the pits %q: %v", text, err)
	return board
}

// wantMessage waits until the page says something with a word.
func (p *tab) wantMessage(word string) { p.Helper(); p.says("#message", word) }

// letters are the moves of a line.
func letters(line []int) string {
	var all []string
	for i, pit := range line {
		all = append(all, letter(place{north: i%2 == 1}, pit))
	}
	return strings.Join(all, " ")
}

// testPuzzles plays puzzles of each level to their end, one of them after a wrong move and its refutation, one after a hint, and has one
// solved. The line is that of package puzzle for the board.
func testPuzzles(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "puzzles", 1024)
	page.Exec(`localStorage.removeItem("streak")`)
	page.wantMessage("moves and wins")
	title := page.Text("#title")
	should.Hold(t, strings.HasPrefix(title, "The puzzle of "), "the page opens with %q", title)
	for i, theme := range []string{"", "capturing", "defending"} {
		before := browsertest.Eval[string](page.Page, "location.search")
		page.Exec(fmt.Sprintf(`document.querySelector("#theme").value = %q`, theme))
		page.click("#next")
		page.Await("another puzzle", fmt.Sprintf(`location.search !== %q && document.querySelector("#message").textContent.includes("moves and wins")`, before))
		z := must.Get(puzzle.Of(t.Context(), s.tables, page.board()))(t)
		must.Not(t, z == nil || theme != "" && !slices.Contains(z.Themes, theme), "%v: %+v is not about %q", page.board(), z, theme)
		page.says("#about", fmt.Sprintf("%d of 100 simple players fail.", z.Rating))
		if i == 1 {
			page.refute(z)
		}
		for ply := 0; ply < len(z.Line); ply += 2 {
			if ply > 0 {
				page.wantMessage(fmt.Sprintf("answers with %s", letter(place{north: true}, z.Line[ply-1])))
				page.wantMessage(fmt.Sprintf("Move %d of %d.", ply/2+1, (len(z.Line)+1)/2))
			}
			if i == 2 && ply == 0 {
				page.key("h")
				page.wantMessage("It is pit ")
				hint := page.Text("#message")
				should.Hold(t, strings.Contains(hint, fmt.Sprintf("pit %c", 'A'+z.Line[0])), "%+v: the hint is %q", z, hint)
			}
			page.key(strconv.Itoa(z.Line[ply] + 1))
		}
		page.wantMessage(fmt.Sprintf("Right: %s. South takes %d more than North.", letters(z.Line), z.Value))
		should.Equal(t, page.Text("#streak"), fmt.Sprint("Solved in a row: ", 1-(i+1)/2), "puzzle %d", i)
	}
	look := browsertest.Eval[string](page.Page, `document.querySelector("#look").getAttribute("href")`)
	z, err := puzzle.Of(t.Context(), s.tables, page.board())
	should.Not(t, err != nil || !strings.Contains(look, "moves="+strings.ReplaceAll(letters(z.Line), " ", "")),
		"the link leads to %s (%v)", look, err)
	board := page.board()
	page.Do(chromedp.Reload())
	page.wantMessage("moves and wins")
	should.Hold(t, page.board() == board, "after a reload it is another puzzle")
	page.click("#solution")
	page.wantMessage("Solution: ")
	page.back()
	page.Await("the puzzle before", fmt.Sprintf(`!location.search.includes(%q)`, strings.ReplaceAll(s.game.Text(board), " ", ",")))
	page.goTo("puzzles" + s.ends + "?pits=4,4,4,4,4,4,4,4,4,4,4,4")
	page.says("#problem", "This is no puzzle")
	page.goTo("puzzles" + s.ends + "?pits=4")
	page.says("#problem", "pits must be 12 numbers")
}

// refute makes a wrong move: the page shows the best answer to it, and takes both back.
func (p *tab) refute(z *puzzle.Puzzle) {
	wrong := -1
	plays := p.game.Plays(z.Board)
	for pit, play := range plays {
		if play.Legal && pit != z.Line[0] {
			wrong = pit
		}
	}
	child := must.Get(p.tables.Probe(p.Context(), plays[wrong].Child))(p)
	p.key(strconv.Itoa(wrong + 1))
	p.wantMessage(fmt.Sprintf("North takes %d more. North answers with ", child.Value-plays[wrong].Captured))
	answer := strings.TrimSuffix(strings.Fields(p.Text("#message")[strings.Index(p.Text("#message"), "with ")+5:])[0], ".")[0] - 'a'
	m := child.Moves[answer]
	should.Not(p, !m.Legal || m.Value != child.Value,
		"%+v: after %d the page answers with %d, which is worth %d of %d", z, wrong, answer, m.Value, child.Value)
	p.click("#again")
	p.wantMessage("Move 1 of ")
	p.Await("the board before", fmt.Sprintf(`%s === %q`, shown, p.text(place{board: z.Board})))
}

// TestLongShownValues shows random boards, of either player, on a page of the server and on one of a published site: all values are those of
// probe.
func TestLongShownValues(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser, random := browsertest.Start(t), tries.Rand(t)
	s := newSiteOf(t, 12, awari.Awari, 12)
	m := publishSite(t, s)
	for _, page := range []*tab{open(t, browser, s, s.address(middle), 1200), m.visit(t, browser, m.address(middle), 1200)} {
		for range tries.Pick(0, 1, 40) {
			page.wantChips(s.drawPlaces(t, random, 25))
		}
	}
}

// drawPlaces returns random places on which somebody can move.
func (s *site) drawPlaces(t *testing.T, random *rand.Rand, count int) (places []place) {
	most := s.tables.MaxSeeds()
	space := must.Get(awari.NewSpace(s.game, most))(t)
	for len(places) < count {
		n := 2 + random.IntN(most-1)
		at := place{board: space.Unrank(n, random.Uint64N(space.Size(n))), north: random.IntN(2) == 1}
		if plays := s.game.Plays(at.board); slices.ContainsFunc(plays[:], func(p awari.Play) bool { return p.Legal }) {
			places = append(places, at)
		}
	}
	return places
}

// chips go from place to place and collect the chips of the mover's pits, as he numbers them.
const chips = `
	const all = [];
	for (const [address, text] of %s) {
		history.replaceState(null, "", address);
		dispatchEvent(new PopStateEvent("popstate"));
		while (!(` + shown + ` === text && ` + settled + `)) await new Promise((resolve) => setTimeout(resolve, 2));
		const mine = document.querySelector("#board").dataset.turn === "0" ? "south" : "north";
		all.push([...document.querySelectorAll(".pit." + mine)].sort((a, b) => a.dataset.pit - b.dataset.pit).map((pit) => pit.querySelector(".chip").textContent));
	}
	return all;`

// wantChips compares the values that the page shows at places with the tables.
func (p *tab) wantChips(places []place) {
	var asked [][2]string
	for _, at := range places {
		asked = append(asked, [2]string{p.address(at), p.text(at)})
	}
	list := must.Get(json.Marshal(asked))(p)
	for i, got := range compute[[][]string](p, fmt.Sprintf(chips, list)) {
		probe := must.Get(p.tables.Probe(p.Context(), places[i].board))(p)
		want := make([]string, p.game.Half())
		for pit, m := range probe.Moves {
			if m.Legal {
				want[pit] = signed(m.Value)
			}
		}
		must.Hold(p, slices.Equal(got, want), "%s: the page shows %q, want %q", p.text(places[i]), got, want)
	}
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
		should.Hold(t, regexp.MustCompile(`^\d{12}[A-F]: \+\d+ in \d+ plies(Nothing else wins: [A-F]: [0−]\d* comes next\.|The only move\.)$`).MatchString(text),
			"a card says %q", text)
	}
	lengths := browsertest.Eval[[]int](page.Page, `[...document.querySelectorAll("#found li")].map((l) => Number(l.textContent.match(/in (\d+) plies/)[1]))`)
	hardest, err := s.game.Parse(strings.Split(browsertest.Eval[string](page.Page, `new URL(document.querySelector("#found a").href).searchParams.get("pits")`), ","))
	must.OK(t, err)
	best, err := line.Best(t.Context(), s.tables, hardest, line.Options{})
	should.Hold(t, err == nil && len(best.Moves) == lengths[0] && slices.IsSortedFunc(lengths, func(a, b int) int { return b - a }),
		"lines of %d moves; the first one has %d (%v)", lengths, len(best.Moves), err)
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
	board := must.Get(s.game.Parse(strings.Split(browsertest.Eval[string](page.Page, `new URLSearchParams(location.search).get("pits")`), ",")))(t)
	should.Hold(t, board.Seeds() == 5, "%v does not have 5 seeds", board)
	page.wantValues(place{board: board})
	value, err := s.tables.Score(t.Context(), board)
	should.Hold(t, err == nil && value == 3, "%v is worth %d (%v)", board, value, err)
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
		should.Not(t, i == 3 && !strings.Contains(page.Text("#message"), "takes 6"), "%q", page.Text("#message"))
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
	should.Not(t, len(texts) < 100, "only %d texts", len(texts))
	for _, text := range texts {
		word := english.FindString(text)
		should.Hold(t, word == "", "%q in %q", word, text)
	}
	cut := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll(".charts svg")].filter((s) => s.checkVisibility()).flatMap((svg) => {
		const { left, right } = svg.getBoundingClientRect();
		return [...svg.querySelectorAll("text")].filter((t) => { const b = t.getBoundingClientRect(); return b.left < left - 1 || b.right > right + 1; }).map((t) => t.textContent);
	})`)
	should.Not(t, len(cut) > 0, "cut off: %q", cut)
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
	should.Equal(t, read(page, friend), "read", "an origin that is invited")
	friend.awaitAsked(t, page)
	page = show(anybody, `sandbox="allow-scripts"`)
	anybody.awaitAsked(t, page)
	page = show(other, "")
	for _, words := range []string{"CORS", "ERR_FAILED", "frame", "ERR_BLOCKED_BY_RESPONSE", "403"} {
		page.Forgive(words)
	}
	should.Equal(t, read(page, other), "refused", "an origin that is not invited")
	should.Not(t, other.wasAsked(t), "a frame that is not invited shows the page")
}

// wasAsked reports whether a page that was shown has asked for its position.
func (s *site) wasAsked(t *testing.T) bool {
	t.Helper()
	answer := must.Get(http.Get(s.url + "metrics"))(t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	return strings.Contains(string(text), `grenier_http_requests_total{code="200",path="/api/game"}`) ||
		strings.Contains(string(text), `grenier_http_requests_total{code="200",path="/api/probe"}`)
}

// awaitAsked waits until a page that is shown in a frame has asked for its position, as long as Await
// waits for something on a page.
func (s *site) awaitAsked(t *testing.T, page *browsertest.Page) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !s.wasAsked(t); {
		must.Not(t, time.Now().After(end), "the page in the frame asks for nothing")
		page.Await("some time", `(globalThis.turns ??= 0, ++turns % 3 === 0)`)
	}
}

// lessonSteps matches the steps of the course.
var lessonSteps = regexp.MustCompile(`pits: \[([\d, ]+)\], pit: (\d)`)

// steps returns the boards of the course and the pits that are asked for.
func (s *site) steps(t *testing.T) (boards []awari.Board, pits []int) {
	t.Helper()
	for _, m := range lessonSteps.FindAllStringSubmatch(string(web.Files()["lessons.js"]), -1) {
		board := must.Get(s.game.Parse(strings.Split(m[1], ", ")))(t)
		pit := must.Get(strconv.Atoi(m[2]))(t)
		boards, pits = append(boards, board), append(pits, pit)
	}
	return boards, pits
}

// TestLongLessons: the move that a lesson asks for is the only best one by the rules awari and abapa; in short tests, of
// boards with few seeds.
func TestLongLessons(t *testing.T) {
	t.Parallel()
	most := tries.More(solved, 15)
	for _, rules := range []awari.Rules{awari.Awari, awari.Abapa} {
		s := newSiteOf(t, 12, rules, most)
		boards, pits := s.steps(t)
		must.Not(t, len(boards) < 12, "%d steps", len(boards))
		for i, board := range boards {
			if board.Seeds() <= most || tries.Long() {
				s.wantOnlyBest(t, board, pits[i])
			}
		}
	}
}

// wantOnlyBest checks that a pit is the only best move of a solved board.
func (s *site) wantOnlyBest(t *testing.T, board awari.Board, best int) {
	probe := must.Get(s.tables.Probe(t.Context(), board))(t)
	should.Hold(t, probe.Moves[best].Legal && probe.Moves[best].Value == probe.Value,
		"%s, %s: pit %d is asked for: %+v", s.game.Name(), s.game.Text(board), best, probe.Moves)
	for pit, m := range probe.Moves {
		should.Not(t, pit != best && m.Legal && m.Value >= probe.Value,
			"%s, %s: pit %d is worth %d too", s.game.Name(), s.game.Text(board), pit, m.Value)
	}
}
