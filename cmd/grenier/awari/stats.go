package awari

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/report"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	bestline "grenier/pipeline/play/line"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

func (a *app) stats() *cobra.Command {
	var where place
	var html, svg string
	var layers layersFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats {--dir DIR | --url URL}",
		Short: "Print or draw results and histograms of the solved layers",
		Long: `Prints for each solved layer the number of positions, the wins, draws and
losses for the player to move, the mean score, the bytes a position takes on
disk, and the FNV-1a-64 of all scores as bytes in colex order (with offset
1469598103934665603). A narrow terminal shows wins, draws and losses as shares,
or fewer columns. --layer adds how often each score occurs. All these figures
come from the manifest, which may be on a web server (--url, see "grenier awari
remote").

If the distances of a layer were computed ("grenier awari distances"), --layer
with --dir adds the longest one, the first board that has it, and its moves up
to the capture, in capitals those of its mover. All distances are read for that.

--html and --svg draw the figures instead, - on stdout. The web page is one
file, with a histogram of each layer, and wins, draws and losses, mean score,
bytes a position and time by layer, all with their numbers. The SVG has the
same charts, but the histogram of the highest layer only. With --layer both
have the histogram of that layer only. An existing file is replaced.
`,
		Example: `  grenier awari stats --dir data/awari
  grenier awari stats --dir data/awari --layer 12 --json
  grenier awari stats --dir data/awari --html layers.html --svg layers.svg`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if err := cli.OneStdout(asJSON, map[string]string{"--html": html, "--svg": svg}); err != nil {
				return err
			}
			m, err := loadLayers(cmd.Context(), &where, &layers)
			if err != nil {
				return err
			}
			if err := a.drawStats(m, html, svg); err != nil {
				return err
			}
			if !asJSON && (html != "" || svg != "") {
				return nil
			}
			var longest map[int]*longestLine
			if layers.given && where.dir != "" {
				if longest, err = a.longest(cmd.Context(), &where, m, asJSON); err != nil {
					return err
				}
			}
			if asJSON {
				return a.PrintJSON(newStatsReport(m, longest))
			}
			a.printStats(m, layers.given, longest)
			return nil
		}),
	}
	needPlace(cmd, &where)
	anyLayers(cmd, &layers, "only, with its histogram, the ")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().Var((*cli.File)(&html), "html", "`FILE` for a web page with charts, - for stdout")
	cmd.Flags().Var((*cli.File)(&svg), "svg", "`FILE` for the charts as SVG, - for stdout")
	return cmd
}

