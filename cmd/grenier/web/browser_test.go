package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"grenier/cmd/grenier/web"
	"grenier/io/layerfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/batch"
	"grenier/pipeline/serve"
	"grenier/pipeline/tables"
)

// solved is the number of seeds of the highest layer that the tests solve.
const solved = 8

// patience is how long anything on the page may take. Nothing takes that long unless
// it is broken.
const patience = 60 * time.Second

// browserNames are the names that the browser has on different systems.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// findBrowser returns the path of a browser. Without one the test is skipped, but
// not in continuous integration, which has to install it.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no browser: none of %s is installed", strings.Join(browserNames, ", "))
	}
	t.Skipf("no browser: none of %s is installed", strings.Join(browserNames, ", "))
	return ""
}

// site is a running server with the page and its tables.
type site struct {
	game   awari.Game
	tables *tables.Tables
	url    string
}

// newSite solves a few layers and serves them until the test ends.
func newSite(t *testing.T) *site {
	t.Helper()
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	o := batch.Options{Seeds: solved, Codec: layerfile.LZ4, Workers: 1, Family: cpu.Best()}
	if _, err := batch.Solve(t.Context(), dir, game, o); err != nil {
		t.Fatal(err)
	}
	tab, err := tables.Open(dir, tables.Options{Family: cpu.Best()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tab.Close() })
	server, err := serve.New(serve.Options{Tables: tab, Pages: web.Files(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &site{game, tab, "http://" + l.Addr().String() + "/"}
}

// newBrowser starts a browser without a window, which ends with the test.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(t)), chromedp.WSURLReadTimeout(patience))
	if os.Geteuid() == 0 {
		flags = append(flags, chromedp.NoSandbox) // the sandbox refuses to work for root
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as this context
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	})
	return ctx
}

// tab is a tab of the browser that shows the page.
type tab struct {
	*testing.T
	*site
	ctx context.Context

	mu     sync.Mutex
	errors []string // what the console and the browser complained about
}

// open opens the page in a tab of its own, at the position that hash gives, in a
// window of the given width. Motion is reduced unless asked for.
func open(t *testing.T, browser context.Context, s *site, hash string, width int64, features ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	page := &tab{T: t, site: s, ctx: ctx}
	if err := chromedp.Listen(ctx, page.listen); err != nil {
		t.Fatal(err)
	}
	media := map[string]string{"prefers-reduced-motion": "reduce", "prefers-color-scheme": "light"}
	for i := 0; i < len(features); i += 2 {
		media[features[i]] = features[i+1]
	}
	var emulated emulation.SetEmulatedMediaParams
	for name, value := range media {
		emulated.Features = append(emulated.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	page.run(
		command(emulation.SetEmulatedMedia, emulated),
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500,
		}),
		chromedp.Navigate(s.url+hash),
	)
	page.await("the values", settled)
	t.Cleanup(func() { page.shoot(""); page.complaints() })
	return page
}

// command returns a command of the browser as an action.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// listen collects what a page without faults does not say.
func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text = e.ExceptionDetails.Exception.Description
		}
		p.errors = append(p.errors, text)
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			p.errors = append(p.errors, fmt.Sprintf("console.%s: %s", e.Type, arg.Value))
		}
	case *log.EventEntryAdded:
		p.errors = append(p.errors, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	}
}

// complaints fails the test if the browser complained.
func (p *tab) complaints() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.errors {
		p.Errorf("the browser says: %s", text)
	}
}

// shoot writes a picture of the page into the directory that the environment names,
// if it does, for people to look at. The word becomes part of its name.
func (p *tab) shoot(word string) {
	dir := os.Getenv("GRENIER_SCREENSHOTS")
	if dir == "" {
		return
	}
	if word != "" {
		word = "-" + word
	}
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(p.Name(), "/", "-")+word+".png"), picture, 0o666)
	}
	if err != nil {
		p.Error(err)
	}
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval returns the value of an expression on the page.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// text returns the text of an element.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// await waits until an expression on the page is true.
func (p *tab) await(what, expression string) {
	p.Helper()
	for end := time.Now().Add(patience); !eval[bool](p, expression); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("waiting for %s: the page is at %s and says %q", what, eval[string](p, "location.href"), p.text("main"))
		}
	}
}

