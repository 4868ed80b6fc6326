package awari

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/spaces/retro"
	"grenier/pipeline/tables/catalog"
)

// solveFlags are the flags of solve as given.
type solveFlags struct {
	runFlags
	dir        string
	checkpoint time.Duration
	force      bool
	dryRun     bool
	engine     string

	until                string
	onLayer, onFinish    string
	metrics, metricsFile string
}

// places returns the directories that the run writes to, by their purpose.
func (f *solveFlags) places() map[string]string {
	places := map[string]string{"run": f.dir}
	if f.work != "" {
		places["work"] = f.work
	}
	if f.layersTo != "" {
		places["layers"] = f.layersTo
	}
	return places
}

// solveSummary is the last output of solve.
type solveSummary struct {
	Type      string      `json:"type"` // "summary"
	Seeds     int         `json:"seeds"`
	Positions uint64      `json:"positions"`
	Seconds   float64     `json:"seconds"`
	Rate      float64     `json:"positions_per_second"`
	Kernel    string      `json:"kernel"`
	PeakRSS   uint64      `json:"peak_rss_bytes"`
	OnDisk    int64       `json:"bytes_on_disk"`
	Layers    []layerTook `json:"layers"`
}

// layerTook has the costs of one layer.
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
	// Of the engine retrograde: by the formula of document 001, and counted.
	Cost     uint64          `json:"cost,omitempty"`
	Accesses *retro.Accesses `json:"accesses,omitempty"`
}

// sealedLine is the JSON line of progress about a layer that is sealed.
type sealedLine struct {
	Type string `json:"type"` // "layer"
	Time string `json:"time"`
	layerTook
}

