package awari

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/plan"
)

// planFlags are the flags of plan as given.
type planFlags struct {
	runFlags
	cli.CalibrationFlags
	nodesFlags
	dir string
}

// planReport is the JSON of plan.
type planReport struct {
	Rules       string            `json:"rules"`
	Pits        int               `json:"pits"`
	Memory      uint64            `json:"memory_bytes"`
	Threads     int               `json:"threads"`
	Speed       float64           `json:"speed"` // at least; 0 without a calibration
	Most        float64           `json:"most_speed"`
	Bound       string            `json:"speed_bound,omitempty"` // the bound by which it is the least speed
	Codec       layerfile.Codec   `json:"codec"`
	Calibration *plan.Calibration `json:"calibration"` // nil if there was no need for one
	*plan.Plan
	Free  *uint64      `json:"free_bytes,omitempty"` // in the directory of the run
	Disks []solve.Disk `json:"disks,omitempty"`
	// Nodes is the run on --nodes machines.
	Nodes *plan.NodesPlan `json:"nodes,omitempty"`
}

func (a *app) plan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --seeds N",
		Short: "Predict memory, disk and time of solve, layer by layer",
		Long: `Predicts the memory, the bytes read and written, the disk and the time that
"solve" takes with the same flags, for each layer up to N seeds that DIR does
not have yet.

A calibration of about half a minute measures this machine first: it solves a
small run in several ways, and writes and reads a file in DIR, or in the
directory for temporary files. A saved calibration (--save-calibration) is JSON
that you can use again, or edit to describe another machine.

The columns, of which a narrow terminal shows fewer:

  bits     of a score in memory: 8 if the layer is in memory in one piece
  windows  of values in which the layer is solved, one after the other
  memory   for scores
  passes   through parts of the layers below, to compute the values of captures
  read     bytes of files; written, likewise
  disk     space taken in the end, all layers included
  capture  seconds to compute the values of captures
  turn     seconds to start windows
  sweep    seconds of sweeps
  full     seconds for full rows, and to write the results of windows
  seal     seconds to write the layer file
  seconds  all of these

The last lines compare with a run that has enough memory for each layer in one
piece, with the memory of the machine, and with the room on each disk, that of
DIR, or those of --work and --layers-to, which need --dir. They say if other
programs used a tenth or more of the processors during the calibration. If DIR
has all layers, nothing is measured.

With --nodes the plan is for several machines of one kind that share a file
system and take steps of a layer ("grenier awari step"); the columns are

  alone    seconds of one node for a layer in memory
  capture  seconds of all nodes; seal, likewise
  search   seconds in which the nodes search all windows, one at a time each
  slowest  seconds of the slowest window, which more nodes do not shorten
  publish  seconds in which one node puts the layer file together
  shared   bytes through the shared file system

--json prints "layers", with bytes and "stage_seconds", their "total",
"in_memory_seconds", the "calibration", and with --dir "free_bytes" and for each
of the "disks" its "path", "needed_bytes" and "free_bytes".
`,
		Example: `  grenier awari plan --seeds 24 --memory 1GiB --dir data/awari
  grenier awari plan --seeds 24 --save-calibration here.json
  grenier awari plan --seeds 48 --memory 64GiB --threads 16 --disk 3GB --calibration here.json
  grenier awari plan --seeds 48 --memory 64GiB --threads 16 --calibration here.json --nodes 12 --shared 2GB`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runPlan(cmd.Context(), f) }),
	}
	f.runFlags.define(cmd)
	flags := cmd.Flags()
	f.Memory.DefinePlan(a.App, flags, "8GiB")
	flags.Var((*cli.Directory)(&f.dir), "dir", "run directory; the plan leaves out the layers that it has")
	f.CalibrationFlags.Define(flags)
	f.nodesFlags.define(flags)
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

