package web_test

import (
	"bytes"
	"compress/gzip"
	"html"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/manifest"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/publish"
)

// forbidden matches text that the page must not have: what the policy of the server refuses,
// what would fetch from elsewhere, and what would make markup of text.
var forbidden = map[string]*regexp.Regexp{
	".html": regexp.MustCompile(`(?i)\sstyle=|<style|\son[a-z]+=|<script[^>]*>[^<]|javascript:|https?://|(?:src|href)="/`),
	".css":  regexp.MustCompile(`(?i)@import|url\([^#]|https?://`),
	".js":   regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|import\(|https?://`),
	".svg":  regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|href=`),

	".webmanifest": regexp.MustCompile(`https?://`),
}

// references are the ways in which a file names another one.
var references = regexp.MustCompile(`(?:href|src)="([^"#]+)"|"src": "([^"]*)"|(?:from|import) "\./([^"]+)"|WORKER = "/?([^"]+)"`)

// made are the files that the server makes.
var made = []string{"chart.css", "icon.png"}

// fileOf returns the file that is shown at a path, without its first slash.
func fileOf(at string) string {
	at, _, _ = strings.Cut(strings.TrimPrefix(at, "./"), "?")
	switch {
	case at == "":
		return "index.html"
	case path.Ext(at) == "":
		return at + ".html"
	}
	return at
}

// wantNamed checks that files need nothing but each other and what there is besides, and that each is named by another one, or known.
func wantNamed(t *testing.T, files map[string][]byte, there func(name string) bool, known ...string) {
	t.Helper()
	named := map[string]bool{}
	for _, name := range known {
		named[name] = true
	}
	for name, data := range files {
		rule, ok := forbidden[path.Ext(name)]
		must.Hold(t, ok, "%s: nobody knows what it must not have", name)
		should.List(t, rule.FindAllString(strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", ""), -1), nil, "%s has", name)
		for _, m := range references.FindAllStringSubmatch(string(data), -1) {
			target := fileOf(strings.Join(m[1:], ""))
			named[target] = true
			should.Not(t, files[target] == nil && !slices.Contains(made, target) && !there(target), "%s names %s, which is not there", name, target)
		}
	}
	for name := range files {
		should.Hold(t, named[name], "no file names %s", name)
	}
}

// TestFiles checks the files of the page, and those that the worker keeps for times without the server.
func TestFiles(t *testing.T) {
	files, kept := web.Files(), map[string]bool{"sw.js": true}
	must.Not(t, len(files) < 8, "%d files", len(files))
	wantNamed(t, files, func(string) bool { return false }, "index.html")
	_, list, _ := strings.Cut(string(files["sw.js"]), "const FILES = [")
	list, _, _ = strings.Cut(list, "];")
	for _, m := range regexp.MustCompile(`"/([^"]*)"`).FindAllStringSubmatch(list, -1) {
		name := fileOf(m[1])
		kept[name] = true
		should.Not(t, files[name] == nil && !slices.Contains(made, name), "the worker keeps %s, which is not there", name)
	}
	for name := range files {
		should.Hold(t, kept[name], "the worker does not keep %s", name)
	}
}

// TestOthers: the page on which one plays links to those by other rules, if there are any.
func TestOthers(t *testing.T) {
	others := []web.Other{{Rules: "abapa", Address: "http://localhost:8081/"}, {Rules: "strict", Address: `https://host/"><script>/`}}
	const name, says = "index.html", "By other rules:"
	for _, files := range []map[string][]byte{web.Files(others...), web.Site(others...)} {
		should.Has(t, string(files[name]), says, `<a href="http://localhost:8081/">abapa</a> <a href="https://host/%22%3e%3cscript%3e/">strict</a>`)
	}
	should.Not(t, strings.Contains(string(web.Files()[name]), says), "without others there is a link to some")
}

// TestSiteFiles checks the files of the pages of a published site.
func TestSiteFiles(t *testing.T) {
	leftOut := func(name string) bool {
		return name == "puzzles.html" || name == "explore.html" || strings.HasPrefix(name, "tables/")
	}
	wantNamed(t, web.Site(), leftOut, "index.html", "download.html", "enter.js") // which publish links to
}

// firstLoad is how many bytes the page may have that is shown first, compressed; and all scripts and styles of a published site.
const firstLoad = 75_000

// TestWeight adds up what a browser loads before the page can be used: the page and what it names, in turn.
func TestWeight(t *testing.T) {
	todo, seen, sum := []string{"index.html"}, map[string]bool{}, 0
	for ; len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		if seen[name] || slices.Contains(made, name) || name != "index.html" && path.Ext(name) == ".html" {
			continue
		}
		seen[name] = true
		data := web.Files()[name]
		must.Not(t, data == nil, "there is no %s", name)
		sum += gzipped(data)
		for _, m := range references.FindAllStringSubmatch(string(data), -1) {
			todo = append(todo, fileOf(strings.Join(m[1:], "")))
		}
	}
	t.Logf("%d files, %d bytes", len(seen), sum)
	should.Not(t, sum > firstLoad || len(seen) < 15, "%d files have %d bytes, want at most %d", len(seen), sum, firstLoad)
}

// gzipped returns how many bytes data takes when a web server compresses it.
func gzipped(data []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data) // a buffer takes everything
	z.Close()
	return b.Len()
}

// Where the pages have texts: calls of t and tn with literals, elements with data-t, and attributes that data-t-attributes lists.
var (
	call       = regexp.MustCompile(`\bt\(("(?:[^"\\]|\\.)*")?`)
	callPlural = regexp.MustCompile(`\btn\([^",]+, ("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*")`)
	element    = regexp.MustCompile(`<[^>]*\sdata-t[ >][^<]*<`)
	attributes = regexp.MustCompile(`<[^>]*\sdata-t-attributes="([^"]*)"[^>]*>`)
	entry      = regexp.MustCompile(`(?m)^  ("(?:[^"\\]|\\.)*"): ("(?:[^"\\]|\\.)*"),$`)
	slot       = regexp.MustCompile(`\{\w+\}`)
	narrow     = regexp.MustCompile(`\S* [;:?!»]|« \S*`) // spaces that must be no-break ones in French
)

// texts returns the texts of a file in English.
func texts(t *testing.T, name, data string) []string {
	var found []string
	switch path.Ext(name) {
	case ".js":
		for _, m := range call.FindAllStringSubmatch(data, -1) {
			should.Not(t, m[1] == "", "%s translates what is no literal", name)
			found = append(found, strings.Trim(m[1], `"`))
		}
		for _, m := range callPlural.FindAllStringSubmatch(data, -1) {
			found = append(found, strings.Trim(m[1], `"`), strings.Trim(m[2], `"`))
		}
	case ".html":
		for _, m := range element.FindAllString(data, -1) {
			text := html.UnescapeString(m[strings.IndexByte(m, '>')+1 : len(m)-1])
			found = append(found, strings.Join(strings.Fields(text), " "))
		}
		for _, m := range attributes.FindAllStringSubmatch(data, -1) {
			for _, a := range strings.Fields(m[1]) {
				value := regexp.MustCompile(`\s` + a + `="([^"]*)"`).FindStringSubmatch(m[0])
				must.Not(t, value == nil, "%s: %s has no %s", name, m[0], a)
				found = append(found, html.UnescapeString(value[1]))
			}
		}
	}
	return found
}

// TestTexts checks that each text of the pages has a translation, with the same slots for values, and that no translation is left over.
func TestTexts(t *testing.T) {
	files := web.Files(web.Other{})
	translations := map[string]string{}
	for _, m := range entry.FindAllStringSubmatch(string(files["fr.js"]), -1) {
		key := strings.Trim(m[1], `"`)
		_, twice := translations[key]
		should.Not(t, twice, "%q is translated twice", key)
		translations[key] = strings.Trim(m[2], `"`)
	}
	used := map[string]bool{}
	for _, all := range []map[string][]byte{files, web.Site()} {
		for name, data := range all {
			if name == "fr.js" || name == "i18n.js" {
				continue
			}
			for _, text := range texts(t, name, string(data)) {
				used[text] = true
				got := translations[text]
				should.Not(t, got == "", "%s: %q has no translation", name, text)
				should.Equal(t, narrow.FindString(got), "", "%q: a line may end", got)
				should.List(t, slots(got), slots(text), "%q: slots", got)
			}
		}
	}
	for text := range translations {
		should.Hold(t, used[text], "no page says %q", text)
	}
	should.Not(t, len(used) < 150, "only %d texts found", len(used))
}

// slots returns the slots of a text, each once.
func slots(text string) []string {
	found := slot.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestQuestions: a site prepares the answers that its pages ask for.
func TestQuestions(t *testing.T) {
	files := web.Site()
	for name, words := range map[string][]string{"explore.js": {`most: "margin"`, "value="}, "source.js": {"EXPLORED = { score: 12, swing: 12, hard: 8 }"}} {
		should.Has(t, string(files[name]), words...)
	}
	for _, q := range web.Questions(make([]manifest.Layer, 20)) {
		name, asked := "explore.js", q.Where
		if q.Most == "line" {
			name, asked = "source.js", q.Where+" most "+q.Most
		}
		should.Hold(t, strings.Contains(string(files[name]), `"`+asked+`"`), "%s does not ask for %q", name, asked)
	}
}

// TestSiteWeight adds up all scripts and styles that the pages of a published site have.
func TestSiteWeight(t *testing.T) {
	dir, out := testrun.Dir(t, 12, awari.Awari, 1, 64), filepath.Join(t.TempDir(), "site")
	must.OK(t, must.Err(publish.Run(t.Context(), dir, out, publish.Options{Pages: web.Site(), Job: job.Job{Family: cpu.Best()}})))
	sum, names := 0, []string{}
	for _, name := range slices.Concat(must.Get(filepath.Glob(filepath.Join(out, "*.js")))(t), must.Get(filepath.Glob(filepath.Join(out, "*.css")))(t)) {
		if filepath.Base(name) != "awari.js" { // which is for pages of others
			names = append(names, filepath.Base(name))
			sum += gzipped(must.Read(t, name))
		}
	}
	t.Logf("%d bytes: %v", sum, names)
	should.Not(t, sum > firstLoad || len(names) < 4, "%v have %d bytes, want at most %d", names, sum, firstLoad)
}
