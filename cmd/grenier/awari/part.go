package awari

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/job"
)

// partFlag is --part: one of several shares of the work, or all of them together.
type partFlag struct{ job.Part }

// partVar adds the flag.
func partVar(cmd *cobra.Command, f *partFlag) {
	cmd.Flags().Var(f, "part", "only part `i/n` of each layer, as one of n processes; all to add up the parts")
}

func (f *partFlag) Type() string { return "part" }

// Set reads what job.ParsePart does.
func (f *partFlag) Set(text string) error {
	p, ok := job.ParsePart(text)
	if !ok {
		return cli.Must(fmt.Sprintf("i/n with i from 1 to n and n up to %d, all, or all/n", job.MaxParts))
	}
	f.Part = p
	return nil
}

// whole reports whether nothing is divided.
func (f *partFlag) whole() bool { return f.Part == job.Part{} }

// sums fails if parts are to be added up and to be done again.
func (f *partFlag) sums(restart bool) error {
	if f.All && restart {
		return cli.Usagef("--part all adds up what was found: --restart goes with --part i/n")
	}
	return nil
}

// one fails if parts are to be added up: those of files are put together by cat.
func (f *partFlag) one() error {
	if f.All {
		return cli.Usagef("--part %s: it must be i/n; cat puts the parts together", f.Part)
	}
	return nil
}

// printMissing prints which parts of a layer are missing.
func (a *app) printMissing(parts []int) {
	if len(parts) > 0 {
		fmt.Fprintf(a.Out, "  missing parts: %s\n", job.List(parts))
	}
}

// printPart says that nothing is wrong with a part.
func (a *app) printPart(f partFlag, seconds float64) {
	fmt.Fprintf(a.Out, "part %s: nothing is wrong with it (%.1f s); --part all adds up the parts\n", f.Part, seconds)
}