// run returns the run to be planned, and the options of solve that ask for it.
func (f *planFlags) run() (r plan.Run, o solve.Options, err error) {
	game, err := f.game()
	if err != nil {
		return r, o, err
	}
	if f.dir == "" && (f.work != "" || f.layersTo != "") {
		return r, o, cli.Usagef("--work and --layers-to need --dir")
	}
	o, err = f.options()
	if err == nil {
		err = o.Check(game)
	}
	if err != nil {
		return r, o, f.Memory.Explain(err)
	}
	o.Free = rundir.FreeBytes
	r = f.planned(game, &o)
	if f.dir != "" {
		err = solve.Continue(&r, f.dir)
	}
	return r, o, err
}

func (a *app) runPlan(ctx context.Context, f planFlags) error {
	r, o, err := f.run()
	if err != nil {
		return err
	}
	if err := f.OneStdout(f.JSON); err != nil {
		return err
	}
	if r.Done() && !f.CalibrationFlags.Given() {
		return a.nothingToPlan(&f, &o, &r)
	}
	c, err := cli.Calibrated(a.App, &f.CalibrationFlags, plan.ParseCalibration,
		func(disk bool) (*plan.Calibration, error) { return a.calibrate(ctx, &f, o.Family, !disk) })
	if err != nil || f.Printed() {
		return err
	}
	report, err := newPlanReport(&f.runFlags, f.dir, &o, r, c)
	if err != nil {
		return err
	}
	if report.Nodes, err = f.nodesFlags.plan(r, c); err != nil {
		return err
	}
	switch {
	case f.JSON:
		return a.PrintJSON(report)
	case report.Nodes != nil:
		a.printNodes(report.Nodes, r.Memory)
	default:
		a.printPlan(&report, r.Sealed)
	}
	return nil
}

// nothingToPlan says that all layers are sealed, without measuring.
func (a *app) nothingToPlan(f *planFlags, o *solve.Options, r *plan.Run) error {
	if !f.JSON {
		fmt.Fprintf(a.Out, "nothing to solve: %s has all layers up to %s\n", f.dir, cli.Count(r.Seeds, "seed"))
		return nil
	}
	report, err := newPlanReport(&f.runFlags, f.dir, o, *r, nil)
	if err != nil {
		return err
	}
	return a.PrintJSON(report)
}

// newPlanReport plans a run on the machine of c, which may be nil if nothing is to be solved. If the run has a directory, the
// report has the room that it takes on each disk, and the free room there.
func newPlanReport(f *runFlags, dir string, o *solve.Options, r plan.Run, c *plan.Calibration) (p planReport, err error) {
	p = planReport{Rules: f.rules, Pits: f.pits, Memory: r.Memory, Threads: r.Cores, Codec: layerfile.LZ4, Calibration: c}
	if c != nil {
		speeds := c.Speeds(r.Cores)
		p.Speed, p.Most, p.Bound = speeds.Least, speeds.Most, string(speeds.Bound)
	}
	if p.Plan, err = plan.New(r, c); err != nil || dir == "" {
		return p, err
	}
	if p.Free, err = cli.RoomFor(dir); err == nil {
		p.Disks, err = o.Disks(dir, r)
	}
	return p, err
}

// dryRun is solve --dry-run.
func (a *app) dryRun(f solveFlags, game awari.Game, o *solve.Options) error {
	if err := o.Admit(f.dir, game); err != nil {
		return f.Memory.Explain(forced(err))
	}
	r := f.planned(game, o)
	if err := solve.Continue(&r, f.dir); err != nil {
		return err
	}
	c, whose := keptCalibration(o.Family, o.Workers), "this machine"
	if c == nil {
		c, whose = plan.Typical(o.Family, o.Workers), `a typical machine; "grenier awari plan" measures this one`
	}
	o.Free = rundir.FreeBytes
	report, err := newPlanReport(&f.runFlags, f.dir, o, r, c)
	if err != nil {
		return err
	}
	if f.JSON {
		return a.PrintJSON(report)
	}
	if r.Done() {
		a.Printf(2, "nothing to do: layers 0 to %d are solved already", r.Solved-1)
		return nil
	}
	a.printLayers(&report, r.Sealed)
	a.Printf(2, "the run can begin; times are of %s; nothing was changed", whose)
	return nil
}

