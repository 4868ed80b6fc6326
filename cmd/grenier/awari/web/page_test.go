//go:build !quick

package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// TestLongBrowser uses the page in a real browser, but for playing, which TestLongPlay does. Unless tests are full, it does half of
// what there is, another half each time.
func TestLongBrowser(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	s := newSite(t)
	all := []struct {
		name string
		test func(t *testing.T, browser *browsertest.Browser, s *site)
	}{
		{"values", testValues}, {"ends", testEnds}, {"nothing lost", testNothingLost}, {"program", testProgram}, {"keys", testKeys}, {"edit", testEdit},
		{"links", testLinks}, {"text", testText}, {"analysis", testAnalysis}, {"search", testSearch}, {"layers", testLayers},
		{"looks", func(t *testing.T, browser *browsertest.Browser, s *site) { s.wantLooks(t, browser, s.views()) }},
		{"motion", testMotion}, {"offline", testOffline}, {"french", testFrench},
		{"puzzles", testPuzzles}, {"explore", testExplore}, {"learn", testLearn},
		{"French charts", testFrenchCharts}, {"French refusals", testFrenchRefusals}, {"guests", testGuests},
	}
	for _, i := range tries.Rand(t).Perm(len(all))[:tries.Pick(0, (len(all)+1)/2, len(all))] {
		t.Run(all[i].name, func(t *testing.T) { all[i].test(t, browser, s) })
	}
}

// start is the start of the game, middle a position with a choice of moves.
var start, middle = place{board: awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}}, place{board: awari.Board{1, 0, 1, 0, 0, 2, 1, 1, 0, 1, 0, 1}}

func testValues(t *testing.T, browser *browsertest.Browser, s *site) {
	for _, at := range []place{middle, {board: middle.board, north: true, taken: [2]int{3, 1}}, {board: awari.Board{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}}} {
		page := open(t, browser, s, s.address(at), 1200)
		page.wantExact(at)
		page.wantRanking(at)
	}
}

// wantRanking checks the table of moves, which has the best ones first and the plies to the next capture, and the sum of the best line.
func (p *tab) wantRanking(at place) {
	distances := must.JSON[struct{ Plies []*int }](p, remotetest.Fetch(p, p.url+"api/distances?pits="+p.commas(at.board)))
	probe := must.Get(p.tables.Probe(p.Context(), at.board))(p)
	var rows []string
	for value := awari.MaxSeeds; value >= -awari.MaxSeeds; value-- {
		for pit, m := range probe.Moves {
			if !m.Legal || m.Value != value {
				continue
			}
			plies := "–"
			if n := distances.Plies[pit]; n != nil {
				plies = strconv.Itoa(*n)
			}
			rows = append(rows, letter(at, pit)+" "+signed(value)+" "+plies)
		}
	}
	p.Await("the moves", fmt.Sprintf(`[...document.querySelectorAll("#moves tbody tr")].map((r) => [0, 2, 4].map((i) => r.cells[i].textContent).join(" ")).join("; ") === %q`, strings.Join(rows, "; ")))
	p.Await("the best line", `document.querySelector("#line-total").textContent !== ""`)
	var a, b, value, plies int
	total := strings.NewReplacer("North", "South", "−", "-").Replace(p.Text("#line-total"))
	_, err := fmt.Sscanf(total, "South takes %d, South %d: %d in %d pl", &a, &b, &value, &plies)
	should.Not(p, err != nil || value != probe.Value || a-b != value, "%s: worth %d, the best line: %s (%v)", p.text(at), probe.Value, total, err)
	p.Exec(`document.querySelector("#line-more").click()`)
	browsertest.Want(p.Page, `document.querySelectorAll("#line button").length`, plies)
}

// testEnds looks at games that are over or decided, and taps pits that cannot be played.
func testEnds(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, "?pits=0,0,0,0,0,1,1,0,0,0,0,0&turn=south&moves=F", 1200) // leaves no seed on the board
	page.says("#result", "South wins, 2 to 0.")
	page.says("#graph-hint", "2 of 2 points are exact")
	page.click(`.pit[data-pit="8"]`)
	page.says("#bubble", "The game is over.")
	page.goTo(s.address(middle) + "&taken=30,4&seats=you,0")
	page.says("#result", "South has 30 of 42 seeds: the game is decided.")
	browsertest.Want(page.Page, browsertest.Shown("#rematch"), 0)
	page.click(`.pit[data-pit="1"]`)
	page.says("#bubble", "There is no seed in pit B.")
	page.click(`.pit[data-pit="6"]`)
	page.says("#bubble", "This is a pit of North. South to move.")
	page.goTo("?pits=1,0,0,0,1,1,2,0,0,0,0,0&turn=south")
	page.wantAt(place{board: awari.Board{1, 0, 0, 0, 1, 1, 2}})
	page.click(`.pit[data-pit="5"]`)
	page.says("#bubble", "You may not play pit F: it leaves the opponent without seeds.")
}

