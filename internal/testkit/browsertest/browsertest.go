//go:build !quick

// Package browsertest opens pages in a real browser, for tests of pages: it finds the
// browser, starts it without a window, looks at a page as shown, and fails the test
// if the browser complains about the page.
//
//	browser := browsertest.Start(t)
//	page := browser.OpenText(t, html, browsertest.Window{Width: 1200})
//	browsertest.Want(page, "document.title", "layers")
//
// One browser serves all the tests of a package that are parts of one test; each page
// is a tab of its own. For all else that a page can be asked to do, Do takes the actions
// of package chromedp.
package browsertest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// patience is how long the browser may take for anything. Nothing takes that long
// unless it is broken.
const patience = 60 * time.Second

// names are the names that the browser has on different systems.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// find returns the path of a browser. Without one the test is skipped, but not in
// continuous integration, which has to install it.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing := "no browser: none of " + strings.Join(names, ", ") + " is installed"
	must.Not(t, os.Getenv("CI") == "true", "%v", missing)
	t.Skip(missing)
	return ""
}

// Browser is a running browser.
type Browser struct{ ctx context.Context }

// Start starts a browser, which ends with the test. The test is skipped with -short
// or without a browser; where the environment says CI=true, a missing browser fails
// it.
func Start(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find(t)), chromedp.WSURLReadTimeout(patience))
	if os.Geteuid() == 0 {
		flags = append(flags, chromedp.NoSandbox) // the sandbox refuses to work for root
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	must.OK(t, chromedp.Do(ctx)) // the browser lives as long as this context
	t.Cleanup(func() {
		should.OK(t, chromedp.Cancel(ctx))
	})
	return &Browser{ctx}
}

// Window is the window that shows a page.
type Window struct {
	Width     int64             // pixels; below 500 it is the window of a phone
	Height    int64             // pixels; 900 if it is 0
	Media     map[string]string // features for style sheets: "prefers-color-scheme": "dark"
	NoScripts bool              // scripts of the page do not run
}

// Page is a page in a tab of its own. Whatever goes wrong with it fails its test.
type Page struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	faults   []string
	forgiven []string
}

// Open opens the page at an address. When the test ends, it fails if the browser has
// complained about the page by then; see Faults.
func (b *Browser) Open(t testing.TB, url string, w Window) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	p := &Page{TB: t, ctx: ctx}
	must.OK(t, chromedp.Listen(ctx, p.listen))
	p.Show(w)
	p.Do(chromedp.Navigate(url))
	t.Cleanup(func() {
		p.Shoot("")
		for _, fault := range p.Faults() {
			t.Errorf("the browser says: %s", fault)
		}
	})
	return p
}

// Show shows the page in another window.
func (p *Page) Show(w Window) {
	p.Helper()
	var media emulation.SetEmulatedMediaParams
	for name, value := range w.Media {
		media.Features = append(media.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	p.Do(
		Command(emulation.SetEmulatedMedia, media),
		Command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: w.Width, Height: cmp.Or(w.Height, 900), DeviceScaleFactor: 1, Mobile: w.Width < 500,
		}),
		Command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: w.NoScripts}),
	)
}

// OpenText opens a page that is complete in one file, as Open does.
func (b *Browser) OpenText(t testing.TB, html string, w Window) *Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	must.Write(t, file, []byte(html))
	return b.Open(t, "file://"+filepath.ToSlash(file), w)
}

// listen collects the complaints of the browser about a page.
func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text = e.ExceptionDetails.Exception.Description
		}
		p.faults = append(p.faults, text)
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			p.faults = append(p.faults, fmt.Sprintf("console.%s: %s", e.Type, arg.Value))
		}
	case *log.EventEntryAdded:
		p.faults = append(p.faults, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	}
}

// Faults returns the complaints of the browser so far: exceptions, anything
// on the console, requests that failed; but not the ones that are forgiven.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.faults), func(fault string) bool {
		return slices.ContainsFunc(p.forgiven, func(words string) bool { return strings.Contains(fault, words) })
	})
}

// Forgive ignores complaints with these words, earlier and later ones.
func (p *Page) Forgive(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgiven = append(p.forgiven, words)
}

// Shoot writes a picture of the page into the directory that the environment names as
// GRENIER_SCREENSHOTS, if it does, for people to look at. The word becomes part of the
// name, which is otherwise the name of the test. Each page is shot when its test ends.
func (p *Page) Shoot(word string) {
	p.Helper()
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
	should.OK(p, err)
}

// Picture returns a picture of what the window shows as WebP.
func (p *Page) Picture(quality int64) []byte {
	p.Helper()
	shot := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality}
	picture := must.Get(chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, shot)
		return r.Data, err
	}))(p)
	return picture
}

// Do runs actions in turn.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	must.OK(p, chromedp.Do(ctx, actions...))
}

// Exec runs a script on the page.
func (p *Page) Exec(script string) {
	p.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void](script))
}

// Text returns the text of the first element that a CSS selector finds.
func (p *Page) Text(selector string) string {
	p.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// Await waits until an expression on the page is true. While it fails, as it may when the
// page is being replaced by another, it is not. What names it in the message if it never is.
func (p *Page) Await(what, expression string) {
	p.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ok, err := eval[bool](p, expression)
		if ok && err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("waiting for %s (%v): the page is at %s and says %q", what, err, Eval[string](p, "location.href"), p.Text("body"))
		}
	}
}

// Eval returns the value of an expression on the page.
func Eval[T any](p *Page, expression string) T {
	p.Helper()
	value, err := eval[T](p, expression)
	must.Hold(p, err == nil, "%s: %v", expression, err)
	return value
}

func eval[T any](p *Page, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// Want compares the value of an expression on the page with want.
func Want[T comparable](p *Page, expression string, want T) {
	p.Helper()
	got := Eval[T](p, expression)
	should.Hold(p, got == want, "%s: %v, want %v", expression, got, want)
}

// Shown returns an expression for the number of elements that a CSS selector finds
// and that take room on the page.
func Shown(selector string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].filter(e => e.getBoundingClientRect().width > 0).length", selector)
}

// Command returns a command of the browser that package chromedp has no action for as
// an action.
func Command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}