// printLayers prints the layers of a plan and their sum.
func (a *app) printLayers(p *planReport, sealed uint64) {
	table := cli.NewTable(a.Out, cli.WidthOf(a.Out), planColumns())
	for _, l := range p.Layers {
		table.Add(l)
	}
	a.printPlanTotal(p, sealed)
}

// calibrate measures this machine.
func (a *app) calibrate(ctx context.Context, f *planFlags, family cpu.Family, skipDisk bool) (*plan.Calibration, error) {
	if err := f.Memory.Calibrating(f.Threads); err != nil {
		return nil, err
	}
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	c, err := calibrate.Run(ctx, calibrate.Options{
		Job: job.Job{Workers: f.Threads, Family: family, Progress: shown.Show}, Dir: f.dir, SkipDisk: skipDisk,
	})
	if err != nil {
		return nil, err
	}
	say := func(text string) { shown.Pause(func() { fmt.Fprintln(a.Err, "grenier: "+text) }) }
	if !c.Busy() {
		if skipDisk { // half a calibration
			return c, nil
		}
		if err := keep(c); err != nil {
			say("warning: the calibration of this machine cannot be kept: " + cli.OneLine(err))
		}
		return c, nil
	}
	kept := keptCalibration(family, f.Threads)
	if kept == nil {
		return c, nil
	}
	say(whyKept(c, kept))
	kept.Disk = c.Disk
	return kept, nil
}

// whyKept says why the kept calibration stands for one that was measured now.
func whyKept(c, kept *plan.Calibration) string {
	return fmt.Sprintf("other programs use %.0f%% of the processors now: the plan is by the calibration of %s",
		100*c.Taken, kept.Date.Local().Format("2006-01-02 15:04"))
}

// printPlan prints the layers, their sum, and the calibration that they come from.
func (a *app) printPlan(p *planReport, sealed uint64) {
	a.printLayers(p, sealed)
	c := p.Calibration
	fmt.Fprintln(a.Out)
	a.Printf(2, "for %s, %s kernels, calibrated %s", c.CPU, c.Kernel, c.Date.Format(time.DateOnly))
	a.PrintBusy(c.Busy(), c.Taken)
	a.Printf(2, "one core, ns a position: capture %.2f, sweeps %.2f, seal %.2f; %.2f to decode one", c.Capture, c.Sweep, c.Seal, c.Decode)
	for _, bits := range plan.Widths() {
		w := c.Of(bits)
		a.Printf(2, "with %d bits: capture %.2f, sweeps %.2f, full rows %.2f, seal %.2f", bits, w.Capture, w.Sweep, w.Full, w.Seal)
	}
	a.Printf(2, "%s", coresLine(p, c))
	a.Printf(2, "disk: reads %s/s, in pieces of 64 KiB %s/s, writes %s/s", cli.Size(c.Read), cli.Size(c.Random), cli.Size(c.Write))
	for _, line := range p.Assumptions() {
		a.Printf(2, "assumed: %s", line)
	}
}

// coresLine says how much more all processors do than one, and which of them were measured.
func coresLine(p *planReport, c *plan.Calibration) string {
	speed := fmt.Sprintf("%.2f", p.Speed)
	if p.Most > p.Speed {
		speed = fmt.Sprintf("%s (bound by %s) to %.2f (by their number)", speed, p.Bound, p.Most)
	}
	measured := fmt.Sprintf("%d do %.2f times as much", c.Cores, c.Speedup)
	switch {
	case c.Shared():
		measured += fmt.Sprintf(", and the %d of this machine share %s", c.Processors, cli.Count(c.Physical, "core"))
	case c.Physical == 0:
		measured += "; nobody says whether they share cores"
	}
	if c.MemorySpeed > 0 {
		measured += fmt.Sprintf("; they copy %s/s", cli.Size(c.MemorySpeed/2))
	}
	return fmt.Sprintf("cores: %d do %s times as much as one (measured: %s)", p.Threads, speed, measured)
}