// TestLongPlay plays both sides, by clicks and by keys; Back, Forward, undo and redo go through the game, and a reload in the middle loses nothing.
func TestLongPlay(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	s := newSite(t)
	page := open(t, browsertest.Start(t), s, s.address(middle), 1200)
	at, moves := middle, ""
	places := []place{at}
	for turn := range 6 {
		plays := s.game.Plays(at.board)
		pit := slices.IndexFunc(plays[:], func(play awari.Play) bool { return play.Legal })
		if turn%2 == 0 {
			page.key(strconv.Itoa(pit + 1))
		} else { // North moves
			page.click(fmt.Sprintf(`.pit[data-pit="%d"]`, 6+pit))
		}
		moves += letter(at, pit)
		word := "plays pit " + letter(at, pit)
		at = s.after(at, pit)
		places = append(places, at)
		page.wantExact(at)
		page.wantAddress("&moves=" + moves)
		should.Has(t, page.Text("#live"), word)
	}
	for i := 5; i >= 3; i-- {
		page.back()
		page.wantAt(places[i])
	}
	page.forward()
	page.wantAt(places[4])
	page.Do(chromedp.Reload())
	page.wantExact(places[4])
	for _, at := range places[5:] {
		page.forward()
		page.wantAt(at)
	}
	for i := 5; i >= 0; i-- {
		page.keyTo("u", places[i])
	}
	page.wantAddress("&moves=" + moves + "&at=0")
	browsertest.Want(page.Page, `document.querySelector("#undo").disabled`, true)
	page.keyTo("r", places[1])
	page.Do(chromedp.Reload())
	page.wantExact(places[1])
	page.wantAddress("&moves=" + moves + "&at=1")
}

// barShown holds when the page shows how far ahead South will be.
const barShown = `document.querySelector("#bar").checkVisibility({visibilityProperty: true})`

// testNothingLost starts and edits in the middle of a game, and gets the game back.
func testNothingLost(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, "?turn=south", 1200)
	page.wantAt(start)
	should.Has(t, page.Text("#fact"), "From 8 seeds on I know everything: 40 more to take.")
	afterC := s.after(start, 2)
	at, variation := s.after(afterC, 3), s.after(afterC, 0)
	page.keyTo("3", afterC)
	page.keyTo("4", at)
	for _, lose := range []func(){
		func() { page.key("n") },
		func() {
			page.key("e")
			page.click("#edit-clear")
			page.click(`.pit[data-pit="2"]`)
			page.click("#edit-done")
		},
		func() {
			page.key("t")
			page.Exec(`document.querySelector("#text-area").value = "1. A a"`)
			page.click("#text-load")
			page.Await("the notice", `!document.querySelector("#notice").hidden`)
			const top = `document.querySelector("#notice-act").getBoundingClientRect().top`
			before := browsertest.Eval[float64](page.Page, top)
			page.Await("a value", barShown)
			browsertest.Want(page.Page, fmt.Sprintf(`Math.abs(%s - %v) < 1`, top, before), true) // a button stays where it is when a value is found
		},
	} {
		page.Exec(`document.querySelector("#notice").hidden = true`) // that of the game before
		lose()
		page.Await("another game", fmt.Sprintf(`%s !== %q && %s && !document.querySelector("#notice").hidden`, shown, s.text(at), settled))
		page.click("#notice-act")
		page.wantAt(at)
		page.wantAddress("/?moves=Cd")
		page.back()
		page.Await("another game", fmt.Sprintf(`%s !== %q && %s`, shown, s.text(at), settled))
		page.back()
		page.wantAt(at)
	}
	page.keyTo("n", start)
	page.keyTo("u", at) // at the start of a game, undo brings back the one before
	page.Exec(`document.querySelector("#record .ply:last-child").click()`)
	page.key("u")
	page.keyTo("1", variation)
	page.wantAddress("/?moves=Cd(a)&at=3")
	page.goTo("")
	page.wantAt(start)
	page.says("#notice", "last game")
	page.click("#notice-act")
	page.wantAt(variation)
	page.click("#promote")
	page.wantAddress("/?moves=Ca(d)")
	page.Await("the main line", `document.querySelector("#promote").hidden && `+settled) // what is beside it has moved
	page.click("#remove")
	page.wantAddress("/?moves=Cd&at=1")
	page.click("#notice-act")
	page.wantAddress("/?moves=Ca(d)")
	page.wantAt(variation)
}

