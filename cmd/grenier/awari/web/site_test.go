//go:build !quick

package web_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/publish"
)

// mirror is a published site on a plain web server, in a folder of it.
type mirror struct {
	*site  // the server that answers for the same tables
	out    string
	folder string // its address
	stop   func() // ends the web server
	change atomic.Pointer[change]
}

// change is what happens to a request before it is answered. It reports whether it has answered it.
type change func(w http.ResponseWriter, r *http.Request) bool

// publishSite publishes the layers of a site, and serves what was published until the test ends.
func publishSite(t *testing.T, s *site) *mirror {
	m := &mirror{site: s, out: filepath.Join(t.TempDir(), "site")}
	o := publish.Options{Pages: web.Site(), Questions: quick, Puzzles: 20, Job: job.Job{Family: cpu.Best()}}
	must.OK(t, must.Err(publish.Run(t.Context(), s.dir, m.out, o)))
	files := http.NewServeMux()
	for name, module := range web.Site() { // those that are part of the scripts, for tests alone
		if _, err := os.Stat(filepath.Join(m.out, name)); errors.Is(err, fs.ErrNotExist) {
			files.HandleFunc("/folder/"+name, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/javascript")
				w.Write(module)
			})
		}
	}
	files.HandleFunc("/folder/scores-of/{n}", func(w http.ResponseWriter, r *http.Request) { // all of a layer, for tests
		n, err := strconv.Atoi(r.PathValue("n"))
		scores := make([]int8, s.tables.Layers()[n].Positions)
		should.OK(t, errors.Join(err, s.tables.Read(r.Context(), n, 0, scores)))
		w.Write(tally.Bytes(scores))
	})
	for _, folder := range []string{"/folder/", "/other/"} { // of which the browser keeps nothing yet
		files.Handle(folder, http.StripPrefix(folder, http.FileServer(http.Dir(m.out))))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := m.change.Load(); c == nil || !(*c)(w, r) {
			files.ServeHTTP(w, r)
		}
	}))
	m.stop = sync.OnceFunc(server.Close)
	t.Cleanup(m.stop)
	m.folder = server.URL + "/folder/"
	return m
}

// quick are the questions of a site, but for those that take seconds.
func quick(layers []manifest.Layer) []publish.Question {
	return slices.DeleteFunc(web.Questions(layers), func(q publish.Question) bool { return q.Most == "line" && q.From > 5 })
}

func (m *mirror) set(c change) { m.change.Store(&c) }

// visit opens a page of the mirror.
func (m *mirror) visit(t *testing.T, browser *browsertest.Browser, address string, width int64) *tab {
	return openAt(t, browser, m.site, m.folder+address, width)
}

// visitModules opens a page on which tests can import modules.
func (m *mirror) visitModules(t *testing.T, browser *browsertest.Browser) *tab {
	page := m.visit(t, browser, "learn.html", 1000)
	page.Await("the page", ready)
	return page
}

// compute returns what the body of an async function computes on the page.
func compute[T any](p *tab, body string) (result T) {
	p.Helper()
	p.Exec(fmt.Sprintf(`window.computed = undefined; (async () => {%s})().then((r) => { window.computed = JSON.stringify({ r }); }, (e) => { window.computed = JSON.stringify({ e: e.name + ": " + e.message }); })`, body))
	p.Await("the computation", "window.computed !== undefined")
	var answer struct {
		R T
		E string
	}
	err := json.Unmarshal([]byte(browsertest.Eval[string](p.Page, "window.computed")), &answer)
	must.Hold(p, err == nil && answer.E == "", "%v %s: %s", err, answer.E, body)
	return answer.R
}

// random returns boards with up to so many seeds, in all amounts alike.
func (s *site) random(r *rand.Rand, count, most int) []string {
	var boards []string
	for range count {
		var b awari.Board
		for range r.IntN(most + 1) {
			b[r.IntN(s.game.Pits())]++
		}
		boards = append(boards, s.commas(b))
	}
	return boards
}

// tidy returns an answer as text without empty lists, which the server leaves out.
func tidy(t *testing.T, answer any) string {
	text := string(must.Get(json.Marshal(answer))(t))
	return strings.ReplaceAll(regexp.MustCompile(`"\w+":\[\],?`).ReplaceAllString(text, ""), ",}", "}")
}

