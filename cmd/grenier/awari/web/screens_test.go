package web_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// screens are the pages whose pictures docs/serve.md shows: addresses, and what is to be seen there first.
var screens = []struct{ name, address, ready string }{
	{"play", "?moves=CdFaBe&seats=you,4", settled},
	{"analysis", "?pits=1,1,1,2,1,2,1,0,1,1,2,1&turn=south&moves=EaFfDe&at=2", `document.querySelector("#moves td:last-child") && document.querySelectorAll("#line button").length > 0 && ` + settled},
	{"puzzles", "puzzles", `document.body.dataset.ready === "yes"`},
	{"explore", "explore", `document.querySelectorAll("#found li").length === 12`},
	{"learn", "learn", `document.querySelectorAll(".pit.playable").length > 0`},
}

// looks are the windows and schemes of the pictures of a page.
var looks = []browsertest.Window{
	{Width: 1280, Height: 900, Media: map[string]string{"prefers-color-scheme": "light"}}, {Width: 1280, Height: 900, Media: map[string]string{"prefers-color-scheme": "dark"}},
	{Width: 390, Height: 844, Media: map[string]string{"prefers-color-scheme": "light"}}, {Width: 390, Height: 844, Media: map[string]string{"prefers-color-scheme": "dark"}},
}

// sheet has the pictures of a page beside each other.
const sheet = `<!doctype html><html lang="en"><title>pictures</title><link rel="icon" href="data:,">
<style>body { margin: 8px; display: flex; gap: 8px; background: #8a7d70 } img { height: 420px; border-radius: 6px }</style>`

// TestLongScreens looks at the pages as docs/serve.md shows them. With GRENIER_SCREENS=DIR it writes the pictures there. Unless it is
// full or writes them, it looks at the first page.
func TestLongScreens(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	seeds, shown := 14, screens
	if !tries.Full() && os.Getenv("GRENIER_SCREENS") == "" {
		seeds, shown = solved, screens[:1]
	}
	s := newSiteOf(t, 12, awari.Awari, seeds)
	for _, screen := range shown {
		t.Run(screen.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(sheet)
			for i, look := range looks {
				p := browser.Open(t, s.url+screen.address, look)
				p.Await(screen.name, screen.ready)
				wide := browsertest.Eval[int64](p, `document.scrollingElement.scrollWidth`)
				should.Not(t, wide > look.Width, "it is %d pixels wide in a window of %d", wide, look.Width)
				if screen.name == "play" && i == 0 {
					keep(t, "game", p.Picture(80)) // for README.md
				}
				fmt.Fprintf(&text, `<img alt="" src="data:image/webp;base64,%s">`, base64.StdEncoding.EncodeToString(p.Picture(100)))
			}
			picture := browser.OpenText(t, text.String(), browsertest.Window{Width: 1630, Height: 436}).Picture(80)
			keep(t, screen.name, picture)
		})
	}
}

// keep writes a picture, which is to be small.
func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	should.Not(t, len(picture) < 10_000 || len(picture) > 150_000, "%s has %d bytes", name, len(picture))
	if dir := os.Getenv("GRENIER_SCREENS"); dir != "" {
		must.Write(t, filepath.Join(dir, name+".webp"), picture)
	}
}
