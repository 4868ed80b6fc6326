//go:build !quick

package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/puzzle"
)

// board returns the board that the address of a puzzle has.
func (p *tab) board() awari.Board {
	return must.Get(p.game.Parse(strings.Split(browsertest.Eval[string](p.Page, `new URLSearchParams(location.search).get("pits") ?? ""`), ",")))(p)
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
	should.Has(t, page.Text("#title"), "The puzzle of ")
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
				page.wantMessage("It is pit ") // two are named, the right one first or second
				should.Has(t, page.Text("#message"), fmt.Sprintf("pit %c", 'A'+z.Line[0]))
			}
			page.key(strconv.Itoa(z.Line[ply] + 1))
		}
		page.wantMessage(fmt.Sprintf("Right: %s. South takes %d more than North.", letters(z.Line), z.Value))
		should.Equal(t, page.Text("#streak"), fmt.Sprint("Solved in a row: ", 1-(i+1)/2), "puzzle %d", i)
	}
	board := page.board()
	z := must.Get(puzzle.Of(t.Context(), s.tables, board))(t)
	look := browsertest.Eval[string](page.Page, `document.querySelector("#look").getAttribute("href")`)
	should.Has(t, look, "moves="+strings.ReplaceAll(letters(z.Line), " ", ""))
	page.Do(chromedp.Reload())
	page.wantMessage("moves and wins")
	should.Equal(t, page.board(), board, "after a reload")
	page.click("#solution")
	page.wantMessage("Solution: ")
	page.back()
	page.Await("the puzzle before", fmt.Sprintf(`!location.search.includes(%q)`, s.commas(board)))
	page.goTo("puzzles" + s.ends + "?pits=4,4,4,4,4,4,4,4,4,4,4,4")
	page.says("#problem", "This is no puzzle")
	page.goTo("puzzles" + s.ends + "?pits=4")
	page.says("#problem", "pits must be 12 numbers")
}

