package web_test

import (
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/pipeline/tables"
)

// Where the pages have texts: calls of t and tn with literals, elements with data-t, and
// attributes that data-t-attributes lists.
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
	t.Helper()
	var found []string
	switch path.Ext(name) {
	case ".js":
		for _, m := range call.FindAllStringSubmatch(data, -1) {
			if m[1] == "" {
				t.Errorf("%s translates what is no literal", name)
				continue
			}
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
				if value == nil {
					t.Errorf("%s: %s has no %s", name, m[0], a)
					continue
				}
				found = append(found, html.UnescapeString(value[1]))
			}
		}
	}
	return found
}

// TestTexts checks that each text of the pages has a translation, with the same slots for
// values, and that no translation is left over.
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
	check := func(name string, data []byte) {
		if name == "fr.js" || name == "i18n.js" {
			return
		}
		for _, text := range texts(t, name, string(data)) {
			used[text] = true
			if got := translations[text]; got == "" {
				t.Errorf("%s: %q has no translation", name, text)
			} else if space := narrow.FindString(got); space != "" {
				t.Errorf("%q: a line may end at %q", got, space)
			} else if a, b := slots(text), slots(got); !slices.Equal(a, b) {
				t.Errorf("%q has the slots %q, its translation %q", text, a, b)
			}
		}
	}
	for name, data := range files {
		check(name, data)
	}
	for name, data := range web.Site() {
		check(name, data)
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

// inSmallBlocks returns the same layers in blocks of so few scores that indexes are long, as
// they are of layers with hundreds of millions of positions. There is no server for it.
func inSmallBlocks(t *testing.T, s *site, blockSize int) *site {
	layers := make([][]int8, len(s.tables.Layers()))
	for n := range layers {
		f, err := s.tables.File(t.Context(), n)
		if err == nil {
			layers[n] = make([]int8, f.Header().Positions)
			err = s.tables.Read(t.Context(), n, 0, layers[n])
		}
		must.OK(t, err)
	}
	dir := testrun.Write(t, s.game, layers, blockSize)
	tab := must.Get(tables.Open(t.Context(), dir))(t)
	t.Cleanup(func() { tab.Close() })
	return &site{game: s.game, dir: dir, tables: tab}
}
