// Package doctor has the command grenier doctor.
package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/doctor"
	"grenier/pipeline/job"
)

// flags are the flags of doctor.
type flags struct {
	dir, form   string
	quick, json bool
}

// Command returns the command that checks the machine.
func Command(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine before a long run",
		Long: `Checks whether this machine is fit for a run of many hours: the kernels for the
CPU, the processors and the memory that a container may use, the limits of the
process, the speed and the room of the disk of DIR, the features of its file
system that runs rely on, and the clock. Each check prints a line. DIR need not
exist; nothing is left in it.

"warning" means that a run would be slow or at risk, "bad" that it would fail.
Measuring the disk writes and reads 256 MiB, which takes some seconds; --quick
skips it.

--json prints "verdict" (ok, warning or bad), "findings" with one for each
line, and the facts: "kernels", "cores", "memory", "limits", "disk", "files",
"clock".

EXIT STATUS
  3    something is bad; warnings are no failure
`,
		Example: `  grenier doctor --dir data/awari
  grenier doctor --quick --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), a, f) }),
	}
	cmd.Flags().Var((*cli.Directory)(&f.dir), "dir", "directory of a run, existing or planned (default: the one for temporary files)")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "do not measure the disk")
	cli.ProgressFlag(cmd.Flags(), &f.form)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func run(ctx context.Context, a *cli.App, f flags) error {
	family, err := cli.Family()
	if err != nil {
		return err
	}
	shown, err := a.NewProgress(f.form, f.json)
	if err != nil {
		return err
	}
	r, err := doctor.Examine(ctx, doctor.Options{Job: job.Job{Family: family, Progress: shown.Show}, Dir: f.dir, Quick: f.quick})
	shown.Close()
	if err != nil {
		return err
	}
	return a.Checked(f.json, r, func() { show(a, r) })
}

// show prints a line for each finding, and the verdict.
func show(a *cli.App, r *doctor.Report) {
	var warnings []string
	for _, found := range r.Findings {
		a.Printf(18, "%-8s %-8s %s", found.About, found.Verdict, found.Text)
		if found.Verdict != doctor.Fine {
			warnings = append(warnings, found.About)
		}
	}
	switch about := strings.Join(warnings, ", "); r.Verdict {
	case doctor.Fine:
		fmt.Fprintln(a.Out, "verdict: fit for a long run")
	case doctor.Warning:
		fmt.Fprintf(a.Out, "verdict: a run works here, but look at: %s\n", about)
	case doctor.Bad:
		fmt.Fprintf(a.Out, "verdict: a run would fail here; look at: %s\n", about)
	}
}
