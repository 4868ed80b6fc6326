package awari

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/chart"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/census"
)

// censusFlags are the flags of census as given.
type censusFlags struct {
	gameFlags
	cli.JobFlags
	seeds   int
	analyse bool
	svg     string
}

// censusReport is the JSON of census.
type censusReport struct {
	Rules  string         `json:"rules"`
	Pits   int            `json:"pits"`
	Layers []census.Layer `json:"layers"`
}

func (a *app) census() *cobra.Command {
	var f censusFlags
	cmd := &cobra.Command{
		Use:   "census --seeds N",
		Short: "Count moves, predecessors and accesses, layer by layer",
		Long: `Goes through the layers of up to N seeds and counts, for each, what the
complexity analysis of document 001 is about. No solved layer is needed.

  quiet      moves that take no seed
  captures   moves that capture
  takes all  moves that capture nothing and still take all seeds, because they
             leave the opponent without any (not by the rules strict)
  X/f        captures and takes all, a board
  with       boards with such a move
  K          the most predecessors of a board by quiet moves; and the mean

With --analyse it also solves the layers with the algorithm of the document,
repaired, one worker and 30 bytes a board, and prints

  cost       accesses to the table of scores by the document's formula, as in
             "awari table", and as the algorithm made them, a board
  chain      the most moves of best play until seeds leave the board
  endless    boards where best play never takes a seed again
`,
		Example: `  grenier awari census --seeds 10
  grenier awari census --pits 8 --seeds 24 --rules strict --analyse --json
  grenier awari census --seeds 12 --analyse --svg census.svg`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.takeCensus(cmd.Context(), &f) }),
	}
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	cli.IntVar(flags, &f.seeds, "seeds", 0, 0, awari.MaxSeeds, "largest `number` of seeds, 0 to 48")
	flags.BoolVar(&f.analyse, "analyse", false, "solve the layers too, by the algorithm of the document")
	f.Memory.Define(a.App, flags, "4GiB", nil)
	cli.ThreadsFlag(flags, &f.Threads, "use to count")
	flags.Var((*cli.File)(&f.svg), "svg", "`FILE` for charts as SVG, - for stdout instead of the table")
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	cli.Need(cmd, "seeds")
	return cmd
}

func (a *app) takeCensus(ctx context.Context, f *censusFlags) error {
	if err := cli.OneStdout(f.JSON, map[string]string{"--svg": f.svg}); err != nil {
		return err
	}
	game, err := f.game()
	if err != nil {
		return err
	}
	o := census.Options{Analyse: f.analyse}
	if o.Job, err = f.Job(); err != nil {
		return err
	}
	c, err := census.Begin(game, f.seeds, o)
	if err != nil {
		return err
	}
	table := cli.NewTable(a.Out, cli.WidthOf(a.Out), censusColumns(f.analyse))
	printed := !f.JSON && f.svg != cli.Stdout
	if printed {
		fmt.Fprintln(a.Out, game.Name())
		table.Head()
	}
	var layers []census.Layer
	for c.More() {
		l, err := c.Next(ctx)
		if err != nil {
			return f.Memory.Explain(err)
		}
		layers = append(layers, l)
		if printed {
			table.Add(l)
		}
	}
	if f.svg != "" {
		var b bytes.Buffer
		if err := chart.WriteFile(&b, "Census of "+game.Name(), census.Charts(game.Name(), layers), chart.Size{Width: 640, Height: 360}); err != nil {
			return err
		}
		if err := a.WriteFile(f.svg, b.Bytes()); err != nil {
			return err
		}
	}
	if !f.JSON {
		return nil
	}
	return a.PrintJSON(censusReport{game.Rules().String(), game.Pits(), layers})
}

// censusColumns are the columns of census.
func censusColumns(analysed bool) []cli.Column[census.Layer] {
	number := func(head string, width, yield int, value func(l *census.Layer) uint64) cli.Column[census.Layer] {
		return cli.Column[census.Layer]{{Head: head, Width: width, Yield: yield, Cell: func(l census.Layer) string { return cli.Comma(value(&l)) }}}
	}
	perBoard := func(head string, width int, value func(l *census.Layer) uint64) cli.Column[census.Layer] {
		return cli.Column[census.Layer]{{Head: head, Width: width, Cell: func(l census.Layer) string {
			return strconv.FormatFloat(float64(value(&l))/float64(l.Positions), 'f', 4, 64)
		}}}
	}
	columns := []cli.Column[census.Layer]{
		number("seeds", 5, 0, func(l *census.Layer) uint64 { return uint64(l.Seeds) }),
		number("positions", 15, 0, func(l *census.Layer) uint64 { return l.Positions }),
		number("quiet", 15, 1, func(l *census.Layer) uint64 { return l.Quiet }),
		number("captures", 15, 1, func(l *census.Layer) uint64 { return l.Captures }),
		number("takes all", 9, 1, func(l *census.Layer) uint64 { return l.TakesAll }),
		perBoard("X/f", 7, func(l *census.Layer) uint64 { return l.X }),
		number("with", 15, 1, func(l *census.Layer) uint64 { return l.WithCapture }),
		number("K", 3, 0, func(l *census.Layer) uint64 { return uint64(l.MostPredecessors) }),
		perBoard("mean K", 7, func(l *census.Layer) uint64 { return l.Predecessors }),
	}
	if !analysed {
		return columns
	}
	return append(columns,
		perBoard("cost", 8, func(l *census.Layer) uint64 { return l.Cost }),
		perBoard("counted", 8, func(l *census.Layer) uint64 { return l.Accesses.Total }),
		number("chain", 5, 0, func(l *census.Layer) uint64 { return uint64(l.Deepest) }),
		number("endless", 13, 2, func(l *census.Layer) uint64 { return l.Endless }))
}
