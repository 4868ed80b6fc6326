package main

import (
	"grenier/cmd/grenier/cli"

	"github.com/spf13/cobra"
)

// swap returns the commands about the swap puzzle.
func (a *app) swap() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "swap",
		Short: "Search and solve the swap puzzle",
		Long: `The swap puzzle: a grid holds a tile in each cell; a move exchanges the tiles of two
cells that share a side; the puzzle is solved when the tiles are in order, row by row.
Grids have up to 16 cells; for solve and generate up to 64.
` + cli.ExitHelp,
		Example: `  grenier swap bfs --rows 3 --cols 3`,
	}, a.swapBFS(), a.swapPlan(), a.swapSolve(), a.swapGenerate(), a.swapPDB(), a.swapBench())
}
