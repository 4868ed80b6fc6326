package awari

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/layerfile"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/plan"
)

// planFlags are the flags of plan as given.
type planFlags struct {
	runFlags
	cli.CalibrationFlags
	dir, form string
	json      bool
}

// planReport is what plan prints as JSON.
type planReport struct {
	Rules       string            `json:"rules"`
	Pits        int               `json:"pits"`
	Memory      uint64            `json:"memory_bytes"`
	Threads     int               `json:"threads"`
	Speed       float64           `json:"speed"` // 0 without a calibration
	Codec       layerfile.Codec   `json:"codec"`
	Calibration *plan.Calibration `json:"calibration"` // nil if there was no need for one
	*plan.Plan
	Free *uint64 `json:"free_bytes,omitempty"`
}

func (a *app) plan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --seeds N",
		Short: "Predict what solving takes, layer by layer",
		Long: `Predicts memory, bytes read and written, space on disk and time of "solve" with the
same flags, for each layer up to N seeds that is not sealed in DIR yet.

A calibration of about half a minute measures this machine: it solves a small run
in several ways, and writes and reads a file, in DIR, or else where the system has
its temporary files. It can be saved and used again, also elsewhere; it is JSON
that may be edited to describe another machine.

Columns: bits of a score in memory, 8 if the layer is in memory in one piece;
windows of values that it is solved in; memory for scores; passes through the layers
below to find what captures give; bytes of files read and written; space on disk, all
layers included; seconds of capturing, beginning windows, sweeping, computing full
rows and writing what windows found, sealing. The last lines compare with a run that
has memory for all layers in one piece. The same is in --json: an object with
"layers", each with its amounts in bytes and "stage_seconds", their "total",
"in_memory_seconds", the "calibration" that was used, and with --dir "free_bytes",
what DIR has room for.

A calibration tells how much of the processors others took meanwhile, and how much memory
the machine has: a plan says when a tenth or more was taken, and whether the memory is
enough. Nothing is measured if all layers are sealed already.
` + cli.ExitHelp,
		Example: `  grenier awari plan --seeds 24 --memory 1GiB --dir data/awari
  grenier awari plan --seeds 24 --save-calibration here.json
  grenier awari plan --seeds 48 --memory 64GiB --threads 16 --disk 3GB --calibration here.json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runPlan(cmd.Context(), f) }),
	}
	f.define(cmd)
	flags := cmd.Flags()
	f.memory.DefinePlan(a.App, flags, "8GiB")
	flags.Var((*cli.Directory)(&f.dir), "dir", "run directory: its sealed layers are not planned again")
	f.CalibrationFlags.Define(flags)
	cli.ProgressFlag(flags, &f.form)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// run returns what is to be planned, and the kernels to plan for.
func (f *planFlags) run() (r plan.Run, family cpu.Family, err error) {
	game, err := f.game()
	if err != nil {
		return r, 0, err
	}
	o, err := f.options()
	if err == nil {
		err = o.Check(game)
	}
	if err != nil {
		return r, 0, f.memory.Explain(err)
	}
	r = plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Codec: o.Codec}
	if f.dir != "" {
		err = solve.Continue(&r, f.dir)
	}
	return r, o.Family, err
}

func (a *app) runPlan(ctx context.Context, f planFlags) error {
	r, family, err := f.run()
	if err != nil {
		return err
	}
	if r.Done() && !f.CalibrationFlags.Given() {
		return a.nothingToPlan(&f, &r)
	}
	c, err := cli.Calibrated(&f.CalibrationFlags, plan.Load, func(disk bool) (*plan.Calibration, error) {
		return a.calibrate(ctx, &f, family, r.Codec, !disk)
	})
	if err != nil {
		return err
	}
	report := planReport{
		Rules: f.rules, Pits: f.pits, Memory: r.Memory, Threads: r.Cores, Speed: c.Speed(r.Cores), Codec: r.Codec,
		Calibration: c,
	}
	if report.Plan, err = plan.New(r, c); err != nil {
		return err
	}
	if report.Free, err = cli.RoomFor(f.dir); err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(report)
	}
	a.printPlan(&report, r.Sealed)
	return nil
}

// nothingToPlan tells that all layers are sealed, without measuring.
func (a *app) nothingToPlan(f *planFlags, r *plan.Run) error {
	if !f.json {
		fmt.Fprintf(a.Out, "nothing to solve: %s has all layers up to %d seeds\n", f.dir, r.Seeds)
		return nil
	}
	p, err := plan.New(*r, nil)
	if err != nil {
		return err
	}
	free, err := cli.RoomFor(f.dir)
	if err != nil {
		return err
	}
	return a.PrintJSON(planReport{
		Rules: f.rules, Pits: f.pits, Memory: r.Memory, Threads: r.Cores, Codec: r.Codec, Plan: p, Free: free,
	})
}

// calibrate measures this machine.
func (a *app) calibrate(ctx context.Context, f *planFlags, family cpu.Family, codec layerfile.Codec, skipDisk bool) (*plan.Calibration, error) {
	if err := f.memory.Calibrating(f.threads); err != nil {
		return nil, err
	}
	shown, err := a.NewProgress(f.form, f.json)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	return calibrate.Run(ctx, calibrate.Options{
		Workers: f.threads, Family: family, Codec: codec, Dir: f.dir, SkipDisk: skipDisk,
		Progress: func(share float64) { shown.Update(cli.Calibrating(share)) },
	})
}

// printPlan prints the layers, what they take together, and what that was made of.
func (a *app) printPlan(p *planReport, sealed uint64) {
	a.printPlanLayers(p)
	a.printPlanTotal(p, sealed)
	c := p.Calibration
	fmt.Fprintf(a.Out, "\nfor %s, %s kernels, calibrated %s\n", c.CPU, c.Kernel, c.Date.Format(time.DateOnly))
	if c.Busy() {
		fmt.Fprintf(a.Out, "others took %.0f%% of the processors while this was measured: a quiet machine is faster\n", 100*c.Taken)
	}
	fmt.Fprintf(a.Out, "one core, ns a position: capture %.2f, sweeps %.2f, seal %.2f; %.2f to decode one\n", c.Capture, c.Sweep, c.Seal, c.Decode)
	for _, bits := range plan.Widths() {
		w := c.Of(bits)
		fmt.Fprintf(a.Out, "with %d bits: capture %.2f, sweeps %.2f, full rows %.2f, seal %.2f\n", bits, w.Capture, w.Sweep, w.Full, w.Seal)
	}
	fmt.Fprintf(a.Out, "cores: %d do %.2f times as much as one (measured: %d do %.2f times as much)\n",
		p.Threads, p.Speed, c.Cores, c.Speedup)
	fmt.Fprintf(a.Out, "disk: reads %s/s, in pieces of 64 KiB %s/s, writes %s/s\n", cli.Size(c.Read), cli.Size(c.Random), cli.Size(c.Write))
	for _, line := range p.Assumptions() {
		fmt.Fprintf(a.Out, "assumed: %s\n", line)
	}
}

func (a *app) printPlanLayers(p *planReport) {
	if len(p.Layers) == 0 {
		return
	}
	fmt.Fprintf(a.Out, "%5s %15s %4s %7s %8s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "seeds", "positions", "bits", "windows", "memory",
		"passes", "read", "written", "disk", "capture", "turn", "sweep", "full", "seal", "seconds")
	for _, l := range p.Layers {
		t := l.Times
		fmt.Fprintf(a.Out, "%5d %15s %4d %7d %8s %6d %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", l.Seeds, cli.Comma(l.Positions), l.Bits, l.Windows,
			cli.Size(l.Memory), l.Passes, cli.Size(l.Read), cli.Size(l.Written), cli.Size(l.Disk),
			column(t.Capture), column(t.Turn), column(t.Sweep), column(t.Full), column(t.Seal), column(l.Seconds))
	}
}

func (a *app) printPlanTotal(p *planReport, sealed uint64) {
	t := p.Total
	fmt.Fprintf(a.Out, "%s positions in %s (%.2f hours): capture %s, turn %s, sweep %s, full %s, seal %s\n", cli.Comma(t.Positions),
		cli.Period(t.Seconds), t.Seconds/3600, cli.Period(t.Times.Capture), cli.Period(t.Times.Turn), cli.Period(t.Times.Sweep),
		cli.Period(t.Times.Full), cli.Period(t.Times.Seal))
	if p.InMemory > 0 {
		fmt.Fprintf(a.Out, "with %s of memory, all layers in one piece: %s (%.2f hours); this takes %.2f times as long\n",
			cli.Size(p.InMemoryBytes), cli.Period(p.InMemory), p.InMemory/3600, t.Seconds/p.InMemory)
	}
	fmt.Fprintf(a.Out, "%s read, %s written; at most %s on disk, %s more than now\n",
		cli.Size(t.Read), cli.Size(t.Written), cli.Size(t.DiskPeak), cli.Size(t.DiskPeak-sealed))
	if p.Free != nil {
		enough := "enough"
		if *p.Free < t.DiskPeak-sealed {
			enough = "too little"
		}
		fmt.Fprintf(a.Out, "%s are free: %s\n", cli.Size(*p.Free), enough)
	}
	if of := p.Calibration.Memory; of > 0 {
		enough := "enough"
		if of < t.Memory {
			enough = "too little"
		}
		fmt.Fprintf(a.Out, "%s of memory taken, the machine has %s: %s\n", cli.Size(t.Memory), cli.Size(of), enough)
	}
}

// column returns seconds as text, for a column.
func column(s float64) string {
	if s == 0 {
		return "-"
	}
	if s < 1000 {
		return fmt.Sprintf("%.2f", s)
	}
	return cli.Comma(uint64(s))
}