func (a *app) solve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve --seeds N --dir DIR",
		Short: "Solve layers into a run directory",
		Long: `Solves the layers of 0 to N seeds and seals each one, as a file in DIR, which
is created if necessary. Layers that DIR already has are kept: the same command
resumes an interrupted run, and a larger N extends a finished one. solve checks
a part of the existing layers before it builds on them; "grenier awari verify"
checks all of them.

--rules says what becomes of a move that leaves the opponent without seeds:
  awari   it is legal if there is no other kind of move, and takes everything
  strict  it is never legal
  abapa   as awari, but a move that would capture all seeds of the opponent
          captures nothing, as in tournaments: docs/rules.md

If --memory cannot hold a byte for each score of a layer, the layer is solved
in windows: a few values at a time, with 6, 4, 3 or 2 bits a score in memory.
Narrow windows take less memory, but more of them are needed. DIR/work holds
the results of the windows, and a checkpoint of the layer in progress, every
minute (--checkpoint), or less often if a checkpoint takes more than a second
or two. An interrupted layer is resumed from its checkpoint.

--engine retrograde solves with the algorithm of document 001, as repaired: one
worker, layers in memory alone, about 30 bytes for each position of the last
one and a byte for each of those below, no windows, and no checkpoint, so that
an interrupted layer begins again. A layer that needs more than --memory is
refused. The files are the same. A table at the end, and "accesses" in JSON,
say how often the algorithm accessed its table of scores, beside the cost by
the document's formula.

Each layer prints a line to stdout; a narrow terminal shows wins, draws and
losses as shares, or fewer columns. After the last layer a table shows the
bytes that the stages of layers in windows read and wrote in DIR/work. Progress
goes to stderr. --json prints one JSON object at the end, after the JSON lines
of --progress json.

DIR/solve.log gets a line for each start, sealed layer, warning and end.
"grenier awari status" shows the progress of the run on another terminal. On
systems with the signal USR1, that signal makes solve print the same to stderr.
"grenier awari stop" ends the run when the layer in progress is sealed.

--dry-run refuses what a run would refuse, prints the plan of it, and changes
nothing.

--work and --layers-to name directories on other disks; the manifest records
where layers are. --until ends the run by that time. --on-layer runs a command
for each sealed layer, once more if the call is cut short, and the run waits
for it; --on-finish runs one after the end, when DIR is unlocked. These
commands get GRENIER_EVENT, GRENIER_DIR and other variables: docs/solve.md
lists them. docs/night.md describes how to set up a run over nights. A run that
--until or "grenier awari stop" has ended is paused, its exit status 75.
`,
		Example: `  grenier awari solve --seeds 16 --dir data/awari
  grenier awari solve --seeds 10 --pits 8 --rules strict --dir data/small --json
  grenier awari solve --seeds 10 --dir data/plain --engine retrograde
  GRENIER_KERNEL=generic grenier awari solve --seeds 12 --dir data/plain --threads 1`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runSolve(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	f.define(cmd)
	flags := cmd.Flags()
	f.Memory.Define(a.App, flags, "8GiB", &f.force)
	checkpointVar(flags, &f.checkpoint)
	cli.ProgressFlag(flags, &f.Form)
	cli.ChoiceVar(flags, &f.engine, "engine", solve.Sweeps.String(), "`engine` that solves the layers", solve.Sweeps.String(), solve.Retrograde.String())
	flags.StringVar(&f.until, "until", "", "`time` at which to stop, with a checkpoint, like 07:00 or 7am, a day and a time, or a duration like 8h")
	flags.StringVar(&f.onLayer, "on-layer", "", "shell `command` to run when a layer is sealed")
	flags.StringVar(&f.onFinish, "on-finish", "", "shell `command` to run when the run ends in any way")
	flags.StringVar(&f.metrics, "metrics", "", "`host:port` at which to serve /metrics to Prometheus")
	flags.Var((*cli.File)(&f.metricsFile), "metrics-file", "`FILE` with the same metrics, replaced every 15 s, for node_exporter")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check that the run can begin, print the plan, and change nothing")
	flags.BoolVar(&f.force, "force", false, "start even if the disk has too little room, or the machine less than --memory")
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

// options turns the flags into what package solve needs.
func (f *solveFlags) options() (game awari.Game, o solve.Options, err error) {
	if game, err = f.game(); err != nil {
		return game, o, err
	}
	if f.metrics != "" {
		if err = checkAddress("--metrics", f.metrics); err != nil {
			return game, o, err
		}
	}
	o, err = f.runFlags.options()
	if err == nil {
		o.Engine, err = solve.ParseEngine(f.engine)
	}
	o.Interval = f.checkpoint
	if !f.force {
		o.Free = rundir.FreeBytes
	}
	return game, o, err
}

func (a *app) runSolve(ctx context.Context, f solveFlags) error {
	game, o, err := f.options()
	if err != nil {
		return err
	}
	until := time.Time{}
	if f.until != "" {
		if until, err = parseUntil(f.until, time.Now()); err != nil {
			return err
		}
	}
	if f.dryRun {
		return a.dryRun(f, game, &o)
	}
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(f.Threads)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := newWatch(a, f, o.Family)
	terminal := &terminal{app: a, shown: shown, table: cli.NewTable(a.Out, cli.WidthOf(a.Out), reportColumns()), quiet: f.JSON}
	defer a.WhenAsked(func() { terminal.answer(w.view()) })()
	metrics, stopMetrics, err := a.startMetrics(ctx, w)
	if err != nil {
		shown.Close()
		return err
	}
	defer stopMetrics()
	pause, hooks := &pauser{watch: w, game: game, o: &o, until: until, end: end}, &hooks{watch: w, ctx: ctx}
	w.readers = []func(solve.Event) error{terminal.take, (&runLog{watch: w}).take, w.statusFile(), metrics.take, w.clock(), pause.take, w.keeper, hooks.take}
	o.Calibration = keptCalibration(o.Family, o.Workers)
	w.follow(ctx, &o)
	a.Resume = "; the same command resumes"
	reports, err := solve.Solve(ctx, f.dir, game, o)
	shown.Close()
	err = f.explain(causeOf(ctx, err), game, &o)
	hooks.finish(err)
	if err != nil {
		return f.Memory.Explain(forced(err))
	}
	return a.summarize(f, o.Family, reports, time.Since(w.start))
}

// forced adds to a refusal for lack of room what overrules it.
func forced(err error) error {
	if cli.IsType[*rundir.RoomError](err) {
		err = fmt.Errorf("%w; --force starts anyway", err)
	}
	return err
}

// explain adds to the error of a full disk how much is missing where, and that the run resumes.
func (f *solveFlags) explain(err error, game awari.Game, o *solve.Options) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	missing := ""
	if r := f.planned(game, o); solve.Continue(&r, f.dir) == nil {
		here := *o
		here.Free = rundir.FreeBytes
		disks, _ := here.Disks(f.dir, r) // what is not known is not said
		for _, d := range disks {
			if d.Free != nil && *d.Free < d.Need {
				missing += fmt.Sprintf("; about %s more needed on the disk of %s", cli.Size(d.Need-*d.Free), d.Path)
			}
		}
	}
	return fmt.Errorf("%w%s; the same command resumes when there is room, or with --work or --layers-to on another disk", err, missing)
}

