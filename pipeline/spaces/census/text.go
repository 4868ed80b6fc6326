package census

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Column is a column of the document's tables.
type Column struct {
	Head string            // as in the document
	Cell func(*Row) string // decimal counts, sizes like "1.2 KiB", costs like "1.400e+01"
}

// The columns, each showing the field of Row of the same name.
var (
	Seeds           = Column{"n", func(r *Row) string { return strconv.Itoa(r.Seeds) }}
	Configs         = Column{"configs", func(r *Row) string { return strconv.FormatUint(r.Configs, 10) }}
	Accessible      = Column{"configs (a)", func(r *Row) string { return strconv.FormatUint(*r.Accessible, 10) }}
	Space           = Column{"space", func(r *Row) string { return FormatBytes(r.Space) }}
	SpaceCumulative = Column{"space (c)", func(r *Row) string { return FormatBytes(r.SpaceCumulative) }}
	SpaceAccessible = Column{"space (a,c)", func(r *Row) string { return FormatBytes(*r.SpaceAccessible) }}
	SpaceReal       = Column{"space (real)", func(r *Row) string { return FormatBytes(r.SpaceReal) }}
	Cost            = Column{"cost", func(r *Row) string { return fmt.Sprintf("%.3e", float64(r.Cost)) }}
)

// Columns returns the columns that the document shows in a table like t: with
// the accessible boards when they were counted (its table for 8 pits), with the
// real space otherwise (its table for 12 pits).
func (t *Table) Columns() []Column {
	if t.Accessible {
		return []Column{Seeds, Configs, Accessible, Space, SpaceCumulative, SpaceAccessible}
	}
	return []Column{Seeds, Configs, Space, SpaceCumulative, SpaceReal}
}

// FormatBytes returns a number of bytes with one decimal and a binary unit from
// B to TiB, like "0.7 B" or "521.3 GiB". The unit is the largest that is not
// above the number.
func FormatBytes(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for bytes >= 1024 && len(units) > 1 {
		bytes /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %s", bytes, units[0])
}

// WriteRST writes the given columns as a reStructuredText simple table, set as
// in the document: headings and cells to the right, units aligned. It fails as w does.
func (t *Table) WriteRST(w io.Writer, columns ...Column) error {
	lines := [][]string{make([]string, len(columns))}
	for i, c := range columns {
		lines[0][i] = c.Head
	}
	for n := range t.Rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.Cell(&t.Rows[n])
			if strings.HasSuffix(line[i], " B") { // as wide as the other units
				line[i] += "  "
			}
		}
		lines = append(lines, line)
	}
	_, err := io.WriteString(w, simpleTable(lines))
	return err
}

// simpleTable sets lines, the first one the heading, in columns one wider than their
// widest cell.
func simpleTable(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len(cell)+1)
		}
	}
	rule := make([]string, len(widths))
	for i, width := range widths {
		rule[i] = strings.Repeat("=", width)
	}
	border := strings.Join(rule, " ") + "\n"
	var b strings.Builder
	b.WriteString(border)
	for number, line := range lines {
		if number == 1 {
			b.WriteString(border)
		}
		for i, cell := range line {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%*s", widths[i], cell)
		}
		b.WriteByte('\n')
	}
	b.WriteString(border)
	return b.String()
}
