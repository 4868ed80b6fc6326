package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"grenier/kernels/cpu"
)

// root returns the whole command line.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "grenier",
		Short: "Solve layered state spaces exactly, awari above all",
		Long: `Grenier solves layered state spaces exactly on one workstation. Its main job is
awari (awalé, oware): the exact score of every position, layer by layer. The swap
puzzle, chemin and the set-up codes of Pijersi share its parts.
` + exitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier swap bfs --rows 3 --cols 3
  grenier chemin solve --rows 3 --cols 3
  grenier pijersi decode GRXLLS`,
		Args:          subcommand,
		RunE:          showHelp,
		SilenceUsage:  true,
		SilenceErrors: true,

		DisableFlagsInUseLine: true,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(help())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.awari(), a.swap(), a.chemin(), a.pijersi(), a.version())
	return root
}

// awari returns the commands about awari.
func (a *app) awari() *cobra.Command {
	parent := &cobra.Command{
		Use:   "awari",
		Short: "Solve awari and ask the solved layers",
		Long: `Awari (awalé, oware) on 4 to 12 pits. The mover owns the first half of the pits.
A score is the number of seeds that the mover takes from now on minus those that
the opponent takes when both play perfectly; endless play is worth 0.
` + exitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari verify --dir data/awari --sample 1000000`,
		Args: subcommand,
		RunE: showHelp,

		DisableFlagsInUseLine: true,
	}
	parent.AddCommand(a.solve(), a.plan(), a.status(), a.probe(), a.stats(), a.verify(), a.scrub(), a.repair(), a.table(), a.rank(), a.unrank(),
		a.search(), a.play(), a.serve(), a.export(), a.importing(), a.compare(), a.remote())
	return parent
}

// showHelp is what a command does that only has subcommands.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// start wraps the body of a command: errors from there on are not about usage,
// unless they say so.
func (a *app) start(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.running = true
		return body(cmd, args)
	}
}

// printJSON writes v in one line.
func (a *app) printJSON(v any) error { return json.NewEncoder(a.out).Encode(v) }

// checked prints the result of a check, as JSON or by print, and returns what the check
// found wrong.
func (a *app) checked(asJSON bool, result interface{ Err() error }, print func()) error {
	if !asJSON {
		print()
	} else if err := a.printJSON(result); err != nil {
		return err
	}
	return result.Err()
}

// family returns the kernel family that the environment asks for.
func family() (cpu.Family, error) { return cpu.Select(os.Getenv("GRENIER_KERNEL")) }

// needDir adds the flag for the run directory.
func needDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().Var((*directory)(dir), "dir", "run directory with the solved layers")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) // the flag has just been defined
	}
}
