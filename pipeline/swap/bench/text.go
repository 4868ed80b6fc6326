package bench

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Table is a part of a report as text.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string // of cells below Head
	Text  string     // explains the columns
}

// Tables returns the report as text.
func (r *Report) Tables() (all []Table) {
	if r.Heuristics != nil {
		all = append(all, r.Heuristics.text())
	}
	for i := range r.Solvers {
		t := r.Solvers[i].text()
		if i == 0 {
			t.Text += solverLegend
		}
		all = append(all, t)
	}
	if len(r.Databases) > 0 {
		all = append(all, databasesText(r.Databases))
	}
	return all
}

// Summary says where the figures come from.
func (r *Report) Summary() string {
	return fmt.Sprintf("Seed %d; %s, %s, %d threads for databases and astar-parallel, one for all else", r.Seed, r.Machine.CPU, r.Machine.Go, r.Machine.Threads)
}

func (t *HeuristicsTable) text() Table {
	text := Table{
		Title: fmt.Sprintf("Heuristics on %s random grids of %d x %d", count(t.Grids), t.Rows, t.Cols),
		Head:  []string{"heuristic", "mean", "share", "largest", "ns", "admissible", "consistent", "table entries"},
		Text: fmt.Sprintf("True distance: mean %.3f, largest %d. Share: mean of heuristic over distance. ns: nanoseconds of an evaluation. "+
			"A number after no is how many of %s swaps change the heuristic by more than 1. apdb: sum over fixed sets of tiles (of all tiles: the distance); "+
			"gadb: cover by sets of up to k tiles; max: the largest of %s, its inverse and walking.",
			t.Distance.Mean, t.Distance.Largest, count(t.Swaps), maxOf),
	}
	for _, b := range t.Bounds {
		text.Rows = append(text.Rows, []string{
			b.Name, fmt.Sprintf("%.3f", b.Mean), fmt.Sprintf("%.1f%%", 100*b.Share), strconv.Itoa(b.Largest), digits(b.Nanoseconds),
			verdict(b.Admissible, b.Exceeds), verdict(b.Consistent, b.Inconsistent), count(b.Entries),
		})
	}
	return text
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

// solverLegend explains the columns of all tables of solvers, below the first of them.
const solverLegend = " Optimal: solutions as long as the distance; excess: swaps more, in the mean. " +
	"Expanded: mean, median and most; generated: mean; open and closed: most states waiting and remembered. " +
	"Milliseconds: median, mean and most. kB: what a search allocates, in the mean."

// size returns the size of the grids as text.
func (t *SolversTable) size() string { return fmt.Sprintf("%d x %d", t.Rows, t.Cols) }

func (t *SolversTable) text() Table {
	source := "from a database of all tiles"
	if t.Source == fromSolvers {
		source = fmt.Sprintf("the length of solutions that are proved shortest (of %d grids)", t.Known)
	}
	text := Table{
		Title: fmt.Sprintf("Solvers on %s random grids of %s", count(t.Grids), t.size()),
		Head: []string{
			"solver", "solved", "optimal", "length", "excess", "expanded", "median", "max", "generated", "open", "closed", "ms", "mean", "max", "kB",
		},
		Text: fmt.Sprintf("True distance: mean %.2f, largest %d, %s. Those that take a heuristic have %s.",
			t.Distance.Mean, t.Distance.Largest, source, solverHeuristic),
	}
	for i := range t.Solvers {
		text.Rows = append(text.Rows, t.row(&t.Solvers[i]))
	}
	return text
}

// row returns the results of a solver as text.
func (t *SolversTable) row(s *Solver) []string {
	optimal := "?"
	if t.Known > 0 {
		optimal = fmt.Sprintf("%.0f%%", math.Floor(100*float64(s.Optimal)/float64(t.Known)))
	}
	return []string{
		s.Name, count(s.Solved), optimal, fmt.Sprintf("%.2f", s.MeanLength), fmt.Sprintf("%.2f", s.Excess),
		rounded(s.Expanded.Mean), rounded(s.Expanded.Median), rounded(s.Expanded.Max), rounded(s.Generated),
		humanize.Comma(int64(s.PeakOpen)), humanize.Comma(int64(s.PeakClosed)),
		digits(1000 * s.Seconds.Median), digits(1000 * s.Seconds.Mean), digits(1000 * s.Seconds.Max), rounded(s.Allocated / 1000),
	}
}

func databasesText(databases []Database) Table {
	text := Table{
		Title: "Databases of the document",
		Head: []string{
			"database", "entries", "seconds", "document", "faster", "MB in memory", "document", "MB on disk", "document", "smaller",
		},
		Text: "Cost unit. Seconds to build the database and to pack its file; one byte an entry in memory. " +
			"The document measured on another machine, in Python. MB are 10^6 bytes.",
	}
	for _, d := range databases {
		text.Rows = append(text.Rows, []string{
			d.Name, count(d.Entries), digits(d.Seconds), digits(d.Document.Seconds), "x " + digits(d.Faster),
			megabytes(float64(d.Entries)), fmt.Sprintf("%.1f", d.Document.MemoryMB),
			megabytes(float64(d.Bytes)), fmt.Sprintf("%.1f", d.Document.DiskMB), "x " + digits(d.Smaller),
		})
	}
	return text
}

func count(n int) string { return humanize.Comma(int64(n)) }

// rounded returns a number with thousands apart.
func rounded(x float64) string { return humanize.Comma(int64(math.Round(x))) }

// digits returns a number with three significant digits, or as a whole number from 100 on.
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
