package publish

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/puzzle"
	"grenier/pipeline/tables"
)

// page is a page as the server has it.
const page = `<!doctype html>
<head>
  <meta charset="utf-8">
  <script type="module" src="app.js"></script>
  <title>A &amp; B</title>
  <meta name="description" content="about">
</head>
    <nav>
      <a href="./" data-t>Play</a>
      <a href="puzzles" data-t>Puzzles</a>
      <a href="layers" data-t>Layers</a>
    </nav>
<a href="./?pits=1">a game</a> <a href="layers">%s</a>
  <footer>
  </footer>
`

// app is a script that imports others.
const app = `import * as a from "./a.js";
import * as api from "./api.js";
import {
  b,
} from "./b.js";
`

// pages returns the smallest pages that make a site.
func pages() map[string][]byte {
	return map[string][]byte{
		"index.html":    fmt.Appendf(nil, page, "index"),
		"layers.html":   fmt.Appendf(nil, page, "layers"),
		"download.html": fmt.Appendf(nil, page, "{{range .Rows}}{{.File}} {{.Positions}} {{.SHA256}};{{end}}"),
		"app.js":        []byte(app),
		"a.js":          []byte("import { b } from \"./b.js\";\n"),
		"b.js":          []byte("import \"./api.js\";\nexport const b = 1;\n"),
		"api.js":        []byte("export const layers = 2;\n"),
		"sw.js":         []byte("const FILES = [\"files of the site\"];\n"),
	}
}

// newRun returns a run with a few layers.
func newRun(t *testing.T, rules awari.Rules, seeds int) (dir string, scores [][]int8) {
	t.Helper()
	game := testrun.Game(t, 6, rules)
	scores = testrun.Solve(t, game, seeds)
	return testrun.Write(t, game, scores, 100), scores
}

// questions returns a few questions about some layers.
func questions(layers []manifest.Layer) []Question {
	last := len(layers) - 1
	return []Question{{From: 1, To: last, Where: "value>=1", Count: 3}, {From: 1, To: last, Where: "moves>=2", Most: "margin", Count: 2}, {From: last, To: last, Where: "value=4", Count: 4}}
}

// run publishes, and checks that progress goes forward to the end.
func run(t *testing.T, ctx context.Context, dir, out string, done func(Layer)) (*Report, error) {
	t.Helper()
	var last job.Step
	report, err := Run(ctx, dir, out, Options{Pages: pages(), Address: "https://example.org/x/", Questions: questions, Puzzles: 2, Job: job.Job{Family: cpu.Best(), Progress: func(p job.Step) {
		if p.Unit == job.Items && last.Unit == job.Bytes && last.Done == last.Total { // answers and puzzles follow the copies
			last = job.Step{}
		}
		if p.Done < last.Done || p.Done > p.Total {
			t.Errorf("progress from %+v to %+v", last, p)
		}
		last = p
	}}, Done: done})
	if err == nil && last.Done != last.Total {
		t.Errorf("the last progress is %+v", last)
	}
	return report, err
}

// written publishes and returns the layers that were written, not kept.
func written(t *testing.T, dir, out string) (seeds []int) {
	t.Helper()
	report, err := run(t, t.Context(), dir, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range report.Layers {
		if !l.Kept {
			seeds = append(seeds, l.Seeds)
		}
	}
	return seeds
}

// tree returns the contents of all files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(testrun.ReadFile(t, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRun: a site has the layers, which others can ask and copy, its sums, and its pages. It is
// the same after interruptions at any layer.
func TestRun(t *testing.T) {
	const seeds = 3
	dir, scores := newRun(t, awari.Awari, seeds)
	out := filepath.Join(t.TempDir(), "a", "site")
	for stop := range seeds {
		ctx, cancel := context.WithCancel(t.Context())
		report, err := run(t, ctx, dir, out, func(l Layer) {
			if l.Kept != (l.Seeds < stop) {
				t.Errorf("stopped at %d: %+v", stop, l)
			}
			if l.Seeds == stop {
				cancel()
			}
		})
		if report != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: %v, %v", stop, report, err)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "index.html")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an interrupted site has a page: %v", err)
	}
	if got := written(t, dir, out); !slices.Equal(got, []int{seeds}) {
		t.Errorf("layers %v were written at last", got)
	}
	files := tree(t, out)
	whole := filepath.Join(t.TempDir(), "whole")
	written(t, dir, whole)
	for name, text := range tree(t, whole) {
		if files[name] != text {
			t.Errorf("%s differs after interruptions", name)
		}
		delete(files, name)
	}
	if len(files) > 0 {
		t.Errorf("more files after interruptions: %d", len(files))
	}
	wantSums(t, whole)
	wantTables(t, whole, scores)
}