// testProgram lets the program play both sides to the end of a game: what both have taken must differ by the value of the position.
func testProgram(t *testing.T, browser *browsertest.Browser, s *site) {
	at := place{board: middle.board, north: true}
	value := int(must.Get(s.tables.Score(t.Context(), at.board))(t))
	must.Not(t, value <= 0, "worth %d, the test wants a position that North wins", value)
	page := open(t, browser, s, s.address(at)+"&seats=0,0", 1200)
	page.Await("the end of the game", `document.querySelector("#turn").textContent === "The game is over."`)
	var north, south int
	_, err := fmt.Sscanf(page.Text("#result"), "North wins, %d to %d.", &north, &south)
	should.Hold(t, err == nil && north-south == value, "worth %d to North, but %s", value, page.Text("#result"))
}

// testKeys chooses pits with arrow keys, and opens and closes help.
func testKeys(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.address(middle), 1200)
	page.Exec(`document.querySelector('.pit[data-pit="0"]').focus()`)
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "1"}, {kb.ArrowUp, "10"}, {kb.ArrowLeft, "11"}, {kb.ArrowLeft, "6"},
		{kb.ArrowDown, "5"}, {kb.ArrowDown, "5"}, {kb.ArrowRight, "0"}, {kb.ArrowLeft, "5"},
	} {
		page.key(step.key)
		browsertest.Want(page.Page, `document.activeElement.dataset.pit ?? document.activeElement.id`, step.want)
	}
	browsertest.Want(page.Page, `getComputedStyle(document.activeElement).outlineStyle`, "solid")
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
		should.Not(t, pit.Chip != "" || strings.Contains(pit.Label, "value"), "hidden, but %+v", pit)
	}
	page.key("2") // empty, or not: nothing may break
	browsertest.Want(page.Page, `document.querySelectorAll('.pit[tabindex="0"]').length`, 1)
}

// testEdit sets up a position with keys, buttons and text.
func testEdit(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.address(middle), 1200)
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
	page.wantExact(at)
	page.key("e")
	page.write("#edit-text", "0 0 0 0 0 2 1 1 0 0 0 1")
	page.enter()
	at = place{board: s.game.Turn(awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 1}), north: true}
	page.wantExact(at)
	page.key("e")
	page.write("#edit-taken-0", "5")
	page.click("#edit-done")
	page.wantAddress("&taken=5,0")
	for text, want := range map[string]string{
		"0-0-0-0-0-2-1-1-0-0-0-1-3-4-N":                       "?pits=0,0,0,0,0,2,1,1,0,0,0,1&turn=north&taken=3,4",
		"[0,0,0,0,0,2,1,1,0,0,0,2]":                           "?pits=0,0,0,0,0,2,1,1,0,0,0,2&turn=north&taken=5,0",
		"0 0 0 0 0 2 0 2 0 0 0 1: value 3; moves . . . . . 3": "?pits=0,0,0,0,0,2,0,2,0,0,0,1&turn=north&taken=5,0",
		"opponent   f   e   d   c   b   a           6   5   4   3   2   1           0   0   2   0   0   1mover      A   B   C   D   E   F": "?pits=0,0,2,0,0,1,1,2,3,4,5,6&turn=south&taken=5,0",
		"http://localhost:8080/?pits=0,0,0,1,0,2,1,1,0,0,0,1&turn=south&taken=1,0":                                                         "?pits=0,0,0,1,0,2,1,1,0,0,0,1&turn=south&taken=1,0",
	} {
		page.goTo("?pits=0,0,0,0,0,2,1,1,0,0,0,1&turn=north&taken=5,0")
		page.wantAt(place{board: at.board, north: true, taken: [2]int{5, 0}})
		page.key("e")
		page.write("#edit-text", text)
		page.enter()
		page.wantAddress(want)
	}
	page.goTo(s.address(at))
	page.wantAt(at)
	page.key("e")
	page.write("#edit-text", "40 0 0 0 0 9 0 0 0 0 0 0")
	page.says("#problem", "at most 48 seeds, these are 49")
	page.Do(chromedp.SendKeys(chromedp.CSS("#edit-text"), kb.Escape))
	page.wantAt(at)
	page.Await("no editor", `document.querySelector("#editor").hidden && document.querySelector("#problem").hidden`)
}

