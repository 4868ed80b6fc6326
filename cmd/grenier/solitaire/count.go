package solitaire

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/solitaire"
)

// countReport is the JSON of solitaire count.
type countReport struct {
	Board  string   `json:"board"`
	Start  string   `json:"start"`
	Layers []uint64 `json:"layers"`
	Total  uint64   `json:"total"`
	cli.Took
}

func (a *app) count() *cobra.Command {
	var f problemFlags
	cmd := &cobra.Command{
		Use:   "count",
		Short: "Count the positions that jumps lead to",
		Long: `Counts the positions that jumps lead to from the start, by the number of pegs
that are left. Positions that a symmetry of the board carries into each other
count once.

` + boardHelp + `

With --dir the layers are on disk, and stay there for solve and play. Each layer
ends with a checkpoint, from which the same command resumes.

--json prints {"board", "start", "layers": positions after 0, 1, ... jumps,
"total", "seconds", "peak_rss_bytes"}.
`,
		Example: `  grenier solitaire count --board english --start center --json
  printf '.oo\nooo\nooo\n' | grenier solitaire count --board -`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			return a.runCount(cmd.Context(), f, cmd.Flags().Changed("start"))
		}),
	}
	f.define(a, cmd)
	return cmd
}

func (a *app) runCount(ctx context.Context, f problemFlags, startGiven bool) error {
	f.end = anyEnd
	p, err := a.problem(ctx, &f, startGiven)
	if err != nil {
		return err
	}
	start := time.Now()
	r := countReport{Board: p.Board.Name(), Start: p.start}
	err = a.search(&f, func(o solitaire.Options) error {
		c, err := solitaire.Count(ctx, p.Problem, o)
		r.Layers = c.Layers
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range r.Layers {
		r.Total += n
	}
	r.Took = cli.TookSince(start)
	if f.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Out, "%4s %18s\n", "pegs", "positions")
	first := bits.OnesCount64(p.Start)
	for i, n := range r.Layers {
		fmt.Fprintf(a.Out, "%4d %18s\n", first-i, cli.Comma(n))
	}
	fmt.Fprintf(a.Out, "%s, start %s: %s up to symmetry\n", r.Board, r.Start, cli.Count(r.Total, "position"))
	fmt.Fprintf(a.Out, "%.1f s; peak memory %s\n", r.Seconds, cli.Size(r.PeakRSS))
	return nil
}
