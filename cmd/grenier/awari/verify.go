package awari

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/tables/catalog"
)

// verifyFlags are the flags of verify as given.
type verifyFlags struct {
	cli.JobFlags
	dir            string
	layers         layersFlag
	sample, seed   uint64
	prove, restart bool
	part           partFlag
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify --dir DIR",
		Short: "Check all checksums, and all scores against the rules",
		Long: `Reads all layer files and checks their checksums and sums. Then it compares the
score of each position with the values of its moves, played by code that shares
nothing with the solver. With less --memory it reads files more often. --sample
compares random positions only, spread evenly over each layer, and reads and
checks only the blocks that these and their moves need.

An interrupted or killed run resumes where it stopped, from work/verify.json in
DIR. If a layer file has changed since, that layer and those whose captures lead
to it are checked again; if work/verify.json itself was changed, all are. It
does not keep that file with --sample, while a solver runs, or if DIR is not
writable. It writes nothing else.

Positions whose moves lead around in a cycle could support each other with
wrong scores. --prove rules that out: it traces each win and each loss of a
layer to captured seeds or to the end of the game. A layer is proved if the
layers below are right; --layer assumes that they are. Distances that are there
("grenier awari distances") are a proof: they are compared, and that is all. Any
other proof takes about seven bits of memory for each position of the layer. If
--memory is less, they are on disk, in DIR/work, and it takes longer. It resumes
too: work/prove.json in DIR lists the layers that are proved, work/marks has
what was found of the next one.

--part i/n compares one of n equal shares of each layer: for n processes, on one
or several machines, in any order. Each leaves what it has found in DIR/work,
and resumes. --part all adds up what was found, and says what one run would have
said; it ends with status 5 if parts are missing. A --sample in parts needs the
same --seed for all. A proof grounds a layer as a whole: it has no parts, but
different layers can be proved by different processes.
`,
		Example: `  grenier awari verify --dir data/awari
  grenier awari verify --dir data/awari --layer 16 --sample 1000000 --json
  grenier awari verify --dir data/awari --prove --memory 4GiB
  for i in 1 2 3 4; do grenier awari verify --dir data/awari --part $i/4; done
  grenier awari verify --dir data/awari --part all`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if err := f.divided(cmd.Flags()); err != nil {
				return err
			}
			if f.prove {
				if flags := cmd.Flags(); flags.Changed("sample") || flags.Changed("seed") {
					return cli.Usagef("--prove checks all positions: it does not go with --sample and --seed")
				}
				return a.runProve(cmd.Context(), f)
			}
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 11 // fits a JSON number
			}
			return a.runVerify(cmd.Context(), f)
		}),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	anyLayers(cmd, &f.layers, "only the ")
	flags.Uint64Var(&f.sample, "sample", 0, "compare only `k` random positions of each layer; 0 for all")
	flags.Uint64Var(&f.seed, "seed", 0, "`number` from which the sample is made (default: random)")
	flags.BoolVar(&f.restart, "restart", false, "start from the beginning, even after an interrupted run")
	flags.BoolVar(&f.prove, "prove", false, "prove that no other scores are possible")
	partVar(cmd, &f.part)
	f.JobFlags.Define(a.App, flags, "1GiB", cli.JSONUsage)
	return cmd
}

// divided refuses flags that do not go with --part.
func (f *verifyFlags) divided(flags *pflag.FlagSet) error {
	switch {
	case f.part.whole():
		return nil
	case f.prove:
		return cli.Usagef("--prove grounds a layer as a whole: it does not go with --part; --layer proves layers one by one")
	case flags.Changed("sample") && !flags.Changed("seed"):
		return cli.Usagef("--part needs the same --seed for all parts of a --sample")
	}
	return f.part.sums(f.restart)
}

func (f *verifyFlags) options() (o verify.Options, err error) {
	o = verify.Options{Sample: f.sample, Seed: f.seed, Part: f.part.Part}
	o.Layers = f.layers.list()
	o.Job, err = f.Job()
	return o, err
}

func (a *app) runVerify(ctx context.Context, f verifyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	a.tellStale(shown, f.dir)
	o.Resume, o.Restart = true, f.restart
	if !f.JSON {
		o.Done = func(l verify.Layer) {
			shown.Pause(func() {
				if o.Sample > 0 && (l.Seeds == 0 || len(o.Layers) > 0) { // before the first one
					fmt.Fprintf(a.Out, "sample of %s a layer, --seed %d\n", cli.Count(o.Sample, "position"), o.Seed)
				}
				a.printLayer(&l)
			})
		}
	}
	if o.Sample == 0 || o.Part.One() {
		a.Resume = "; the same command resumes"
	}
	result, err := verify.Run(ctx, f.dir, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	return a.Checked(f.JSON, result, func() {
		switch {
		case !result.OK:
		case o.Part.One():
			a.printPart(f.part, result.Seconds)
		default:
			fmt.Fprintf(a.Out, "everything is in order (%.1f s); --prove rules out cycles of wrong scores\n", result.Seconds)
		}
	})
}

// tellStale tells at once which layers of run directories were computed from others than those below them.
// What else is wrong with the directories is for the command itself.
func (a *app) tellStale(shown *cli.Progress, dirs ...string) {
	for _, path := range dirs {
		dir, err := rundir.Open(path)
		if err != nil {
			continue
		}
		m, err := catalog.Manifest(dir)
		if err != nil {
			continue
		}
		stale, _ := catalog.Stale(path, m)
		for _, err := range stale {
			a.Telling(shown)(cli.OneLine(err) + "; " + cli.StaleRemedy(path))
		}
	}
}

// printLayer prints the result of a layer.
func (a *app) printLayer(l *verify.Layer) {
	fmt.Fprintf(a.Out, "layer %2d: %s of %s checked, %s wrong%s\n",
		l.Seeds, cli.Comma(l.Checked), cli.Count(l.Positions, "position"), cli.Comma(l.Mismatches), before(l.Before))
	a.printMissing(l.Missing)
	for _, p := range l.Problems {
		fmt.Fprintf(a.Out, "  %s\n", p.Text)
	}
}

// before returns when a layer was checked, if an earlier run did it.
func before(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", on " + at.Local().Format(time.DateTime)
}
