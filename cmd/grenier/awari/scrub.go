package awari

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
	"grenier/pipeline/check/scrub"
)

// scrubFlags are the flags of scrub as given.
type scrubFlags struct {
	cli.JobFlags
	dir     string
	layers  layersFlag
	restart bool
	part    partFlag
}

func (a *app) scrub() *cobra.Command {
	var f scrubFlags
	cmd := &cobra.Command{
		Use:   "scrub --dir DIR",
		Short: "Read all files from the disk and compare their checksums",
		Long: `Reads the manifest and each layer file from the disk, once and in order, and
compares all checksums: of header, model, index, stored blocks and footer, and
of the footer with the manifest; likewise those of distances. It finds damage at
the speed of the disk, and decodes nothing: "grenier awari verify" checks the
scores.

Every problem is reported, also missing layers and layer files that the
manifest does not list, and distances that are damaged, missing, or of other
scores. "grenier awari repair" repairs them.

An interrupted or killed scrub resumes where it stopped, from work/scrub.json
in DIR, and reads files again that have changed since. It does not keep that
file with --layer, while a solver runs, or if DIR is not writable. It writes
nothing else.

--part i/n reads one of n equal shares of each file: for n processes, on one or
several machines, in any order. Each leaves what it has found in DIR/work, and
resumes. --part all adds up what was found, and says what one scrub would have
said; it ends with status 5 if parts are missing.
`,
		Example: `  grenier awari scrub --dir data/awari
  grenier awari scrub --dir data/awari --layer 24 --json
  grenier awari scrub --dir data/awari --restart --progress plain
  for i in 1 2 3 4; do grenier awari scrub --dir data/awari --part $i/4; done
  grenier awari scrub --dir data/awari --part all`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runScrub(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	anyLayers(cmd, &f.layers, "only the ")
	cli.IntVar(flags, &f.Threads, "threads", min(max(4, runtime.NumCPU()), cli.MaxThreads), 1, cli.MaxThreads, fmt.Sprintf("`number` of parallel reads, 1 to %d", cli.MaxThreads))
	flags.BoolVar(&f.restart, "restart", false, "start from the beginning, even after an interrupted scrub")
	partVar(cmd, &f.part)
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) runScrub(ctx context.Context, f scrubFlags) error {
	o := scrub.Options{Restart: f.restart, Layers: f.layers.list(), Part: f.part.Part}
	if err := f.part.sums(f.restart); err != nil {
		return err
	}
	var err error
	if o.Job, err = f.Job(); err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	if !f.JSON {
		o.Done = func(l scrub.Layer) { shown.Pause(func() { a.printScrubbed(l) }) }
	}
	a.Resume = "; the same command resumes"
	a.tellStale(shown, f.dir)
	result, err := scrub.Run(ctx, f.dir, o)
	shown.Close()
	if err != nil {
		return err
	}
	return a.Checked(f.JSON, result, func() { a.printScrub(result, f.part) })
}

// printScrubbed prints the result of a layer.
func (a *app) printScrubbed(l scrub.Layer) {
	text := fmt.Sprintf("layer %2d: %s", l.Seeds, l.State)
	if l.State != scrub.Missing {
		text += ", " + humanize.IBytes(uint64(l.Bytes))
	}
	if l.Distances != "" {
		text += fmt.Sprintf(", distances %s", l.Distances)
	}
	if l.Before != nil {
		text += ", read " + l.Before.Local().Format(time.DateTime)
	}
	if l.Unlisted {
		text += ", not listed in the manifest"
	}
	fmt.Fprintln(a.Out, text)
	a.printMissing(l.Missing)
	for _, p := range l.Problems {
		fmt.Fprintf(a.Out, "  %s\n", p)
	}
	if more := l.Count - len(l.Problems); more > 0 {
		fmt.Fprintf(a.Out, "  and %d more\n", more)
	}
}

func (a *app) printScrub(r *scrub.Result, part partFlag) {
	if r.Manifest != "" {
		fmt.Fprintf(a.Out, "%s: damaged\n  %s\n", rundir.ManifestName, r.Manifest)
	}
	a.printIgnored(r.Ignored)
	switch {
	case !r.OK:
	case part.One():
		a.printPart(part, r.Seconds)
	default:
		fmt.Fprintf(a.Out, "no damage in %s (%.1f s)\n", humanize.IBytes(uint64(r.Bytes)), r.Seconds)
	}
}

// printIgnored lists files that are no layer files in spite of their names.
func (a *app) printIgnored(names []string) {
	for _, name := range names {
		fmt.Fprintf(a.Out, "%s: ignored, it is not listed and not a layer file\n", name)
	}
}