// testLinks follows links: older ones, those that other programs write, and those that make no sense, which are told and stay in the address.
func testLinks(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, strings.Replace(s.address(middle), "?", "#", 1), 1200)
	page.wantAt(middle)
	page.wantAddress("/" + s.address(middle))
	page.goTo(strings.ReplaceAll(s.address(middle), ",", "%2C"))
	page.wantAt(middle)
	third := s.after(s.after(start, 2), 3)
	for _, c := range []struct {
		address, want string
		at            place
	}{
		{"?pits=1,2,3", "pits must be 12 numbers", start},
		{"?pits=1,2,3,4,5,6,7,8,9,10,11,12", "at most 48 seeds, these are 78", start},
		{"?pits=%3Cimg%20src=x%20onerror=alert(1)%3E,0,0,0,0,0,0,0,0,0,0,0", "pits must be 12 numbers", start},
		{"?pits=1,0,0,0,0,0,0,0,0,0,0,0&turn=east", "turn must be south or north", start},
		{"?pits=1,0,0,0,0,0,0,0,0,0,0,0&taken=1", "taken must be 2 numbers", start},
		{"?x=1", "“x” has no place in the link", start},
		{"?moves=C&moves=C", "“moves” is there twice", start},
		{"?%", "it has a % that means nothing", start},
		{"?moves=Cdx", "letter 3: “x” means nothing here", start},
		{"?moves=Cd(a", "letter 5: a ) is missing", start},
		{"?moves=(a)", "letter 1: there is no move that this could replace", start},
		{"?moves=CdC", "move 3, C: the pit is empty", third},
		{"?moves=CdcA", "move 3, c: it is the other player’s turn", third},
		{"?moves=Cd&at=3", "the game has no move 3", third},
		{"?moves=Cd&at=-1", "at must be the number of a move", start},
		{"?seats=you", "seats must be two", start},
	} {
		page.goTo(c.address)
		page.says("#problem", c.want)
		page.wantAt(c.at)
		page.wantAddress(c.address)
	}
	page.key("1") // a move goes on from what could be read, and Back leads to the link
	page.wantAt(s.after(start, 0))
	page.back()
	page.wantAddress("?seats=you")
}

// testText writes games as text and reads them again, and reads texts that make no sense.
func testText(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, "", 1200)
	goToStart := func() {
		page.goTo("")
		page.Await("the start", shown+` === "4,4,4,4,4,4,4,4,4,4,4,4 south 0,0" && location.search === ""`)
	}
	read := func(text string) {
		page.key("t")
		page.Await("the text", `document.querySelector("#text").open`)
		page.Exec(fmt.Sprintf(`document.querySelector("#text-area").value = %s`, must.Get(json.Marshal(text))(t)))
		page.click("#text-load")
	}
	for _, c := range []struct{ text, want string }{
		{"1. C d 2. F a", "/?moves=CdFa"},
		{"C d F a", "/?moves=CdFa"},
		{"CdFa", "/?moves=CdFa"},
		{"1. C {a good one} d\n2. F (2. A b) a 0-0", "/?moves=CdF(Ab)a"},
		{"[Turn \"North\"]\n[Event \"a match\"]\n\n1... c 2. D *", "/?pits=4,4,4,4,4,4,4,4,4,4,4,4&turn=north&moves=cD"},
		{"[Rules \"awari\"] [South \"program 3\"] [North \"Akua\"] [Start \"1,0,1,0,0,2,1,1,0,1,0,1\"] [Turn \"South\"] [Taken \"3,1\"] 1. A (F d) a",
			"/?pits=1,0,1,0,0,2,1,1,0,1,0,1&turn=south&taken=3,1&moves=A(Fd)a&seats=3,you"},
	} {
		read(c.text)
		page.wantAddress(c.want)
		page.Await("no dialog", `!document.querySelector("#text").open`)
		page.key("t")
		written := browsertest.Eval[string](page.Page, `document.querySelector("#text-area").value`)
		goToStart()
		read(written)
		page.wantAddress(c.want)
	}
	goToStart()
	for _, c := range []struct{ text, want string }{
		{"1. C x", "letter 6: “x” means nothing here"},
		{"1. C d\n2. C", "move 3, C: the pit is empty"},
		{"1. C d\n2. F )", "line 2, letter 6: there is no ( for this )"},
		{"1. C (", "a ) is missing"},
		{"1. C () d", "there is no move in the parentheses"},
		{"1. C {d", "letter 6: “{d” means nothing here"},
		{"1. G", "“G” means nothing here"},
		{"[Rules \"strict\"] 1. C", "the game has the rules “strict”"},
		{"[Start \"4,4\"] 1. C", "pits must be 12 numbers"},
		{"[Turn \"East\"] 1. C", "turn must be south or north"},
		{"[Turn \"South\"] [Turn \"South\"] 1. C", "“Turn” is given twice"},
		{"1. C [Turn \"South\"]", "“Turn” must come before the moves"},
		{strings.Repeat("A", 1001), "there are more than 1000 moves"},
		{"1. C <img src=x onerror=alert(1)>", "means nothing here"},
	} {
		before := browsertest.Eval[string](page.Page, "location.search")
		read(c.text)
		page.says("#text-problem", c.want)
		page.click("#text .close")
		browsertest.Want(page.Page, "location.search", before)
	}
}