// planColumns are the columns of a plan. The narrowest terminal shows the needs of a run:
// memory, disk and time.
func planColumns() []cli.Column[plan.Layer] {
	column := cli.NewColumn[plan.Layer]
	number := func(n int) string { return strconv.Itoa(n) }
	const stages, passes, windows, bits, transfers = 1, 2, 3, 4, 5 // the order in which columns go
	return []cli.Column[plan.Layer]{
		column("seeds", 5, 0, func(l plan.Layer) string { return number(l.Seeds) }),
		column("positions", 15, 0, func(l plan.Layer) string { return cli.Comma(l.Positions) }),
		column("bits", 4, bits, func(l plan.Layer) string { return number(l.Bits) }),
		column("windows", 7, windows, func(l plan.Layer) string { return number(l.Windows) }),
		column("memory", 8, 0, func(l plan.Layer) string { return cli.Size(l.Memory) }),
		column("passes", 6, passes, func(l plan.Layer) string { return number(l.Passes) }),
		column("read", 8, transfers, func(l plan.Layer) string { return cli.Size(l.Read) }),
		column("written", 8, transfers, func(l plan.Layer) string { return cli.Size(l.Written) }),
		column("disk", 8, 0, func(l plan.Layer) string { return cli.Size(l.Disk) }),
		column("capture", 8, stages, func(l plan.Layer) string { return seconds(l.Times.Capture) }),
		column("turn", 8, stages, func(l plan.Layer) string { return seconds(l.Times.Turn) }),
		column("sweep", 8, stages, func(l plan.Layer) string { return seconds(l.Times.Sweep) }),
		column("full", 8, stages, func(l plan.Layer) string { return seconds(l.Times.Full) }),
		column("seal", 8, stages, func(l plan.Layer) string { return seconds(l.Times.Seal) }),
		column("seconds", 8, 0, func(l plan.Layer) string { return seconds(l.Seconds) }),
	}
}

func (a *app) printPlanTotal(p *planReport, sealed uint64) {
	t := p.Total
	seconds := cli.Period(t.Seconds)
	if t.Least < t.Seconds {
		seconds = cli.Period(t.Least) + " to " + seconds
	}
	a.Printf(2, "%s in %s (%.2f hours): capture %s, turn %s, sweep %s, full %s, seal %s", cli.Count(t.Positions, "position"),
		seconds, t.Seconds/3600, cli.Period(t.Times.Capture), cli.Period(t.Times.Turn), cli.Period(t.Times.Sweep),
		cli.Period(t.Times.Full), cli.Period(t.Times.Seal))
	if p.InMemory > 0 {
		a.Printf(2, "with %s of memory, all layers in one piece: %s (%.2f hours); this takes %.2f times as long",
			cli.Size(p.InMemoryBytes), cli.Period(p.InMemory), p.InMemory/3600, t.Seconds/p.InMemory)
	}
	a.Printf(2, "%s read, %s written; at most %s on disk, %s more than now",
		cli.Size(t.Read), cli.Size(t.Written), cli.Size(t.DiskPeak), cli.Size(t.DiskPeak-sealed))
	for _, d := range p.Disks {
		switch {
		case d.Free == nil:
			a.Printf(2, "%s: %s needed", d.Path, cli.Size(d.Need))
		case len(p.Disks) == 1:
			a.Printf(2, "%s free: %s", cli.Size(*d.Free), enough(*d.Free, d.Need))
		default:
			a.Printf(2, "%s: %s needed, %s free: %s", d.Path, cli.Size(d.Need), cli.Size(*d.Free), enough(*d.Free, d.Need))
		}
	}
	if of := p.Calibration.Memory; of > 0 {
		a.Printf(2, "%s of memory taken, the machine has %s: %s", cli.Size(t.Memory), cli.Size(of), enough(of, t.Memory))
	}
}

// enough says in words whether there is as much as is needed.
func enough(there, need uint64) string {
	if there < need {
		return "too little"
	}
	return "enough"
}

// seconds returns a time for a column.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	if s < 1000 {
		return fmt.Sprintf("%.2f", s)
	}
	return cli.Comma(uint64(s))
}
