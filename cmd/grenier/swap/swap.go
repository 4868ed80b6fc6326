// Package swap has the commands below "grenier swap", one file each: count the states of the
// swap puzzle, solve grids, generate them, build pattern databases and compare solvers. animate.go
// shows a solution swap by swap.
package swap

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
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

// needGrid adds the flags for the size of a grid of at most most cells.
func needGrid(cmd *cobra.Command, rows, cols *int, most int) {
	cmd.Flags().IntVar(rows, "rows", 0, "`number` of rows of the grid")
	cmd.Flags().IntVar(cols, "cols", 0, fmt.Sprintf("`number` of columns of the grid; rows times columns is 1 to %d", most))
	cli.Need(cmd, "rows", "cols")
}