// wantSame compares answers of the page with those of the server, for some addresses.
func (p *tab) wantSame(m *mirror, t *testing.T, addresses []string) {
	p.Helper()
	list := must.Get(json.Marshal(addresses))(t)
	answers := compute[[]any](p, fmt.Sprintf(`const { get } = await import("./source.js"), all = []; for (const a of %s) all.push(await get("/" + a)); return all;`, list))
	for i, got := range answers {
		want := must.JSON[any](t, remotetest.Fetch(t, m.url+addresses[i])) // of the server, not the mirror
		must.Equal(t, tidy(t, got), tidy(t, want), "%s", addresses[i])
	}
}

// testSite uses a published site a little: the page works, in a folder, asks nobody else, and what a server without ranges cannot do is told.
func testSite(t *testing.T, browser *browsertest.Browser, m *mirror) {
	page := m.visit(t, browser, m.address(middle), 1200)
	page.wantExact(middle)
	// What a first visit takes, compressed as web servers do: the page and all that it needs, without and with the parts of the tables.
	sum, all := 0, 0
	for _, name := range []string{"index.html", "pages.js", "style.css", "icon.svg", "app.webmanifest", "tables/manifest.json"} {
		size := gzipped(must.Read(t, filepath.Join(m.out, name)))
		if all += size; !strings.HasPrefix(name, "tables/") {
			sum += size
		}
	}
	tables := browsertest.Eval[int](page.Page, `performance.getEntriesByType("resource").filter((e) => e.name.endsWith(".gl")).reduce((sum, e) => sum + e.transferSize, 0)`)
	t.Logf("%d bytes, with the tables %d", sum, all+tables)
	should.Not(t, sum > firstLoad || tables == 0 || all+tables > firstValues,
		"the page has %d bytes, with the tables %d; want at most %d and %d", sum, all+tables, firstLoad, firstValues)
	browsertest.Want(page.Page, `performance.getEntriesByType("resource").filter((e) => /\.(js|css)$/.test(new URL(e.name).pathname)).length`, 2)
	page.Exec(`document.querySelector("footer a[href='download.html']").click()`)
	page.Await("the downloads", ready+` && document.querySelectorAll("tbody tr").length === 13`)
	should.Equal(t, page.Text(".base"), m.folder, "the commands have the address")
	// The French form of a page leads to the page, in French, and is what one sends to others from there.
	page = m.visit(t, browser, "index.fr.html"+m.address(middle), 1000)
	page.Await("the page in French", `document.documentElement?.lang === "fr" && document.querySelector("#turn")?.textContent === "Au tour de Sud."`)
	page.wantAt(middle)
	page.wantAddress("/folder/" + m.address(middle)) // to which this server leads from index.html
	should.Equal(t, compute[string](page, `return (await import("./link.js")).link();`), m.folder+"index.fr.html"+m.address(middle), "the link for others")
	page.Exec(`sessionStorage.clear()`)
	defer m.change.Store(nil)
	m.set(func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		return false
	})
	page = m.visit(t, browser, "../other/?pits=1,1,1,1,1,1,1,1,1,1,0,0&turn=south", 1200)
	page.Await("the refusal", `document.querySelector("#problem")?.textContent.startsWith("This web server sends whole files only: it ignores range requests")`)
}

// firstValues is how many bytes may come before the values of the first position.
const firstValues = 1_500_000

// testSiteOffline loads a site again after its server has stopped: what was seen is still there, and small layers; no more than that.
func testSiteOffline(t *testing.T, browser *browsertest.Browser, m *mirror) {
	board := awari.Board{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}
	at := place{board: board}
	page := m.visit(t, browser, "learn.html", 1000)
	forget := func() {
		page.Exec(`globalThis.gone = false; caches.delete("parts of layers").then(() => { gone = true; })`)
		page.Await("nothing kept", `globalThis.gone`)
	}
	forget() // what other tests have left
	page.Do(chromedp.Navigate(m.folder + m.address(at)))
	page.wantExact(at)
	page.Await("the parts", `(globalThis.parts ??= 0, caches.open("parts of layers").then((c) => c.keys()).then((k) => { parts = k.length; }), parts > 0 && parts >= performance.getEntriesByType("resource").filter((e) => /layer-1\d\.gl/.test(e.name)).length)`)
	page.leave()
	m.stop()
	page.Do(chromedp.Reload())
	page.wantExact(at)
	small := place{board: awari.Board{0, 2, 1, 0, 0, 1, 0, 3, 0, 1, 0, 1}}
	page.Do(chromedp.Navigate(m.folder + m.address(small)))
	page.wantExact(small)
	page.Do(chromedp.Navigate(m.folder + "explore.html"))
	page.Await("swings", `document.querySelectorAll("#found li").length === 12`)
	forget()
	page.Do(chromedp.Navigate(m.folder + "?pits=0,0,0,0,0,6,0,0,0,0,0,6&turn=south"))
	page.Await("a word about it", `document.querySelector("#problem")?.textContent === "The web server does not answer."`)
}