// longGame returns a game of the given plies whose last position the tables have, by moves that are drawn at random until there is one.
func (s *site) longGame(plies int) (places []place, pits []int, moves string) {
	for seed := uint64(1); ; seed++ {
		random := rand.New(rand.NewPCG(seed, 0))
		at := place{board: awari.Board{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}}
		places, pits, moves = []place{at}, nil, ""
		for seen := map[place]bool{}; len(pits) < plies; {
			var legal []int
			for pit, play := range s.game.Plays(at.board) {
				if play.Legal {
					legal = append(legal, pit)
				}
			}
			position := place{board: at.board, north: at.north}
			if len(legal) == 0 || seen[position] {
				break
			}
			seen[position] = true
			pit := legal[random.IntN(len(legal))]
			moves += letter(at, pit)
			at = s.after(at, pit)
			places, pits = append(places, at), append(pits, pit)
		}
		if len(pits) == plies && at.board.Seeds() <= solved && places[plies/2].board.Seeds() > solved {
			return places, pits, moves
		}
	}
}

// testAnalysis opens a game of 60 plies, compares what the moves gave away with the tables, and goes through it in all ways that there are.
func testAnalysis(t *testing.T, browser *browsertest.Browser, s *site) {
	places, pits, moves := s.longGame(60)
	page := open(t, browser, s, s.address(places[0])+"&moves="+moves, 1440)
	page.wantAt(places[60])
	rows := browsertest.Eval[[]struct{ Letter, Worth, Lost, Class string }](page.Page, `[...document.querySelectorAll("#record .ply")].map((b) => ({
		letter: b.querySelector(".letter").textContent, worth: b.querySelector(".worth")?.textContent ?? "",
		lost: b.querySelector(".lost")?.textContent ?? "", class: b.className }))`)
	must.Equal(t, len(rows), 60, "moves are listed")
	for i, row := range rows {
		should.Hold(t, strings.HasPrefix(row.Letter, letter(places[i], pits[i])), "move %d is %q", i+1, row.Letter)
		if places[i].board.Seeds() > solved {
			continue
		}
		probe := must.Get(s.tables.Probe(t.Context(), places[i].board))(t)
		want, lost := probe.Moves[pits[i]].Value, ""
		if want < probe.Value {
			lost = signed(want - probe.Value)
		}
		should.Hold(t, row.Worth == signed(want) && row.Lost == lost, "move %d: %+v, want %s, %s", i+1, row, signed(want), lost)
	}
	page.keyTo(kb.ArrowLeft, places[59])
	page.keyTo(kb.ArrowUp, places[0])
	page.keyTo(kb.ArrowRight, places[1])
	page.keyTo(kb.ArrowDown, places[60])
	page.Exec(`document.querySelectorAll("#record .ply")[39].click()`)
	page.wantAt(places[40])
	page.Exec(`{ const box = document.querySelector("#graph").getBoundingClientRect();
		document.querySelector("#graph").dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: box.right - 14, clientY: box.top + 9 })); }`)
	page.wantAt(places[60])
	page.click("#analyse")
	page.Await("an analysis", `document.querySelector("#analyse").textContent === "Stop" && document.querySelectorAll("#graph .guess").length > 0`)
	page.click("#analyse")
	page.Await("its end", `document.querySelector("#analyse").textContent === "Analyse the game"`)

	// The first point that is solved and where the move that was played is not the best.
	for i, at := range places[:60] {
		probe, err := s.tables.Probe(t.Context(), at.board)
		if at.board.Seeds() > solved || err != nil || probe.Moves[pits[i]].Value == probe.Value {
			continue
		}
		page.Exec(fmt.Sprintf(`document.querySelectorAll("#record .ply")[%d].click()`, i))
		page.Await("what it gave away", fmt.Sprintf(`document.querySelector("#gave").textContent.includes("gave away %d here")`, probe.Value-probe.Moves[pits[i]].Value))
		page.keyTo(kb.ArrowLeft, at)
		page.Await("the best line", `document.querySelectorAll("#line button").length > 0`)
		page.click("#line button")
		page.Await("a variation", `document.querySelectorAll(".variation .ply[aria-current]").length === 1`)
		page.Await("nothing given away", `document.querySelector("#gave").textContent.includes("gave nothing away")`)
		return
	}
	t.Error("nobody gave anything away where the tables know it")
}

