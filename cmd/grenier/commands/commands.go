// Package commands puts the commands of all systems together: the program grenier runs them,
// and man pages are made of them.
package commands

import (
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/awari"
	"grenier/cmd/grenier/chemin"
	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/doctor"
	"grenier/cmd/grenier/pijersi"
	"grenier/cmd/grenier/solitaire"
	"grenier/cmd/grenier/swap"
)

// Root returns the whole command line.
func Root(c *cli.App) *cobra.Command {
	return cli.Root(&cobra.Command{
		Use:   "grenier",
		Short: "Solve layered state spaces exactly, awari above all",
		Long: `Grenier solves layered state spaces exactly on one workstation. Its main job is
awari (awalé, oware): the exact score of every position, layer by layer. The
swap puzzle, chemin, peg solitaire and the set-ups of Pijersi are smaller
systems that share its parts.

Answers go to stdout, progress and notes to stderr. Where a flag or an argument
names a file, - stands for stdin or stdout.
` + cli.ExitHelp + `

ENVIRONMENT
  GRENIER_DIR     the run directory, where --dir is needed and not given
  GRENIER_KERNEL  a family of kernels, see version, instead of the fastest one
  TERM            dumb: no progress bars and no cursor control
  NO_COLOR        not empty: no colours`,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier swap bfs --rows 3 --cols 3
  grenier chemin solve --rows 3 --cols 3
  grenier solitaire solve --board english
  grenier pijersi decode GRXLLS`,
	}, awari.Command(c), swap.Command(c), chemin.Command(c), solitaire.Command(c), pijersi.Command(c), doctor.Command(c), cli.CompletionCommand(c), cli.VersionCommand(c))
}
