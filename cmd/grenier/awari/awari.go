// Package awari has the commands below "grenier awari", one file each: solve.go is grenier
// awari solve. They solve layers (solve, plan, bench, status, stop, report, repair; step and array on several machines), check them (verify,
// scrub, compare), answer questions about them (probe, stats, search, find), play (play, uci, serve),
// and exchange them with other programs (export, import, sample). watch.go has
// the events of a run and the status file, log.go its log, metrics.go its metrics; hooks.go calls commands of
// the user, pause.go ends a run early; package web is the page of serve.
package awari

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// app is a command line about awari.
type app struct{ *cli.App }

// Command returns the commands about awari.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "awari",
		Short: "Solve awari and ask the solved layers",
		Long: `Solves awari (awalé, oware) on 4 to 12 pits and answers questions about the
solved layers. A layer is all boards with the same number of seeds. The mover,
the player to move, owns the first half of the pits. A score is the number of
seeds that the mover takes from now on minus those that the opponent takes,
when both play perfectly; endless play is worth 0.

To begin: solve some layers, ask probe about a board, look at the stats.
`,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier awari stats --dir data/awari`,
	}, a.solve(), a.plan(), a.bench(), a.status(), a.stop(), a.report(), a.step(), a.array(), a.probe(), a.stats(), a.search(), a.find(), a.play(), a.uci(), a.serve(), a.publish(),
		a.distances(), a.verify(), a.scrub(), a.repair(), a.compare(), a.sample(), a.export(), a.importing(), a.rank(), a.unrank(), a.boards(), a.census(), a.table(), a.remote())
}

// Start is cli.App.Start: an error about a layer that is not solved says how to solve it.
func (a *app) Start(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return a.App.Start(func(cmd *cobra.Command, args []string) error { return advised(body(cmd, args)) })
}

// advised adds the command that solves a missing layer to an error about it.
func advised(err error) error {
	e, ok := errors.AsType[*tables.UnsolvedError](err)
	if !ok || e.Seeds <= e.Solved || e.Seeds > awari.MaxSeeds || strings.Contains(e.Place, "://") {
		return err
	}
	flags := ""
	if n := e.Game.Pits(); n != defaultPits {
		flags += fmt.Sprintf(" --pits %d", n)
	}
	if r := e.Game.Rules(); r != awari.Awari {
		flags += fmt.Sprintf(" --rules %s", r)
	}
	return fmt.Errorf("%w; %s", err, cli.SolveRemedy(e.Place, e.Seeds, flags))
}

// needDir adds the flag for the run directory.
func needDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().Var((*cli.Directory)(dir), "dir", "run directory with the solved layers")
	cli.Need(cmd, "dir")
}

// defaultPits is the number of pits of the real game.
const defaultPits = 12

// gameFlags are the flags that choose a game.
type gameFlags struct {
	rules string
	pits  int
}

func (f *gameFlags) define(flags *pflag.FlagSet) {
	cli.IntChoiceVar(flags, &f.pits, "pits", defaultPits, "`number` of pits of the board", 4, 6, 8, 10, 12)
	cli.ChoiceVar(flags, &f.rules, "rules", awari.Awari.String(), "`rules` of the game", awari.RuleNames()...)
}

func (f *gameFlags) game() (awari.Game, error) {
	rules, err := awari.ParseRules(f.rules)
	if err != nil {
		return awari.Game{}, err
	}
	return awari.New(f.pits, rules)
}

// runFlags are the flags that solve and plan share.
type runFlags struct {
	gameFlags
	cli.JobFlags
	seeds, skip    int
	work, layersTo string
}

func (f *runFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	f.defineSeeds(flags)
	skipVar(flags, &f.skip)
	cli.ThreadsFlag(flags, &f.Threads, "use")
	flags.Var((*cli.Directory)(&f.work), "work", "directory for streams and checkpoints, on another disk (default: DIR/work)")
	flags.Var((*cli.Directory)(&f.layersTo), "layers-to", "directory for new layer files, on another disk (default: DIR)")
	cli.Need(cmd, "seeds")
}

// defineSeeds adds --seeds.
func (f *runFlags) defineSeeds(flags *pflag.FlagSet) {
	cli.IntVar(flags, &f.seeds, "seeds", 0, 0, awari.MaxSeeds, fmt.Sprintf("`number` of seeds of the last layer to solve, 0 to %d", awari.MaxSeeds))
}

// skipVar adds the flag for a layer that is left out.
func skipVar(flags *pflag.FlagSet, to *int) {
	cli.IntVar(flags, to, "skip", 0, 1, awari.MaxSeeds-1, "leave out the layer of `n` seeds, which must be the one below the last: no move leads there")
}

// options checks the flags and returns the options that they set.
func (f *runFlags) options() (o solve.Options, err error) {
	o = solve.Options{Seeds: f.seeds, Skip: f.skip, Work: f.work, Layers: f.layersTo}
	o.Job, err = f.Job()
	return o, err
}

// checkpointVar adds the flag for the time between checkpoints.
func checkpointVar(flags *pflag.FlagSet, to *time.Duration) {
	cli.TimeVar(flags, to, "checkpoint", solve.DefaultInterval, 1, 0, "`time` between checkpoints of the layer in progress")
}
