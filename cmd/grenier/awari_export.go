package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/io/frame"
	"grenier/pipeline/exchange"
)

// exportFlags are the flags of export as given.
type exportFlags struct {
	dir, format, codec, out, progress string
	memory                            memoryFlag
	layer, threads                    int
	json                              bool
}

// exported is what export prints as JSON.
type exported struct {
	File string `json:"file"`
	exchange.Summary
	took
}

// took is what a command took.
type took struct {
	Seconds float64 `json:"seconds"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

func (a *app) export() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export --dir DIR --layer n --format FORMAT --out FILE",
		Short: "Write a solved layer in a format that other programs read",
		Long: `Writes the scores of a layer to FILE, or to stdout if FILE is -. FILE has its name
only when it is complete; an export that fails or is interrupted leaves nothing.

  colex  one signed byte a score, in colex order
  npy    the same as a NumPy array: numpy.load(FILE, mmap_mode='r')
  csv    a line for each board: its pits, the mover's first, and its score
  vu     the published awari score database (doi 10.48338/vu01-11wjke), files scores.N:
         boards of which the opponent has an empty pit; 12 pits and rules awari only

--codec packs any of them into one frame that "lz4 -d" or "zstd -d" unpacks. The layer
goes through memory in pieces: --memory 128MiB is enough for any.
` + exitHelp,
		Example: `  grenier awari export --dir data/awari --layer 16 --format vu --out scores.16
  grenier awari export --dir data/awari --layer 16 --format npy --out layer16.npy
  grenier awari export --dir data/awari --layer 5 --format csv --out - | sort -t, -k13n`,
		Args: noArgs,
		RunE: a.start(func(cmd *cobra.Command, _ []string) error { return a.runExport(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.IntVar(&f.layer, "layer", 0, "the layer of `n` seeds")
	flags.StringVar(&f.format, "format", "", "`format` of FILE: colex, vu, npy or csv")
	flags.StringVar(&f.codec, "codec", "none", "`codec` of FILE: none, lz4 or zstd")
	flags.Var((*fileName)(&f.out), "out", "`FILE` to write, - for stdout")
	f.memory.define(a, flags, "256MiB", nil)
	flags.IntVar(&f.threads, "threads", runtime.NumCPU(), fmt.Sprintf("`number` of processors to use, 1 to %d", maxThreads))
	flags.StringVar(&f.progress, "progress", "auto", progressUsage)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	need(cmd, "layer", "format", "out")
	return cmd
}

// need marks flags that must be given.
func need(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag has just been defined
		}
	}
}

func (f *exportFlags) options() (o exchange.Options, err error) {
	o = exchange.Options{Seeds: f.layer, Workers: f.threads}
	if f.json && f.out == stdout {
		return o, usageError{fmt.Errorf("--json and --out -: only one of them can go to stdout")}
	}
	if err = checkThreads(f.threads); err != nil {
		return o, err
	}
	if o.Memory, err = f.memory.limit(); err != nil {
		return o, err
	}
	if o.Format, err = exchange.ParseFormat(f.format); err != nil {
		return o, err
	}
	if o.Codec, err = frame.ParseCodec(f.codec); err != nil {
		return o, err
	}
	o.Family, err = family()
	return o, err
}

// stdout is the name of stdout as a file.
const stdout = "-"

func (a *app) runExport(ctx context.Context, f exportFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.newProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(f.threads)
	start := time.Now()
	o.Progress = func(p exchange.Progress) { shown.update(exporting(p)) }
	var s exchange.Summary
	if f.out == stdout {
		s, err = exchange.Write(ctx, f.dir, a.out, o)
	} else {
		s, err = exchange.WriteFile(ctx, f.dir, f.out, o)
	}
	shown.close()
	if err != nil || f.out == stdout {
		return f.memory.explain(err)
	}
	e := exported{File: f.out, Summary: s, took: took{time.Since(start).Seconds(), peakRSS()}}
	if f.json {
		return a.printJSON(e)
	}
	fmt.Fprintf(a.out, "%s: layer %d, %s scores, %s in %.1f s (%s); peak memory %s\n", e.File, e.Seeds, comma(e.Positions),
		size(e.Bytes), e.Seconds, humanize.SIWithDigits(float64(e.Positions)/e.Seconds, 1, "scores/s"), size(e.PeakRSS))
	return nil
}

// exporting is how far an export is.
type exporting exchange.Progress

func (e exporting) state(elapsed time.Duration) state {
	return steady(fmt.Sprintf("layer %d, %s", e.Seeds, e.Stage), e.Done, e.Total, elapsed)
}