// testSearch looks at a board above the solved layers: nothing may be called exact that is not, and no guess stands where a value would.
func testSearch(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.address(start), 1200)
	page.Await("a search", `document.querySelector("#moves-hint").textContent.includes("≈")`)
	for i, pit := range page.mover() {
		should.Not(t, !strings.ContainsAny(pit.Chip, "≈≥≤…") || !strings.Contains(pit.Label, "a guess") && !strings.Contains(pit.Label, "at ") && !strings.Contains(pit.Label, "from "),
			"pit %d: %+v", i, pit)
	}
	should.Lacks(t, page.Text("#verdict"), "exact")
	page.key("b")
	page.Await("a move", `document.querySelectorAll("#record .ply").length === 1`)

	// A board whose moves all capture into the tables has an exact value.
	at := place{board: awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 4, 1}}
	play := s.game.Plays(at.board)[5]
	must.Hold(t, at.board.Seeds() > solved && play.Legal && play.Child.Seeds() <= solved, "the position is not what the test wants")
	score := must.Get(s.tables.Score(t.Context(), play.Child))(t)
	page.goTo(s.address(at))
	page.wantAt(at)
	should.Equal(t, page.mover()[5].Chip, signed(play.Captured-int(score)))
}

// testLayers looks at charts, and asks for one that was not shown before when the server is gone.
func testLayers(t *testing.T, browser *browsertest.Browser, _ *site) {
	page := openOther(t, browser, newSite(t), "layers", 1200)
	page.Await("charts", `document.querySelectorAll(".charts svg.chart.wide").length >= 4 && !document.querySelector("#scores").hidden`)
	should.Equal(t, page.Text("#scores-title"), fmt.Sprintf("Scores with %d seeds", solved))
	page.click("#scores-less")
	page.Await("the layer below", fmt.Sprintf(`document.querySelector("#scores-title").textContent === "Scores with %d seeds"`, solved-1))
	page.click(".layers summary")
	browsertest.Want(page.Page, `document.querySelectorAll("#layers-table tbody tr").length`, solved+1)
	browsertest.Want(page.Page, `getComputedStyle(document.querySelector(".charts .wide .teal")).fill`, "rgb(0, 121, 107)") // by the style sheet
	page.leave()
	page.click("#scores-less")
	page.wantGone()
}

// wantReadable checks that the page is not too wide, that no text is cut off, and on a phone that what one taps is large enough; and wantAccess.
func (p *tab) wantReadable(width int64) {
	p.Helper()
	p.wantAccess()
	should.List(p, browsertest.Eval[[]string](p.Page, fmt.Sprintf(fitScript, width)), nil, "%s", p.where)
	nav := browsertest.Eval[float64](p.Page, `document.querySelector("nav").getBoundingClientRect().height`)
	should.Not(p, width >= 390 && nav > 60, "%s: the links to the pages take more than a line: %.0f pixels", p.where, nav)
}

