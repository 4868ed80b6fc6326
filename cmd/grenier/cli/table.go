package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// A Form is one way to show a column of a Table.
type Form[R any] struct {
	Head  string
	Width int // least number of characters
	Cell  func(row R) string
	// Yield is when a terminal that is too narrow makes the form give way to the next one
	// of its column, or the column go: low numbers first, equal ones together, 0 never.
	Yield int
}

// A Column is the forms of a column, the widest first.
type Column[R any] []Form[R]

// NewColumn returns a column of one form.
func NewColumn[R any](head string, width, yield int, cell func(R) string) Column[R] {
	return Column[R]{{Head: head, Width: width, Yield: yield, Cell: cell}}
}

// ColumnOf returns the column c for rows that have a row of c in them.
func ColumnOf[R, S any](c Column[S], of func(R) S) Column[R] {
	forms := make(Column[R], len(c))
	for i, f := range c {
		forms[i] = Form[R]{f.Head, f.Width, func(row R) string { return f.Cell(of(row)) }, f.Yield}
	}
	return forms
}

// A Table prints rows in columns, below a heading. Columns of a narrow terminal are
// shortened or dropped until a line fits.
type Table[R any] struct {
	out    io.Writer
	forms  []Form[R]
	headed bool
}

// NewTable returns a table that goes to out, in lines of at most width characters.
func NewTable[R any](out io.Writer, width int, columns []Column[R]) *Table[R] {
	return &Table[R]{out: out, forms: fit(columns, width)}
}

// fit returns the form of each column with which a line has at most width characters, as
// far as that is possible.
func fit[R any](columns []Column[R], width int) []Form[R] {
	rest := append([]Column[R]{}, columns...)
	for {
		forms, length, next := []Form[R]{}, -1, math.MaxInt
		for _, c := range rest {
			if len(c) == 0 {
				continue
			}
			forms = append(forms, c[0])
			length += 1 + c[0].Width
			if c[0].Yield > 0 {
				next = min(next, c[0].Yield)
			}
		}
		if length <= width || next == math.MaxInt {
			return forms
		}
		for i, c := range rest {
			if len(c) > 0 && c[0].Yield == next {
				rest[i] = c[1:]
			}
		}
	}
}

// Head prints the heading, once.
func (t *Table[R]) Head() {
	if !t.headed {
		t.print(func(f Form[R]) string { return f.Head })
		t.headed = true
	}
}

// Add prints a row, the first one below the heading.
func (t *Table[R]) Add(row R) {
	t.Head()
	t.print(func(f Form[R]) string { return f.Cell(row) })
}

// print prints a line.
func (t *Table[R]) print(text func(Form[R]) string) {
	cells := make([]string, len(t.forms))
	for i, f := range t.forms {
		cells[i] = fmt.Sprintf("%*s", f.Width, text(f))
	}
	fmt.Fprintln(t.out, strings.Join(cells, " "))
}

// Wrap breaks text between words into lines of at most width characters; lines after the
// first begin with indent blanks. A longer word has a line of its own.
func Wrap(text string, width, indent int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	var b strings.Builder
	length, empty := 0, true
	for word := range strings.SplitSeq(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case empty:
		case length+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			length = indent
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length, empty = length+n, false
	}
	return b.String()
}

// WrapLines wraps each line of text.
func WrapLines(text string, width, indent int) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Wrap(lines[i], width, indent)
	}
	return strings.Join(lines, "\n")
}

// Printf prints a line to stdout; one that is too long for the terminal is broken, and goes
// on below its beginning, indent blanks further.
func (a *App) Printf(indent int, format string, args ...any) {
	fmt.Fprintln(a.Out, Wrap(fmt.Sprintf(format, args...), WidthOf(a.Out), indent))
}