// testSiteHeld asks for many boards at once: a few requests are made at a time, and the board that
// is asked for last is answered before most others.
func testSiteHeld(t *testing.T, browser *browsertest.Browser, m *mirror) {
	space := testrun.Space(t, m.game, 8)
	var many []string
	for i := range uint64(100) { // all of 8 seeds
		many = append(many, m.commas(space.Unrank(8, i*7919*7919%space.Size(8))))
	}
	boards := must.Get(json.Marshal(many))(t)
	page := m.visitModules(t, browser)
	got := compute[struct{ Most, All, Before, Answered int }](page, fmt.Sprintf(`
			const real = fetch; let now = 0, most = 0, all = 0, answered = 0;
			globalThis.fetch = async (...a) => { all++; most = Math.max(most, ++now); try { return await real(...a); } finally { now--; } };
			const { get } = await import("./source.js"), ask = (b) => get("/api/probe?pits=" + b);
			const asked = %s.map((b) => ask(b).then(() => { answered++; }));
			await ask("1,0,1,0,2,0,0,1,0,2,0,1");
			const before = answered;
			await Promise.all(asked);
			return { most, all, before, answered };`, boards))
	t.Logf("%+v", got)
	should.Hold(t, got.Most == 6 && got.All >= 200 && got.Answered == 100 && got.Before < 50,
		"%+v: want 6 requests at a time, and the last board before most of the others", got)
}

// questions returns addresses of questions about random boards with up to so many seeds.
func (m *mirror) questions(count, most int) []string {
	r := rand.New(rand.NewPCG(19, uint64(count)))
	var all []string
	for i, b := range m.random(r, count, most) {
		all = append(all, "api/probe?pits="+b)
		if i%4 == 0 {
			all = append(all, "api/line?pits="+b, "api/distances?pits="+b)
		}
	}
	for _, b := range m.random(r, count/4, most+6) { // some are above the tables
		all = append(all, "api/probe?pits="+b)
	}
	return append(all, "api/layers", "api/charts", "api/charts/scores?seeds=3")
}

// testSiteDamage: whatever the server changes in a file, the page tells and shows no value.
func testSiteDamage(t *testing.T, browser *browsertest.Browser, m *mirror) {
	const board = "1,1,1,1,1,1,1,1,1,1,0,0"
	defer m.change.Store(nil)
	for _, c := range []struct {
		name, want string
		change     func(data []byte, r *http.Request, w http.ResponseWriter) []byte
	}{
		{"a byte", "layer-10.gl is damaged, or the server changed it", func(data []byte, _ *http.Request, _ http.ResponseWriter) []byte {
			data[len(data)/2] ^= 4
			return data
		}},
		{"another range", "the server sent bytes", func(data []byte, _ *http.Request, w http.ResponseWriter) []byte {
			w.Header().Set("Content-Range", strings.Replace(w.Header().Get("Content-Range"), "bytes ", "bytes 1", 1))
			return data
		}},
		{"another file", "were replaced", func(data []byte, r *http.Request, w http.ResponseWriter) []byte {
			w.Header().Set("ETag", fmt.Sprintf("%q", r.Header.Get("Range")))
			return data
		}},
		{"gone", "layer-10.gl: the server answers 404", nil},
	} {
		m.set(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "layer-10.gl") {
				return false
			}
			if c.change == nil {
				http.NotFound(w, r)
				return true
			}
			answer := httptest.NewRecorder()
			http.ServeFile(answer, r, filepath.Join(m.out, publish.TablesName, "layer-10.gl"))
			maps.Copy(w.Header(), answer.Header())
			w.Header().Set("Cache-Control", "no-store") // the next damage is not of what the browser has
			data := c.change(answer.Body.Bytes(), r, w)
			w.WriteHeader(answer.Code)
			w.Write(data)
			return true
		})
		page := m.visit(t, browser, "?pits="+board+"&turn=south", 1000)
		page.Forgive("404")
		page.Await(c.name, fmt.Sprintf(`document.querySelector("#problem")?.textContent.includes(%q)`, c.want))
		for i, pit := range page.mover() {
			should.Equal(t, pit.Chip, "", "%s: pit %d shows", c.name, i)
		}
	}
}