// fitScript finds what does not fit into a window of some width. What can be scrolled may be wider.
const fitScript = `(() => {
	const width = %d, bad = [], show = (e) => e.outerHTML.slice(0, 160);
	if (document.scrollingElement.scrollWidth > width) bad.push("the page is " + document.scrollingElement.scrollWidth + " pixels wide");
	const pen = document.createElement("canvas").getContext("2d");
	for (const e of document.querySelectorAll("body *")) {
		const box = e.getBoundingClientRect(), style = getComputedStyle(e);
		if (!e.checkVisibility() || box.width === 0 || e.closest("svg, .unseen, .skip, noscript")) continue;
		if (!e.closest(".scroll, .record, ol.moves") && (box.left < -0.5 || box.right > width + 0.5)) bad.push("outside of the window: " + show(e));
		const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
		const scrolls = ["auto", "scroll"].includes(style.overflowX) || e.matches("input, textarea");
		if (!scrolls && style.display !== "inline" && (text || e.matches("button, .pit, label")) && e.scrollWidth > e.clientWidth + 1) bad.push("no room for its text: " + show(e));
		if (e.matches("select")) {
			pen.font = style.font;
			const arrow = 12, room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - arrow;
			if (pen.measureText(e.selectedOptions[0]?.text ?? "").width > room) bad.push("no room for " + e.selectedOptions[0].text);
		}
		const tapped = e.matches("button, select, input:not([type=checkbox], [type=radio], [type=file]), a, summary, label:has(input)") && !(e.matches("a") && e.closest("p") && e.closest("p").textContent.trim() !== e.textContent.trim());
		if (width < 500 && tapped && (box.width < 43.5 || box.height < 43.5)) bad.push("too small to tap: " + show(e));
	}
	return bad;
})()`

// wantAccess reports text that is hard to read, and elements without names or whose references lead nowhere.
func (p *tab) wantAccess() {
	p.Helper()
	for _, script := range []string{contrastScript + `lowContrast()`, namesScript} {
		should.List(p, browsertest.Eval[[]string](p.Page, script), nil, "%s", p.where)
	}
}

// namesScript finds what assistive programs could not tell of: controls and pictures without a name, identifiers that
// are there twice, references to none, headings that leave out a level, lists with something else in them.
const namesScript = `(() => {
	const bad = [], all = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility());
	const name = (e) => (e.getAttribute("aria-label") ?? (e.getAttribute("aria-labelledby") ? document.getElementById(e.getAttribute("aria-labelledby"))?.textContent : null) ??
		([...(e.labels ?? [])].map((l) => l.textContent).join(" ") || e.alt || e.textContent)).trim();
	for (const e of all) {
		if (e.matches("button, a, select, textarea, input, [role=img], [role=group], [role=region], dialog, nav, section[aria-labelledby]") && !name(e)) bad.push("no name: " + e.outerHTML.slice(0, 120));
		if (e.matches("img:not([alt])")) bad.push("no alt: " + e.outerHTML);
		if (e.matches("ul, ol") && [...e.children].some((c) => c.localName !== "li")) bad.push("a list with " + e.innerHTML.slice(0, 80));
		for (const a of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
			if (e.hasAttribute(a) && !e.getAttribute(a).split(" ").every((id) => document.getElementById(id))) bad.push(a + " leads nowhere: " + e.outerHTML.slice(0, 120));
		}
		if (e.matches("[tabindex]:not([tabindex='0'], [tabindex='-1'])")) bad.push("an order of its own: " + e.outerHTML.slice(0, 120));
		if (e.matches("[aria-hidden=true] button, [aria-hidden=true] a")) bad.push("hidden, but not from Tab: " + e.outerHTML.slice(0, 120));
	}
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	bad.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => "twice: #" + id));
	let level = 0;
	for (const h of all.filter((e) => /^H[1-6]$/.test(e.tagName) && !e.closest("dialog"))) {
		const n = Number(h.tagName[1]);
		if (n > level + 1) bad.push("a heading leaves out a level: " + h.textContent);
		level = n;
	}
	if (!document.documentElement.lang || !document.title || document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) bad.push("lang, title, main or h1");
	return bad;
})()`

// contrastScript finds text that is hard to read on the nearest background that is one colour. The formulas are from WCAG 2.1.
const contrastScript = `
	function rgb(text) { return text.match(/[\d.]+/g).map(Number); }
	function luminance([r, g, b]) {
		const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * x + 0.7152 * y + 0.0722 * z;
	}
	function background(e) {
		for (; e; e = e.parentElement) {
			const style = getComputedStyle(e);
			if (style.backgroundImage !== "none" || !style.backgroundColor.startsWith("rgb")) return null;
			const color = rgb(style.backgroundColor);
			if (color[3] !== 0) return color[3] === undefined ? color : null;
		}
		return [255, 255, 255];
	}
	function lowContrast() {
		const bad = [];
		for (const e of document.querySelectorAll("body *")) {
			const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
			if (!text || !e.checkVisibility({ visibilityProperty: true }) || e.matches("title, desc") || e.closest("svg:not(.chart), :disabled")) continue;
			const back = background(e);
			if (!back) continue;
			const [a, b] = [luminance(rgb(getComputedStyle(e)[e.closest("svg") ? "fill" : "color"])), luminance(back)];
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (contrast < 4.5) bad.push(text.slice(0, 30) + ": contrast " + contrast.toFixed(2));
		}
		return bad;
	}
`

