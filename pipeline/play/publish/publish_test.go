package publish

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/picture"
	"grenier/pipeline/play/puzzle"
)

// Drawing a picture takes longer than all else that is published.
func init() {
	var drawn sync.Map
	draw = func(p picture.Position) ([]byte, error) {
		f, _ := drawn.LoadOrStore(fmt.Sprint(p), sync.OnceValues(func() ([]byte, error) { return picture.Board(p) }))
		return f.(func() ([]byte, error))()
	}
}

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

func newRun(t *testing.T, rules awari.Rules, seeds int) (dir string, scores [][]int8) {
	_, scores, dir = testrun.Run(t, 6, rules, seeds, 100)
	return dir, scores
}

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
		should.Not(t, p.Done < last.Done || p.Done > p.Total, "progress from %+v to %+v", last, p)
		last = p
	}}, Done: done})
	should.Not(t, err == nil && last.Done != last.Total, "the last progress is %+v", last)
	return report, err
}

// published returns a new site.
func published(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "site")
	must.OK(t, must.Err(run(t, t.Context(), dir, out, nil)))
	return out
}

// wantWritten publishes again, which must write these layers.
func wantWritten(t *testing.T, dir, out string, want ...int) {
	t.Helper()
	var seeds []int
	for _, l := range must.Get(run(t, t.Context(), dir, out, nil))(t).Layers {
		if !l.Kept {
			seeds = append(seeds, l.Seeds)
		}
	}
	should.List(t, seeds, want, "layers written")
}

// tree returns the contents of all files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	files := must.Tree(t, dir)
	maps.DeleteFunc(files, func(_, text string) bool { return text == fs.ModeDir.String() })
	return files
}

// TestRun: a site has the layers, which others can ask and copy, its sums, and its pages. It is the same after interruptions at any layer.
func TestRun(t *testing.T) {
	const seeds = 3
	dir, scores := newRun(t, awari.Awari, seeds)
	out := filepath.Join(t.TempDir(), "a", "site")
	for stop := range seeds {
		ctx, cancel := context.WithCancel(t.Context())
		report, err := run(t, ctx, dir, out, func(l Layer) {
			should.Hold(t, l.Kept == (l.Seeds < stop), "stopped at %d: %+v", stop, l)
			if l.Seeds == stop {
				cancel()
			}
		})
		must.Hold(t, report == nil && errors.Is(err, context.Canceled), "stopped at %d: %v, %v", stop, report, err)
	}
	should.Be(t, must.Err(os.Stat(filepath.Join(out, "index.html"))), fs.ErrNotExist, "an interrupted site has a page")
	wantWritten(t, dir, out, seeds)
	whole := published(t, dir)
	must.Same(t, "after interruptions", tree(t, whole), tree(t, out))
	wantSums(t, whole)
	tab := tabletest.Open(t, remotetest.Serve(t, whole, false).URL+"/"+TablesName+"/")
	for n, layer := range scores {
		for rank, want := range layer {
			must.Equal(t, must.Get(tab.ScoreAt(t.Context(), n, uint64(rank)))(t), want, "layer %d, rank %d", n, rank)
		}
	}
}

func wantSums(t *testing.T, out string) {
	t.Helper()
	files := tree(t, filepath.Join(out, TablesName))
	sums := files[sumsName]
	delete(files, sumsName)
	for name, text := range files {
		should.Has(t, sums, fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name))
	}
	n := strings.Count(sums, "\n")
	should.Not(t, n != len(files) || n == 0, "%d sums of %d files", n, len(files))
}

// TestPages: links are names of files, those to pages that there are not are gone, and the policy is there.
func TestPages(t *testing.T) {
	dir, _ := newRun(t, awari.Strict, 3)
	files := tree(t, published(t, dir))
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
	should.Equal(t, files["index.html"], want)
	should.Has(t, files["download.html"], fmt.Sprintf("layer-03.gl 56 %x;</a>", sha256.Sum256([]byte(files["tables/layer-03.gl"]))))
	should.Has(t, files["pages.js"], "const $a = ", "const {\n  b,\n} = $b();")
	_, ok := files["a.js"]
	should.Not(t, ok, "a module that is part of a script is there: %v", slices.Sorted(maps.Keys(files)))
	for _, name := range []string{"chart.css", "icon.png", "preview.png", "data/charts.json", "data/scores-0.json", "data/scores-3.json"} {
		should.Not(t, files[name] == "", "there is no %s", name)
	}
	// The worker keeps all that every visitor may want.
	text, _ := strings.CutPrefix(files["sw.js"], "const FILES = ")
	kept := must.JSON[[]string](t, strings.TrimSuffix(text, ";\n"))
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return slices.Contains([]string{"sw.js", listName, TablesName + "/" + sumsName}, name) || strings.HasPrefix(name, dataName+"/scores-")
	})
	slices.Sort(kept)
	should.List(t, kept, others, "the worker keeps")
}

