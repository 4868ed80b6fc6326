package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/io/layerfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/plan"
)

// planFlags are the flags of plan as given.
type planFlags struct {
	calibrationFlags
	seeds, pits, threads    int
	dir, rules, codec, form string
	memory                  memoryFlag
	json                    bool
}

// planReport is what plan prints as JSON.
type planReport struct {
	Rules       string            `json:"rules"`
	Pits        int               `json:"pits"`
	Memory      uint64            `json:"memory_bytes"`
	Threads     int               `json:"threads"`
	Speed       float64           `json:"speed"`
	Codec       layerfile.Codec   `json:"codec"`
	Calibration *plan.Calibration `json:"calibration"`
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
` + exitHelp,
		Example: `  grenier awari plan --seeds 24 --memory 1GiB --dir data/awari
  grenier awari plan --seeds 24 --save-calibration here.json
  grenier awari plan --seeds 48 --memory 64GiB --threads 16 --disk 3GB --calibration here.json`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error { return a.runPlan(cmd.Context(), f) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 0, fmt.Sprintf("`number` of seeds of the last layer to solve, 0 to %d", awari.MaxSeeds))
	flags.IntVar(&f.pits, "pits", 12, "`number` of pits of the board: 4, 6, 8, 10 or 12")
	flags.StringVar(&f.rules, "rules", "awari", "`rules` of the game: awari or strict")
	f.memory.definePlan(a, flags, "8GiB")
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	flags.StringVar(&f.codec, "codec", "lz4", "`codec` of layer files: lz4 or zstd")
	flags.Var((*directory)(&f.dir), "dir", "run directory: its sealed layers are not planned again")
	f.define(flags)
	flags.StringVar(&f.form, "progress", "auto", progressUsage)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	if err := cmd.MarkFlagRequired("seeds"); err != nil {
		panic(err) // the flag has just been defined
	}
	return cmd
}

// fileName is the value of a flag that names a file.
type fileName = directory

// run returns what is to be planned, and the kernels to plan for.
func (f *planFlags) run() (r plan.Run, family cpu.Family, err error) {
	game, o, err := f.asSolve().options()
	if err == nil {
		err = o.Check(game)
	}
	if err != nil {
		return r, 0, f.memory.explain(err)
	}
	r = plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Codec: o.Codec}
	if f.dir != "" {
		err = solve.Continue(&r, f.dir)
	}
	return r, o.Family, err
}

func (f *planFlags) asSolve() *solveFlags {
	return &solveFlags{
		seeds: f.seeds, pits: f.pits, threads: f.threads, rules: f.rules, memory: f.memory, codec: f.codec,
		checkpoint: time.Minute,
	}
}

func (a *app) runPlan(ctx context.Context, f planFlags) error {
	r, family, err := f.run()
	if err != nil {
		return err
	}
	c, err := calibrated(&f.calibrationFlags, plan.Load, func(disk bool) (*plan.Calibration, error) {
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
	if report.Free, err = roomFor(f.dir); err != nil {
		return err
	}
	if f.json {
		return a.printJSON(report)
	}
	a.printPlan(&report, r.Sealed)
	return nil
}

// calibrate measures this machine.
func (a *app) calibrate(ctx context.Context, f *planFlags, family cpu.Family, codec layerfile.Codec, skipDisk bool) (*plan.Calibration, error) {
	if err := f.memory.calibrating(f.threads); err != nil {
		return nil, err
	}
	shown, err := a.newProgress(f.form, f.json)
	if err != nil {
		return nil, err
	}
	defer shown.close()
	return calibrate.Run(ctx, calibrate.Options{
		Workers: f.threads, Family: family, Codec: codec, Dir: f.dir, SkipDisk: skipDisk,
		Progress: func(share float64) { shown.update(calibrating(share)) },
	})
}

// calibrating is the share of a calibration that is done.
type calibrating float64

func (c calibrating) state(elapsed time.Duration) state {
	s := state{doing: "calibrating", done: float64(c), total: 1, elapsed: elapsed, layerETA: noLayer, runETA: unknown}
	if c > 0 {
		s.runETA = time.Duration(float64(elapsed) * float64(1-c) / float64(c))
	}
	return s
}

// printPlan prints the layers, what they take together, and what that was made of.
func (a *app) printPlan(p *planReport, sealed uint64) {
	a.printPlanLayers(p)
	a.printPlanTotal(p, sealed)
	c := p.Calibration
	fmt.Fprintf(a.out, "\nfor %s, %s kernels, calibrated %s\n", c.CPU, c.Kernel, c.Date.Format(time.DateOnly))
	fmt.Fprintf(a.out, "one core, ns a position: capture %.2f, sweeps %.2f, seal %.2f; %.2f to decode one\n", c.Capture, c.Sweep, c.Seal, c.Decode)
	for _, bits := range plan.Widths() {
		w := c.Of(bits)
		fmt.Fprintf(a.out, "with %d bits: capture %.2f, sweeps %.2f, full rows %.2f, seal %.2f\n", bits, w.Capture, w.Sweep, w.Full, w.Seal)
	}
	fmt.Fprintf(a.out, "cores: %d do %.2f times as much as one (measured: %d do %.2f times as much)\n",
		p.Threads, p.Speed, c.Cores, c.Speedup)
	fmt.Fprintf(a.out, "disk: reads %s/s, in pieces of 64 KiB %s/s, writes %s/s\n", size(c.Read), size(c.Random), size(c.Write))
	for _, line := range p.Assumptions() {
		fmt.Fprintf(a.out, "assumed: %s\n", line)
	}
}

func (a *app) printPlanLayers(p *planReport) {
	if len(p.Layers) == 0 {
		return
	}
	fmt.Fprintf(a.out, "%5s %15s %4s %7s %8s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "seeds", "positions", "bits", "windows", "memory",
		"passes", "read", "written", "disk", "capture", "turn", "sweep", "full", "seal", "seconds")
	for _, l := range p.Layers {
		t := l.Times
		fmt.Fprintf(a.out, "%5d %15s %4d %7d %8s %6d %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", l.Seeds, comma(l.Positions), l.Bits, l.Windows,
			size(l.Memory), l.Passes, size(l.Read), size(l.Written), size(l.Disk),
			column(t.Capture), column(t.Turn), column(t.Sweep), column(t.Full), column(t.Seal), column(l.Seconds))
	}
}

func (a *app) printPlanTotal(p *planReport, sealed uint64) {
	t := p.Total
	fmt.Fprintf(a.out, "%s positions in %s (%.2f hours): capture %s, turn %s, sweep %s, full %s, seal %s\n", comma(t.Positions),
		period(t.Seconds), t.Seconds/3600, period(t.Times.Capture), period(t.Times.Turn), period(t.Times.Sweep),
		period(t.Times.Full), period(t.Times.Seal))
	if p.InMemory > 0 {
		fmt.Fprintf(a.out, "in memory: %s (%.2f hours); this takes %.2f times as long\n", period(p.InMemory), p.InMemory/3600, t.Seconds/p.InMemory)
	}
	fmt.Fprintf(a.out, "%s read, %s written; at most %s on disk, %s more than now\n",
		size(t.Read), size(t.Written), size(t.DiskPeak), size(t.DiskPeak-sealed))
	if p.Free != nil {
		enough := "enough"
		if *p.Free < t.DiskPeak-sealed {
			enough = "too little"
		}
		fmt.Fprintf(a.out, "%s are free: %s\n", size(*p.Free), enough)
	}
}

// size returns bytes as text.
func size[N uint64 | float64](bytes N) string { return humanize.IBytes(uint64(bytes)) }

// column returns seconds as text, for a column.
func column(s float64) string {
	if s == 0 {
		return "-"
	}
	if s < 1000 {
		return fmt.Sprintf("%.2f", s)
	}
	return comma(uint64(s))
}

// period returns a time as text, for a sentence.
func period(s float64) string { return brief(time.Duration(s * float64(time.Second))) }
