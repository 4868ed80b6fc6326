// Package doctor has the command grenier doctor.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/doctor"
)

// flags are those of doctor as given.
type flags struct {
	dir, form   string
	quick, json bool
}

// Command returns the command that looks at the machine.
func Command(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at this machine before a long run",
		Long: `Looks at the kernels for the CPU, processors and memory as a container sees them, limits
of the process, speed of and room on the disk of DIR, whether its file system does what
runs rely on, and the clock; and says in a line each whether that is fine for a run of
many hours. DIR need not exist; nothing is left in it.

A warning is about a run that would be slow or in danger; a run would fail for what is
bad: the exit status is 3 then, and 0 with warnings. Measuring the disk writes and reads
256 MiB, for some seconds; --quick leaves that out.

With --json: "verdict" (ok, warning or bad), "findings" with one for each line, and the
facts: "kernels", "cores", "memory", "limits", "disk", "files", "clock".
` + cli.ExitHelp,
		Example: `  grenier doctor --dir data/awari
  grenier doctor --quick --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), a, f) }),
	}
	cmd.Flags().Var((*cli.Directory)(&f.dir), "dir", "directory of a run, or where one is to be; by default that of temporary files")
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
	r, err := doctor.Examine(ctx, doctor.Options{
		Dir: f.dir, Family: family, Quick: f.quick, Progress: func(share float64) { shown.Update(measuring(share)) },
	})
	shown.Close()
	if err != nil {
		return err
	}
	return a.Checked(f.json, r, func() { show(a, r) })
}

// measuring is the share of measuring the disk that is done.
type measuring float64

// State implements cli.Stater.
func (m measuring) State(elapsed time.Duration) cli.State {
	s := cli.Calibrating(m).State(elapsed)
	s.Doing = "measuring the disk"
	return s
}

// show prints a line for each finding, and what they come to.
func show(a *cli.App, r *doctor.Report) {
	var warnings []string
	for _, found := range r.Findings {
		fmt.Fprintf(a.Out, "%-8s %-8s %s\n", found.About, found.Verdict, found.Text)
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
