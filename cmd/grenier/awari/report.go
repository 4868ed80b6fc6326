package awari

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/report"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/history"
	"grenier/pipeline/solve/plan"
)

// reportFlags are the flags of report as given.
type reportFlags struct {
	dir, html string
	json      bool
}

// workReported is the JSON of report.
type workReported struct {
	*history.History
	Next *nextWork `json:"next"` // nil if all layers wanted are solved
}

// nextWork is what the last run was asked for and has not solved yet.
type nextWork struct {
	Seeds   int      `json:"seeds"`
	Last    int      `json:"last_layer"`
	Seconds *float64 `json:"seconds"` // estimated, from now on; nil if not known
	// Estimate says what Seconds come from: the solver, which runs, or a plan.
	Estimate string     `json:"estimate"`
	Ends     *time.Time `json:"ends"` // nil if no solver runs
}

func (a *app) report() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report --dir DIR",
		Short: "Tell what all runs in a directory have done so far",
		Long: `Reads DIR/solve.log and tells of all runs since the first: when they began, how
and why they ended, how long they worked and which layers they sealed, their
sums, and the slowest stages. The last line says which layers of the last run
are still to be solved, and when that will be done: as the solver expects, or if
none runs, how long a plan says that it takes.

--html draws positions solved, speed, memory and disk over the time of work
instead, with the moments at which layers were sealed, as a web page in one
file.
`,
		Example: `  grenier awari report --dir data/awari
  grenier awari report --dir data/awari --json
  grenier awari report --dir data/awari --html report.html`,
		Args: cli.NoArgs,
		RunE: a.Start(func(*cobra.Command, []string) error { return a.runReport(f) }),
	}
	needDir(cmd, &f.dir)
	cmd.Flags().Var((*cli.File)(&f.html), "html", "`FILE` for a web page with charts, - for stdout")
	cmd.Flags().BoolVar(&f.json, "json", false, cli.JSONUsage)
	return cmd
}

func (a *app) runReport(f reportFlags) error {
	if err := cli.OneStdout(f.json, map[string]string{"--html": f.html}); err != nil {
		return err
	}
	v, err := newRunView(f.dir)
	if err != nil {
		return err
	}
	dir, err := rundir.Open(f.dir)
	if err != nil {
		return err
	}
	h, err := history.Read(dir, v.activity.State == rundir.Running)
	if err != nil {
		return err
	}
	r := workReported{h, v.next(h)}
	if f.html != "" {
		var page bytes.Buffer
		if err := report.WriteCharts(&page, v.manifest.Identity.String(), summaryOf(h), h.Charts()); err != nil {
			return err
		}
		if err := a.WriteFile(f.html, page.Bytes()); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return a.PrintJSON(r)
	case f.html == "":
		a.printReport(&v, &r)
	}
	return nil
}

// next returns what is still to be solved of what the last run was asked for.
func (v *runView) next(h *history.History) *nextWork {
	last, next := h.Last(), len(v.manifest.Layers)
	if last == nil || next > last.Seeds {
		return nil
	}
	n := &nextWork{Seeds: next, Last: last.Seeds, Estimate: "none"}
	if v.activity.State == rundir.Running {
		n.Estimate = "solver"
		if s := v.activity.Report; s != nil {
			if n.Seconds = cli.SecondsOf(progressOf(s).RunETA()); n.Seconds != nil {
				ends := s.Reported.Add(time.Duration(*n.Seconds * float64(time.Second)))
				n.Ends = &ends
			}
		}
		return n
	}
	if seconds, ok := v.planned(last); ok {
		n.Seconds, n.Estimate = &seconds, "plan"
	}
	return n
}

// planned returns how long the rest of a run takes by a plan: with the kept calibration of this machine, or as on a typical one.
func (v *runView) planned(last *history.Run) (seconds float64, ok bool) {
	family, err := cli.Family()
	rules, err2 := awari.ParseRules(v.manifest.Rules)
	memory, err3 := humanize.ParseBytes(last.Memory)
	if err != nil || err2 != nil || err3 != nil || last.Threads < 1 {
		return 0, false
	}
	game, err := awari.New(v.manifest.Pits, rules)
	if err != nil {
		return 0, false
	}
	r := plan.Run{Game: game, Seeds: last.Seeds, Memory: memory, Cores: last.Threads, Family: family}
	if err := solve.Continue(&r, v.path); err != nil {
		return 0, false
	}
	c := keptCalibration(family, last.Threads)
	if c == nil {
		c = plan.Typical(family, last.Threads)
	}
	p, err := plan.New(r, c)
	if err != nil {
		return 0, false
	}
	return p.Total.Seconds, true
}

// summaryOf sums up all runs in a line.
func summaryOf(h *history.History) string {
	if len(h.Runs) == 0 {
		return "no run yet"
	}
	text := fmt.Sprintf("%s since %s: %s; %s of work, %s sealed, %s", cli.Count(len(h.Runs), "run"), clockTime(h.Runs[0].Started),
		h.InWords(), cli.Period(h.Seconds), cli.Count(h.Layers, "layer"), cli.Count(h.Positions, "position"))
	if speed := cli.Speed(float64(h.Positions) / max(h.Seconds, 1e-9)); speed != "" {
		text += ", " + speed
	}
	return text
}

// printReport prints the runs, the slowest stages and what is next.
func (a *app) printReport(v *runView, r *workReported) {
	line := func(name, format string, args ...any) {
		a.Printf(statusIndent, "%-8s %s", name, fmt.Sprintf(format, args...))
	}
	a.Printf(2, "%s: %s", v.path, v.manifest.Identity)
	line("runs", "%s", summaryOf(r.History))
	for _, run := range r.Runs {
		line("", "%s to %s: %s after %s%s%s", run.Started.Local().Format(time.DateTime), run.Ended.Local().Format(time.DateTime), run.State,
			cli.Period(run.Seconds), sealedIn(run), because(run))
	}
	var slowest []string
	for _, s := range r.Slowest {
		slowest = append(slowest, fmt.Sprintf("layer %d %s %s", s.Seeds, s.Stage, cli.Period(s.Seconds)))
	}
	if len(slowest) > 0 {
		line("slowest", "%s", strings.Join(slowest, ", "))
	}
	line("next", "%s", r.Next)
}

// sealedIn says which layers a run has sealed.
func sealedIn(r history.Run) string {
	if len(r.Layers) == 0 {
		return ", no layer sealed"
	}
	first, last := r.Layers[0].Seeds, r.Layers[len(r.Layers)-1].Seeds
	if first == last {
		return fmt.Sprintf(", layer %d sealed", first)
	}
	return fmt.Sprintf(", layers %d to %d sealed", first, last)
}

// because says why a run ended, if the log does.
func because(r history.Run) string {
	if r.Why == "" {
		return ""
	}
	return ": " + r.Why
}

// String says what is next, and when it ends.
func (n *nextWork) String() string {
	if n == nil {
		return "nothing: all layers that were asked for are solved"
	}
	text := fmt.Sprintf("layer %d of those up to %d", n.Seeds, n.Last)
	switch {
	case n.Seconds == nil:
		return text
	case n.Ends != nil:
		return fmt.Sprintf("%s; %s left, until about %s", text, cli.Period(*n.Seconds), clockTime(*n.Ends))
	}
	return fmt.Sprintf("%s; about %s of work, as planned; the same command resumes", text, cli.Period(*n.Seconds))
}