// testSiteAbove plays from the start of the game, which is above the tables: the program answers
// by its search, and what it says about moves into the tables is exact.
func testSiteAbove(t *testing.T, browser *browsertest.Browser, m *mirror) {
	page := m.visit(t, browser, "?seats=you,0", 1000)
	page.Await("a search", `document.querySelector("#moves-hint")?.textContent.includes("≈")`)
	page.key("3")
	page.Await("an answer", `document.querySelectorAll("#record button").length >= 2 && document.querySelector("#board").dataset.turn === "0"`)
	found := compute[struct {
		Lower, Upper int
		Exact        bool
		Moves        []struct {
			Legal                  bool
			Captured, Lower, Upper int
		}
	}](page, `const { get } = await import("./source.js"); return get("/api/search?pits=0,0,0,0,0,2,1,1,9,0,0,0&ms=200");`)
	board := awari.Board{0, 0, 0, 0, 0, 2, 1, 1, 9}
	move := found.Moves[5]
	child := m.game.Plays(board)[5].Child
	score := must.Get(m.tables.Score(t.Context(), child))(t)
	want := 4 - int(score)
	should.Not(t, !move.Legal || move.Captured != 4 || move.Lower != want || move.Upper != want || !found.Exact || found.Lower != want,
		"the search of %v says %+v, want %d", board, found, want)
}

// TestLongSites compares published sites with the server: all blocks of all layers, values and lines, of all rule sets and smaller boards, then
// the rest of the page. Unless it is full, there is one site, and most views of the page of the game are left to TestLongBrowser.
func TestLongSites(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	type game struct {
		pits  int
		rules awari.Rules
		seeds int
	}
	games := []game{
		{12, awari.Awari, 12}, {4, awari.Strict, 20}, {12, awari.Strict, 10}, {6, awari.Awari, 18}, {10, awari.Strict, 9}, {12, awari.Abapa, 10}, {4, awari.Abapa, 20},
	}
	for _, c := range games[:tries.Pick(1, 1, len(games))] {
		t.Run(fmt.Sprintf("%d %v", c.pits, c.rules), func(t *testing.T) {
			m := publishSite(t, newSiteOf(t, c.pits, c.rules, c.seeds))
			page := m.visitModules(t, browser)
			for n := range m.tables.Layers() {
				page.wantLayer(m, t, n, must.Get(m.tables.File(t.Context(), n))(t).NumBlocks(), 1)
			}
			should.Equal(t, compute[string](page, fmt.Sprintf(layersBelow, c.seeds)), "", "version 3 of layer %d", c.seeds)
			page.wantSame(m, t, m.questions(120, c.seeds))
			if c.pits == 12 && c.rules == awari.Awari {
				shown := *m.site // the same tests as for the server
				shown.url, shown.ends = m.folder, ".html"
				testPuzzles(t, browser, &shown)
				testExplore(t, browser, &shown)
				testLearn(t, browser, &shown)
				shown.wantLooks(t, browser, shown.ownViews())
				testSiteAbove(t, browser, m)
				testSite(t, browsertest.Start(t), m) // a browser that has kept nothing
				testSiteDamage(t, browsertest.Start(t), m)
				testSiteOffline(t, browser, m)
			}
		})
	}
}

// ownViews returns the views of a published site; unless tests are full, without those of the page of the game but the first one.
func (s *site) ownViews() []view {
	all := append(s.views(), view{name: "download", address: "download.html"})
	return slices.DeleteFunc(all, func(v view) bool {
		return !tries.Full() && v.address != "" && !strings.Contains(v.address, s.ends)
	})
}

