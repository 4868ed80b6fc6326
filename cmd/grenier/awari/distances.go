package awari

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/distance"
)

// distancesFlags are the flags of distances as given.
type distancesFlags struct {
	cli.JobFlags
	dir    string
	layers layersFlag
}

func (a *app) distances() *cobra.Command {
	var f distancesFlags
	cmd := &cobra.Command{
		Use:   "distances --dir DIR",
		Short: "Compute how many plies the next captures are away",
		Long: `Computes for each board whose value is not 0 its distance: the plies to the next
capture or to the end of the game, when both players keep the value of the
board, the one whom it favours hurries and the other one delays. With scores
alone a winner may play in circles; with distances each move makes progress.

The distances of a layer are a file beside its scores, DIR/distance-NN.gd. It
names the scores that it was made from, and the manifest lists it. Layers that
have such a file are left out; if it cannot be read, or is of other scores, they
get a new one ("grenier awari repair" reads all of it). The scores are compared
with their moves on the way.

An interrupted run keeps the layers that are complete, and in work/distances of
DIR what it has found of the layer in progress; a killed one what it had five
minutes before at most. The same command goes on from there.

A layer takes two bytes of memory for each position, and up to nine for letters
that positions write to each other. What --memory has no room for is in DIR/work
meanwhile, which takes more time. If there is too little for the rest, the
command says how much is needed.
`,
		Example: `  grenier awari distances --dir data/awari
  grenier awari distances --dir data/awari --layer 0..16 --memory 64MiB --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runDistances(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	anyLayers(cmd, &f.layers, "only the ")
	f.JobFlags.Define(a.App, cmd.Flags(), "1GiB", cli.JSONUsage)
	return cmd
}

func (a *app) runDistances(ctx context.Context, f distancesFlags) error {
	o := distance.Options{Layers: f.layers.list()}
	var err error
	if o.Job, err = f.Job(); err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	a.tellStale(shown, f.dir)
	if !f.JSON {
		o.Done = func(l distance.Layer) { shown.Pause(func() { a.printDistances(l) }) }
	}
	a.Resume = "; what was found is kept, the same command goes on"
	result, err := distance.Run(ctx, f.dir, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	if f.JSON {
		return a.PrintJSON(result)
	}
	return nil
}

// printDistances prints the result of a layer.
func (a *app) printDistances(l distance.Layer) {
	switch {
	case l.There:
		fmt.Fprintf(a.Out, "layer %2d: there, %s\n", l.Seeds, humanize.IBytes(uint64(l.Bytes)))
	case l.Longest == 0:
		fmt.Fprintf(a.Out, "layer %2d: no distances, %s\n", l.Seeds, humanize.IBytes(uint64(l.Bytes)))
	default:
		fmt.Fprintf(a.Out, "layer %2d: %s, up to %s, from board %s; %s (%.1f s)\n", l.Seeds, cli.Count(l.Valued, "distance"),
			plies(l.Longest), l.Board, humanize.IBytes(uint64(l.Bytes)), l.Seconds)
	}
}

// plies returns a number of plies as text.
func plies(n int) string { return english.Plural(n, "ply", "plies") }
