package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// solveFlags are the flags of solve as given.
type solveFlags struct {
	seeds, pits, threads        int
	dir, rules, codec, progress string
	memory                      memoryFlag
	checkpoint                  time.Duration
	json, force                 bool
}

// solveSummary is the last thing that solve prints.
type solveSummary struct {
	Seeds     int         `json:"seeds"`
	Positions uint64      `json:"positions"`
	Seconds   float64     `json:"seconds"`
	Rate      float64     `json:"positions_per_second"`
	Kernel    string      `json:"kernel"`
	PeakRSS   uint64      `json:"peak_rss_bytes"`
	OnDisk    int64       `json:"bytes_on_disk"`
	Layers    []layerTook `json:"layers"`
}

// layerTook is what one layer took.
type layerTook struct {
	Seeds     int                      `json:"seeds"`
	Positions uint64                   `json:"positions"`
	Seconds   float64                  `json:"seconds"`
	Rate      float64                  `json:"positions_per_second"`
	Bytes     int64                    `json:"bytes"`
	Sweeps    int                      `json:"sweeps"`
	Events    uint64                   `json:"events"`
	Stages    map[string]float64       `json:"stage_seconds"`
	Streams   map[string]solve.Streams `json:"streams,omitempty"`
	Bits      int                      `json:"bits"`
	Windows   int                      `json:"windows"`
}