// testMotion checks that seeds fly where motion is wanted, that they all arrive, and that none does where it is not wanted.
func testMotion(t *testing.T, browser *browsertest.Browser, s *site) {
	for _, wish := range []string{"no-preference", "reduce"} {
		t.Run(wish, func(t *testing.T) {
			page := open(t, browser, s, s.address(middle), 1200)
			page.Show(browsertest.Window{Width: 1200, Media: map[string]string{"prefers-reduced-motion": wish}})
			page.Exec(`globalThis.flown = 0;
				new MutationObserver((changes) => { for (const c of changes) flown += c.addedNodes.length; }).observe(document.querySelector("#flight"), { childList: true })`)
			page.key("6")
			at := s.after(middle, 5)
			page.wantAt(at)
			page.Await("the seeds", `document.querySelector("#flight").childElementCount === 0`)
			want := int(middle.board[5]) + s.game.Plays(middle.board)[5].Captured
			if wish == "reduce" {
				want = 0
			}
			browsertest.Want(page.Page, "flown", want)
			page.keyTo("u", middle)
			page.key("6")
			page.keyTo("u", middle) // while seeds fly, if they do
			page.keyTo("r", at)
			page.Await("the seeds", `document.querySelector("#flight").childElementCount === 0`)
			browsertest.Want(page.Page, counts+`.join()`, s.commas(s.game.Turn(at.board)))
			browsertest.Want(page.Page, pits+`.map((b) => b.querySelectorAll(".seed").length).join()`, s.commas(s.game.Turn(at.board)))
		})
	}
}

// testOffline loads the page again after the server has stopped: what was seen is still there, and no more than that.
func testOffline(t *testing.T, browser *browsertest.Browser, _ *site) {
	s := newSite(t)
	page := open(t, browser, s, s.address(middle), 1200)
	page.Await("the worker", `navigator.serviceWorker.controller !== null`)
	page.key("6")
	at := s.after(middle, 5)
	page.wantAt(at)
	page.Await("what it keeps", `(globalThis.kept ??= 0, caches.open("answers").then((c) => c.keys()).then((k) => { kept = k.length; }), kept >= 4)`)
	page.leave()
	page.Do(chromedp.Reload())
	page.wantExact(at)
	page.key("u")
	page.wantExact(middle)
	page.key("1")
	page.wantGone()
	browsertest.Want(page.Page, barShown, false) // it would show the position before
	should.Equal(t, page.Text("#verdict"), "")
}

// testFrench changes the language on a phone, where board, values and buttons are in one view. It stays after a reload.
func testFrench(t *testing.T, browser *browsertest.Browser, s *site) {
	page := open(t, browser, s, s.address(middle)+"&moves=Fd", 390)
	bottom := browsertest.Eval[float64](page.Page, `document.querySelector("#tools").getBoundingClientRect().bottom + scrollY`)
	should.Not(t, bottom > 800, "the buttons end at %.0f pixels", bottom)
	page.choose("#language", "fr")
	page.Await("French", `document.documentElement?.lang === "fr" && document.querySelector("#turn")?.textContent === "Au tour de Sud."`)
	page.Await("values", `document.querySelector("#verdict").textContent !== ""`)
	for selector, want := range map[string]string{
		"#undo": "Reprendre", "#moves-title": "Coups", "#moves-hint": "Exact, d’après les tables.", "#notice-act": "",
	} {
		should.Equal(t, page.Text(selector), want, "%s", selector)
	}
	page.wantReadable(390)
	page.Do(chromedp.Reload())
	page.Await("French again", `document.querySelector("#turn")?.textContent === "Au tour de Sud."`)
	page.Exec(`localStorage.clear()`)
	page.goTo(s.address(middle) + "&lang=fr&moves=F")
	page.Await("a French link", `document.querySelector("#turn")?.textContent === "Au tour de Nord."`)
	page.wantAddress(s.address(middle) + "&moves=F")
	page.Exec(`import("/link.js").then((m) => { globalThis.link = m.link(); })`)
	page.Await("the link for others", fmt.Sprintf(`globalThis.link?.endsWith(%q)`, s.address(middle)+"&moves=F&lang=fr"))
	page.Exec(`sessionStorage.clear()`)
}