// TestLongSiteParts reads layers whose index is too long to be read as a whole: some blocks of all its parts, and those of random boards.
func TestLongSiteParts(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	browser := browsertest.Start(t)
	whole := newSiteOf(t, 12, awari.Awari, 8)
	layers := make([][]int8, len(whole.tables.Layers()))
	for n, l := range whole.tables.Layers() {
		layers[n] = make([]int8, l.Positions)
		must.OK(t, whole.tables.Read(t.Context(), n, 0, layers[n]))
	}
	// The same layers in blocks of so few scores that indexes are long, as they are of layers with hundreds of millions of positions.
	dir := testrun.Write(t, whole.game, layers, 8)
	m := publishSite(t, &site{game: whole.game, dir: dir, tables: tabletest.Open(t, dir), url: whole.url})
	page := m.visitModules(t, browser)
	for n, want := range []int{1, 2, 10, 46, 171, 546, 1547, 3978, 9448} {
		page.wantLayer(m, t, n, want, 1+want/80)
	}
	var addresses []string
	for _, b := range m.random(rand.New(rand.NewPCG(8, 8)), 60, 8) {
		addresses = append(addresses, "api/probe?pits="+b)
	}
	page.wantSame(m, t, addresses)
	testSiteHeld(t, browser, m)
}

// layersBelow makes a layer file of version 3, which names two more layers below. It returns what is wrong with what the page reads there.
const layersBelow = `
			const { LayerFile } = await import("./layerfile.js"), { crc32c, viewOf } = await import("./bytes.js"), { open } = await import("./awari.js");
			const { rules, pits, layers } = await open(), { file, positions, checksum } = layers[%[1]d], want = { rules, pits, seeds: %[1]d, positions, checksum };
			const old = new Uint8Array(await (await fetch("tables/" + file)).arrayBuffer()), more = 20, bytes = new Uint8Array(old.length + more), v = viewOf(bytes), k = viewOf(old).getUint16(50, true) + 2;
			const partsOf = (b) => ({ name: file, length: b.length, read: async (from, to) => b.slice(from, to) });
			bytes.set(old.subarray(0, 84));
			bytes.set([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 9, 9, 9, 9, 9, 9, 9, 9], 84);
			bytes.set(old.subarray(84), 84 + more);
			const foot = bytes.length - 76, index = v.getUint32(foot, true) + more;
			for (let at = index; at < foot; at += 24) v.setUint32(at, v.getUint32(at, true) + more, true);
			const seal = (version, below) => {
				v.setUint32(8, version, true);
				v.setUint16(50, below, true);
				v.setUint32(76, crc32c(bytes.subarray(84, 84 + 10 * k + v.getUint32(72, true))), true);
				v.setUint32(80, crc32c(bytes.subarray(0, 80)), true);
				v.setUint32(foot, index, true);
				v.setUint32(foot + 16, crc32c(bytes.subarray(index, foot)), true);
				v.setUint32(foot + 20, v.getUint32(80, true), true);
				v.setUint32(foot + 56, bytes.length, true);
				v.setUint32(foot + 64, crc32c(bytes.subarray(foot, foot + 64)), true);
				return LayerFile.open(partsOf(bytes), { ...want, checksum: v.getUint32(foot + 64, true).toString(16).padStart(8, "0") });
			};
			const before = await LayerFile.open(partsOf(old), want), after = await seal(3, k);
			for (let i = 0; i < before.blocks; i++) if (String(await before.block(i)) !== String(await after.block(i))) return "block " + i;
			for (const [version, below] of [[2, k], [3, 0], [3, k - 1], [3, 1001], [4, k]]) {
				if (await seal(version, below).then(() => true, () => false)) return "version " + version + " with " + below + " layers below was read";
			}
			await seal(3, k);
			bytes[90] ^= 1;
			return (await LayerFile.open(partsOf(bytes), { ...want, checksum: v.getUint32(foot + 64, true).toString(16).padStart(8, "0") }).then(() => "damage was not noticed", (e) => (/model/.test(e.message) ? "" : e.message)));`

// wantLayer compares the scores of a layer, which has so many blocks, with those of every step-th one.
func (p *tab) wantLayer(m *mirror, t *testing.T, n, blocks, step int) {
	p.Helper()
	checked := compute[int](p, fmt.Sprintf(`
			const { LayerFile } = await import("./layerfile.js"), { Parts } = await import("./bytes.js"), { open } = await import("./awari.js");
			const { rules, pits, layers } = await open(), { file, bytes, positions, checksum } = layers[%d];
			const layer = await LayerFile.open(new Parts("tables/" + file, file, bytes), { rules, pits, seeds: %[1]d, positions, checksum });
			const want = new Int8Array(await (await fetch("scores-of/%[1]d")).arrayBuffer());
			if (want.length !== positions) throw new Error("the test sent " + want.length + " scores");
			for (let i = 0; i < layer.blocks; i += %[2]d) {
				const first = i * layer.blockSize, scores = await layer.block(i);
				if (scores.length !== Math.min(layer.blockSize, positions - first)) throw new Error("length of block " + i);
				const wrong = scores.findIndex((s, k) => s !== want[first + k]);
				if (wrong >= 0) throw new Error("score " + (first + wrong) + " is " + scores[wrong] + ", want " + want[first + wrong]);
			}
			return layer.blocks;`, n, step))
	should.Not(t, checked != blocks || checked == 0, "layer %d: %d of %d blocks checked", n, checked, blocks)
}