func (a *app) solve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve --seeds N --dir DIR",
		Short: "Solve layers into a run directory",
		Long: `Solves the layers of 0 to N seeds and seals each as a file in DIR, which is
created if it does not exist. Layers that DIR has already are kept: the same
command continues an interrupted run, a larger N extends a finished one. They are
checked before anything is built on them, in part: see grenier awari verify.

A layer of which --memory cannot hold a byte for each score and more is solved in
windows of few values, with 6, 4 or 2 bits a score in memory: one window after the
other, the narrower they are the more of them, and what each has found is kept in
DIR/work. So is what there is of the layer, or window, in progress, every minute
(--checkpoint): it is written between two sweeps, and less often if that takes more
than a second or two. An interrupted layer continues from there.

One line for each layer goes to stdout, and after the last one what the stages of
layers in windows read and wrote in DIR/work; progress goes to stderr. With --json,
stdout has one JSON object at the end, preceded by JSON lines if --progress json is
given.

DIR/solve.log gets a line for each start, sealed layer, warning and end. "grenier
awari status" shows from another terminal how far the run is; where there is a
signal USR1, it makes the run itself print that to stderr.
` + exitHelp,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari solve --seeds 10 --pits 8 --rules strict --dir data/small --json
  GRENIER_KERNEL=generic grenier awari solve --seeds 12 --dir data/plain --threads 1`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error { return a.runSolve(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 0, fmt.Sprintf("`number` of seeds of the last layer to solve, 0 to %d", awari.MaxSeeds))
	flags.IntVar(&f.pits, "pits", 12, "`number` of pits of the board: 4, 6, 8, 10 or 12")
	flags.StringVar(&f.rules, "rules", "awari", "`rules` of the game: awari or strict")
	f.memory.define(a, flags, "8GiB", &f.force)
	flags.DurationVar(&f.checkpoint, "checkpoint", time.Minute, "`time` between checkpoints of the layer in progress")
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	flags.StringVar(&f.codec, "codec", "lz4", "`codec` of layer files: lz4 or zstd")
	flags.StringVar(&f.progress, "progress", "auto", progressUsage)
	flags.BoolVar(&f.force, "force", false, "begin even if the disk has too little room, or the machine less than --memory")
	flags.BoolVar(&f.json, "json", false, "print JSON on stdout")
	if err := cmd.MarkFlagRequired("seeds"); err != nil {
		panic(err) // the flag has just been defined
	}
	return cmd
}

// options turns the flags into what the batch needs.
func (f *solveFlags) options() (game awari.Game, o solve.Options, err error) {
	rules, err := awari.ParseRules(f.rules)
	if err != nil {
		return game, o, err
	}
	if game, err = awari.New(f.pits, rules); err != nil {
		return game, o, err
	}
	if err = checkThreads(f.threads); err != nil {
		return game, o, err
	}
	if err = checkInterval(f.checkpoint); err != nil {
		return game, o, err
	}
	o = solve.Options{Seeds: f.seeds, Workers: f.threads, Interval: f.checkpoint}
	if o.Memory, err = f.memory.limit(); err != nil {
		return game, o, err
	}
	if !f.force {
		o.Free = rundir.FreeBytes
	}
	if o.Codec, err = layerfile.ParseCodec(f.codec); err != nil {
		return game, o, err
	}
	o.Family, err = family()
	return game, o, err
}

func (a *app) runSolve(ctx context.Context, f solveFlags) error {
	game, o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.newProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(f.threads)
	debug.SetGCPercent(10) // the heap holds tables that stay; scores are elsewhere
	journal := &journal{app: a, flags: f, family: o.Family, errs: a.err, shown: shown, start: time.Now()}
	defer a.whenAsked(journal.answer)()
	o.Begin = journal.begin
	o.End = func(err error) { journal.end(causeOf(ctx, err)) }
	o.Progress = func(p solve.Progress) {
		journal.update(p)
		shown.update(solving(p))
	}
	o.Note = journal.note
	table := layerTable{out: a.out, quiet: f.json}
	o.Sealed = func(r solve.Report) {
		shown.pause(func() { table.add(r) })
		journal.sealed(r)
	}
	a.resume = "; what is done is kept, the same command continues"
	reports, err := solve.Solve(ctx, f.dir, game, o)
	shown.close()
	if isType[*rundir.RoomError](err) {
		return fmt.Errorf("%w; --force begins all the same", err)
	}
	if err != nil {
		return f.memory.explain(err)
	}
	return a.summarize(f, o.Family, reports, time.Since(journal.start))
}

// solving is how far a run of solve is.
type solving solve.Progress

func (s solving) state(elapsed time.Duration) state {
	p := solve.Progress(s)
	return state{
		doing: doing(p.Seeds, p.Stage, p.Sweep), done: p.RunDone, total: p.RunTotal, elapsed: elapsed,
		rate: p.Rate, layerETA: max(p.LayerETA(), unknown), runETA: p.RunETA(), detail: p,
	}
}

// doing says in a few words what is done to a layer.
func doing(seeds int, stage string, sweep int) string {
	if stage == "dense" {
		stage = fmt.Sprintf("sweep %d", sweep)
	}
	return fmt.Sprintf("layer %d, %s", seeds, stage)
}

// summarize prints what the run took and what the directory holds now.
func (a *app) summarize(f solveFlags, family cpu.Family, reports []solve.Report, took time.Duration) error {
	dir, err := rundir.Open(f.dir)
	if err != nil {
		return err
	}
	m, err := tables.Manifest(dir)
	if err != nil {
		return err
	}
	s := solveSummary{Seeds: len(m.Layers) - 1, Seconds: took.Seconds(), Kernel: family.String(), PeakRSS: peakRSS()}
	s.Layers = make([]layerTook, 0, len(reports))
	for _, r := range reports {
		s.Positions += r.Layer.Positions
		s.Layers = append(s.Layers, figuresOf(r))
	}
	for _, l := range m.Layers {
		s.OnDisk += l.Bytes
	}
	s.Rate = float64(s.Positions) / s.Seconds
	if f.json {
		return a.printJSON(s)
	}
	a.printSummary(s)
	return nil
}

func (a *app) printSummary(s solveSummary) {
	defer a.printStreams(s.Layers)
	if len(s.Layers) == 0 {
		fmt.Fprintf(a.out, "nothing to do: layers 0 to %d are solved already, %s on disk\n",
			s.Seeds, humanize.IBytes(uint64(s.OnDisk)))
		return
	}
	fmt.Fprintf(a.out, "%s positions in %.1f s: %s positions/s with %s kernels; peak memory %s, %s on disk\n",
		humanize.Comma(int64(s.Positions)), s.Seconds, humanize.SIWithDigits(s.Rate, 1, ""), s.Kernel,
		humanize.IBytes(s.PeakRSS), humanize.IBytes(uint64(s.OnDisk)))
}

// streamStages are the stages that can read or write streams, in order.
var streamStages = []string{"capture", "dense", "sparse", "full", "seal"}

// printStreams says what the stages of layers that were solved window by window read and
// wrote in the work directory.
func (a *app) printStreams(layers []layerTook) {
	all, positions := map[string]solve.Streams{}, uint64(0)
	for _, l := range layers {
		for stage, s := range l.Streams {
			all[stage] = solve.Streams{Read: all[stage].Read + s.Read, Written: all[stage].Written + s.Written}
		}
		if l.Windows > 1 {
			positions += l.Positions
		}
	}
	if positions == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%-8s %12s %12s %10s\n", "streams", "read", "written", "bytes/pos")
	for _, stage := range streamStages {
		s := all[stage]
		fmt.Fprintf(a.out, "%-8s %12s %12s %10.2f\n", stage, humanize.IBytes(s.Read), humanize.IBytes(s.Written),
			float64(s.Read+s.Written)/float64(positions))
	}
}

// figuresOf returns the figures of one layer.
func figuresOf(r solve.Report) layerTook {
	t := layerTook{
		Seeds: r.Layer.Seeds, Positions: r.Layer.Positions, Seconds: r.Elapsed.Seconds(),
		Rate: float64(r.Layer.Positions) / r.Elapsed.Seconds(), Bytes: r.Layer.Bytes,
		Sweeps: r.Engine.Sweeps, Events: r.Engine.Events, Stages: map[string]float64{}, Streams: r.Streams(), Bits: r.Engine.Bits, Windows: r.Engine.Windows,
	}
	for name, d := range r.Stages() {
		t.Stages[name] = d.Seconds()
	}
	return t
}

// layerTable prints one line for each layer, below a heading.
type layerTable struct {
	out    io.Writer
	quiet  bool
	header bool
}

func (t *layerTable) add(r solve.Report) {
	if t.quiet {
		return
	}
	if !t.header {
		fmt.Fprintf(t.out, "%5s %16s %16s %16s %16s %9s %9s %8s %10s\n",
			"seeds", "positions", "win", "draw", "loss", "mean", "seconds", "Mpos/s", "bytes/pos")
		t.header = true
	}
	l := r.Layer
	fmt.Fprintf(t.out, "%5d %16s %16s %16s %16s %9.6f %9.2f %8.1f %10.3f\n", l.Seeds, comma(l.Positions), comma(l.Win),
		comma(l.Draw), comma(l.Loss), l.Histogram.Mean(), r.Elapsed.Seconds(),
		float64(l.Positions)/r.Elapsed.Seconds()/1e6, float64(l.Bytes)/float64(l.Positions))
}

func comma(n uint64) string { return humanize.Comma(int64(n)) }