// planned returns the run for package plan.
func (f *runFlags) planned(game awari.Game, o *solve.Options) plan.Run {
	return plan.Run{Game: game, Seeds: o.Seeds, Memory: o.Memory, Cores: o.Workers, Family: o.Family, Omitted: o.Omitted()}
}

// startMetrics tells metrics from now on, if that is wanted, until stop is called.
func (a *app) startMetrics(ctx context.Context, w *watch) (m *metrics, stop func(), err error) {
	f := &w.flags
	if err := cli.CheckFile(f.metricsFile); err != nil {
		return nil, nil, err
	}
	m, stop = newMetrics(w, f.metricsFile), func() {}
	if f.metrics == "" {
		return m, stop, nil
	}
	address, stop, err := m.serve(ctx, f.metrics)
	if err == nil {
		fmt.Fprintf(a.Err, "grenier: metrics at http://%s/metrics\n", address)
	}
	return m, stop, err
}

// follow makes a run of package solve tell its events.
func (w *watch) follow(ctx context.Context, o *solve.Options) {
	o.Progress = func(s job.Step) { w.tell(s) }
	o.Note = func(text string) { w.tell(note(text)) }
	o.Events = func(e solve.Event) error {
		if ended, ok := e.(solve.Ended); ok {
			e = solve.Ended{Err: causeOf(ctx, ended.Err)}
		}
		return w.tell(e)
	}
}

// terminal is a reader that shows a run: progress, a line for each layer, and what goes wrong.
type terminal struct {
	app   *app
	shown *cli.Progress
	table *cli.Table[solve.Report]
	quiet bool // no table
}

// take shows an event.
func (t *terminal) take(e solve.Event) error {
	switch e := e.(type) {
	case job.Step:
		t.shown.Show(e)
	case solve.Sealed:
		t.sealed(e.Report)
	case note:
		t.app.Telling(t.shown)(string(e))
	case warning:
		t.warn(e.what, e.err)
	case called:
		if e.err != nil {
			t.warn(e.what(), e.err)
		}
	}
	return nil
}

// sealed shows a layer.
func (t *terminal) sealed(r solve.Report) {
	if !t.quiet {
		t.shown.Pause(func() { t.table.Add(r) })
	}
	t.shown.Event(sealedLine{"layer", cli.Now(), figuresOf(r)})
}

// warn prints a warning.
func (t *terminal) warn(what string, err error) {
	t.shown.Pause(func() { fmt.Fprintf(t.app.Err, "grenier: warning: %s: %s\n", what, cli.OneLine(err)) })
}

// answer prints a status.
func (t *terminal) answer(text string) {
	t.shown.Pause(func() { fmt.Fprint(t.app.Err, cli.WrapLines(text, cli.WidthOf(t.app.Err), statusIndent)) })
}

// summarize prints what the run took, and the size of the directory.
func (a *app) summarize(f solveFlags, family cpu.Family, reports []solve.Report, took time.Duration) error {
	dir, err := rundir.Open(f.dir)
	if err != nil {
		return err
	}
	m, err := catalog.Manifest(dir)
	if err != nil {
		return err
	}
	s := solveSummary{Type: "summary", Seeds: len(m.Layers) - 1, Seconds: took.Seconds(), Kernel: family.String(), PeakRSS: cli.PeakRSS()}
	s.Layers = make([]layerTook, 0, len(reports))
	for _, r := range reports {
		s.Positions += r.Layer.Positions
		s.Layers = append(s.Layers, figuresOf(r))
	}
	for _, l := range m.Layers {
		s.OnDisk += l.Bytes
	}
	s.Rate = float64(s.Positions) / s.Seconds
	if f.JSON {
		return a.PrintJSON(s)
	}
	a.printSummary(s)
	return nil
}

