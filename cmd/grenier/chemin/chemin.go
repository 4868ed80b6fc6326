// Package chemin has the commands below "grenier chemin": solve finds the largest number that
// a board can have, play fills a board in a given order.
package chemin

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	game "grenier/layers/chemin"
)

// app is a command line about chemin.
type app struct{ *cli.App }

// Command returns the commands about chemin.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "chemin",
		Short: "Find the largest number that fits a grid, and play",
		Long: `In chemin you fill the cells of a grid one after the other. A cell gets the sum
of the numbers around it, corners included, or 1 if all cells around it are
empty. The score is the largest number. Cells are numbered row by row from 0.
`,
		Example: `  grenier chemin solve --rows 3 --cols 3
  grenier chemin play --rows 2 --cols 2 0 3 1 2`,
	}, a.solve(), a.play())
}

// needSize adds the flags for the size of a board.
func needSize(cmd *cobra.Command, rows, cols *int) {
	cli.IntVar(cmd.Flags(), rows, "rows", 0, 1, game.MaxCells, "`number` of rows")
	cli.IntVar(cmd.Flags(), cols, "cols", 0, 1, game.MaxCells, fmt.Sprintf("`number` of columns; up to %d cells in all", game.MaxCells))
	cli.Need(cmd, "rows", "cols")
}

// screen is the width of drawings of steps, in characters.
const screen = 100

// rowsOf cuts a grid into its rows.
func rowsOf(b *game.Board, grid []uint32) [][]uint32 {
	var rows [][]uint32
	for start := 0; start < len(grid); start += b.Cols() {
		rows = append(rows, grid[start:start+b.Cols()])
	}
	return rows
}

// drawSVG writes a drawing of an order, unless path is empty.
func (a *app) drawSVG(b *game.Board, order []int, path string) error {
	if path == "" {
		return nil
	}
	svg, err := b.SVG(order)
	if err != nil {
		return err
	}
	return a.WriteFile(path, []byte(svg))
}
