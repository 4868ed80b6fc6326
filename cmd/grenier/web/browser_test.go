package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

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
	stop   func() // ends the server
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
	end := sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return &site{game, tab, "http://" + l.Addr().String() + "/", end}
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

// enter presses Enter as a keyboard does: if the page takes the key for itself when it
// goes down, it does not type a line break as well.
func (p *tab) enter() {
	p.Helper()
	down := input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r",
	}
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	p.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, event := range []input.DispatchKeyEventParams{down, up} {
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
				return err
			}
		}
		return nil
	}))
}

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