// refute makes a wrong move: the page shows the best answer to it, and takes both back.
func (p *tab) refute(z *puzzle.Puzzle) {
	plays := p.game.Plays(z.Board)
	wrong := slices.IndexFunc(plays[:], func(play awari.Play) bool { return play.Legal && play != plays[z.Line[0]] })
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

// TestLongShownValues shows random boards, of either player, on a page of the server and on one of a published site: values are those of probe.
func TestLongShownValues(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser, random := browsertest.Start(t), tries.Rand(t)
	s := newSiteOf(t, 12, awari.Awari, 12)
	m, space := publishSite(t, s), testrun.Space(t, s.game, 12)
	for _, page := range []*tab{open(t, browser, s, s.address(middle), 1200), m.visit(t, browser, m.address(middle), 1200)} {
		for range tries.Pick(0, 1, 40) {
			var places []place // on which somebody can move
			for len(places) < 25 {
				n := 2 + random.IntN(11)
				at := place{board: space.Unrank(n, random.Uint64N(space.Size(n))), north: random.IntN(2) == 1}
				if plays := s.game.Plays(at.board); slices.ContainsFunc(plays[:], func(p awari.Play) bool { return p.Legal }) {
					places = append(places, at)
				}
			}
			page.wantChips(places)
		}
	}
}

// chips go from place to place and collect the chips of the mover's pits, as he numbers them.
const chips = `
	const all = [];
	for (const [address, text] of %s) {
		history.replaceState(null, "", address);
		dispatchEvent(new PopStateEvent("popstate"));
		while (!(` + shown + ` === text && ` + settled + `)) await new Promise((resolve) => setTimeout(resolve, 2));
		const mine = document.querySelector("#board").dataset.turn === "0" ? ".south" : ".north";
		all.push(` + pits + `.filter((pit) => pit.matches(mine)).map((pit) => pit.querySelector(".chip").textContent));
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
		must.List(p, got, want, "%s", p.text(places[i]))
	}
}

// testExplore looks at positions in each way, and opens one.
func testExplore(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "explore", 1024)
	choose := func(selector, value, about string) {
		page.choose(selector, value)
		page.Await(about, fmt.Sprintf(`document.querySelector("#about").textContent.includes(%q) && document.querySelectorAll("#found li").length > 0`, about))
	}
	page.Await("swings", `document.querySelectorAll("#found li").length === 12`)
	if s.ends != "" { // what was found when the site was made
		browsertest.Want(page.Page, `[...document.querySelector("#what").options].map((o) => o.value).join()`, "swing,hard,score")
	}
	choose("#seeds", "5", "") // what is hardest takes long in larger layers
	choose("#what", "hard", "among all 4,368 of the layer")
	page.Shoot("hard")
	for _, text := range browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll("#found li")].map((l) => l.textContent)`) {
		should.Hold(t, regexp.MustCompile(`^\d{12}[A-F]: \+\d+ in \d+ plies(Nothing else wins: [A-F]: [0−]\d* comes next\.|The only move\.)$`).MatchString(text),
			"a card says %q", text)
	}
	lengths := browsertest.Eval[[]int](page.Page, `[...document.querySelectorAll("#found li")].map((l) => Number(l.textContent.match(/in (\d+) plies/)[1]))`)
	hardest := must.Get(s.game.Parse(strings.Split(browsertest.Eval[string](page.Page, `new URL(document.querySelector("#found a").href).searchParams.get("pits")`), ",")))(t)
	best := must.Get(line.Best(t.Context(), s.tables, hardest, line.Options{}))(t)
	should.Hold(t, len(best.Moves) == lengths[0] && slices.IsSortedFunc(lengths, func(a, b int) int { return b - a }),
		"lines of %d moves; the first one has %d", lengths, len(best.Moves))
	page.Exec(`{ globalThis.real = fetch; globalThis.fetch = () => new Promise(() => {}); }`)
	page.choose("#seeds", "4")
	browsertest.Want(page.Page, `document.querySelectorAll("#found li").length`, 0) // the old results are gone before there are new ones
	page.Exec(`globalThis.fetch = real`)
	choose("#seeds", "5", "")
	choose("#score", "3", "") // an odd number of seeds has few even scores
	choose("#what", "score", "have this score")
	href := browsertest.Eval[string](page.Page, `document.querySelector("#found a").getAttribute("href")`)
	page.click("#found a")
	page.Await("the board", settled)
	page.wantAddress(href[strings.IndexByte(href, '?'):])
	board := page.board()
	should.Equal(t, board.Seeds(), 5, "%v: seeds", board)
	page.wantExact(place{board: board})
	should.Equal(t, must.Get(s.tables.Score(t.Context(), board))(t), 3, "%v: score", board)
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
		page.Await("the step", fmt.Sprintf(counts+`.join(" ") === %q && document.querySelectorAll(".pit.playable").length > 0`, s.game.Text(boards[i])))
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
	page := openOther(t, browser, s, "layers?lang=fr", 1024)
	page.Await("charts in French", `document.querySelector("#scores-title")?.textContent === "Valeurs avec 8 graines" && document.querySelectorAll(".charts svg").length >= 8`)
	texts := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll(".charts svg text, .charts svg title, .charts svg desc, .charts h3, .charts .hint")].map((e) => e.textContent)`)
	english := regexp.MustCompile(`(?i)\b(seeds?|share|score|win|draw|loss|won|drawn|lost|bytes|a second|player|mean|even|odd|time|length|each|layers?)\b|\d\.\d`)
	should.Not(t, len(texts) < 100, "only %d texts", len(texts))
	for _, text := range texts {
		should.Equal(t, english.FindString(text), "", "%q: English", text)
	}
	cut := browsertest.Eval[[]string](page.Page, `[...document.querySelectorAll(".charts svg")].filter((s) => s.checkVisibility()).flatMap((svg) => {
		const { left, right } = svg.getBoundingClientRect();
		return [...svg.querySelectorAll("text")].filter((t) => { const b = t.getBoundingClientRect(); return b.left < left - 1 || b.right > right + 1; }).map((t) => t.textContent);
	})`)
	should.Not(t, len(cut) > 0, "cut off: %q", cut)
	page.Shoot("charts")
	page.wantAccess()
	page.Exec(`sessionStorage.clear(); localStorage.clear()`)
}

// testFrenchRefusals lets the server refuse: the page says so in its language.
func testFrenchRefusals(t *testing.T, browser *browsertest.Browser, s *site) {
	page := openOther(t, browser, s, "explore?lang=fr", 1024)
	browsertest.Want(page.Page, `document.documentElement.lang`, "fr")
	for code, want := range map[string]string{
		"damaged": "Une table nécessaire est endommagée\u00a0; le journal du serveur la nomme.",
		"request": "Le serveur refuse\u00a0: a reason",
	} {
		page.Exec(fmt.Sprintf(`globalThis.fetch = async () => new Response(JSON.stringify({ error: "a reason", code: %q }), { status: 400 })`, code))
		page.click("#less")
		page.Await(want, fmt.Sprintf(`document.querySelector("#problem").textContent === %q`, want))
	}
	page.Exec(`sessionStorage.clear(); localStorage.clear()`)
}

// testGuests shows the page in a frame of another origin, and lets a script of that origin read
// an answer; one that is not invited can do neither. A frame that may keep nothing shows the page too.
func testGuests(t *testing.T, browser *browsertest.Browser, _ *site) {
	const hostPage = `<!doctype html><html lang="en"><title>host</title><link rel="icon" href="data:,"><h1>host</h1><iframe title="awari" %s src="%s"></iframe>`
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
	return regexp.MustCompile(`requests_total{code="200",path="/api/(game|probe)"}`).MatchString(remotetest.Fetch(t, s.url+"metrics"))
}

// awaitAsked waits until a page that is shown in a frame has asked for its position, as long as Await waits for something on a page.
func (s *site) awaitAsked(t *testing.T, page *browsertest.Page) {
	for end := time.Now().Add(time.Minute); !s.wasAsked(t); {
		must.Not(t, time.Now().After(end), "the page in the frame asks for nothing")
		page.Await("some time", `(globalThis.turns ??= 0, ++turns % 3 === 0)`)
	}
}

// steps returns the boards of the course and the pits that are asked for.
func (s *site) steps(t *testing.T) (boards []awari.Board, pits []int) {
	for _, m := range regexp.MustCompile(`pits: \[([\d, ]+)\], pit: (\d)`).FindAllStringSubmatch(string(web.Files()["lessons.js"]), -1) {
		boards = append(boards, must.Get(s.game.Parse(strings.Split(m[1], ", ")))(t))
		pits = append(pits, int(m[2][0]-'0'))
	}
	return boards, pits
}

// TestLongLessons: the move that a lesson asks for is the only best one by the rules awari and abapa; in short tests, of boards with few seeds.
func TestLongLessons(t *testing.T) {
	t.Parallel()
	most := tries.More(solved, 15)
	for _, rules := range []awari.Rules{awari.Awari, awari.Abapa} {
		s := newSiteOf(t, 12, rules, most)
		boards, pits := s.steps(t)
		must.Not(t, len(boards) < 12, "%d steps", len(boards))
		for i, board := range boards {
			if board.Seeds() > most && !tries.Long() {
				continue
			}
			probe := must.Get(s.tables.Probe(t.Context(), board))(t)
			for pit, m := range probe.Moves[:s.game.Half()] {
				should.Equal(t, m.Legal && m.Value >= probe.Value, pit == pits[i], "%s, %s: pit %d is best", s.game.Name(), s.game.Text(board), pit)
			}
		}
	}
}

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
			c.window.Media = calm
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
	w.wantReadable(w.window.Width)
	w.press("new")
	w.wantAddress("?seats=you,4")
	w.click(`.pit[data-pit="7"]`)
	w.says("#bubble", w.word("This is a pit of North. South to move.", "Cette case est à Nord. Au tour de Sud."))
}

// wantNoValues checks that no pit has a value, and that nothing else tells it.
func (w *stranger) wantNoValues() {
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
		pit := w.worst(browsertest.Eval[[]int](w.Page, `[...document.querySelectorAll(".pit.south.playable")].map((p) => Number(p.dataset.pit))`), turn)
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
	w.wantReadable(w.window.Width)
}

// worst returns the worst of South's moves if the tables know the position, otherwise one in turn.
func (w *stranger) worst(playable []int, turn int) int {
	board := must.Get(w.game.Parse(strings.Split(browsertest.Eval[string](w.Page, counts+`.join()`), ",")))(w)
	if board.Seeds() > w.tables.MaxSeeds() {
		return playable[turn%len(playable)]
	}
	p := must.Get(w.tables.Probe(w.Context(), board))(w)
	return slices.MinFunc(playable, func(a, b int) int { return int(p.Moves[a].Value - p.Moves[b].Value) })
}

// analyse looks at the game and goes to the worst mistake that the list shows. It reports false if there is none.
func (w *stranger) analyse() bool {
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
	w.wantReadable(w.window.Width)
	return true
}

// share copies the link and opens it where nobody was before: the same point of the same game is there, with its values and what was given away.
func (w *stranger) share() {
	w.Exec(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`)
	w.press("share")
	w.Await("the link", `globalThis.copied?.startsWith("http")`)
	link := browsertest.Eval[string](w.Page, "copied")
	here := browsertest.Eval[string](w.Page, shown)
	w.key(kb.ArrowLeft)
	w.Await("the position before", fmt.Sprintf(`%s !== %q`, shown, here))
	known := browsertest.Eval[int](w.Page, counts+`.reduce((a, b) => a + b)`) <= w.tables.MaxSeeds()
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