// printSummary prints what a run took.
func (a *app) printSummary(s solveSummary) {
	defer printAccesses(a.Out, s.Layers)
	defer printStreams(a.Out, s.Layers)
	if len(s.Layers) == 0 {
		a.Printf(2, "nothing to do: layers 0 to %d are solved already, %s on disk",
			s.Seeds, humanize.IBytes(uint64(s.OnDisk)))
		return
	}
	a.Printf(2, "%s in %.1f s: %s positions/s with %s kernels; peak memory %s, %s on disk",
		cli.Count(s.Positions, "position"), s.Seconds, humanize.SIWithDigits(s.Rate, 1, ""), s.Kernel,
		humanize.IBytes(s.PeakRSS), humanize.IBytes(uint64(s.OnDisk)))
}

// runStages are the stages that a run reports, in order.
var runStages = []string{"check", "capture", "turn", "dense", "sparse", "full", "seal"}

// streamStages are the stages that may read or write streams, in order.
var streamStages = []string{"capture", "dense", "sparse", "full", "seal"}

// printStreams prints the bytes that the stages of layers in windows read and wrote in the work
// directory.
func printStreams(out io.Writer, layers []layerTook) {
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
	fmt.Fprintf(out, "\n%-8s %12s %12s %10s\n", "streams", "read", "written", "bytes/pos")
	for _, stage := range streamStages {
		s := all[stage]
		fmt.Fprintf(out, "%-8s %12s %12s %10.2f\n", stage, humanize.IBytes(s.Read), humanize.IBytes(s.Written),
			float64(s.Read+s.Written)/float64(positions))
	}
}

// printAccesses prints what the engine retrograde did in each layer.
func printAccesses(out io.Writer, layers []layerTook) {
	if len(layers) == 0 || layers[0].Accesses == nil {
		return
	}
	fmt.Fprintf(out, "\n%8s %18s %18s %18s %18s\n", "seeds", "cost by formula", "accesses", "lower layers", "propagate")
	for _, l := range layers {
		a := l.Accesses
		fmt.Fprintf(out, "%8d %18s %18s %18s %18s\n", l.Seeds, cli.Comma(l.Cost), cli.Comma(a.Total), cli.Comma(a.Lower), cli.Comma(a.Propagated))
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
	t.Cost, t.Accesses = r.Cost, r.Accesses
	return t
}

// reportColumns are the columns of the table of solve.
func reportColumns() []cli.Column[solve.Report] {
	seconds := func(r solve.Report) string { return fmt.Sprintf("%.2f", r.Elapsed.Seconds()) }
	speed := func(r solve.Report) string {
		return fmt.Sprintf("%.1f", float64(r.Layer.Positions)/r.Elapsed.Seconds()/1e6)
	}
	bytes := func(r solve.Report) string { return fmt.Sprintf("%.3f", perPosition(float64(r.Layer.Bytes), r.Layer)) }
	var columns []cli.Column[solve.Report]
	for _, c := range resultColumns() {
		columns = append(columns, cli.ColumnOf(c, func(r solve.Report) manifest.Layer { return r.Layer }))
	}
	return append(columns,
		cli.Column[solve.Report]{{Head: "mean", Width: 9, Yield: 3, Cell: func(r solve.Report) string { return meanOf(r.Layer) }}},
		cli.Column[solve.Report]{{Head: "seconds", Width: 9, Cell: seconds}},
		cli.Column[solve.Report]{{Head: "Mpos/s", Width: 8, Yield: 2, Cell: speed}, {Head: "Mpos/s", Width: 7, Cell: speed}},
		cli.Column[solve.Report]{{Head: "bytes/pos", Width: 10, Yield: 2, Cell: bytes}, {Head: "B/pos", Width: 7, Yield: 7, Cell: bytes}},
	)
}
