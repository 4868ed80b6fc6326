package awari

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// stepFlags are the flags of step as given.
type stepFlags struct {
	cli.JobFlags
	dir        string
	seeds      int
	bits       int
	checkpoint time.Duration
	plan       bool
	task       solve.Task
}

// stepped is the JSON of step.
type stepped struct {
	Seeds  int             `json:"seeds"`
	Step   string          `json:"step"` // as on the command line, without --
	Before bool            `json:"done_before"`
	Plan   *solve.StepPlan `json:"plan,omitempty"`  // nil if the layer was published before
	Layer  *layerTook      `json:"layer,omitempty"` // that this step published
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

The plan is DIR/work/plan.json. Steps of another version of grenier, or over
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
	flags.BoolVar(&f.plan, "plan", false, "make the plan of the layer")
	flags.Var((*shareFlag)(&f.task.Captures), "captures", "compute the values of captures, share `i/n`")
	cli.IntVar(flags, &f.task.Window, "window", 0, 1, awari.MaxSeeds, "find the window `j`, from 1 on")
	flags.Var((*shareFlag)(&f.task.Seal), "seal", "encode share `i/n` of the layer")
	flags.BoolVar(&f.task.Publish, "publish", false, "publish the layer")
	cli.IntChoiceVar(flags, &f.bits, "bits", 0, "`bits` of a score in memory, for --plan; 0 chooses the most that fit", 0, 6, 4, 3, 2)
	f.JobFlags.Define(a.App, flags, "8GiB", cli.JSONUsage)
	checkpointVar(flags, &f.checkpoint)
	cli.Need(cmd, "layer")
	return cmd
}

// stepNames are the flags that are steps.
var stepNames = []string{"plan", "captures", "window", "seal", "publish"}

// check refuses flags that do not go together.
func (f *stepFlags) check(cmd *cobra.Command) error {
	given := ""
	for _, name := range stepNames {
		if cmd.Flags().Changed(name) {
			given += " --" + name
		}
	}
	if strings.Count(given, "--") != 1 {
		return cli.Usagef("one of --%s is needed, got%s", strings.Join(stepNames, ", --"), given+strings.Repeat(" none", 1-min(1, len(given))))
	}
	for _, name := range []string{"memory", "bits"} {
		if !f.plan && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s goes with --plan: other steps take what the plan says", name)
		}
	}
	return nil
}

// name returns the step as it is on the command line.
func (f *stepFlags) name() string {
	switch t := &f.task; {
	case f.plan:
		return "plan"
	case t.Publish:
		return "publish"
	case t.Window > 0:
		return fmt.Sprintf("window %d", t.Window)
	case t.Seal.Of > 0:
		return "seal " + (*shareFlag)(&t.Seal).String()
	}
	return "captures " + (*shareFlag)(&f.task.Captures).String()
}

// shareFlag is i/n, the i-th of n equal parts.
type shareFlag solve.Share

func (f *shareFlag) Type() string { return "share" }

func (f *shareFlag) String() string {
	if f.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", f.Part, f.Of)
}

// mostShares is the most parts that a layer is cut into: more would all be empty.
const mostShares = 10_000

// Set reads two numbers.
func (f *shareFlag) Set(text string) error {
	part, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(part)
	n, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || i < 1 || i > n || n > mostShares {
		return cli.Must(fmt.Sprintf("i/n, with i from 1 to n, and n at most %d, like 3/16", mostShares))
	}
	f.Part, f.Of = i, n
	return nil
}

func (a *app) runStep(ctx context.Context, f stepFlags) error {
	if plan, err := solve.PlanOf(f.dir); err == nil && !f.plan { // if there is none, the step says so
		if err := f.Memory.Set(strconv.FormatUint(plan.Memory, 10)); err != nil {
			return err
		}
	}
	o := solve.StepOptions{Seeds: f.seeds, Program: cli.Program(), Bits: f.bits, Interval: f.checkpoint}
	var err error
	if o.Job, err = f.Job(); err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // as for solve
	a.Resume = "; the same step resumes"
	start, report := time.Now(), solve.StepReport{}
	if f.plan {
		report.Plan, report.Before, err = solve.PlanSteps(ctx, f.dir, o)
	} else {
		report, err = f.task.Do(ctx, f.dir, o)
	}
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	s := stepped{Seeds: f.seeds, Step: f.name(), Before: report.Before, Took: cli.TookSince(start)}
	if report.Plan.Seeds == f.seeds && report.Plan.Windows > 0 {
		s.Plan = &report.Plan
	}
	if report.Report.Layer.Positions > 0 {
		layer := figuresOf(report.Report)
		s.Layer = &layer
	}
	if f.JSON {
		return a.PrintJSON(s)
	}
	a.printStep(&s)
	return nil
}

// printStep prints what a step has done.
func (a *app) printStep(s *stepped) {
	p := s.Plan
	switch {
	case p == nil:
		fmt.Fprintf(a.Out, "layer %d: published before\n", s.Seeds)
	case s.Before:
		fmt.Fprintf(a.Out, "layer %d: %s was done before (%.1f s)\n", s.Seeds, s.Step, s.Seconds)
	default:
		fmt.Fprintf(a.Out, "layer %d: %s done (%.1f s)\n", s.Seeds, s.Step, s.Seconds)
	}
	if s.Step == "plan" && p != nil {
		fmt.Fprintf(a.Out, "%s, %d bits a score; %s of capture values, %s to seal; %s of memory for each step\n", cli.Count(uint64(p.Windows), "window"),
			p.Bits, cli.Count(uint64(p.Segments), "segment"), cli.Count(uint64(p.Pieces), "piece"), humanize.IBytes(p.Memory))
	}
	if s.Layer != nil {
		fmt.Fprintf(a.Out, "layer %d: %s, %s\n", s.Seeds, cli.Count(s.Layer.Positions, "position"), humanize.IBytes(uint64(s.Layer.Bytes)))
	}
}
