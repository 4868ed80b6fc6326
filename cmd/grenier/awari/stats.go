package awari

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/report"
	"grenier/io/vfs"
)

// allLayers is the value of --layer that selects every layer.
const allLayers = -1

func (a *app) stats() *cobra.Command {
	var where place
	var html, svg string
	var layer int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats {--dir DIR | --url URL}",
		Short: "Print or draw wins, draws, losses and histograms of the solved layers",
		Long: `Prints, for each solved layer, the number of positions, how many are wins, draws
and losses for the player to move, the mean score and the FNV-1a-64 of all scores
as bytes in colex order (from offset 1469598103934665603). With --layer also how
often each score occurs. All of it is taken from the manifest, which may be on a web
server (--url, see grenier awari remote).

With --html or --svg the same is drawn instead of printed. The web page is
complete in one file and has a histogram of every layer, and wins, draws and
losses, mean score, bytes a position and time by layer, each with its numbers.
The SVG file has these charts below each other, and the histogram of the highest
layer only. With --layer both have the histogram of that layer and nothing else.
An existing file is replaced.
` + cli.ExitHelp,
		Example: `  grenier awari stats --dir data/awari
  grenier awari stats --dir data/awari --layer 12 --json
  grenier awari stats --dir data/awari --html layers.html --svg layers.svg`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			m, err := loadLayers(cmd.Context(), &where, layer)
			if err != nil {
				return err
			}
			if err := drawStats(m, html, svg); err != nil {
				return err
			}
			switch {
			case asJSON:
				return a.PrintJSON(m.Summary())
			case html == "" && svg == "":
				a.printStats(m, layer != allLayers)
			}
			return nil
		}),
	}
	needPlace(cmd, &where)
	cmd.Flags().IntVar(&layer, "layer", allLayers, "only the layer of `n` seeds, with its histogram; -1 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().Var((*cli.File)(&html), "html", "write a web page with charts to `FILE`")
	cmd.Flags().Var((*cli.File)(&svg), "svg", "write the charts to `FILE` as SVG")
	return cmd
}

// loadLayers returns the manifest, cut down to one layer unless all are wanted.
func loadLayers(ctx context.Context, where *place, layer int) (*manifest.Manifest, error) {
	m, err := where.manifest(ctx)
	if err != nil || layer == allLayers {
		return m, err
	}
	switch {
	case len(m.Layers) == 0:
		return nil, cli.Usagef("--layer %d: no layer in %s is solved", layer, where)
	case layer < 0 || layer >= len(m.Layers):
		return nil, cli.Usagef("--layer %d: %s has layers 0 to %d", layer, where, len(m.Layers)-1)
	}
	m.Layers = m.Layers[layer : layer+1]
	return m, nil
}

// drawStats writes the files that are wanted, those whose names are not empty.
func drawStats(m *manifest.Manifest, html, svg string) error {
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
		if err := vfs.WriteFile(file.path, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printStats(m *manifest.Manifest, histograms bool) {
	fmt.Fprintf(a.Out, "%s\n%5s %16s %16s %16s %16s %10s %10s  %s\n", m.Identity,
		"seeds", "positions", "win", "draw", "loss", "mean", "bytes/pos", "fnv1a64")
	for _, l := range m.Layers {
		fmt.Fprintf(a.Out, "%5d %16s %16s %16s %16s %10.6f %10.3f  %s\n", l.Seeds, cli.Comma(l.Positions), cli.Comma(l.Win),
			cli.Comma(l.Draw), cli.Comma(l.Loss), l.Histogram.Mean(), float64(l.Bytes)/float64(l.Positions), l.Hash)
		if histograms {
			a.printHistogram(l)
		}
	}
}

func (a *app) printHistogram(l manifest.Layer) {
	fmt.Fprintf(a.Out, "\n%5s %16s %8s\n", "score", "positions", "share")
	for s := math.MinInt8; s <= math.MaxInt8; s++ {
		if n := l.Histogram.Count(int8(s)); n > 0 {
			fmt.Fprintf(a.Out, "%5s %16s %7.3f%%\n", signed(s), cli.Comma(n), 100*float64(n)/float64(l.Positions))
		}
	}
}
