package awari

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/compare"
)

// compareFlags are the flags of compare as given.
type compareFlags struct {
	cli.JobFlags
	layers layersFlag
}

func (a *app) compare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare the scores of two run directories or layer files",
		Long: `Reads all scores of the layers that A and B have in common, counts those that
differ, and prints the first differing boards of each layer with both scores. A
and B are run directories or layer files, DIR/layer-NN.gl; to compare an
exported file, import it first. Layers that only A or only B has are listed,
but do not count as differences. Distances are compared too where A and B both
have some.

The command takes a few MiB of memory, regardless of the size of the layers. The
system may show more: it counts the parts of the mapped files that it caches.
`,
		Example: `  grenier awari compare data/awari data/vu
  grenier awari compare data/awari data/vu --layer 12 --json
  grenier awari compare old/layer-09.gl data/awari`,
		Args: cli.NeedArgs(2, 2, "two run directories or layer files"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			return a.runCompare(cmd.Context(), f, args[0], args[1])
		}),
	}
	flags := cmd.Flags()
	anyLayers(cmd, &f.layers, "only the ")
	cli.ThreadsFlag(flags, &f.Threads, "use")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

func (f *compareFlags) options() (o compare.Options, err error) {
	o.Layers = f.layers.list()
	o.Job, err = f.Job()
	return o, err
}

func (a *app) runCompare(ctx context.Context, f compareFlags, left, right string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	a.tellStale(shown, left, right)
	result, err := compare.Run(ctx, left, right, o)
	shown.Close()
	if err != nil {
		return err
	}
	return a.Checked(f.JSON, result, func() { a.printCompared(result) })
}

func (a *app) printCompared(r *compare.Result) {
	for _, l := range r.Layers {
		fmt.Fprintf(a.Out, "layer %2d: %s compared, %s differ\n", l.Seeds, cli.Count(l.Positions, "position"), cli.Comma(l.Differing))
		a.printDifferences(l.First, "")
		if l.Distances != nil {
			fmt.Fprintf(a.Out, "          distances: %s differ\n", cli.Comma(l.Distances.Differing))
			a.printDifferences(l.Distances.First, " plies")
		}
	}
	a.printOnly(r.A, r.OnlyA)
	a.printOnly(r.B, r.OnlyB)
	for _, text := range r.Stale {
		fmt.Fprintln(a.Out, text)
	}
	if r.OK {
		fmt.Fprintf(a.Out, "no difference (%.1f s)\n", r.Seconds)
	}
}

// printDifferences lists positions with two values, in a unit.
func (a *app) printDifferences(all []compare.Difference, unit string) {
	for _, d := range all {
		fmt.Fprintf(a.Out, "  board %s, rank %d: %d%s in A, %d%s in B\n", d.Board, d.Rank, d.A, unit, d.B, unit)
	}
}

// printOnly lists layers that only one side has. Each side has layers without gaps, or a
// single one.
func (a *app) printOnly(path string, layers []int) {
	switch n := len(layers); {
	case n == 1:
		fmt.Fprintf(a.Out, "only in %[2]s: layer %[1]d\n", layers[0], path)
	case n > 1:
		fmt.Fprintf(a.Out, "only in %s: layers %d to %d\n", path, layers[0], layers[n-1])
	}
}