// wantSums checks that the list of sums has all files of the tables, and is right.
func wantSums(t *testing.T, out string) {
	t.Helper()
	files := tree(t, filepath.Join(out, TablesName))
	sums := files[sumsName]
	delete(files, sumsName)
	for name, text := range files {
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name); !strings.Contains(sums, line) {
			t.Errorf("the sums do not have %q", line)
		}
	}
	if n := strings.Count(sums, "\n"); n != len(files) || n == 0 {
		t.Errorf("%d sums of %d files", n, len(files))
	}
}

// wantTables asks the tables of a site on a web server.
func wantTables(t *testing.T, out string, scores [][]int8) {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	defer server.Close()
	tab, err := tables.Open(t.Context(), server.URL+"/"+TablesName+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	for n, layer := range scores {
		for rank, want := range layer {
			if got, err := tab.ScoreAt(t.Context(), n, uint64(rank)); err != nil || got != want {
				t.Fatalf("layer %d, rank %d: %d, %v; want %d", n, rank, got, err, want)
			}
		}
	}
}

// TestPages: links are names of files, those to pages that there are not are gone, and the
// policy is there.
func TestPages(t *testing.T) {
	dir, _ := newRun(t, awari.Strict, 3)
	out := filepath.Join(t.TempDir(), "site")
	written(t, dir, out)
	files := tree(t, out)
	want := `<!doctype html>
<head>
  <meta charset="utf-8">
  ` + policy + `
  <link rel="preload" href="tables/manifest.json" as="fetch" crossorigin>
  <script type="module" src="pages.js" data-begin="app.js"></script>
  <title>A &amp; B</title>
  <meta name="description" content="about">
  <meta property="og:type" content="website">
  <meta property="og:site_name" content="Grenier">
  <meta property="og:title" content="A &amp; B">
  <meta property="og:url" content="https://example.org/x/">
  <meta property="og:locale" content="en_US">
  <meta property="og:description" content="about">
  <meta property="og:image" content="https://example.org/x/preview.png">
  <meta property="og:image:width" content="1200">
  <meta property="og:image:height" content="630">
  <meta property="og:image:alt" content="A &amp; B">
  <meta name="twitter:card" content="summary_large_image">
</head>
    <nav>
      <a href="index.html" data-t>Play</a>
      <a href="layers.html" data-t>Layers</a>
    </nav>
<a href="index.html?pits=1">a game</a> <a href="layers.html">index</a>
  <footer>
    <p><a href="download.html" data-t>Download the tables</a></p>
  </footer>
`
	if got := files["index.html"]; got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	if got := files["download.html"]; !strings.Contains(got, fmt.Sprintf("layer-03.gl 56 %x;</a>", sha256.Sum256([]byte(files["tables/layer-03.gl"])))) {
		t.Errorf("the downloads are\n%s", got)
	}
	if got := files["pages.js"]; !strings.Contains(got, "const $a = ") || !strings.Contains(got, "const {\n  b,\n} = $b();") {
		t.Errorf("a script became %q", got)
	}
	if _, ok := files["a.js"]; ok {
		t.Errorf("a module that is part of a script is there: %v", slices.Sorted(maps.Keys(files)))
	}
	wantKept(t, files)
	for _, name := range []string{"chart.css", "icon.png", "preview.png", "data/charts.json", "data/scores-0.json", "data/scores-3.json"} {
		if files[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
}

// wantKept checks the files that the worker keeps: all that every visitor may want.
func wantKept(t *testing.T, files map[string]string) {
	t.Helper()
	text, _ := strings.CutPrefix(files["sw.js"], "const FILES = ")
	var kept []string
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ";\n")), &kept); err != nil {
		t.Fatalf("%v in %q", err, files["sw.js"])
	}
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return slices.Contains([]string{"sw.js", listName, TablesName + "/" + sumsName}, name) || strings.HasPrefix(name, dataName+"/scores-")
	})
	if slices.Sort(kept); !slices.Equal(kept, want) {
		t.Errorf("the worker keeps %v, want %v", kept, want)
	}
}

