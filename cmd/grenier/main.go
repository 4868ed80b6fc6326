// Command grenier solves awari exactly, layer by layer, and answers questions
// about the solved layers; it solves the swap puzzle and boards of chemin, and
// encodes set-ups of Pijersi. This directory is the command line and has no logic of its
// own: a package for each system, which holds its commands, one file each (awari/solve.go is
// grenier awari solve), and package cli, which all of them share. The tests that run
// the whole program are here: main_test.go and testdata/script have what they need.
package main

import (
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/chemin"
	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/pijersi"
	"grenier/cmd/grenier/swap"
)

func main() { cli.Main(root) }

// root returns the whole command line.
func root(c *cli.App) *cobra.Command {
	a := &app{c}
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
	}, a.awari(), swap.Command(c), chemin.Command(c), pijersi.Command(c), cli.VersionCommand(c))
}

type app struct{ *cli.App }

// awari returns the commands about awari.
func (a *app) awari() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "awari",
		Short: "Solve awari and ask the solved layers",
		Long: `Awari (awalé, oware) on 4 to 12 pits. The mover owns the first half of the pits.
A score is the number of seeds that the mover takes from now on minus those that
the opponent takes when both play perfectly; endless play is worth 0.
` + cli.ExitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari verify --dir data/awari --sample 1000000`,
	}, a.solve(), a.plan(), a.status(), a.probe(), a.stats(), a.verify(), a.scrub(), a.repair(), a.table(), a.rank(), a.unrank(),
		a.search(), a.play(), a.serve(), a.export(), a.importing(), a.compare(), a.remote())
}

// needDir adds the flag for the run directory.
func needDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().Var((*cli.Directory)(dir), "dir", "run directory with the solved layers")
	cli.Need(cmd, "dir")
}

// checkInterval refuses a time between checkpoints that is none.
func checkInterval(d time.Duration) error {
	if d <= 0 {
		return cli.Usagef("--checkpoint %v: a time above 0 is wanted, like 1m or 30s", d)
	}
	return nil
}