// TestAnswers: a site has the puzzles of each layer that package puzzle draws, and the worker keeps them; and as many true answers as were asked for.
func TestAnswers(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 9)
	out, tab := filepath.Join(t.TempDir(), "site"), tabletest.Open(t, dir)
	must.OK(t, must.Err(Run(t.Context(), dir, out, Options{Pages: pages(), Questions: questions, Puzzles: 6, Job: job.Job{Family: cpu.Best()}})))
	all, worker := 0, string(must.Read(t, filepath.Join(out, "sw.js")))
	for n := range 10 {
		name := fmt.Sprintf("puzzles-%d.json", n)
		want := must.Get(puzzle.Draw(t.Context(), tab, puzzle.Options{From: n, To: n, Most: 100, Count: 6, Seed: 1}))(t)
		text := must.Get(json.Marshal(drawn{"awari", want}))(t)
		should.Equal(t, string(must.Read(t, filepath.Join(out, dataName, name))), string(text), "%s", name)
		should.Has(t, worker, `"data/`+name+`"`)
		all += len(want)
	}
	should.Not(t, all < 12, "%d puzzles", all)
	var sizes []int
	for name, positions := range map[string]uint64{"find-1-9.json": 6 + 21 + 56 + 126 + 252 + 462 + 792 + 1287 + 2002, "find-9-9.json": 2002} {
		f := must.JSON[found](t, must.Read(t, filepath.Join(out, dataName, name)))
		should.Hold(t, f.Rules == "awari" && f.Positions == positions, "%s is of %d positions, rules %s", name, f.Positions, f.Rules)
		for where, a := range f.Answers {
			sizes = append(sizes, len(a.Boards))
			should.Not(t, a.Hits < uint64(len(a.Boards)), "%s, %s: %d boards of %d hits", name, where, len(a.Boards), a.Hits)
			for _, pits := range a.Boards {
				score := must.Get(tab.Score(t.Context(), testrun.BoardOf(pits)))(t)
				should.Not(t, len(pits) != 6 || where == "value>=1" && score < 1 || where == "value=4" && score != 4, "%s: %v is worth %d", where, pits, score)
			}
		}
	}
	slices.Sort(sizes)
	should.List(t, sizes, []int{2, 3, 4}, "boards of answers")
}

// TestDistances: distances are published with their layers, and read from there; of layers without any nothing is asked.
func TestDistances(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 5)
	plies := func(layers ...int) {
		must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: layers, Job: job.Job{Family: cpu.Best()}})))
	}
	plies(3, 5)
	out := filepath.Join(t.TempDir(), "site")
	for _, kept := range []bool{false, true} {
		report, err := run(t, t.Context(), dir, out, nil)
		must.Hold(t, err == nil && len(report.Layers) == 6 && len(report.Distances) == 2, "%+v, %v", report, err)
		for i, l := range report.Distances {
			name := rundir.DistanceName([]int{3, 5}[i])
			data := must.Read(t, filepath.Join(out, TablesName, name))
			should.Hold(t, l.File == name && l.Kept == kept && l.SHA256 == fmt.Sprintf("%x", sha256.Sum256(data)) && l.Bytes == int64(len(data)), "%+v", l)
			for _, list := range []string{filepath.Join(TablesName, sumsName), downloadName} {
				should.Has(t, string(must.Read(t, filepath.Join(out, list))), name, l.SHA256)
			}
		}
	}
	server := remotetest.Serve(t, filepath.Join(out, TablesName), false)
	here, there := tabletest.Open(t, dir), tabletest.Open(t, server.URL)
	for _, b := range testrun.Boards(testrun.Space(t, here.Game(), 5), 0, 5) {
		n, want := b.Seeds(), fmt.Sprintln(here.Distance(t.Context(), b))
		must.Equal(t, fmt.Sprintln(there.Distance(t.Context(), b)), want, "board %v", b)
		should.Hold(t, strings.HasSuffix(want, fmt.Sprintln(n == 3 || n == 5, nil)), "board %v: %s", b, want)
	}
	for _, r := range server.Take() {
		should.Not(t, strings.HasPrefix(r.File, "distance") && r.File != rundir.DistanceName(3) && r.File != rundir.DistanceName(5), "asked: %+v", r)
	}
	plies(4)
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(4))))
	_, err := run(t, t.Context(), dir, out, nil)
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, fs.ErrNotExist), "listed distances are missing: %v", err)
}