// TestPuzzles: a site has the puzzles of each layer that package puzzle draws from the run, and the worker keeps them.
func TestPuzzles(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 9)
	out := filepath.Join(t.TempDir(), "site")
	if _, err := Run(t.Context(), dir, out, Options{Pages: pages(), Puzzles: 6, Job: job.Job{Family: cpu.Best()}}); err != nil {
		t.Fatal(err)
	}
	tab, err := tables.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	all, worker := 0, string(testrun.ReadFile(t, filepath.Join(out, "sw.js")))
	for n := range 10 {
		name := fmt.Sprintf("puzzles-%d.json", n)
		want, err := puzzle.Draw(t.Context(), tab, puzzle.Options{From: n, To: n, Most: 100, Count: 6, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(drawn{"awari", want})
		if got := testrun.ReadFile(t, filepath.Join(out, dataName, name)); err != nil || string(got) != string(text) {
			t.Errorf("%s: %s, want %s (%v)", name, got, text, err)
		}
		if !strings.Contains(worker, `"data/`+name+`"`) {
			t.Errorf("the worker does not keep %s", name)
		}
		all += len(want)
	}
	if all < 12 {
		t.Errorf("%d puzzles", all)
	}
}

// TestSearches: the answers are there, with as many boards as were asked for, and true.
func TestSearches(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 4)
	out := filepath.Join(t.TempDir(), "site")
	written(t, dir, out)
	tab, err := tables.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	var sizes []int
	for _, name := range []string{"find-1-4.json", "find-4-4.json"} {
		var f found
		if err := json.Unmarshal(testrun.ReadFile(t, filepath.Join(out, dataName, name)), &f); err != nil {
			t.Fatal(err)
		}
		want := uint64(6 + 21 + 56 + 126)
		if name == "find-4-4.json" {
			want = 126
		}
		if f.Rules != "awari" || f.Positions != want {
			t.Errorf("%s is of %d positions, rules %s", name, f.Positions, f.Rules)
		}
		for _, where := range slices.Sorted(maps.Keys(f.Answers)) {
			a := f.Answers[where]
			sizes = append(sizes, len(a.Boards))
			if a.Hits < uint64(len(a.Boards)) {
				t.Errorf("%s, %s: %d boards of %d hits", name, where, len(a.Boards), a.Hits)
			}
			for _, pits := range a.Boards {
				var b awari.Board
				for i, n := range pits {
					b[i] = uint8(n)
				}
				score, err := tab.Score(t.Context(), b)
				if err != nil || len(pits) != 6 || where == "value>=1" && score < 1 || where == "value=4" && score != 4 {
					t.Errorf("%s, %s: %v is worth %d, %v", name, where, pits, score, err)
				}
			}
		}
	}
	if !slices.Equal(sizes, []int{2, 3, 4}) {
		t.Errorf("answers have %v boards", sizes)
	}
}

