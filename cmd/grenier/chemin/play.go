package chemin

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	game "grenier/layers/chemin"
)

// playReport is the JSON of chemin play.
type playReport struct {
	Rows  int        `json:"rows"`
	Cols  int        `json:"cols"`
	Score uint32     `json:"score"`
	Order []int      `json:"order"`
	Grid  [][]uint32 `json:"grid"`
}

func (a *app) play() *cobra.Command {
	var rows, cols int
	var svg string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "play --rows R --cols C {CELL ... | -}",
		Short: "Fill a board in a given order",
		Long: `Fills the cells of a board in the given order and draws each step, with the new
number in brackets. Cells are numbered row by row from 0. With - the order is
read from stdin.

--json prints {"rows", "cols", "score", "order", "grid": rows of numbers}.
`,
		Example: "  grenier chemin play --rows 3 --cols 3 0 6 3 7 4 8 5 2 1",
		Args:    cli.NeedArgs(1, math.MaxInt, "an order: the numbers of all cells, or - to read it from stdin"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			b, err := game.New(rows, cols)
			if err != nil {
				return err
			}
			if args, err = a.Arguments(cmd.Context(), args); err != nil {
				return err
			}
			order, err := parseOrder(args)
			if err != nil {
				return err
			}
			return a.runPlay(b, order, svg, asJSON)
		}),
	}
	needSize(cmd, &rows, &cols)
	cmd.Flags().Var((*cli.File)(&svg), "svg", "`FILE` for a drawing of the steps; - prints it instead of text")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) runPlay(b *game.Board, order []int, svg string, asJSON bool) error {
	grid, err := b.Play(order)
	if err != nil {
		return err
	}
	if err := cli.OneStdout(asJSON, map[string]string{"--svg": svg}); err != nil {
		return err
	}
	if err := a.drawSVG(b, order, svg); err != nil || svg == cli.Stdout {
		return err
	}
	score := slices.Max(grid)
	if asJSON {
		return a.PrintJSON(playReport{Rows: b.Rows(), Cols: b.Cols(), Score: score, Order: order, Grid: rowsOf(b, grid)})
	}
	steps, err := b.DrawSteps(order, min(screen, cli.WidthOf(a.Out)))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%sscore %s\n", steps, cli.Comma(uint64(score)))
	return err
}

// parseOrder reads the cells of an order.
func parseOrder(args []string) ([]int, error) {
	order := make([]int, len(args))
	for i, arg := range args {
		var err error
		if order[i], err = strconv.Atoi(arg); err != nil {
			return nil, cli.Usagef("step %d %s: expected the number of a cell", i+1, cli.Quoted(arg))
		}
	}
	return order, nil
}
