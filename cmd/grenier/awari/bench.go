package awari

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/memory"
	"grenier/kernels/cpu"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/plan"
)

// benchFlags are the flags of bench as given.
type benchFlags struct {
	cli.JobFlags
	dir       string
	ownMemory bool // --memory was not given
}

func (a *app) bench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast this machine solves awari",
		Long: `Solves small layers with each family of kernels and each width of scores,
writes and reads a file in DIR, or in the directory for temporary files, and
predicts a run of all 48 seeds on this machine. It takes about a minute on a
quiet machine and leaves nothing behind.

The columns are millions of positions a second: on one core with 8 bits a score
(layers in memory in one piece) and with 6, 4, 3 and 2 bits (layers in
windows, all of them together); on all cores with 8 bits; and decoded by one
core.

Two runs are predicted for the fastest kernels: with the most seeds that fit
--memory, by default most of the memory of the machine, and with 48 seeds.

--json prints positions and bytes: "kernels" with "one_core_by_bits",
"all_cores" and "decoded_one_core", "disk", "here", "seeds_48", and
"taken_by_others", the share of the processors that other programs used.

EXIT STATUS
  3    the kernels or widths do not give the same scores
`,
		Example: `  grenier awari bench --dir data/awari
  grenier awari bench --memory 512GiB --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			f.ownMemory = !cmd.Flags().Changed("memory")
			return a.runBench(cmd.Context(), f)
		}),
	}
	flags := cmd.Flags()
	flags.Var((*cli.Directory)(&f.dir), "dir", "directory of a run, existing or planned, whose disk is measured")
	f.Memory.DefinePlan(a.App, flags, "")
	cli.ThreadsFlag(flags, &f.Threads, "use")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object")
	return cmd
}

// planned returns the memory of the runs that are planned.
func (f *benchFlags) planned() (uint64, error) {
	const most, unknown = 1 << 62, 8 << 30
	if !f.ownMemory {
		return f.Memory.Limit()
	}
	here := memory.OfMachine()
	if here.Bytes == 0 {
		return unknown, nil
	}
	return here.Usual(most), nil
}

func (a *app) runBench(ctx context.Context, f benchFlags) error {
	allowed, err := f.planned()
	if err != nil {
		return err
	}
	o := calibrate.Options{Job: job.Job{Workers: f.Threads}, Dir: f.dir}
	if o.Family, err = cli.Family(); err != nil {
		return err
	}
	if !f.ownMemory {
		if err := f.Memory.Calibrating(f.Threads); err != nil {
			return err
		}
	}
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return err
	}
	o.Progress = shown.Show
	b, err := calibrate.Measure(ctx, o, cpu.Available(), allowed)
	shown.Close()
	if err != nil {
		return err
	}
	if f.JSON {
		return a.PrintJSON(b)
	}
	a.printBench(b, o.Family)
	return nil
}

func (a *app) printBench(b *calibrate.Bench, used cpu.Family) {
	a.Printf(2, "%s, millions of positions a second", b.CPU)
	table := cli.NewTable(a.Out, cli.WidthOf(a.Out), benchColumns(b.Threads))
	for _, k := range b.Kernels {
		table.Add(k)
	}
	d := b.Disk
	a.Printf(2, "disk: reads %s/s, in pieces of 64 KiB %s/s, writes %s/s", cli.Size(d.Read), cli.Size(d.Random), cli.Size(d.Write))
	if b.Busy() {
		a.Printf(2, "other programs used %.0f%% of the processors meanwhile: a quiet machine is faster", 100*b.Taken)
	}
	fmt.Fprintf(a.Out, "\nwith %s kernels and %s:\n", used, cli.Count(b.Threads, "core"))
	a.printOutlook(b, &b.Here)
	if b.Whole.Memory != b.Here.Memory {
		a.printOutlook(b, &b.Whole)
	}
}

// benchColumns are the columns of a bench with the given number of threads.
func benchColumns(threads int) []cli.Column[calibrate.Rates] {
	column := cli.NewColumn[calibrate.Rates]
	columns := []cli.Column[calibrate.Rates]{
		column("kernels ", 8, 0, func(k calibrate.Rates) string { return fmt.Sprintf("%-8s", k.Kernel) }),
	}
	for _, bits := range append([]int{8}, plan.Widths()...) {
		columns = append(columns, column(fmt.Sprintf("%d bits", bits), 6, 0, func(k calibrate.Rates) string {
			return fmt.Sprintf("%.2f", k.One[bits]/1e6)
		}))
	}
	return append(columns,
		column(cli.Count(threads, "core"), 9, 0, func(k calibrate.Rates) string { return fmt.Sprintf("%.2f", k.All/1e6) }),
		column("decoding", 8, 1, func(k calibrate.Rates) string { return fmt.Sprintf("%.0f", k.Decoded/1e6) }),
	)
}

func (a *app) printOutlook(b *calibrate.Bench, o *calibrate.Outlook) {
	room := ""
	if b.Free != nil && *b.Free < o.DiskPeak {
		room = fmt.Sprintf(" (%s free)", cli.Size(*b.Free))
	}
	a.Printf(2, "%d seeds with %s of memory: %s; %s on disk, %s read, %s written%s", o.Seeds, cli.Size(o.Memory), cli.Period(o.Seconds),
		cli.Size(o.DiskPeak), cli.Size(o.Read), cli.Size(o.Written), room)
}