// TestDistances: distances are published with their layers, and read from there; of layers without any nothing is asked.
func TestDistances(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 5)
	plies := func(layers ...int) {
		if _, err := distance.Run(t.Context(), dir, distance.Options{Layers: layers, Job: job.Job{Family: cpu.Best()}}); err != nil {
			t.Fatal(err)
		}
	}
	plies(3, 5)
	out := filepath.Join(t.TempDir(), "site")
	for _, kept := range []bool{false, true} {
		report, err := run(t, t.Context(), dir, out, nil)
		if err != nil || len(report.Layers) != 6 || len(report.Distances) != 2 {
			t.Fatalf("%+v, %v", report, err)
		}
		for i, l := range report.Distances {
			name := rundir.DistanceName([]int{3, 5}[i])
			data := testrun.ReadFile(t, filepath.Join(out, TablesName, name))
			if l.File != name || l.Kept != kept || l.SHA256 != fmt.Sprintf("%x", sha256.Sum256(data)) || l.Bytes != int64(len(data)) {
				t.Errorf("%+v", l)
			}
			for _, list := range []string{filepath.Join(TablesName, sumsName), downloadName} {
				if text := string(testrun.ReadFile(t, filepath.Join(out, list))); !strings.Contains(text, name) || !strings.Contains(text, l.SHA256) {
					t.Errorf("%s is not in %s", name, list)
				}
			}
		}
	}
	server := remotetest.Serve(t, filepath.Join(out, TablesName), false)
	here, err := tables.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	there, err := tables.Open(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	space := testrun.Space(t, here.Game(), 5)
	for n := range 6 {
		for rank := range space.Size(n) {
			b := space.Unrank(n, rank)
			want, known, err := here.Distance(t.Context(), b)
			got, also, thereErr := there.Distance(t.Context(), b)
			if got != want || known != (n == 3 || n == 5) || also != known || err != nil || thereErr != nil {
				t.Fatalf("board %v: %d, %v, %v; published: %d, %v, %v", b, want, known, err, got, also, thereErr)
			}
		}
	}
	for _, r := range server.Take() {
		if strings.HasPrefix(r.File, "distance") && r.File != rundir.DistanceName(3) && r.File != rundir.DistanceName(5) {
			t.Errorf("asked for %+v", r)
		}
	}
	plies(4)
	if err := os.Remove(filepath.Join(dir, rundir.DistanceName(4))); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, t.Context(), dir, out, nil); !errors.Is(err, corrupt.ErrCorrupt) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("listed distances are missing: %v", err)
	}
}

