package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"grenier/io/report"
)

// patience is how long the browser may take for anything.
const patience = 60 * time.Second

// newBrowser starts a browser without a window. Without one the test is skipped,
// but not in continuous integration, which has to install it.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("CI") == "true":
		t.Fatal("no Chromium is installed")
	case path == "":
		t.Skip("no Chromium is installed")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience))
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

// window is a page in a window of some width.
type window struct {
	*testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// openWindow shows the page of a few layers.
func openWindow(t *testing.T, browser context.Context, width int64, scheme string, scripts bool) *window {
	t.Helper()
	file := filepath.Join(t.TempDir(), "layers.html")
	if err := os.WriteFile(file, []byte(written(t, report.WritePage, load(t))), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	w := &window{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, w.listen); err != nil {
		t.Fatal(err)
	}
	w.do(
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500,
		}),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts}),
		chromedp.Navigate("file://"+file),
	)
	t.Cleanup(w.complain)
	return w
}

func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (w *window) do(actions ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	if err := chromedp.Do(w.ctx, actions...); err != nil {
		w.Fatal(err)
	}
}

// listen collects exceptions and what the console says.
func (w *window) listen(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		w.faults = append(w.faults, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		w.faults = append(w.faults, "console."+string(e.Type))
	case *log.EventEntryAdded:
		w.faults = append(w.faults, e.Entry.Text+" "+e.Entry.URL)
	}
}

func (w *window) complain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fault := range w.faults {
		w.Errorf("the browser says: %s", fault)
	}
}

// want compares what an expression on the page gives.
func want[T comparable](w *window, expression string, wanted T) {
	w.Helper()
	got, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	if err != nil || got != wanted {
		w.Errorf("%s: %v, %v, want %v", expression, got, err, wanted)
	}
}

// shown is an expression for the number of elements that take room.
func shown(selector string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].filter(e => e.getBoundingClientRect().width > 0).length", selector)
}

const paper = "getComputedStyle(document.body).backgroundColor"

// TestBrowser opens the page in windows of all kinds.
func TestBrowser(t *testing.T) {
	browser := newBrowser(t)
	for _, c := range []struct {
		width        int64
		scheme       string
		wide, narrow int // drawings shown
		background   string
	}{
		{1200, "light", 5, 0, "rgb(244, 246, 248)"},
		{800, "dark", 5, 0, "rgb(12, 15, 19)"},
		{390, "dark", 0, 5, "rgb(12, 15, 19)"},
		{320, "light", 0, 5, "rgb(244, 246, 248)"},
	} {
		t.Run(fmt.Sprint(c.width), func(t *testing.T) {
			w := openWindow(t, browser, c.width, c.scheme, true)
			want(w, "document.documentElement.scrollWidth <= innerWidth", true)
			want(w, shown(".wide svg"), c.wide)
			want(w, shown(".narrow svg"), c.narrow)
			want(w, paper, c.background)
			want(w, shown(".layer"), 1)
			want(w, "document.querySelector('output').textContent", "5 seeds")
		})
	}
	t.Run("choosing", func(t *testing.T) { choosing(t, browser) })
	t.Run("without scripts", func(t *testing.T) { withoutScripts(t, browser) })
}

// choosing moves to another layer and points at a bar.
func choosing(t *testing.T, browser context.Context) {
	w := openWindow(t, browser, 1200, "light", true)
	w.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('.choose button').click()"))
	want(w, "document.querySelector('output').textContent", "4 seeds")
	want(w, "document.querySelector('.layer:not([hidden]) h3').textContent", "Scores with 4 seeds")
	want(w, "document.getElementById('tip').hidden", true)
	w.do(chromedp.Evaluate[chromedp.Void](`{
		const bar = document.querySelector('.layer:not([hidden]) .wide .column'), box = bar.getBoundingClientRect();
		bar.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: box.x + 5, clientY: box.y + 50}));
	}`))
	want(w, "document.getElementById('tip').hidden", false)
	want(w, "document.getElementById('tip').textContent", "score: -4\npositions: 532\nshare: 38.974%")
	w.do(chromedp.Evaluate[chromedp.Void]("document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))"))
	want(w, "document.getElementById('tip').hidden", true)
}

// withoutScripts wants everything to be there.
func withoutScripts(t *testing.T, browser context.Context) {
	w := openWindow(t, browser, 1200, "light", false)
	want(w, shown(".layer"), 6)
	want(w, shown(".choose"), 0)
	want(w, "document.querySelectorAll('.column title').length > 0", true)
}
