// Command grenier solves awari exactly, layer by layer, and answers questions
// about the solved layers; it solves the swap puzzle and boards of chemin, and
// encodes set-ups of Pijersi. This directory is the command line and has no logic of its
// own: a package for each system, which holds its commands, one file each (awari/solve.go is
// grenier awari solve), and package cli, which all of them share. The tests that run
// the whole program are here: main_test.go and testdata/script have what they need.
package main

import (
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/awari"
	"grenier/cmd/grenier/chemin"
	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/pijersi"
	"grenier/cmd/grenier/swap"
)

func main() { cli.Main(root) }

// root returns the whole command line.
func root(c *cli.App) *cobra.Command {
	return cli.Root(&cobra.Command{
		Use:   "grenier",
		Short: "Solve layered state spaces exactly, awari above all",
		Long: `Grenier solves layered state spaces exactly on one workstation. Its main job is
awari (awalé, oware): the exact score of every position, layer by layer. The swap
puzzle, chemin and the set-up codes of Pijersi share its parts.
` + cli.ExitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier swap bfs --rows 3 --cols 3
  grenier chemin solve --rows 3 --cols 3
  grenier pijersi decode GRXLLS`,
	}, awari.Command(c), swap.Command(c), chemin.Command(c), pijersi.Command(c), cli.VersionCommand(c))
}