// foreign serves a file tree as web servers do that let pages of other sites read, and returns its address.
func foreign(t *testing.T, dir string) string {
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodGet { // no preflight is needed
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// example returns a piece of docs/publish.md in a language, with the address of the site at its place.
func example(t *testing.T, language, address string) string {
	text := string(must.Read(t, "../../../../docs/publish.md"))
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(text)
	must.Not(t, m == nil, "docs/publish.md has no %s", language)
	return strings.ReplaceAll(m[1], "https://host/awari/", address)
}

// testNodeProbes compares the values of boards and of their moves with the tables.
func testNodeProbes(t *testing.T, s *nodeSite, count, seeds int) {
	boards := s.random(rand.New(rand.NewPCG(34, 2)), count, seeds)
	text := s.run(t, `import { open } from "./awari.mjs"; import { readFileSync } from "node:fs";
const tables = await open(process.argv[2] + "tables"), boards = JSON.parse(readFileSync(0, "utf8"));
const probes = await Promise.all(boards.map((b) => tables.probe(b)));
console.log(JSON.stringify(probes.map(({ value, moves }) => [value, ...moves.map((m) => m.value)])));`, "[["+strings.Join(boards, "],[")+"]]")
	got := must.JSON[[][]*int](t, text)
	must.Equal(t, len(got), len(boards), "boards")
	for i, board := range boards {
		p := must.Get(s.tables.Probe(t.Context(), must.Get(s.game.Parse(strings.Split(board, ",")))(t)))(t)
		want := []*int{&p.Value}
		for _, m := range p.Moves[:s.game.Half()] {
			if want = append(want, nil); m.Legal {
				want[len(want)-1] = &m.Value
			}
		}
		must.Same(t, board, want, got[i])
	}
}

// documented is the board of the examples.
var documented = awari.Board{1, 1, 1, 1, 0, 2, 0, 0, 0, 0, 0, 2}

// TestLongModule opens the page of docs/publish.md in a browser: its ten lines read the tables of another origin.
func TestLongModule(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	m := publishSite(t, newSiteOf(t, 12, awari.Awari, 11))
	address := foreign(t, m.out)
	text := example(t, "html", address)
	should.Equal(t, strings.Count(text, "\n"), 10, "lines of the page")
	other := t.TempDir()
	must.Write(t, filepath.Join(other, "index.html"), []byte(text))
	must.Write(t, filepath.Join(other, "favicon.ico"), nil)
	page := openAt(t, browsertest.Start(t), m.site, foreign(t, other), 800)
	page.Await("the answer", `document.querySelector("#answer").textContent !== ""`)
	p := must.Get(m.tables.Probe(t.Context(), documented))(t)
	want := fmt.Sprintf("value %d; moves", p.Value)
	for _, move := range p.Moves[:6] {
		want += map[bool]string{true: " " + strconv.Itoa(move.Value), false: " ."}[move.Legal]
	}
	should.Equal(t, page.Text("#answer"), want, "the page")
}

// nodeSite is a published site, and a directory with its module for Node.
type nodeSite struct {
	*site
	node, out, dir, address string
}

// run runs a program, whose argument is the address of the site.
func (s *nodeSite) run(t *testing.T, program, stdin string) string {
	must.Write(t, filepath.Join(s.dir, "program.mjs"), []byte(program))
	cmd := exec.Command(s.node, filepath.Join(s.dir, "program.mjs"), s.address)
	cmd.Stdin = strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	must.Hold(t, err == nil, "%v: %s", err, text)
	return string(text)
}

// TestLongModuleInNode runs the program of docs/publish.md, reads boards, plies, lines and damaged files, asks the rules, and asks nonsense.
func TestLongModuleInNode(t *testing.T) {
	t.Parallel()
	seeds, count := tries.More(8, 11), tries.More(50, 1000)
	node, err := exec.LookPath("node")
	tries.SkipIf(t, err != nil, "there is no node")
	s := &nodeSite{site: newSiteOf(t, 12, awari.Awari, seeds), node: node, out: filepath.Join(t.TempDir(), "site"), dir: t.TempDir()}
	must.OK(t, must.Err(distance.Run(t.Context(), s.site.dir, distance.Options{Layers: []int{4, 6, 8}, Job: job.Job{Family: cpu.Best()}})))
	must.OK(t, must.Err(publish.Run(t.Context(), s.site.dir, s.out, publish.Options{Pages: web.Site(), Job: job.Job{Family: cpu.Best()}})))
	s.address = foreign(t, s.out)
	must.Write(t, filepath.Join(s.dir, "awari.mjs"), must.Read(t, filepath.Join(s.out, "awari.js")))
	best := must.Get(line.Best(t.Context(), s.tables, documented, line.Options{Positions: 1 << 16}))(t)
	var pits []string
	for _, m := range best.Moves {
		pits = append(pits, strconv.Itoa(m.Pit))
	}
	got := strings.Join(strings.Fields(s.run(t, example(t, "js", s.address), "")), " ")
	should.Equal(t, got, fmt.Sprintf("%d [ %s ]", best.Value, strings.Join(pits, ", ")), "the program of docs/publish.md")
	testNodeProbes(t, s, count, seeds)
	awaritest.AskMoves(t, tries.Rand(t), tries.More(600, 1500), func(questions string) string { return s.run(t, nodeRules, questions) })
	testNodeDistances(t, s)
	layer := filepath.Join(s.out, "tables", "layer-05.gl")
	testrun.Flip(t, layer, len(must.Read(t, layer))/2)
	want := strings.Repeat("BadBoard\n", 6) + "Unsolved\nDamaged\n-1\nServerError: manifest.json: the server answers 404.\n"
	should.Equal(t, s.run(t, nodeFaults, ""), want)
}

// testNodeDistances compares plies, those after each move, and lines with the tables, with distances and without; those of other scores are refused.
func testNodeDistances(t *testing.T, s *nodeSite) {
	boards := s.random(rand.New(rand.NewPCG(34, 5)), tries.Pick(60, 300, 4000), 8)
	const program = `import { open } from "./awari.mjs"; import { readFileSync } from "node:fs";
const tables = await open(process.argv[2] + "tables"), all = [];
for (const b of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    all.push({ plies: await tables.plies(b), after: (await tables.distances(b)).plies, line: (await tables.line(b)).moves.map((m) => m.pit) });
  } catch (error) {
    all.push({ error: error.message });
  }
}
console.log(JSON.stringify(all));`
	type answer struct {
		Plies *int
		After []*int
		Line  []int
		Error string
	}
	ask := func(boards []string) []answer {
		return must.JSON[[]answer](t, s.run(t, program, "[["+strings.Join(boards, "],[")+"]]"))
	}
	for i, got := range ask(boards) {
		b := must.Get(s.tables.Game().Parse(strings.Split(boards[i], ",")))(t)
		plies, known, err := s.tables.Distance(t.Context(), b)
		must.OK(t, err)
		n := b.Seeds()
		must.Not(t, got.Error != "" || known != (n == 4 || n == 6 || n == 8) || (got.Plies != nil) != known || known && *got.Plies != plies,
			"%s: %+v, want %d, %v", boards[i], got, plies, known)
		for pit, play := range s.tables.Game().Plays(b) {
			if next, known, err := s.tables.Distance(t.Context(), play.Child); play.Legal && play.Captured == 0 && known && next > 0 {
				must.Hold(t, err == nil && got.After[pit] != nil && *got.After[pit] == next+1,
					"%s, pit %d: %v plies, want %d", boards[i], pit, got.After[pit], next+1)
			}
		}
		best := must.Get(line.Best(t.Context(), s.tables, b, line.Options{}))(t)
		must.Equal(t, len(best.Moves), len(got.Line), "%s: a line of %d moves, want", boards[i], len(got.Line))
		for j, m := range best.Moves {
			must.Not(t, m.Value != 0 && m.Pit != got.Line[j], "%s: the line %v, want %v at %d", boards[i], got.Line, m, j)
		}
	}
	testrun.EditManifest(t, filepath.Join(s.out, publish.TablesName), func(m *manifest.Manifest) { // distances of awari in a layer of strict
		other := newSiteOf(t, 12, awari.Strict, 6)
		must.OK(t, must.Err(distance.Run(t.Context(), other.dir, distance.Options{Layers: []int{6}, Job: job.Job{Family: cpu.Best()}})))
		data := must.Read(t, filepath.Join(other.dir, rundir.DistanceName(6)))
		copy(data[32:48], append([]byte("awari"), make([]byte, 11)...))
		binary.LittleEndian.PutUint32(data[80:], crc32c.Of(data[:80]))
		footer := data[len(data)-76:]
		copy(footer[20:24], data[80:84])
		binary.LittleEndian.PutUint32(footer[64:], crc32c.Of(footer[:64]))
		must.Write(t, filepath.Join(s.out, publish.TablesName, rundir.DistanceName(6)), data)
		m.Layers[6].Distances = manifest.Distances{Hash: 1, Bytes: int64(len(data)), Checksum: manifest.Checksum(binary.LittleEndian.Uint32(footer[64:]))}
	})
	should.Has(t, ask([]string{"0,0,0,2,0,0,2,0,0,2,0,0"})[0].Error, "of other scores")
}

// nodeRules answers what the rules of the module say about boards.
const nodeRules = `import { plays } from "./awari.mjs"; import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [rules, ...board] = line.split(" ");
  console.log(plays(board.map(Number), rules).map((m) => (m.legal ? m.captured + ":" + m.child : "-") + " ").join(""));
}`

// nodeFaults asks for what there is not.
const nodeFaults = `import { open, Fault } from "./awari.mjs";
const tables = await open(process.argv[2] + "tables/");
for (const board of [[1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "x", [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]]) {
  console.log(await tables.score(board).catch((e) => (e instanceof Fault ? e.name : "no Fault: " + e)));
}
console.log(await open(process.argv[2] + "nothing/").catch((e) => e.name + ": " + e.message));`

// computer answers boards, one a line, with the pit that the computer of the page plays at the level that gives nothing away. Without the
// best line it goes by what the server says of each move.
const computer = `import { createInterface } from "node:readline";
import { root } from "./tree.js"; import { position } from "./game.js"; import { bestMove } from "./values.js";
const [url, lines] = process.argv.slice(2);
const ask = async (path, pits) => { const answer = await fetch(url + path + "?pits=" + pits); if (!answer.ok) throw new Error(await answer.text()); return answer.json(); };
for await (const pits of createInterface({ input: process.stdin })) {
  const node = root(position(pits.split(",").map(Number)));
  node.probe = await ask("/api/probe", pits);
  if (lines) node.best = await ask("/api/line", pits);
  console.log(bestMove(node).pit);
}`

// TestLongComputerWins: the computer of the page wins won endgames, by best lines and by the plies of its moves, and no board comes twice
// as long as it can win anything more.
func TestLongComputerWins(t *testing.T) {
	node, err := exec.LookPath("node")
	tries.SkipIf(t, err != nil, "there is no node")
	s := newSiteOf(t, 12, awari.Awari, tries.Pick(8, 11, 14))
	must.OK(t, must.Err(distance.Run(t.Context(), s.dir, distance.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}})))
	tb, dir := s.tables, t.TempDir()
	for name, data := range web.Files() {
		if filepath.Ext(name) == ".js" {
			must.Write(t, filepath.Join(dir, name), data)
		}
	}
	must.Write(t, filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`))
	must.Write(t, filepath.Join(dir, "computer.js"), []byte(computer))
	for _, lines := range []string{"lines", ""} {
		cmd := exec.Command(node, filepath.Join(dir, "computer.js"), strings.TrimSuffix(s.url, "/"), lines)
		in := must.Get(cmd.StdinPipe())(t)
		out := must.Get(cmd.StdoutPipe())(t)
		var said strings.Builder
		cmd.Stderr = &said
		must.OK(t, cmd.Start())
		answers := bufio.NewScanner(out)
		endgames.Win(t, tb, tries.Rand(t), tries.Pick(5, 15, 200), func(b awari.Board) int {
			fmt.Fprintln(in, s.commas(b))
			if !answers.Scan() {
				must.OK(t, in.Close())
				t.Fatalf("board %s: no answer, %v: %s", tb.Game().Text(b), cmd.Wait(), said.String())
			}
			return must.Get(strconv.Atoi(answers.Text()))(t)
		})
		must.OK(t, in.Close())
		must.OK(t, must.Err(io.Copy(io.Discard, out)))
		must.OK(t, cmd.Wait())
	}
}
