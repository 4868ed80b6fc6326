// Package awari has the commands below "grenier awari", one file each: solve.go is grenier
// awari solve. They solve layers and plan that (solve, plan, bench, status, stop, repair), check what was
// solved (verify, scrub, compare), answer questions about it (probe, stats, find, search), play
// (play, serve), and exchange layers and samples with other programs (export, import, sample). journal.go is
// what a run tells others while it works, metrics.go what it tells Prometheus; hooks.go calls
// commands of the user, pause.go ends a run early; package web is the page that serve shows.
package awari

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/io/layerfile"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// app is a command line about awari.
type app struct{ *cli.App }

// Command returns the commands about awari.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "awari",
		Short: "Solve awari and ask the solved layers",
		Long: `Awari (awalé, oware) on 4 to 12 pits. The mover owns the first half of the pits.
A score is the number of seeds that the mover takes from now on minus those that
the opponent takes when both play perfectly; endless play is worth 0.
` + cli.ExitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari verify --dir data/awari --sample 1000000`,
	}, a.solve(), a.plan(), a.bench(), a.status(), a.stop(), a.probe(), a.stats(), a.verify(), a.scrub(), a.repair(), a.table(), a.rank(), a.unrank(),
		a.search(), a.find(), a.play(), a.serve(), a.sample(), a.export(), a.importing(), a.compare(), a.remote())
}

// needDir adds the flag for the run directory.
func needDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().Var((*cli.Directory)(dir), "dir", "run directory with the solved layers")
	cli.Need(cmd, "dir")
}

// gameFlags are the flags that say which game it is.
type gameFlags struct {
	rules string
	pits  int
}

func (f *gameFlags) define(flags *pflag.FlagSet) {
	flags.IntVar(&f.pits, "pits", 12, "`number` of pits of the board: 4, 6, 8, 10 or 12")
	flags.StringVar(&f.rules, "rules", "awari", "`rules` of the game: awari or strict")
}

func (f *gameFlags) game() (awari.Game, error) {
	rules, err := awari.ParseRules(f.rules)
	if err != nil {
		return awari.Game{}, err
	}
	return awari.New(f.pits, rules)
}

// runFlags are the flags that say what solve solves, or plan plans, and with how much.
type runFlags struct {
	gameFlags
	seeds, threads int
	codec          string
	memory         cli.MemoryFlag
}

func (f *runFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	flags.IntVar(&f.seeds, "seeds", 0, fmt.Sprintf("`number` of seeds of the last layer to solve, 0 to %d", awari.MaxSeeds))
	cli.ThreadsFlag(flags, &f.threads, "use")
	flags.StringVar(&f.codec, "codec", "lz4", "`codec` of layer files: lz4 or zstd")
	cli.Need(cmd, "seeds")
}

// options returns the options that the flags are about.
func (f *runFlags) options() (o solve.Options, err error) {
	if err = cli.CheckThreads(f.threads); err != nil {
		return o, err
	}
	o = solve.Options{Seeds: f.seeds, Workers: f.threads}
	if o.Memory, err = f.memory.Limit(); err != nil {
		return o, err
	}
	if o.Codec, err = layerfile.ParseCodec(f.codec); err != nil {
		return o, err
	}
	o.Family, err = cli.Family()
	return o, err
}

// checkInterval refuses a time between checkpoints that is none.
func checkInterval(d time.Duration) error {
	if d <= 0 {
		return cli.Usagef("--checkpoint %v: a time above 0 is wanted, like 1m or 30s", d)
	}
	return nil
}
