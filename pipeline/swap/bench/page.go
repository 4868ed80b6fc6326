package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"grenier/io/chart"
	"grenier/io/report"
)

// Page returns the report as tables, and charts of them.
func (r *Report) Page() report.Page {
	p := report.Page{
		Heading: "Swap puzzle: measurements",
		Summary: fmt.Sprintf("Seed %d; %s, %s, %d threads for databases and astar-parallel, one for all else", r.Seed, r.Machine.CPU, r.Machine.Go, r.Machine.Threads),
	}
	if r.Heuristics != nil {
		p.Sections = append(p.Sections, r.Heuristics.sections()...)
	}
	if len(r.Solvers) > 0 {
		p.Sections = append(p.Sections, solverSections(r.Solvers)...)
	}
	if len(r.Databases) > 0 {
		p.Sections = append(p.Sections, databaseSections(r.Databases)...)
	}
	return p
}

func (t *HeuristicsTable) sections() []report.Section {
	table := chart.Table{Head: []string{"heuristic", "mean", "share", "largest", "ns", "admissible", "consistent", "table entries"}}
	drawn := chart.Chart{
		Name: "heuristics", Title: "How near the heuristics come", Kind: chart.Rows,
		Text:  fmt.Sprintf("Mean of each heuristic on %s random grids of %d x %d, and what is missing to the mean distance, %.3f.", count(t.Grids), t.Rows, t.Cols, t.Distance.Mean),
		Y:     chart.Axis{Label: "swaps"},
		Table: chart.Table{Head: []string{"heuristic", "mean", "share of the distance"}},
	}
	means, missing := make([]float64, len(t.Bounds)), make([]float64, len(t.Bounds))
	for i, b := range t.Bounds {
		share := fmt.Sprintf("%.1f%%", 100*b.Share)
		table.Rows = append(table.Rows, []string{
			b.Name, fmt.Sprintf("%.3f", b.Mean), share, strconv.Itoa(b.Largest), digits(b.Nanoseconds),
			verdict(b.Admissible, b.Exceeds), verdict(b.Consistent, b.Inconsistent), count(b.Entries),
		})
		drawn.Table.Rows = append(drawn.Table.Rows, []string{b.Name, fmt.Sprintf("%.3f", b.Mean), share})
		means[i], missing[i] = b.Mean, math.Max(0, t.Distance.Mean-b.Mean)
	}
	drawn.Series = []chart.Series{
		{Name: "heuristic", Tone: chart.Teal, Values: means}, {Name: "missing to the distance", Tone: chart.Mist, Values: missing},
	}
	return []report.Section{{Chart: &drawn}, {
		Title: fmt.Sprintf("Heuristics on %s random grids of %d x %d", count(t.Grids), t.Rows, t.Cols),
		Text: fmt.Sprintf("True distance: mean %.3f, largest %d. Share: mean of heuristic over distance. ns: nanoseconds of an evaluation. "+
			"A number after no is how many of %s swaps change the heuristic by more than 1. apdb: sum over fixed sets of tiles (of all tiles: the distance); "+
			"gadb: cover by sets of up to k tiles; max: the largest of %s, its inverse and walking.",
			t.Distance.Mean, t.Distance.Largest, count(t.Swaps), maxOf),
		Table: table,
	}}
}

// verdict returns a flag as text, and how often it does not hold.
func verdict(flag bool, broken int) string {
	switch {
	case flag:
		return "yes"
	case broken == 0:
		return "no"
	}
	return "no, " + count(broken)
}

func solverSections(tables []SolversTable) []report.Section {
	expanded := bySolver(tables, "expanded", "States expanded", "mean number of states expanded, logarithmic", func(s *Solver) (float64, string) {
		return s.Expanded.Mean, rounded(s.Expanded.Mean)
	})
	expanded.Text += " The greedy solver expands none."
	times := bySolver(tables, "times", "Time of the solvers", "median milliseconds, logarithmic", func(s *Solver) (float64, string) {
		return 1000 * s.Seconds.Median, digits(1000 * s.Seconds.Median)
	})
	all := []report.Section{{Chart: &expanded}, {Chart: &times}}
	for i := range tables {
		all = append(all, tables[i].section())
	}
	all[2].Text += solverLegend
	return all
}

// solverLegend explains the columns of all tables of solvers, below the first of them.
const solverLegend = " Optimal: solutions as long as the distance; excess: swaps more, in the mean. " +
	"Expanded: mean, median and most; generated: mean; open and closed: most states waiting and remembered. " +
	"Milliseconds: median, mean and most. kB: what a search allocates, in the mean."

// tones of the sizes in a chart.
var tones = []chart.Tone{chart.Mist, chart.Blue, chart.Orange, chart.Teal}