// TestUpdate: only what is missing or not right is written again; new layers are added; pages
// are replaced.
func TestUpdate(t *testing.T) {
	dir, scores := newRun(t, awari.Awari, 5)
	out := filepath.Join(t.TempDir(), "site")
	small := testrun.Write(t, testrun.Game(t, 6, awari.Awari), scores[:4], 100)
	if got := written(t, small, out); len(got) != 4 {
		t.Errorf("layers %v were written first", got)
	}
	if got := written(t, dir, out); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("layers %v were added", got)
	}
	want := tree(t, out)
	layer := filepath.Join(out, TablesName, "layer-03.gl")
	for _, change := range []struct {
		name   string
		change func()
		layers []int
	}{
		{"nothing", func() {}, nil},
		{"a byte", func() {
			data := testrun.ReadFile(t, layer)
			data[len(data)/2] ^= 1
			testrun.WriteFile(t, layer, data)
		}, []int{3}},
		{"cut short", func() { testrun.WriteFile(t, layer, []byte("x")) }, []int{3}},
		{"gone", func() { remove(t, layer) }, []int{3}},
		{"pages", func() {
			testrun.WriteFile(t, filepath.Join(out, "index.html"), []byte("old"))
			remove(t, filepath.Join(out, TablesName, sumsName))
		}, nil},
		{"foreign file", func() { testrun.WriteFile(t, filepath.Join(out, "robots.txt"), []byte("hands off")) }, nil},
	} {
		change.change()
		if got := written(t, dir, out); !slices.Equal(got, change.layers) {
			t.Errorf("%s: layers %v were written, want %v", change.name, got, change.layers)
		}
		got := tree(t, out)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s: %s is not as before", change.name, name)
			}
		}
	}
	if got := string(testrun.ReadFile(t, filepath.Join(out, "robots.txt"))); got != "hands off" {
		t.Errorf("a foreign file became %q", got)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestRefused: what is not a site of the same game is left as it is.
func TestRefused(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	other, _ := newRun(t, awari.Strict, 2)
	empty := testrun.Write(t, testrun.Game(t, 6, awari.Awari), nil, 100)
	foreign, site, file := t.TempDir(), filepath.Join(t.TempDir(), "site"), filepath.Join(t.TempDir(), "file")
	testrun.WriteFile(t, filepath.Join(foreign, "letter"), []byte("dear"))
	testrun.WriteFile(t, file, []byte("dear"))
	written(t, dir, site)
	newer := filepath.Join(t.TempDir(), "newer")
	written(t, dir, newer)
	list := testrun.ReadFile(t, filepath.Join(newer, listName))
	testrun.WriteFile(t, filepath.Join(newer, listName), []byte(strings.Replace(string(list), `"version": 2`, `"version": 9`, 1)))
	for _, c := range []struct {
		name, dir, out string
		want           error
	}{
		{"foreign", dir, foreign, ErrForeign},
		{"the run itself", dir, dir, ErrForeign},
		{"another game", other, site, ErrForeign},
		{"a newer site", dir, newer, corrupt.ErrVersion},
		{"a file", dir, file, nil},
		{"nothing solved", empty, filepath.Join(t.TempDir(), "none"), ErrEmpty},
		{"no run", filepath.Join(dir, "none"), filepath.Join(t.TempDir(), "none"), nil},
	} {
		before := tree(t, filepath.Dir(c.out))
		_, err := run(t, t.Context(), c.dir, c.out, nil)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want == ErrForeign && !errors.Is(err, fault.Usage) {
			t.Errorf("%s: %v is no bad usage", c.name, err)
		}
		for name, text := range tree(t, filepath.Dir(c.out)) {
			if was, ok := before[name]; !ok || was != text {
				t.Errorf("%s: %s was changed", c.name, name)
			}
		}
	}
}

// TestDamage: a damaged layer is not published, wherever the damage is, and leaves nothing that
// could be fetched.
func TestDamage(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	layer := filepath.Join(dir, "layer-02.gl")
	data := testrun.ReadFile(t, layer)
	for at := 0; at < len(data); at += 1 + len(data)/9 {
		changed := slices.Clone(data)
		changed[at] ^= 0x10
		testrun.WriteFile(t, layer, changed)
		out := filepath.Join(t.TempDir(), "site")
		if _, err := run(t, t.Context(), dir, out, nil); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
		}
		files := tree(t, out)
		if _, ok := files["tables/layer-02.gl"]; ok || files["tables/manifest.json"] != "" || files["index.html"] != "" {
			t.Errorf("byte %d: the site has %d files", at, len(files))
		}
	}
	testrun.WriteFile(t, layer, data)
}

// TestDirectories: layers in other directories are beside the manifest of the site.
func TestDirectories(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 3)
	elsewhere := t.TempDir()
	m, err := manifest.Load(filepath.Join(dir, rundir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, m.Layers[2].File), filepath.Join(elsewhere, m.Layers[2].File)); err != nil {
		t.Fatal(err)
	}
	m.Layers[2].Directory = elsewhere
	testrun.SaveManifest(t, dir, m)
	out := filepath.Join(t.TempDir(), "site")
	if got := written(t, dir, out); len(got) != 4 {
		t.Errorf("layers %v were written", got)
	}
	wantSums(t, out)
	for name, text := range tree(t, out) {
		if strings.Contains(text, elsewhere) {
			t.Errorf("%s tells where layers were", name)
		}
	}
	if _, err := tables.Open(t.Context(), filepath.Join(out, TablesName)); err != nil {
		t.Errorf("the tables of the site are no run: %v", err)
	}
}
