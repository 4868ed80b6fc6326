package awari

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/compare"
)

// compareFlags are the flags of compare as given.
type compareFlags struct {
	layer, threads int
	progress       string
	json           bool
}

func (a *app) compare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare the scores of two run directories or layer files",
		Long: `Reads all scores of the layers that both A and B have, counts those that differ and
prints the first boards of each layer, with the score in A and in B. A and B are run
directories or layer files, DIR/layer-NN.gl. Exported files are imported first.

Layers that only one of them has are named, but are no difference.

Memory is a few MiB, whatever the layers take, so there is no --memory. The system may
count more: the files are mapped, and what was read of them stays in its cache until
it needs the room.
` + cli.ExitHelp,
		Example: `  grenier awari compare data/awari data/vu
  grenier awari compare data/awari data/vu --layer 12 --json
  grenier awari compare old/layer-09.gl data/awari`,
		Args: exactly(2, "two run directories or layer files"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			return a.runCompare(cmd.Context(), f, args[0], args[1])
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.layer, "layer", allLayers, "only the layer of `n` seeds; -1 for all")
	cli.ThreadsFlag(flags, &f.threads, "use")
	cli.ProgressFlag(flags, &f.progress)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// exactly refuses another number of arguments than n; what describes them.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%d arguments given, want %s", len(args), what)
		}
		return nil
	}
}

func (f *compareFlags) options() (o compare.Options, err error) {
	if err = cli.CheckThreads(f.threads); err != nil {
		return o, err
	}
	o.Workers = f.threads
	if f.layer != allLayers {
		o.Layers = []int{f.layer}
	}
	o.Family, err = cli.Family()
	return o, err
}

func (a *app) runCompare(ctx context.Context, f compareFlags, left, right string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.NewProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(f.threads)
	o.Progress = func(p compare.Progress) { shown.Update(comparing(p)) }
	result, err := compare.Run(ctx, left, right, o)
	shown.Close()
	if err != nil {
		return err
	}
	return a.Checked(f.json, result, func() { a.printCompared(result) })
}

// comparing is how far a comparison is.
type comparing compare.Progress

func (c comparing) State(elapsed time.Duration) cli.State {
	return cli.Steady(fmt.Sprintf("layer %d", c.Seeds), c.Done, c.Total, elapsed)
}

func (a *app) printCompared(r *compare.Result) {
	for _, l := range r.Layers {
		fmt.Fprintf(a.Out, "layer %2d: %s positions compared, %s differ\n", l.Seeds, cli.Comma(l.Positions), cli.Comma(l.Differing))
		for _, d := range l.First {
			fmt.Fprintf(a.Out, "  board %s, rank %d: %d in A, %d in B\n", d.Board, d.Rank, d.A, d.B)
		}
	}
	a.printOnly(r.A, r.OnlyA)
	a.printOnly(r.B, r.OnlyB)
	if r.OK {
		fmt.Fprintf(a.Out, "no difference (%.1f s)\n", r.Seconds)
	}
}

// printOnly names layers that were not compared. Both sides have layers without gaps, or a
// single one.
func (a *app) printOnly(path string, layers []int) {
	switch n := len(layers); {
	case n == 1:
		fmt.Fprintf(a.Out, "not compared: layer %d, which only %s has\n", layers[0], path)
	case n > 1:
		fmt.Fprintf(a.Out, "not compared: %d layers from %d to %d, which only %s has\n", n, layers[0], layers[n-1], path)
	}
}
