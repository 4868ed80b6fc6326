// Package swap has the commands below "grenier swap", one file each: count the states of the
// swap puzzle, solve grids, generate them, build pattern databases and compare solvers. animate.go
// shows a solution swap by swap.
package swap

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/swap"
)

// app is a command line about the swap puzzle.
type app struct{ *cli.App }

// Command returns the commands about the swap puzzle.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "swap",
		Short: "Search and solve the swap puzzle",
		Long: `In the swap puzzle each cell of a grid holds a tile. A move swaps the tiles of
two cells that share a side. The puzzle is solved when the tiles are in order,
row by row. Grids have up to 16 cells, and up to 64 for solve and generate.
`,
		Example: `  grenier swap solve --rows 3 --cols 3 9 8 7 6 5 4 3 2 1
  grenier swap bfs --rows 3 --cols 3`,
	}, a.solve(), a.generate(), a.bfs(), a.pdb(), a.bench())
}

// sized makes an error about the size of a grid one about its flags.
func sized(g *swap.Grid, err error) (*swap.Grid, error) {
	if err != nil {
		err = cli.Usagef("--rows and --cols: %w", err)
	}
	return g, err
}

// needGrid adds the flags for the size of a grid of at most most cells.
func needGrid(cmd *cobra.Command, rows, cols *int, most int) {
	cli.IntVar(cmd.Flags(), rows, "rows", 0, 1, most, "`number` of rows of the grid")
	cli.IntVar(cmd.Flags(), cols, "cols", 0, 1, most, fmt.Sprintf("`number` of columns of the grid; rows times columns is 1 to %d", most))
	cli.Need(cmd, "rows", "cols")
}