// TestUpdate: only what is missing or not right is written again; new layers are added; pages are replaced.
func TestUpdate(t *testing.T) {
	dir, scores := newRun(t, awari.Awari, 5)
	out := published(t, testrun.Write(t, testrun.Game(t, 6, awari.Awari), scores[:4], 100))
	wantWritten(t, dir, out, 4, 5)
	want := tree(t, out)
	tables := filepath.Join(out, TablesName)
	testrun.Flip(t, filepath.Join(tables, "layer-03.gl"), 99)
	must.Write(t, filepath.Join(tables, "layer-02.gl"), []byte("x"))
	for _, name := range []string{"layer-04.gl", sumsName} {
		must.OK(t, os.Remove(filepath.Join(tables, name)))
	}
	must.Write(t, filepath.Join(out, "index.html"), []byte("old"))
	want["robots.txt"] = "hands off" // a foreign file
	must.Write(t, filepath.Join(out, "robots.txt"), []byte("hands off"))
	for _, layers := range [][]int{{2, 3, 4}, nil} {
		wantWritten(t, dir, out, layers...)
		must.Same(t, "the site", want, tree(t, out))
	}
}

// TestRefused: what is not a site of the same game is left as it is.
func TestRefused(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	other, _ := newRun(t, awari.Strict, 2)
	empty := testrun.Write(t, testrun.Game(t, 6, awari.Awari), nil, 100)
	foreign, site, file := t.TempDir(), published(t, dir), filepath.Join(t.TempDir(), "file")
	must.Write(t, filepath.Join(foreign, "letter"), []byte("dear"))
	must.Write(t, file, []byte("dear"))
	newer := testrun.Copy(t, site)
	list := must.Read(t, filepath.Join(newer, listName))
	must.Write(t, filepath.Join(newer, listName), []byte(strings.Replace(string(list), `"version": 2`, `"version": 9`, 1)))
	for _, c := range []struct {
		name, dir, out string
		want           error
	}{
		{"foreign", dir, foreign, ErrForeign}, {"the run itself", dir, dir, ErrForeign}, {"another game", other, site, ErrForeign},
		{"a newer site", dir, newer, corrupt.ErrVersion}, {"a file", dir, file, nil},
		{"nothing solved", empty, filepath.Join(t.TempDir(), "none"), ErrEmpty}, {"no run", filepath.Join(dir, "none"), filepath.Join(t.TempDir(), "none"), nil},
	} {
		before := tree(t, filepath.Dir(c.out))
		_, err := run(t, t.Context(), c.dir, c.out, nil)
		should.Not(t, err == nil || c.want != nil && !errors.Is(err, c.want), "%s: %v, want %v", c.name, err, c.want)
		should.Not(t, c.want == ErrForeign && !errors.Is(err, fault.Usage), "%s: %v is no bad usage", c.name, err)
		must.Same(t, c.name, before, tree(t, filepath.Dir(c.out)))
	}
}

// TestDamage: a damaged layer is not published, wherever the damage is, and leaves nothing that could be fetched.
func TestDamage(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	layer := filepath.Join(dir, "layer-02.gl")
	data := must.Read(t, layer)
	for at := 0; at < len(data); at += 1 + len(data)/9 {
		changed := slices.Clone(data)
		changed[at] ^= 0x10
		must.Write(t, layer, changed)
		out := filepath.Join(t.TempDir(), "site")
		should.Be(t, must.Err(run(t, t.Context(), dir, out, nil)), corrupt.ErrCorrupt, "byte %d", at)
		files := tree(t, out)
		should.Equal(t, files["tables/layer-02.gl"]+files["tables/manifest.json"]+files["index.html"], "", "byte %d", at)
	}
}

// TestDirectories: layers in other directories are beside the manifest of the site.
func TestDirectories(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 3)
	elsewhere := t.TempDir()
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		must.OK(t, os.Rename(filepath.Join(dir, m.Layers[2].File), filepath.Join(elsewhere, m.Layers[2].File)))
		m.Layers[2].Directory = elsewhere
	})
	out := filepath.Join(t.TempDir(), "site")
	wantWritten(t, dir, out, 0, 1, 2, 3)
	wantSums(t, out)
	for name, text := range tree(t, out) {
		should.Not(t, strings.Contains(text, elsewhere), "%s tells where layers were", name)
	}
	tabletest.Open(t, filepath.Join(out, TablesName))
}

