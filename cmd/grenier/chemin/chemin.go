// Package chemin has the commands below "grenier chemin": solve searches a board for its
// largest number, play fills one in a given order.
package chemin

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/vfs"
	game "grenier/layers/chemin"
)

// app is a command line about chemin.
type app struct{ *cli.App }

// Command returns the commands about chemin.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "chemin",
		Short: "Fill a grid so that its largest number is as large as can be",
		Long: `Chemin: the cells of a grid are filled one after the other, each with the sum of
the numbers that already stand in the cells around it, corners included, or with 1
if there are none. The score is the largest number.

Cells are numbered row by row from 0.
` + cli.ExitHelp,
		Example: `  grenier chemin solve --rows 3 --cols 3
  grenier chemin play --rows 2 --cols 2 0 3 1 2`,
	}, a.solve(), a.play())
}

// needSize adds the flags for the size of a board.
func needSize(cmd *cobra.Command, rows, cols *int) {
	cmd.Flags().IntVar(rows, "rows", 0, "`number` of rows")
	cmd.Flags().IntVar(cols, "cols", 0, fmt.Sprintf("`number` of columns; up to %d cells in all", game.MaxCells))
	cli.Need(cmd, "rows", "cols")
}

// screen is the columns of text in which steps are drawn.
const screen = 100

// rowsOf cuts a grid into its rows.
func rowsOf(b *game.Board, grid []uint32) [][]uint32 {
	var rows [][]uint32
	for start := 0; start < len(grid); start += b.Cols() {
		rows = append(rows, grid[start:start+b.Cols()])
	}
	return rows
}

// drawSVG writes a drawing of an order, if there is a path to write it to.
func drawSVG(b *game.Board, order []int, path string) error {
	if path == "" {
		return nil
	}
	svg, err := b.SVG(order)
	if err != nil {
		return err
	}
	return vfs.WriteFile(path, []byte(svg))
}
