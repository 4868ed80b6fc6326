package awari

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/frame"
	"grenier/pipeline/exchange"
)

// exportFlags are the flags of export as given.
type exportFlags struct {
	cli.JobFlags
	dir, format, codec, out string
	layers                  layersFlag
	all                     bool
	part                    partFlag
}

// exported is the JSON of export.
type exported struct {
	File string `json:"file"`
	exchange.Summary
	cli.Took
}

// exportedAll is the JSON of export --all.
type exportedAll struct {
	Directory string              `json:"directory"`
	Files     []exchange.Exported `json:"files"`
	Kept      int                 `json:"kept"` // of these
	// Restarted names files of an earlier run that are not trusted, and says why.
	Restarted []string `json:"restarted,omitempty"`
	Bytes     uint64   `json:"bytes"`
	cli.Took
}

func (a *app) export() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --dir DIR {--layer n|a..b | --all} --format FORMAT --out FILE",
		Short: "Write solved layers in a format that other programs read",
		Long: `Writes the scores of a layer to FILE, or to stdout if FILE is -. FILE appears
when it is complete; an export that fails or is interrupted leaves nothing.

  colex  one signed byte for each score, in colex order
  npy    the same as a NumPy array: numpy.load(FILE, mmap_mode='r')
  csv    a line for each board: its pits, the mover's first, and its
         score, and its plies if the layer has distances; a spreadsheet
         holds up to layer 11
  wdl    the sign of each score, four in a byte: the smallest table that
         says who gets more of the seeds on the board
  vu     the published awari score database (doi 10.48338/vu01-11wjke), files
         scores.N: only boards on which the opponent has an empty pit. 12 pits
         and rules awari only.

--codec compresses the file into one frame for "lz4 -d" or "zstd -d". The layer
passes through memory in pieces: --memory 128MiB is enough for any layer.

--all writes all layers, and --layer a..b some of them, into the directory
--out, which is created if necessary: scores.N with the format vu,
layer-NN.FORMAT otherwise, and .lz4 or .zst at the end. export-FORMAT.json there
has the SHA-256 of each file. The same command checks these files, keeps the
right ones and writes the others: it resumes an interrupted export, and adds new
layers.

--part i/n writes one of n equal shares of each file into the directory --out,
for n processes, on one or several machines, in any order. The names end in
.0000i-of-0000n: "cat" puts them together. With --codec the file has several
frames, which are unpacked as one.
`,
		Example: `  grenier awari export --dir data/awari --layer 16 --format vu --out scores.16
  grenier awari export --dir data/awari --layer 16 --format npy --out layer16.npy
  grenier awari export --dir data/awari --layer 5 --format csv --out - | sort -t, -k13n
  grenier awari export --dir data/awari --all --format wdl --out wdl
  grenier awari export --dir data/awari --all --format vu --codec zstd --out vu
  for i in 1 2 3 4; do grenier awari export --dir data/awari --layer 16 --format npy --out npy --part $i/4; done
  cat npy/layer-16.npy.*-of-00004 > layer16.npy`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runExport(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	layersVar(cmd, &f.layers, "the ")
	flags.BoolVar(&f.all, "all", false, "all layers, into the directory --out")
	cli.ChoiceVar(flags, &f.format, "format", "", "`format` of FILE", "colex", "vu", "npy", "csv", "wdl")
	cli.ChoiceVar(flags, &f.codec, "codec", "none", "`codec` of FILE", "none", "lz4", "zstd")
	flags.Var((*cli.File)(&f.out), "out", "`FILE` to write, - for stdout; a directory for several layers")
	partVar(cmd, &f.part)
	f.JobFlags.Define(a.App, flags, "256MiB", cli.JSONUsage)
	cli.Need(cmd, "format", "out")
	cli.NeedOne(cmd, "layer", "all")
	return cmd
}

// several reports whether layers go into a directory.
func (f *exportFlags) several() bool { return f.all || f.layers.from != f.layers.to || !f.part.whole() }

func (f *exportFlags) options() (o exchange.Options, err error) {
	o = exchange.Options{Seeds: f.layers.from, Layers: f.layers.list(), Part: f.part.Part}
	if err := cli.OneStdout(f.JSON, map[string]string{"--out": f.out}); err != nil {
		return o, err
	}
	if f.several() && f.out == cli.Stdout {
		return o, cli.Usagef("--out -: several layers need a directory, and so do parts")
	}
	if err := f.part.one(); err != nil {
		return o, err
	}
	if o.Format, err = exchange.ParseFormat(f.format); err != nil {
		return o, err
	}
	if o.Codec, err = frame.ParseCodec(f.codec); err != nil {
		return o, err
	}
	o.Job, err = f.Job()
	return o, err
}

func (a *app) runExport(ctx context.Context, f exportFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	start := time.Now()
	if f.several() {
		return a.runExportAll(ctx, f, o, shown)
	}
	var s exchange.Summary
	if f.out == cli.Stdout {
		s, err = exchange.Write(ctx, f.dir, a.Out, o)
	} else {
		s, err = exchange.WriteFile(ctx, f.dir, f.out, o)
	}
	shown.Close()
	if err != nil || f.out == cli.Stdout {
		return f.Memory.Explain(err)
	}
	e := exported{File: f.out, Summary: s, Took: cli.TookSince(start)}
	if f.JSON {
		return a.PrintJSON(e)
	}
	a.Printf(2, "%s: layer %d, %s, %s in %.1f s (%s); peak memory %s", e.File, e.Seeds, cli.Count(e.Positions, "score"),
		cli.Size(e.Bytes), e.Seconds, humanize.SIWithDigits(float64(e.Positions)/e.Seconds, 1, "scores/s"), cli.Size(e.PeakRSS))
	return nil
}

// runExportAll exports layers into a directory.
func (a *app) runExportAll(ctx context.Context, f exportFlags, o exchange.Options, shown *cli.Progress) error {
	start := time.Now()
	a.Resume = "; what is done is kept, the same command continues"
	result := exportedAll{Directory: f.out, Files: []exchange.Exported{}}
	o.Note = func(text string) {
		result.Restarted = append(result.Restarted, text)
		a.Telling(shown)(text)
	}
	err := exchange.WriteAll(ctx, f.dir, f.out, o, func(e exchange.Exported) {
		result.Files = append(result.Files, e)
		result.Bytes += e.Bytes
		how := "written"
		if e.Kept {
			how = "there already"
			result.Kept++
		}
		if !f.JSON {
			shown.Pause(func() {
				fmt.Fprintf(a.Out, "%s: layer %d, %s, %s, %s\n", e.File, e.Seeds, cli.Count(e.Positions, "score"), cli.Size(e.Bytes), how)
			})
		}
	})
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	result.Took = cli.TookSince(start)
	if f.JSON {
		return a.PrintJSON(result)
	}
	fmt.Fprintf(a.Out, "%s: %s, %d of them there already, %s (%.1f s); peak memory %s\n",
		f.out, cli.Count(len(result.Files), "file"), result.Kept, cli.Size(result.Bytes), result.Seconds, cli.Size(result.PeakRSS))
	return nil
}
