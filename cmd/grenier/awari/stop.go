package awari

import (
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

// stopReport is what stop prints as JSON.
type stopReport struct {
	PID  int         `json:"pid"`
	Stop rundir.Stop `json:"stop"`
}

func (a *app) stop() *cobra.Command {
	var f stopFlags
	cmd := &cobra.Command{
		Use:   "stop --dir DIR",
		Short: "Ask a run to stop, from another terminal",
		Long: `Asks the solver at work in DIR to stop when the layer in progress is sealed; with --now,
to make a checkpoint and stop. It ends with status 75, unless the layer was the last
one. The same "solve" continues. --cancel takes it back.

The command does not wait; "grenier awari status" tells when the solver has gone. A
request is for the solver that is at work: the next one does not look at it.
` + cli.ExitHelp,
		Example: `  grenier awari stop --dir data/awari
  grenier awari stop --dir data/awari --now
  grenier awari stop --dir data/awari --cancel`,
		Args: cli.NoArgs,
		RunE: a.Start(func(*cobra.Command, []string) error { return a.runStop(f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.BoolVar(&f.now, "now", false, "do not wait for the end of the layer")
	flags.BoolVar(&f.cancel, "cancel", false, "let the run go on")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("now", "cancel")
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
		how, what = rundir.NoStop, "goes on"
	}
	h, err := dir.AskStop(how)
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(stopReport{h.PID, how})
	}
	fmt.Fprintf(a.Out, "process %d %s\n", h.PID, what)
	return nil
}
