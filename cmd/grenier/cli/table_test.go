package cli

import (
	"fmt"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// share is a row.
type share struct{ n, of int }

// shareColumns are columns of every kind: that stay, that become shorter, and that go.
func shareColumns() []Column[share] {
	count := func(s share) string { return Comma(uint64(s.n)) }
	percent := func(s share) string { return Percent(s.n, s.of) }
	return []Column[share]{
		{{Head: "n", Width: 9, Cell: count}},
		{{Head: "share", Width: 12, Yield: 1, Cell: count}, {Head: "share", Width: 6, Yield: 3, Cell: percent}},
		{{Head: "twice", Width: 9, Yield: 2, Cell: count}},
		{{Head: "again", Width: 9, Yield: 2, Cell: count}},
	}
}

func TestTableFits(t *testing.T) {
	for width, want := range map[int]string{
		Unlimited: "        n        share     twice     again\n    1,234        1,234     1,234     1,234\n",
		42:        "        n        share     twice     again\n    1,234        1,234     1,234     1,234\n",
		41:        "        n  share     twice     again\n    1,234  12.3%     1,234     1,234\n",
		35:        "        n  share\n    1,234  12.3%\n",
		15:        "        n\n    1,234\n",
		3:         "        n\n    1,234\n",
	} {
		var out strings.Builder
		table := NewTable(&out, width, shareColumns())
		table.Add(share{1234, 10_000})
		must.Same(t, fmt.Sprint("width ", width), want, out.String())
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one two three", Unlimited, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 12, 2, "one two\n  three"},
		{"one two three four", 9, 4, "one two\n    three\n    four"},
		{"name     one two", 14, 9, "name     one\n         two"},
		{"incomprehensibilities of a", 10, 0, "incomprehensibilities\nof a"},
		{"élan à la", 7, 1, "élan à\n la"},
		{"", 5, 1, ""},
	} {
		should.Equal(t, Wrap(c.text, c.width, c.indent), c.want, "%q in %d", c.text, c.width)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 layers", 1: "1 layer", 2: "2 layers", 12345: "12,345 layers"} {
		should.Equal(t, Count(n, "layer"), want, "%d", n)
	}
}