// bySolver returns a chart of a value of each solver on grids of each size. Solvers
// whose value is 0 are left out: 0 has no place on its axis.
func bySolver(tables []SolversTable, name, title, label string, value func(*Solver) (float64, string)) chart.Chart {
	c := chart.Chart{
		Name: name, Title: title, Text: "By solver and size of the grid; not all solvers are fit for all sizes.", Kind: chart.Rows,
		Y: chart.Axis{Label: label, Log: true, Format: power}, Table: chart.Table{Head: []string{"solver"}},
	}
	row := map[string]int{}
	for _, t := range tables {
		c.Table.Head = append(c.Table.Head, t.size())
		for i := range t.Solvers {
			s := &t.Solvers[i]
			v, _ := value(s)
			if _, ok := row[s.Name]; !ok && v > 0 {
				row[s.Name] = len(c.Table.Rows)
				c.Table.Rows = append(c.Table.Rows, append([]string{s.Name}, make([]string, len(tables))...))
			}
		}
	}
	for i, t := range tables {
		series := chart.Series{Name: t.size(), Tone: tones[i], Values: make([]float64, len(c.Table.Rows))}
		for j := range t.Solvers {
			if r, ok := row[t.Solvers[j].Name]; ok {
				series.Values[r], c.Table.Rows[r][i+1] = value(&t.Solvers[j])
			}
		}
		c.Series = append(c.Series, series)
	}
	return c
}

func (t *SolversTable) size() string { return fmt.Sprintf("%d x %d", t.Rows, t.Cols) }

func (t *SolversTable) section() report.Section {
	table := chart.Table{Head: []string{
		"solver", "solved", "optimal", "length", "excess", "expanded", "median", "max", "generated", "open", "closed", "ms", "mean", "max", "kB",
	}}
	heuristic := ""
	for _, s := range t.Solvers {
		if s.Heuristic == solverHeuristic {
			heuristic = " Those that take a heuristic have " + s.Heuristic + "."
		}
		optimal := "?"
		if t.Known > 0 {
			optimal = fmt.Sprintf("%.0f%%", math.Floor(100*float64(s.Optimal)/float64(t.Known)))
		}
		table.Rows = append(table.Rows, []string{
			s.Name, count(s.Solved), optimal, fmt.Sprintf("%.2f", s.MeanLength), fmt.Sprintf("%.2f", s.Excess),
			rounded(s.Expanded.Mean), rounded(s.Expanded.Median), rounded(s.Expanded.Max), rounded(s.Generated),
			humanize.Comma(int64(s.PeakOpen)), humanize.Comma(int64(s.PeakClosed)),
			digits(1000 * s.Seconds.Median), digits(1000 * s.Seconds.Mean), digits(1000 * s.Seconds.Max), rounded(s.Allocated / 1000),
		})
	}
	source := "from a database of all tiles"
	if t.Source == fromSolvers {
		source = fmt.Sprintf("the length of solutions that are proved shortest (of %d grids)", t.Known)
	}
	return report.Section{
		Title: fmt.Sprintf("Solvers on %s random grids of %s", count(t.Grids), t.size()),
		Text:  fmt.Sprintf("True distance: mean %.2f, largest %d, %s.%s", t.Distance.Mean, t.Distance.Largest, source, heuristic),
		Table: table,
	}
}

func databaseSections(databases []Database) []report.Section {
	table := chart.Table{Head: []string{
		"database", "entries", "seconds", "document", "faster", "MB in memory", "document", "MB on disk", "document", "smaller",
	}}
	drawn := chart.Chart{
		Name: "databases", Title: "Time to build databases", Kind: chart.Rows,
		Text:  "Seconds here, the file included, and in the document.",
		Y:     chart.Axis{Label: "seconds, logarithmic", Log: true, Format: power},
		Table: chart.Table{Head: []string{"database", "seconds", "document", "times faster"}},
	}
	here, there := make([]float64, len(databases)), make([]float64, len(databases))
	for i, d := range databases {
		here[i], there[i] = d.Seconds, d.Document.Seconds
		table.Rows = append(table.Rows, []string{
			d.Name, count(d.Entries), digits(d.Seconds), digits(d.Document.Seconds), "x " + digits(d.Faster),
			megabytes(float64(d.Entries)), fmt.Sprintf("%.1f", d.Document.MemoryMB),
			megabytes(float64(d.Bytes)), fmt.Sprintf("%.1f", d.Document.DiskMB), "x " + digits(d.Smaller),
		})
		drawn.Table.Rows = append(drawn.Table.Rows, []string{d.Name, digits(d.Seconds), digits(d.Document.Seconds), digits(d.Faster)})
	}
	drawn.Series = []chart.Series{{Name: "here", Tone: chart.Teal, Values: here}, {Name: "document", Tone: chart.Orange, Values: there}}
	return []report.Section{{Chart: &drawn}, {
		Title: "Databases of the document",
		Text:  "Cost unit. Seconds to build the database and to write its file; one byte an entry in memory. The document measured on another machine, in Python. MB are 10^6 bytes.",
		Table: table,
	}}
}

func count(n int) string { return humanize.Comma(int64(n)) }

// rounded returns a number with thousands apart.
func rounded(x float64) string { return humanize.Comma(int64(math.Round(x))) }

// digits returns a number with three digits that mean something.
func digits(x float64) string {
	if x >= 100 {
		return rounded(x)
	}
	if x == 0 {
		return "0"
	}
	places := max(0, 2-int(math.Floor(math.Log10(x))))
	return strconv.FormatFloat(x, 'f', places, 64)
}

func megabytes(bytes float64) string { return fmt.Sprintf("%.2f", bytes/1e6) }

// power returns a power of ten as text.
func power(x float64) string {
	if x < 1 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.Replace(humanize.SIWithDigits(x, 0, ""), " ", "", 1)
}