// TestLanguages: each page has a short form that describes it to sites in French; a text that is not translated is an error.
func TestLanguages(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	files := pages()
	files["fr.js"] = []byte("export const fr = {\n  \"A & B\": \"A « et » B\",\n  \"about\": \"d’où\",\n};\n")
	files["enter.js"] = []byte("leave();\n")
	out := filepath.Join(t.TempDir(), "site")
	publish := func() error {
		return must.Err(Run(t.Context(), dir, out, Options{Pages: files, Address: "https://example.org/x/", Job: job.Job{Family: cpu.Best()}}))
	}
	must.OK(t, publish())
	site := tree(t, out)
	for _, name := range []string{"index", "layers"} {
		should.Has(t, site[name+".fr.html"],
			`<html lang="fr">`, policy, `<title>A « et » B</title>`, `<meta name="description" content="d’où">`, `src="enter.js"`,
			`<meta property="og:title" content="A « et » B">`, `<meta property="og:locale" content="fr_FR">`, `<meta property="og:description" content="d’où">`,
			`<meta property="og:url" content="https://example.org/x/`+name+`.fr.html">`,
			`<meta property="og:image" content="https://example.org/x/preview.fr.png">`, `<a href="`+name+`.html?lang=fr">A « et » B</a>`)
	}
	should.Not(t, site["enter.js"] == "" || site["preview.fr.png"] == "" || site["preview.fr.png"] == site["preview.png"],
		"the script, or the picture in French, is missing")
	files["fr.js"] = []byte("export const fr = {\n  \"A & B\": \"A « et » B\",\n};\n")
	should.Has(t, fmt.Sprint(publish()), "not translated (fr)")
}

// TestBundle puts modules together: each once, after those that it imports.
func TestBundle(t *testing.T) {
	files := map[string][]byte{
		"a.js":   []byte("// About a.\n\nimport * as b from \"./b.js\";\nimport { one, two as zwei,\n  three } from \"./c-d.js\";\nimport \"./e.js\";\n\nexport const a = b.f(one, zwei, three);\n"),
		"b.js":   []byte("import { one } from \"./c-d.js\";\nexport async function f() { return one; } // the one\nexport class G {}\nexport function* h() {}\n"),
		"c-d.js": []byte("export const one = 1;\nexport const two = 2;\n  // three\nexport const three = 3;\n"),
		"e.js":   []byte("import \"./e2.js\";\nconst own = 5;\n"),
		"e2.js":  []byte("import(\"./late.js\");\n"),
	}
	want := `const once = (make) => {
let made;
return () => (made ??= make());
};
const $c_d = once(() => {
const one = 1;
const two = 2;
const three = 3;
return { one, two, three };
});
const $b = once(() => {
const { one } = $c_d();
async function f() { return one; } // the one
class G {}
function* h() {}
return { f, G, h };
});
const $e2 = once(() => {
import("./late.js");
return {  };
});
const $e = once(() => {
$e2();
const own = 5;
return {  };
});
const $a = once(() => {
const b = $b();
const { one, two: zwei,
  three } = $c_d();
$e();


const a = b.f(one, zwei, three);
return { a };
});
({ "a.js": $a, "e.js": $e, })[document.querySelector("script[data-begin]").dataset.begin]();
`
	should.Equal(t, string(must.Get(bundle(files, "a.js", "e.js"))(t)), want)
}

// TestLibrary: a module with all that it imports has its comment and its exports.
func TestLibrary(t *testing.T) {
	got := must.Get(library(map[string][]byte{
		"a.js": []byte("// About a.\n// More.\n\n// Not this.\nimport { one } from \"./b.js\";\nexport const two = 2 * one;\nexport class A {}\n"),
		"b.js": []byte("// About b.\nexport const one = 1;\n"),
	}, "a.js"))(t)
	want := "// About a.\n// More.\n\n" + once + "const $b = once(() => {\nconst one = 1;\nreturn { one };\n});\n" +
		"const $a = once(() => {\nconst { one } = $b();\n\nconst two = 2 * one;\nclass A {}\nreturn { two, A };\n});\nexport const { two, A } = $a();\n"
	should.Equal(t, string(got), want)
}

// TestBundleRefused: what a bundle cannot have is refused, not left out.
func TestBundleRefused(t *testing.T) {
	for want, text := range map[string]string{
		"there is no x.js": "import \"./x.js\";\n", "a circle of imports": "import \"./a.js\";\n", "does not export z": "import { y, z } from \"./y.js\";\n",
		"import y from": "import y from \"./y.js\";\n", "export default": "export default 5;\n", "export let": "export let n = 5;\n",
		"export { n }": "const n = 1;\nexport { n };\n", "await": "await 5;\n", "import { y } from './y": "import { y } from './y.js';\n",
	} {
		should.Has(t, fmt.Sprint(must.Err(bundle(map[string][]byte{"a.js": []byte(text), "y.js": []byte("export const y = 1;\n")}, "a.js"))), want)
	}
}
