package awari

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/frame"
	"grenier/io/tally"
	"grenier/layers/awari"
	"grenier/pipeline/exchange"
)

// importFlags are the flags of import as given.
type importFlags struct {
	gameFlags
	cli.JobFlags
	dir, format, codec string
	layers             layersFlag
	skip               int
}

// imported is the JSON of import.
type imported struct {
	Rules  string          `json:"rules"`
	Pits   int             `json:"pits"`
	Format exchange.Format `json:"format"`
	Codec  frame.Codec     `json:"codec"`
	Layers []importedLayer `json:"layers"`
	cli.Took
}

// importedLayer is a layer made of a file.
type importedLayer struct {
	File      string     `json:"file"`
	Seeds     int        `json:"seeds"`
	Positions uint64     `json:"positions"`
	Hash      tally.Hash `json:"fnv1a64"`
	Bytes     int64      `json:"bytes"`
	Seconds   float64    `json:"seconds"`
}

func (a *app) importing() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import --dir DIR --layer n --format FORMAT FILE...",
		Short: "Make layers from exported or published files",
		Long: `Adds layer n, from the first FILE, to the run directory DIR, layer n+1 from the
second FILE, and so on. DIR must have all layers below n, and is created for
layer 0. --skip n-1 does without the one to which no move leads. A FILE called -
is stdin.

  colex  one signed byte for each score, in colex order, as export writes them
  vu     the published awari score database (doi 10.48338/vu01-11wjke), files
         scores.N. It lacks the boards on which the opponent has no empty pit;
         their scores are computed from their moves. 12 pits and rules awari
         only.

The first bytes of a file say whether it is compressed, and how. Files npy, csv
and wdl are for other programs: they cannot be imported.

import checks the length of the files, the checksums of lz4 and zstd frames,
and the range of the scores. "grenier awari verify" and "compare" check whether
the scores are right. A compressed file, and stdin, is first unpacked to
DIR/work.
`,
		Example: `  grenier awari import --dir data/vu --layer 0 --format vu scores.0 scores.1 scores.2
  grenier awari import --dir data/vu --layer 3 --format vu scores.3.zst
  ssh host cat scores.4 | grenier awari import --dir data/vu --layer 4 --format vu -`,
		Args: cli.NeedArgs(1, awari.MaxSeeds+1, "one file for each layer"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error { return a.runImport(cmd.Context(), f, args) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	layersVar(cmd, &f.layers, "the first FILE is the ")
	skipVar(flags, &f.skip)
	cli.ChoiceVar(flags, &f.format, "format", "", "`format` of the files", "colex", "vu")
	cli.ChoiceVar(flags, &f.codec, "codec", "auto", "`codec` of the files, auto by their first bytes", "auto", "none", "lz4", "zstd")
	f.JobFlags.Define(a.App, flags, "8GiB", cli.JSONUsage)
	cli.Need(cmd, "layer", "format")
	return cmd
}

func (f *importFlags) options() (game awari.Game, o exchange.Options, err error) {
	if game, err = f.game(); err != nil {
		return game, o, err
	}
	if o.Format, err = exchange.ParseFormat(f.format); err != nil {
		return game, o, err
	}
	if f.codec != "auto" {
		if o.Codec, err = frame.ParseCodec(f.codec); err != nil {
			return game, o, err
		}
	}
	o.Job, err = f.Job()
	return game, o, err
}

func (a *app) runImport(ctx context.Context, f importFlags, files []string) error {
	game, o, err := f.options()
	if err != nil {
		return err
	}
	if from := slices.Index(files, cli.Stdout); from >= 0 && slices.Contains(files[from+1:], cli.Stdout) {
		return cli.Usagef("- is given twice: stdin can hold one layer only")
	}
	if l := f.layers; l.from != l.to && len(files) != l.to-l.from+1 {
		return cli.Usagef("--layer %v: expected %d files, got %d", &l, l.to-l.from+1, len(files))
	}
	if o.Skip = f.skip; o.Skip > 0 && len(files) > 1 {
		return cli.Usagef("--skip goes with one FILE, got %d", len(files))
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	defer shown.Close()
	a.Resume = "; complete layers are kept"
	start := time.Now()
	s := imported{Rules: f.rules, Pits: f.pits, Format: o.Format, Codec: frame.Codec(f.codec), Layers: []importedLayer{}}
	for i, path := range files {
		if o.From = nil; path == cli.Stdout {
			o.From, path = a.Stdin(ctx, nil), "stdin"
		}
		o.Seeds = f.layers.from + i
		r, err := exchange.Import(ctx, f.dir, path, game, o)
		if err != nil {
			return f.Memory.Explain(err)
		}
		l := importedLayer{path, o.Seeds, r.Layer.Positions, r.Layer.Hash, r.Layer.Bytes, r.Elapsed.Seconds()}
		s.Layers = append(s.Layers, l)
		if !f.JSON {
			shown.Pause(func() {
				fmt.Fprintf(a.Out, "layer %2d: %s from %s, fnv1a64 %s (%.1f s)\n", l.Seeds, cli.Count(l.Positions, "position"), path, l.Hash, l.Seconds)
			})
		}
	}
	if !f.JSON {
		return nil
	}
	s.Took = cli.TookSince(start)
	return a.PrintJSON(s)
}
