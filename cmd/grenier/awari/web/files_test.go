package web_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"grenier/cmd/grenier/awari/web"
)

// forbidden is what the page must not have: what the policy of the server refuses,
// what would fetch from elsewhere, and what would make markup of text.
var forbidden = map[string]*regexp.Regexp{
	".html": regexp.MustCompile(`(?i)\sstyle=|<style|\son[a-z]+=|<script[^>]*>[^<]|javascript:|https?://|src="[^/]`),
	".css":  regexp.MustCompile(`(?i)@import|url\([^#]|https?://`),
	".js":   regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|import\(|https?://`),
	".svg":  regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|href=`),
}

// references are the ways in which a file names another one.
var references = regexp.MustCompile(`(?:href|src)="(/[^"]*)"|from "\./([^"]+)"`)

// TestFiles checks that the page needs nothing but its own files, which are there.
func TestFiles(t *testing.T) {
	files := web.Files()
	names, err := fs.Glob(files, "*")
	if err != nil || len(names) < 8 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	named := map[string]bool{"index.html": true}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		rule, ok := forbidden[path.Ext(name)]
		if !ok {
			t.Fatalf("%s: nobody knows what it must not have", name)
		}
		for _, found := range rule.FindAllString(text, -1) {
			t.Errorf("%s has %q", name, found)
		}
		for _, m := range references.FindAllStringSubmatch(text, -1) {
			target := strings.TrimPrefix(m[1], "/") + m[2]
			named[target] = true
			if _, err := fs.Stat(files, target); err != nil && target != "chart.css" { // which the server makes
				t.Errorf("%s names %s: %v", name, target, err)
			}
		}
	}
	for _, name := range names {
		if !named[name] {
			t.Errorf("no file names %s", name)
		}
	}
}
