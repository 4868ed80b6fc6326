package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
)

// documents returns the texts that describe the program by path, README.md first.
func documents(t *testing.T) (paths []string, texts map[string]string) {
	t.Helper()
	paths = []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/python/*.md", "../../docs/format/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	texts = map[string]string{}
	for _, path := range paths {
		text := must.Read(t, path)
		texts[path] = string(text)
	}
	return paths, texts
}

// TestReadmeListsDocuments: whoever reads README.md learns of all documents.
func TestReadmeListsDocuments(t *testing.T) {
	paths, texts := documents(t)
	for _, path := range paths[1:] {
		if name := strings.TrimPrefix(path, "../../"); !strings.Contains(texts[paths[0]], "]("+name+")") {
			t.Errorf("README.md has no link to %s", name)
		}
	}
}

// named matches links, and paths of this tree between backquotes.
var named = regexp.MustCompile("\\]\\(([^)#:]+)[^)]*\\)|`((?:cmd|docs|io|kernels|layers|pipeline)/[\\w./-]+)`")

// TestLinks: the targets of links in documents, and the paths that they name, are there.
func TestLinks(t *testing.T) {
	paths, texts := documents(t)
	checked := 0
	for _, path := range paths {
		for _, match := range named.FindAllStringSubmatch(texts[path], -1) {
			target := filepath.Join(filepath.Dir(path), match[1])
			if match[1] == "" {
				target = filepath.Join("../..", match[2])
			}
			if match[1] == "http" || match[1] == "https" || strings.Contains(target, "NAME") {
				continue
			}
			checked++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s names %s: %v", filepath.Base(path), target, err)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links were found", checked)
	}
}

// alone matches commands that need neither files nor time.
var alone = regexp.MustCompile(`^(pijersi (encode|decode|rank|unrank)|chemin play|awari (rank|unrank)) [^|<>{}]*$`)

// TestExamples runs the examples of the documents that need neither files nor time.
func TestExamples(t *testing.T) {
	paths, texts := documents(t)
	run := 0
	for _, path := range paths {
		for i, block := range strings.Split(texts[path], "\n```") {
			if i%2 == 0 {
				continue // between two examples
			}
			for _, example := range strings.Split(block, "\n$ ")[1:] {
				line, want, _ := strings.Cut(strings.TrimRight(example, "\n")+"\n", "\n")
				args, ok := strings.CutPrefix(line, "grenier ")
				if !ok || !alone.MatchString(args) || strings.Contains(args, "--json") {
					continue // documents break long lines of JSON
				}
				run++
				r := grenier(t.Context(), "", strings.Fields(args)...)
				if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight(r.out+r.err, "\n")); diff != "" {
					t.Errorf("%s: %s (-document +output):\n%s", filepath.Base(path), line, diff)
				}
			}
		}
	}
	if run < 10 {
		t.Errorf("only %d examples were found", run)
	}
}