// exec runs a script on the page.
func (p *tab) exec(script string) {
	p.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](script))
}

// click clicks on an element.
func (p *tab) click(selector string) {
	p.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// write replaces the text of a field by keys.
func (p *tab) write(selector, text string) {
	p.Helper()
	p.exec(fmt.Sprintf("document.querySelector(%q).select()", selector))
	p.run(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// key presses a key, wherever the focus is.
func (p *tab) key(key string) { p.Helper(); p.run(chromedp.KeyEvent(key)) }

// place is a position as the address has it: pits of South and North, who moves,
// what they have taken.
type place struct {
	board awari.Board // seen by the player to move
	north bool        // North moves
	taken [2]int
}

// settled is true when the page says what it knows about a position.
const settled = `!["", "Asking the tables …"].includes(document.querySelector("#moves-hint").textContent)`

// hash returns the part of the address for a place.
func (s *site) hash(at place) string {
	board, turn := at.board, "south"
	if at.north {
		board, turn = s.game.Turn(board), "north"
	}
	hash := "#pits=" + strings.ReplaceAll(s.game.Text(board), " ", ",") + "&turn=" + turn
	if at.taken != [2]int{} {
		hash += fmt.Sprintf("&taken=%d,%d", at.taken[0], at.taken[1])
	}
	return hash
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
	p.await(p.hash(at), fmt.Sprintf(`location.hash === %q && %s`, p.hash(at), settled))
}

// pitInfo is what a pit of the player to move says.
type pitInfo struct {
	Label string
	Chip  string
	Kind  string
}

// mover returns the pits of the player to move.
func (p *tab) mover() []pitInfo {
	p.Helper()
	pits := eval[[]pitInfo](p, `[...document.querySelectorAll(".pit." + (document.querySelector("#board").dataset.turn === "0" ? "south" : "north"))]
		.map((b) => ({ Label: b.getAttribute("aria-label"), Chip: b.querySelector(".chip").textContent, Kind: b.querySelector(".chip").className }))`)
	if strings.HasPrefix(pits[0].Label, "North") { // on the page from right to left
		for i, j := 0, len(pits)-1; i < j; i, j = i+1, j-1 {
			pits[i], pits[j] = pits[j], pits[i]
		}
	}
	return pits
}

// wantValues compares the values on the page with the tables.
func (p *tab) wantValues(at place) {
	p.Helper()
	probe, err := p.tables.Probe(at.board)
	if err != nil {
		p.Fatal(err)
	}
	for i, shown := range p.mover() {
		want := pitInfo{Chip: ""}
		if m := probe.Moves[i]; m.Legal {
			want.Chip = signed(m.Value)
		}
		if shown.Chip != want.Chip {
			p.Errorf("%s: pit %d shows %q, want %q", p.hash(at), i, shown.Chip, want.Chip)
		}
		if !strings.Contains(shown.Label, fmt.Sprintf("pit %d, %d seed", i, at.board[i])) {
			p.Errorf("%s: pit %d is called %q", p.hash(at), i, shown.Label)
		}
	}
	if verdict := p.text("#verdict"); !strings.HasSuffix(verdict, "exact") || !strings.Contains(verdict, verdictOf(at, probe.Value)) {
		p.Errorf("%s: worth %d, the page says %q", p.hash(at), probe.Value, verdict)
	}
}

func verdictOf(at place, value int) string {
	if value == 0 {
		return "Even from here on."
	}
	names := []string{"South", "North"}
	if at.north != (value < 0) {
		names[0], names[1] = names[1], names[0]
	}
	return fmt.Sprintf("%s takes %d more than %s from here on.", names[0], max(value, -value), names[1])
}

// signed returns a number as the page writes it.
func signed(n int) string {
	switch {
	case n > 0:
		return fmt.Sprintf("+%d", n)
	case n < 0:
		return fmt.Sprintf("−%d", -n)
	}
	return "0"
}

// TestBrowser uses the page in a real browser.
func TestBrowser(t *testing.T) {
	if os.Getenv("GRENIER_LONG") != "1" {
		t.Skip("a browser needs GRENIER_LONG=1")
	}
	browser := newBrowser(t)
	s := newSite(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, browser context.Context, s *site)
	}{
		{"values", testValues}, {"play", testPlay}, {"program", testProgram}, {"keys", testKeys}, {"edit", testEdit},
		{"links", testLinks}, {"search", testSearch}, {"layers", testLayers}, {"phone", testPhone}, {"dark", testDark}, {"motion", testMotion},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, browser, s) })
	}
}

