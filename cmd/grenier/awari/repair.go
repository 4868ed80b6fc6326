package awari

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/rundir"
	"grenier/pipeline/distance"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/repair"
)

// repairFlags are the flags of repair as given.
type repairFlags struct {
	cli.JobFlags
	dir        string
	checkpoint time.Duration
	layersIn   []string
	setAside   bool
	dryRun     bool
}

func (a *app) repair() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use:   "repair --dir DIR",
		Short: "Repair a damaged run directory",
		Long: `Restores a lost or damaged manifest from the layer files, and solves damaged
and missing layers again, in ascending order, from 0 to the largest layer in
the manifest or in a file. Distances that are damaged, missing, or of other
scores are computed again then. Intact files are not touched.

repair decodes all files. Before it lists a layer file that is not in the
manifest, it compares a sample of the scores with the layers below. If the
directory holds files of several runs, it changes nothing.

The manifest says where layers in other directories are (solve --layers-to). If
it is lost, or a disk has another path now, give these directories with
--layers-in.

A layer file names the layers that it was computed from. If one of these is
another layer now, repair says so and exits with status 4: scores may be wrong
that no sample has shown. With --set-aside it renames such layers and solves
them again.

Nothing is deleted. A damaged manifest, and anything in the place of a layer
that is not a damaged file of that layer, is renamed: its name then ends in
".damaged-" and the time.

The same command resumes an interrupted repair. --dry-run prints what repair
would do, and changes nothing. Run "grenier awari verify" afterwards to check
all scores.

EXIT STATUS
  3    a layer that was solved again is not what the intact manifest says;
       nothing was replaced
`,
		Example: `  grenier awari repair --dir data/awari --dry-run
  grenier awari repair --dir data/awari --memory 16GiB`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runRepair(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what repair would do, and change nothing")
	flags.BoolVar(&f.setAside, "set-aside", false, "set aside layers that were computed from others than those below them, and solve them again")
	flags.StringArrayVar(&f.layersIn, "layers-in", nil, "another `directory` with layer files; may be repeated")
	f.JobFlags.Define(a.App, flags, "8GiB", cli.JSONUsage)
	checkpointVar(flags, &f.checkpoint)
	return cmd
}

// options turns the flags into options of package repair.
func (f *repairFlags) options() (o repair.Options, err error) {
	o = repair.Options{DryRun: f.dryRun, SetAside: f.setAside, LayersIn: f.layersIn, Solve: solve.Options{Interval: f.checkpoint}}
	o.Solve.Job, err = f.Job()
	return o, err
}

func (a *app) runRepair(ctx context.Context, f repairFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Solve.Job)
	if err != nil {
		return err
	}
	log := &repairLog{note: o.Solve.Note}
	o.Begin, o.End = log.begin, log.end
	o.Planned = func(l repair.Layer) {
		if !f.JSON {
			shown.Pause(func() { fmt.Fprintln(a.Out, plannedText(l)) })
		}
	}
	o.Mended = func(l repair.Layer) {
		log.mended(l)
		if !f.JSON {
			shown.Pause(func() { fmt.Fprintln(a.Out, mendedText(l)) })
		}
	}
	a.Resume = "; the same command resumes"
	var result repaired
	if result.Result, err = repair.Run(ctx, f.dir, o); err == nil {
		err = result.distances(ctx, f.dir, o, func(l distance.Layer) {
			if !f.JSON {
				shown.Pause(func() { fmt.Fprintln(a.Out, distancesText(l, f.dryRun)) })
			}
		})
	}
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	return a.Checked(f.JSON, result, func() { a.printRepair(result.Result) })
}

// repaired is what repair did, of layers and then of their distances.
type repaired struct {
	*repair.Result
	Distances []distance.Layer `json:"distances,omitempty"` // that were not in order
}