// longest returns the longest distances of the layers of a manifest, as far as there are any.
func (a *app) longest(ctx context.Context, where *place, m *manifest.Manifest, asJSON bool) (map[int]*longestLine, error) {
	family, err := cli.Family()
	if err != nil {
		return nil, err
	}
	t, err := where.tables(ctx, family)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	shown, err := a.NewProgress("auto", asJSON)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	all := map[int]*longestLine{}
	for _, l := range m.Layers {
		longest, err := distance.LongestOf(ctx, t, l.Seeds, job.Job{Workers: runtime.GOMAXPROCS(0), Progress: shown.Show})
		if err != nil {
			return nil, err
		}
		if longest == nil {
			continue
		}
		if all[l.Seeds], err = newLongestLine(ctx, t, longest); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// longestLine is the longest distance of a layer, with its moves up to the capture or the end of the game.
type longestLine struct {
	*distance.Longest
	Line []int `json:"line"` // pits, each of the player whose turn it is
}

func newLongestLine(ctx context.Context, t *tables.Tables, longest *distance.Longest) (*longestLine, error) {
	l := &longestLine{longest, []int{}}
	b, err := t.Game().Parse(strings.Fields(longest.Board))
	if err != nil {
		return nil, err
	}
	for len(l.Line) < longest.Plies {
		m, ok, err := bestline.Next(ctx, t, b, bestline.Options{})
		if err != nil {
			return nil, err
		}
		if !ok { // the end of the game is a ply
			break
		}
		l.Line, b = append(l.Line, m.Pit), m.Child
	}
	return l, nil
}

// moves names the pits of the line.
func (l *longestLine) moves() string {
	names := make([]string, len(l.Line))
	for i, pit := range l.Line {
		names[i] = awari.PitName(i%2, pit)
	}
	return strings.Join(names, " ")
}

// statsReport is the JSON of stats.
type statsReport struct {
	manifest.Summary
	Layers []statsLayer `json:"layers"`
}

// statsLayer is a layer of it; Longest is nil if no distances were asked for, or are known.
type statsLayer struct {
	manifest.LayerSummary
	Longest *longestLine `json:"longest,omitempty"`
}

func newStatsReport(m *manifest.Manifest, longest map[int]*longestLine) statsReport {
	report := statsReport{Summary: m.Summary(), Layers: []statsLayer{}}
	for _, l := range report.Summary.Layers {
		report.Layers = append(report.Layers, statsLayer{l, longest[l.Seeds]})
	}
	return report
}

// loadLayers returns the manifest with the layers that are asked for.
func loadLayers(ctx context.Context, where *place, layers *layersFlag) (*manifest.Manifest, error) {
	m, err := where.manifest(ctx)
	if err != nil {
		return m, err
	}
	if layers.given && (layers.to >= len(m.Layers) || layers.from == layers.to && !m.Has(layers.to)) {
		return nil, cli.Usagef("--layer %v: %s", layers, catalog.Lacks(m, where.String(), layers.to))
	}
	if layers.given {
		m.Layers = m.Layers[layers.from : layers.to+1]
	}
	m.Layers = m.Listed()
	return m, nil
}

// drawStats writes the files whose names are not empty.
func (a *app) drawStats(m *manifest.Manifest, html, svg string) error {
	for _, file := range []struct {
		path  string
		write func(io.Writer, *manifest.Manifest) error
	}{{html, report.WritePage}, {svg, report.WriteSVG}} {
		if file.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := file.write(&b, m); err != nil {
			return cli.Usagef("%s: %w", file.path, err)
		}
		if err := a.WriteFile(file.path, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printStats(m *manifest.Manifest, histograms bool, longest map[int]*longestLine) {
	fmt.Fprintln(a.Out, m.Identity)
	table := cli.NewTable(a.Out, cli.WidthOf(a.Out), statsColumns())
	table.Head() // even if there is no layer
	for i, l := range m.Layers {
		if i > 0 && l.Seeds > m.Layers[i-1].Seeds+1 {
			fmt.Fprintf(a.Out, "layer %d is left out\n", l.Seeds-1)
		}
		table.Add(l)
		if histograms {
			a.printHistogram(l)
		}
		if d := longest[l.Seeds]; d != nil && d.Plies > 0 {
			text := fmt.Sprintf("\nlongest distance: %s, from board %s: %s\n", plies(d.Plies), d.Board, d.moves())
			fmt.Fprint(a.Out, cli.WrapLines(text, cli.WidthOf(a.Out), len("longest distance: ")))
		}
	}
}

// statsColumns are the columns of stats.
func statsColumns() []cli.Column[manifest.Layer] {
	bytes := func(l manifest.Layer) string { return fmt.Sprintf("%.3f", perPosition(float64(l.Bytes), l)) }
	hash := func(l manifest.Layer) string { return l.Hash.String() }
	return append(resultColumns(),
		cli.Column[manifest.Layer]{{Head: "mean", Width: 9, Yield: 4, Cell: meanOf}},
		cli.Column[manifest.Layer]{{Head: "bytes/pos", Width: 10, Yield: 2, Cell: bytes}, {Head: "B/pos", Width: 7, Yield: 5, Cell: bytes}},
		cli.Column[manifest.Layer]{{Head: "fnv1a64", Width: 17, Yield: 3, Cell: hash}},
	)
}

// resultColumns are the columns that solve and stats share: positions, and how many are wins,
// draws and losses, first as numbers, then as shares.
func resultColumns() []cli.Column[manifest.Layer] {
	result := func(head string, count func(manifest.Layer) uint64) cli.Column[manifest.Layer] {
		return cli.Column[manifest.Layer]{
			{Head: head, Width: 16, Yield: 1, Cell: func(l manifest.Layer) string { return cli.Comma(count(l)) }},
			{Head: head, Width: 6, Yield: 6, Cell: func(l manifest.Layer) string { return cli.Percent(count(l), l.Positions) }},
		}
	}
	return []cli.Column[manifest.Layer]{
		{{Head: "seeds", Width: 5, Cell: func(l manifest.Layer) string { return strconv.Itoa(l.Seeds) }}},
		{{Head: "positions", Width: 16, Cell: func(l manifest.Layer) string { return cli.Comma(l.Positions) }}},
		result("win", func(l manifest.Layer) uint64 { return l.Win }),
		result("draw", func(l manifest.Layer) uint64 { return l.Draw }),
		result("loss", func(l manifest.Layer) uint64 { return l.Loss }),
	}
}

// meanOf returns the mean score of a layer.
func meanOf(l manifest.Layer) string { return fmt.Sprintf("%.6f", l.Histogram.Mean()) }

// perPosition returns the share of a position in an amount of a layer.
func perPosition(amount float64, l manifest.Layer) float64 { return amount / float64(l.Positions) }

// mostBar is the most characters of a bar in a histogram.
const mostBar = 48

// printHistogram prints how often each score occurs; on a terminal with bars, as wide as they fit.
func (a *app) printHistogram(l manifest.Layer) {
	fmt.Fprintf(a.Out, "\n%5s %16s %8s\n", "score", "positions", "share")
	bars, most := 0, uint64(0)
	if cli.IsTerminal(a.Out) {
		bars = max(0, min(mostBar, cli.WidthOf(a.Out)-32))
	}
	for s := math.MinInt8; s <= math.MaxInt8; s++ {
		most = max(most, l.Histogram.Count(int8(s)))
	}
	for s := math.MinInt8; s <= math.MaxInt8; s++ {
		if n := l.Histogram.Count(int8(s)); n > 0 {
			bar := strings.Repeat("█", int(math.Ceil(float64(bars)*float64(n)/float64(most))))
			line := fmt.Sprintf("%5s %16s %7.3f%% %s", awari.Signed(s), cli.Comma(n), 100*float64(n)/float64(l.Positions), bar)
			fmt.Fprintln(a.Out, strings.TrimRight(line, " "))
		}
	}
}
