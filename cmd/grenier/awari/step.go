package awari

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// stepFlags are the flags of step as given.
type stepFlags struct {
	cli.JobFlags
	dir         string
	seeds, bits int
	skip        int
	checkpoint  time.Duration
	tasks       []solve.Task // one, if the command line is right
}

// stepped is the JSON of step.
type stepped struct {
	Seeds int    `json:"seeds"`
	Step  string `json:"step"`
	solve.StepReport
	cli.Took
}

func (a *app) step() *cobra.Command {
	var f stepFlags
	cmd := &cobra.Command{
		Use:   "step --dir DIR --layer n (--plan | --captures i/n | --window j | --seal i/n | --publish)",
		Short: "Solve a layer in steps, on several machines",
		Long: `Does one step of the layer that comes next in DIR. The steps of a layer are
processes that someone else starts, a scheduler for instance, on machines that
share DIR; many may run at the same time:

  --plan        first, once: how many bits a score takes in memory, in how many
                windows, and how much memory each step may take
  --captures    the values of captures, in as many shares as you like: share i
                of n, for i from 1 to n
  --window      window j of those that the plan has, when all captures are there
  --seal        share i of n of the encoded layer, when all windows are there
  --publish     last, once: makes the layer file of these, and lists it

A step that was done before ends at once, and one that was interrupted resumes,
the same or another process: it does no harm if two do the same step at the same
time. A step whose needs are not there yet exits with status 75: try it again
later. The file of a layer is the one that "grenier awari solve" makes.

The plan is work/plan.json in DIR. Steps of another version of grenier, or over
other layers below, are refused, and so is "grenier awari solve" while there is
a plan. To give a plan up, remove that file.

EXIT STATUS
  2    this step can never succeed: another plan, version, or memory is needed
  75   not yet: other steps come first, or another process has DIR; the same
       step, later
`,
		Example: `  grenier awari step --dir data/awari --layer 20 --plan --memory 1GiB
  grenier awari step --dir data/awari --layer 20 --captures 3/16
  grenier awari step --dir data/awari --layer 20 --window 2
  grenier awari step --dir data/awari --layer 20 --seal 16/16
  grenier awari step --dir data/awari --layer 20 --publish`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.runStep(cmd.Context(), f)
		}),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	cli.IntVar(flags, &f.seeds, "layer", 0, 0, awari.MaxSeeds, "the layer of `n` seeds")
	f.taskVar(flags, solve.PlanTask, "make the plan of the layer")
	f.taskVar(flags, solve.CaptureTask, "compute the values of captures, share `i/n`")
	f.taskVar(flags, solve.WindowTask, "find window `j`, from 1 on")
	f.taskVar(flags, solve.SealTask, "encode share `i/n` of the layer")
	f.taskVar(flags, solve.PublishTask, "publish the layer")
	cli.IntChoiceVar(flags, &f.bits, "bits", 0, "`bits` of a score in memory, for --plan; 0 chooses the most that fit", append([]int{0}, plan.Widths()...)...)
	skipVar(flags, &f.skip)
	f.JobFlags.Define(a.App, flags, "8GiB", cli.JSONUsage)
	checkpointVar(flags, &f.checkpoint)
	cli.Need(cmd, "layer")
	return cmd
}

// taskFlag is a flag that is a task.
type taskFlag struct {
	name  string
	tasks *[]solve.Task
}

// taskVar adds the flag of a task.
func (f *stepFlags) taskVar(flags *pflag.FlagSet, name, usage string) {
	flag := flags.VarPF(&taskFlag{name, &f.tasks}, name, "", usage)
	if flag.Value.Type() == "bool" {
		flag.NoOptDefVal = "true"
	}
}

func (f *taskFlag) String() string { return "" }

func (f *taskFlag) Type() string {
	if f.name == solve.PlanTask || f.name == solve.PublishTask {
		return "bool"
	}
	return "share"
}

// Set reads true, a window, or two numbers i/n.
func (f *taskFlag) Set(text string) error {
	task := solve.Task{Name: f.name}
	var err error
	switch {
	case f.Type() == "bool" && text == "true":
	case f.Type() == "bool":
		return cli.Must("given without a value")
	case f.name == solve.WindowTask:
		if task.Part, err = strconv.Atoi(text); err != nil || task.Part < 1 || task.Part > awari.MaxSeeds {
			return cli.Must(fmt.Sprintf("1 to %d", awari.MaxSeeds))
		}
	default:
		p, ok := job.ParsePart(text)
		if !ok || !p.One() {
			return cli.Must(fmt.Sprintf("i/n, with i from 1 to n, and n at most %d, like 3/16", job.MaxParts))
		}
		task.Part, task.Of = p.Index, p.Of
	}
	*f.tasks = append(*f.tasks, task)
	return nil
}

// check refuses flags that do not go together.
func (f *stepFlags) check(cmd *cobra.Command) error {
	if n := len(f.tasks); n != 1 {
		return cli.Usagef("one of --plan, --captures, --window, --seal and --publish is needed, got %d", n)
	}
	for _, name := range []string{"memory", "bits", "skip"} {
		if f.tasks[0].Name != solve.PlanTask && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s goes with --plan: other steps take what the plan says", name)
		}
	}
	return nil
}

func (a *app) runStep(ctx context.Context, f stepFlags) error {
	task := f.tasks[0]
	if plan, err := solve.PlanOf(f.dir); err == nil && task.Name != solve.PlanTask { // if there is none, the step says so
		if err := f.Memory.Set(strconv.FormatUint(plan.Memory, 10)); err != nil {
			return err
		}
	}
	o := solve.StepOptions{Seeds: f.seeds, Skip: f.skip, Program: cli.Program(), Bits: f.bits, Interval: f.checkpoint}
	var err error
	if o.Job, err = f.Job(); err != nil {
		return err
	}
	o.Calibration = keptCalibration(o.Family, o.Workers)
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	a.Resume = "; the same step resumes"
	start := time.Now()
	report, err := task.Do(ctx, f.dir, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	s := stepped{f.seeds, task.String(), report, cli.TookSince(start)}
	if f.JSON {
		return a.PrintJSON(s)
	}
	a.printStep(&s)
	return nil
}

// printStep prints what a step has done.
func (a *app) printStep(s *stepped) {
	p, done := s.Plan, "done"
	if s.Before {
		done = "was done before"
	}
	if p == nil {
		fmt.Fprintf(a.Out, "layer %d: published before\n", s.Seeds)
		return
	}
	fmt.Fprintf(a.Out, "layer %d: %s %s (%.1f s)\n", s.Seeds, s.Step, done, s.Seconds)
	if s.Step == solve.PlanTask {
		fmt.Fprintf(a.Out, "%s, %d bits a score; %s of capture values, %s to seal; %s of memory for each step\n", cli.Count(uint64(p.Windows), "window"),
			p.Bits, cli.Count(uint64(p.Segments), "segment"), cli.Count(uint64(p.Pieces), "piece"), humanize.IBytes(p.Memory))
	}
}