// middle is a position with a choice of moves.
var middle = place{board: awari.Board{1, 0, 1, 0, 0, 2, 1, 1, 0, 1, 0, 1}}

func testValues(t *testing.T, browser context.Context, s *site) {
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
func testPlay(t *testing.T, browser context.Context, s *site) {
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
		if live := page.text("#live"); !strings.Contains(live, fmt.Sprintf("plays pit %d", pit)) {
			t.Errorf("the live region says %q", live)
		}
	}
	for i := len(before) - 1; i >= 0; i-- {
		page.key("u")
		page.wantAt(before[i])
	}
	if !eval[bool](page, `document.querySelector("#undo").disabled`) {
		t.Error("there is more to undo")
	}
	page.key("r")
	page.wantAt(before[1])
	page.wantValues(before[1])
}

// testProgram lets the program play both sides to the end of a game: what both have
// taken must differ by the value of the position.
func testProgram(t *testing.T, browser context.Context, s *site) {
	at := place{board: awari.Board{1, 0, 1, 0, 0, 2, 1, 1, 0, 1, 0, 1}, north: true}
	page := open(t, browser, s, s.hash(at), 1200)
	probe, err := s.tables.Probe(at.board)
	if err != nil || probe.Value <= 0 {
		t.Fatalf("worth %d (%v), the test wants a position that North wins", probe.Value, err)
	}
	page.exec(`for (const id of ["seat-0", "seat-1"]) {
		const seat = document.getElementById(id);
		seat.value = "program";
		seat.dispatchEvent(new Event("change"));
	}`)
	page.await("the end of the game", `document.querySelector("#turn").textContent === "The game is over."`)
	verdict := page.text("#verdict")
	_, score, _ := strings.Cut(verdict, "North wins, ")
	var north, south int
	if _, err := fmt.Sscanf(score, "%d to %d.", &north, &south); err != nil || north-south != probe.Value {
		t.Errorf("worth %d to North, but %s", probe.Value, verdict)
	}
}

