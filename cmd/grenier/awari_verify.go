package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"grenier/pipeline/check/verify"
)

// verifyFlags are the flags of verify as given.
type verifyFlags struct {
	dir, progress  string
	memory         memoryFlag
	layer, threads int
	sample, seed   uint64
	prove, json    bool
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify --dir DIR",
		Short: "Check every checksum and every score against the rules",
		Long: `Reads every layer file and checks all checksums and sums. Then it compares the
score of every position, or of a random sample of each layer, with what its moves
give, played seed by seed by code that shares nothing with the solver.

Positions that play in circles could still back each other with scores that are all
wrong. With --prove there is no such doubt: after all scores of a layer were compared
it traces every win and every loss down to seeds that are taken or to the end of the
game. A layer is proved if those below are right; --layer takes these for granted.
It takes three bits of memory for each position of the layer, within --memory.
` + exitHelp,
		Example: `  grenier awari verify --dir data/awari
  grenier awari verify --dir data/awari --layer 16 --sample 1000000 --json
  grenier awari verify --dir data/awari --prove --memory 4GiB`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error {
			if f.prove {
				if flags := cmd.Flags(); flags.Changed("sample") || flags.Changed("seed") {
					return usageError{errors.New("--prove looks at all positions: --sample and --seed do not go with it")}
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
	flags.IntVar(&f.layer, "layer", allLayers, "only the layer of `n` seeds; -1 for all")
	flags.Uint64Var(&f.sample, "sample", 0, "compare only `k` random positions of each layer")
	flags.Uint64Var(&f.seed, "seed", 0, "`number` that determines the sample; random unless given")
	flags.BoolVar(&f.prove, "prove", false, "prove that the scores are the only right ones")
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	f.memory.define(a, flags, "1GiB", nil)
	flags.StringVar(&f.progress, "progress", "auto", progressUsage)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *verifyFlags) options() (verify.Options, error) {
	memory, err := f.memory.limit()
	if err != nil {
		return verify.Options{}, err
	}
	if err := checkThreads(f.threads); err != nil {
		return verify.Options{}, err
	}
	o := verify.Options{
		Sample: f.sample, Seed: f.seed, Workers: f.threads, Memory: memory,
	}
	if f.layer != allLayers {
		o.Layers = []int{f.layer}
	}
	o.Family, err = family()
	return o, err
}

func (a *app) runVerify(ctx context.Context, f verifyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.newProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	o.Progress = func(p verify.Progress) { shown.update(verifying(p)) }
	result, err := verify.Run(ctx, f.dir, o)
	shown.close()
	if err != nil {
		return f.memory.explain(err)
	}
	return a.checked(f.json, result, func() { a.printVerified(result) })
}

// verifying is how far a run of verify is.
type verifying verify.Progress

func (v verifying) state(elapsed time.Duration) state {
	return steady(fmt.Sprintf("layer %d", v.Seeds), v.Done, v.Total, elapsed)
}

func (a *app) printVerified(r *verify.Result) {
	if r.Sample > 0 {
		fmt.Fprintf(a.out, "sample of %s positions a layer, --seed %d\n", comma(r.Sample), r.Seed)
	}
	for i := range r.Layers {
		a.printLayer(&r.Layers[i])
	}
	if r.OK {
		fmt.Fprintf(a.out, "everything is in order (%.1f s)\n", r.Seconds)
	}
}

// printLayer says what became of a layer.
func (a *app) printLayer(l *verify.Layer) {
	fmt.Fprintf(a.out, "layer %2d: %s of %s positions checked, %s wrong\n",
		l.Seeds, comma(l.Checked), comma(l.Positions), comma(l.Mismatches))
	for _, p := range l.Problems {
		fmt.Fprintf(a.out, "  %s\n", p.Text)
	}
}