// distances computes distances again that are not in order, once the scores are, and passes each layer of them to done.
func (r *repaired) distances(ctx context.Context, dir string, o repair.Options, done func(distance.Layer)) error {
	if r.Err() != nil || r.DryRun && r.Manifest != "" { // then there is no manifest yet
		return nil
	}
	_, err := distance.Run(ctx, dir, distance.Options{Job: o.Solve.Job, Mend: true, DryRun: o.DryRun, Done: func(l distance.Layer) {
		if !l.There {
			r.OK, r.Distances = false, append(r.Distances, l)
			done(l)
		}
	}})
	return err
}

// distancesText says how the distances of a layer are mended, or will be.
func distancesText(l distance.Layer, later bool) string {
	if later {
		return fmt.Sprintf("layer %2d: %s; will compute the distances again", l.Seeds, l.Problem)
	}
	return fmt.Sprintf("layer %2d: distances computed again (%.1f s)", l.Seeds, l.Seconds)
}

// repairLog logs a repair in the directory. If it cannot be written, a note says so once, and
// the repair continues.
type repairLog struct {
	note func(string)
	log  *logFile // nil before begin, and if there is no log
}

func (r *repairLog) begin(dir *rundir.Locked) {
	file, err := dir.OpenLog()
	if err != nil {
		r.note(logFailure + ": " + cli.OneLine(err))
		return
	}
	r.log = newLog(file)
	r.log.Info("repair", "version", cli.Release, "pid", os.Getpid())
}

func (r *repairLog) mended(l repair.Layer) {
	if r.log != nil {
		r.log.Info("mended", "layer", l.Seeds, "action", l.Action, "problem", l.Problem, "set_aside", l.SetAside, "seconds", rounded(l.Seconds))
	}
}

// end logs how the repair ended.
func (r *repairLog) end(err error) {
	if r.log == nil {
		return
	}
	if err == nil {
		r.log.Info("repaired")
	} else {
		r.log.Warn("repair ended", "error", cli.OneLine(err))
	}
	if err := r.log.close(); err != nil {
		r.note(logFailure + ": " + cli.OneLine(err))
	}
}

// plannedText says how repair will mend a layer.
func plannedText(l repair.Layer) string {
	if l.LeftOut {
		return fmt.Sprintf("layer %2d: left out", l.Seeds)
	}
	text := fmt.Sprintf("layer %2d: intact", l.Seeds)
	if len(l.MadeFrom) > 0 {
		text += fmt.Sprintf(", but made from other layers %v", l.MadeFrom)
	}
	switch l.Action {
	case repair.Keep:
		return text
	case repair.List:
		text += ", but not in the manifest"
		if l.Problem != "" {
			text += " (" + l.Problem + ")"
		}
		return text
	}
	what := "solve the layer"
	if l.Aside {
		what = "rename it and solve the layer"
	}
	return fmt.Sprintf("layer %2d: %s; will %s again", l.Seeds, l.Problem, what)
}

// mendedText says how repair has mended a layer.
func mendedText(l repair.Layer) string {
	if l.Action == repair.List {
		return fmt.Sprintf("layer %2d: added to the manifest", l.Seeds)
	}
	text := fmt.Sprintf("layer %2d: solved again (%.1f s)", l.Seeds, l.Seconds)
	if l.SetAside != "" {
		text += "; the old file is now " + l.SetAside
	}
	return text
}

func (a *app) printRepair(r *repair.Result) {
	if r.Manifest != "" {
		verb := "restored"
		if r.DryRun {
			verb = "will restore it"
		}
		fmt.Fprintf(a.Out, "manifest: %s; %s from the layer files\n", r.Manifest, verb)
	}
	if r.ManifestAside != "" {
		fmt.Fprintf(a.Out, "manifest: the damaged file is now %s\n", r.ManifestAside)
	}
	a.printIgnored(r.Ignored)
	switch {
	case r.OK:
		fmt.Fprintf(a.Out, "nothing to repair (%.1f s)\n", r.Seconds)
	case r.DryRun:
		fmt.Fprintf(a.Out, "nothing was changed (%.1f s)\n", r.Seconds)
	default:
		fmt.Fprintf(a.Out, "repaired (%.1f s)\n", r.Seconds)
	}
}