// testKeys chooses pits with arrow keys, and opens and closes help.
func testKeys(t *testing.T, browser context.Context, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	focused := func() string {
		return eval[string](page, `document.activeElement.dataset.pit ?? document.activeElement.id`)
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
	if style := eval[string](page, `getComputedStyle(document.activeElement).outlineStyle`); style != "solid" {
		t.Errorf("the outline of the pit with the focus is %s", style)
	}
	page.key(kb.Enter)
	page.wantAt(s.after(middle, 5))
	page.key("?")
	page.await("help", `document.querySelector("#help").open`)
	page.shoot("help")
	page.key(kb.Escape)
	page.await("no help", `!document.querySelector("#help").open`)
	page.key("h")
	page.await("no values", `document.querySelector("#moves-card").hidden`)
	for _, pit := range page.mover() {
		if pit.Chip != "" || strings.Contains(pit.Label, "value") {
			t.Errorf("hidden, but %+v", pit)
		}
	}
	page.key("1") // empty, or not: nothing may break
	if n := eval[int](page, `document.querySelectorAll('.pit[tabindex="0"]').length`); n != 1 {
		t.Errorf("Tab reaches %d pits", n)
	}
}

// testEdit sets up a position with keys, buttons and text.
func testEdit(t *testing.T, browser context.Context, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	page.key("e")
	page.await("the editor", `!document.querySelector("#editor").hidden`)
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
	page.shoot("open")
	page.click("#edit-done")
	at := place{board: s.game.Turn(awari.Board{0, 0, 3, 1, 0, 0, 2}), north: true}
	page.wantAt(at)
	page.wantValues(at)

	page.key("e")
	page.write("#edit-text", "0 0 0 0 0 2 1 1 0 0 0 1"+kb.Enter)
	at = place{board: awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 1}}
	at.board, at.north = s.game.Turn(at.board), true
	page.wantAt(at)
	page.wantValues(at)

	page.key("e")
	page.write("#edit-text", "40 0 0 0 0 9 0 0 0 0 0 0")
	page.await("a complaint", `document.querySelector("#problem").textContent.includes("at most 48 seeds, these are 49")`)
	page.run(chromedp.SendKeys(chromedp.CSS("#edit-text"), kb.Escape))
	page.wantAt(at)
	page.await("no editor", `document.querySelector("#editor").hidden && document.querySelector("#problem").hidden`)
}

// testLinks reloads a position from its address, and follows links that make no
// sense.
func testLinks(t *testing.T, browser context.Context, s *site) {
	page := open(t, browser, s, s.hash(middle), 1200)
	page.key("0")
	at := s.after(middle, 0)
	page.wantAt(at)
	page.run(chromedp.Reload())
	page.wantAt(at)
	page.wantValues(at)
	page.exec(fmt.Sprintf("location.hash = %q", s.hash(middle)))
	page.wantAt(middle)
	for _, c := range []struct{ hash, want string }{
		{"#pits=1,2,3", "pits must be 12 numbers"},
		{"#pits=1,2,3,4,5,6,7,8,9,10,11,12", "at most 48 seeds, these are 78"},
		{"#pits=<img src=x onerror=alert(1)>,0,0,0,0,0,0,0,0,0,0,0", "pits must be 12 numbers"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&turn=east", "turn must be south or north"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&taken=1", "taken must be 2 numbers"},
		{"#pits=1,0,0,0,0,0,0,0,0,0,0,0&x=1", "“x” has no place in the link"},
		{"#%", "has no place in the link"},
	} {
		page.exec(fmt.Sprintf("location.hash = %q", c.hash))
		quoted, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		page.await(c.want, fmt.Sprintf(`document.querySelector("#problem").textContent.includes(%s)`, quoted))
	}
}

// testSearch looks at a board above the solved layers: nothing may be called exact
// that is not.
func testSearch(t *testing.T, browser context.Context, s *site) {
	at := place{board: awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}}
	page := open(t, browser, s, s.hash(at), 1200)
	page.await("a search", `document.querySelector("#moves-hint").textContent.includes("plies deep")`)
	for i, pit := range page.mover() {
		if !strings.ContainsAny(pit.Chip, "≈≥≤") || !strings.Contains(pit.Label, "a guess") && !strings.Contains(pit.Label, "at ") {
			t.Errorf("pit %d: %+v", i, pit)
		}
	}
	if verdict := page.text("#verdict"); strings.Contains(verdict, "exact") {
		t.Errorf("%q", verdict)
	}
	page.key("b")
	page.await("a move", `document.querySelectorAll("#past li").length === 1`)

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
	page.exec(fmt.Sprintf("location.hash = %q", s.hash(at)))
	page.wantAt(at)
	if pit := page.mover()[5]; pit.Chip != signed(play.Captured-int(score)) {
		t.Errorf("%+v, want %d", pit, play.Captured-int(score))
	}
}

