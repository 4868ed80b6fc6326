package awari

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
)

// stopFlags are the flags of stop as given.
type stopFlags struct {
	dir               string
	now, cancel, json bool
}

// stopReport is the JSON of stop.
type stopReport struct {
	PID  int         `json:"pid"`
	Stop rundir.Stop `json:"stop"`
}

func (a *app) stop() *cobra.Command {
	var f stopFlags
	cmd := &cobra.Command{
		Use:   "stop --dir DIR",
		Short: "Stop a run, from another terminal",
		Long: `Requests that the solver in DIR stops when the layer in progress is sealed, or
with --now that it writes a checkpoint and stops. The solver then ends with
status 75, unless that layer was the last one; the same "solve" resumes.
--cancel withdraws the request.

stop does not wait; "grenier awari status" shows when the solver has ended. A
request is only for the solver that runs now; without one there is nothing to
do, and the process id in JSON is 0.
`,
		Example: `  grenier awari stop --dir data/awari
  grenier awari stop --dir data/awari --now
  grenier awari stop --dir data/awari --cancel`,
		Args: cli.NoArgs,
		RunE: a.Start(func(*cobra.Command, []string) error { return a.runStop(f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.BoolVar(&f.now, "now", false, "stop before the layer is sealed, with a checkpoint")
	flags.BoolVar(&f.cancel, "cancel", false, "withdraw the request")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	cli.Exclude(cmd, "now", "cancel")
	return cmd
}

func (a *app) runStop(f stopFlags) error {
	dir, err := rundir.Open(f.dir)
	if err != nil {
		return err
	}
	how, what := rundir.AfterLayer, "will stop when the layer in progress is sealed"
	switch {
	case f.now:
		how, what = rundir.AtOnce, "will stop, with a checkpoint"
	case f.cancel:
		how, what = rundir.NoStop, "continues"
	}
	h, err := dir.AskStop(how)
	if errors.Is(err, rundir.ErrNoSolver) {
		h, what, err = rundir.Holder{}, "", nil
	}
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(stopReport{h.PID, how})
	}
	if h.PID == 0 {
		fmt.Fprintf(a.Out, "nothing to stop: no solver runs in %s\n", f.dir)
		return nil
	}
	fmt.Fprintf(a.Out, "process %d %s\n", h.PID, what)
	return nil
}