func testLayers(t *testing.T, browser context.Context, s *site) {
	page := open(t, browser, s, "", 1200)
	page.await("charts", `document.querySelectorAll(".charts svg.chart.wide").length >= 4 && !document.querySelector("#scores").hidden`)
	if title := page.text("#scores-title"); title != fmt.Sprintf("Scores with %d seeds", solved) {
		t.Errorf("%q", title)
	}
	page.click("#scores-less")
	page.await("the layer below", fmt.Sprintf(`document.querySelector("#scores-title").textContent === "Scores with %d seeds"`, solved-1))
	page.click(".layers summary")
	if n := eval[int](page, `document.querySelectorAll("#layers-table tbody tr").length`); n != solved+1 {
		t.Errorf("%d layers listed", n)
	}
	if fill := eval[string](page, `getComputedStyle(document.querySelector(".charts .wide .teal")).fill`); fill != "rgb(0, 121, 107)" {
		t.Errorf("charts have the colour %s: the style sheet is missing", fill)
	}
}

// testPhone checks that nothing is wider than a small phone, and that what one taps
// is large enough for a finger.
func testPhone(t *testing.T, browser context.Context, s *site) {
	page := open(t, browser, s, s.hash(middle), 390)
	page.await("charts", `!document.querySelector("#scores").hidden`)
	for _, keys := range []string{"", "e"} {
		if keys != "" {
			page.key(keys)
		}
		if width := eval[int](page, `document.scrollingElement.scrollWidth`); width > 390 {
			t.Errorf("%q: the page is %d pixels wide", keys, width)
		}
		small := eval[[]string](page, `[...document.querySelectorAll("button, select, input[type=text]")].filter((e) => {
			const box = e.getBoundingClientRect();
			return e.checkVisibility() && (box.width < 40 || box.height < 34);
		}).map((e) => e.outerHTML)`)
		for _, element := range small {
			t.Errorf("%q: too small to tap: %s", keys, element)
		}
		page.shoot("phone" + keys)
	}
	page.key(kb.Escape)
}

// testDark compares the contrast of text with its background in both schemes with
// what WCAG 2.1, 1.4.3, asks for.
func testDark(t *testing.T, browser context.Context, s *site) {
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			page := open(t, browser, s, s.hash(middle), 1200, "prefers-color-scheme", scheme)
			page.await("charts", `!document.querySelector("#scores").hidden`)
			dark := eval[float64](page, contrastScript+`luminance(rgb(getComputedStyle(document.body).backgroundColor))`) < 0.2
			if dark != (scheme == "dark") {
				t.Errorf("dark: %v", dark)
			}
			for _, bad := range eval[[]string](page, contrastScript+`lowContrast()`) {
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
func testMotion(t *testing.T, browser context.Context, s *site) {
	for _, wish := range []string{"no-preference", "reduce"} {
		t.Run(wish, func(t *testing.T) {
			page := open(t, browser, s, s.hash(middle), 1200, "prefers-reduced-motion", wish)
			page.exec(`globalThis.flown = 0;
				new MutationObserver((changes) => { for (const c of changes) flown += c.addedNodes.length; }).observe(document.querySelector("#flight"), { childList: true })`)
			page.key("5")
			at := s.after(middle, 5)
			page.wantAt(at)
			page.await("the seeds", `document.querySelector("#flight").childElementCount === 0`)
			want := int(middle.board[5]) + s.game.Plays(middle.board)[5].Captured
			if wish == "reduce" {
				want = 0
			}
			if flown := eval[int](page, "flown"); flown != want {
				t.Errorf("%d seeds flew, want %d", flown, want)
			}
			counts := eval[[]int](page, `[...document.querySelectorAll(".pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((b) => Number(b.querySelector(".count").textContent))`)
			drawn := eval[[]int](page, `[...document.querySelectorAll(".pit")].sort((a, b) => a.dataset.pit - b.dataset.pit).map((b) => b.querySelectorAll(".seed").length)`)
			if board := s.game.Turn(at.board); fmt.Sprint(counts) != fmt.Sprint(board) || fmt.Sprint(drawn) != fmt.Sprint(board) {
				t.Errorf("the board shows %v and draws %v, want %v", counts, drawn, board)
			}
		})
	}
}
