package awari

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/exchange/sample"
)

// sampleFlags are the flags of sample as given.
type sampleFlags struct {
	cli.JobFlags
	dir, by, format, out string
	layers               layersFlag
	count, seed          uint64
	split, licence       string
	shards               int
	part                 partFlag
}

// sampled is the JSON of sample.
type sampled struct {
	File string `json:"file"`
	sample.Summary
	cli.Took
}

func (a *app) sample() *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use:   "sample --dir DIR --layer n|a..b --count K --format FORMAT",
		Short: "Write random positions with the values of their moves",
		Long: `Writes K random positions of the layers to stdout, or to FILE, which appears
when it is complete: boards, their values, the values of all moves, and the best
moves. No position occurs twice. The same flags give the same bytes, whatever
--threads and --memory are, and a larger K only adds positions.

  csv    p0 ... p11, value, m0 ... m5, best: the best pits, separated by
         blanks; the value of a pit that cannot be played is empty
  jsonl  {"pits":[...],"value":v,"moves":[...],"best":[...]}, null for the
         value of a pit that cannot be played
  npy    for numpy.load: an array of records with the fields pits, value, moves
         (-128 for a pit that cannot be played) and best (true or false), one
         byte each

Where layers have distances, plies follow best: the plies to the next capture or
the end of the game; of layers without any empty, null, or -1.

--by position gives each position the same probability. --by score takes the
scores in turn, as long as they have positions; it reads the layers once more.

Beside FILE goes a card, FILE.card.json: the layers and their checksums, the
seed, columns, files with their SHA-256, licence.

--split train=90,test=10 writes a file for each part, NAME-train.EXT and so on.
A hash of the board alone says which part it is in, so with the same split no
board is in different parts of different samples. --shards N writes N files
instead of each, NAME-00000-of-0000N.EXT.

--part i/n writes one of n equal shares of the one file, for n processes, on one
or several machines, in any order. "cat", in the order of the parts, puts them
together. With --by score each part reads the layers.
`,
		Example: `  grenier awari sample --dir data/awari --layer 16 --count 1000000 --format npy --out train.npy
  grenier awari sample --dir data/awari --layer 4..16 --count 1000 --by score --format csv
  grenier awari sample --dir data/awari --layer 16 --count 5 --seed 7 --format jsonl
  grenier awari sample --dir data/awari --layer 4..16 --count 10000000 --format npy --out all.npy \
      --split train=90,validation=5,test=5 --shards 4
  grenier awari sample --dir data/awari --layer 16 --count 10000000 --format npy --out all.npy.03 --part 3/16`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runSample(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	needLayers(cmd, &f.layers)
	flags := cmd.Flags()
	flags.Uint64Var(&f.count, "count", 0, "`number` of positions")
	flags.Uint64Var(&f.seed, "seed", 1, "`number` from which the sample is made")
	cli.ChoiceVar(flags, &f.by, "by", "position", "what is `uniform`", "position", "score")
	cli.ChoiceVar(flags, &f.format, "format", "", "`format`", "npy", "csv", "jsonl")
	f.out = cli.Stdout
	flags.Var((*cli.File)(&f.out), "out", "`FILE` to write, - for stdout")
	flags.StringVar(&f.split, "split", "", "`parts` with a file each, as train=90,test=10")
	cli.IntVar(flags, &f.shards, "shards", 1, 1, sample.MaxShards, "`number` of files to write instead of each")
	partVar(cmd, &f.part)
	flags.StringVar(&f.licence, "licence", sample.DefaultLicence, "`licence` of the sample, for its card")
	f.JobFlags.Define(a.App, flags, "256MiB", "print one JSON object about FILE")
	cli.Need(cmd, "count", "format")
	return cmd
}

func (f *sampleFlags) options() (o sample.Options, err error) {
	o = sample.Options{From: f.layers.from, To: f.layers.to, Count: f.count, Seed: f.seed}
	if err := cli.OneStdout(f.JSON, map[string]string{"--out": f.out}); err != nil {
		return o, err
	}
	o.ByScore = f.by == "score"
	if o.Format, err = sample.ParseFormat(f.format); err != nil {
		return o, err
	}
	if err := f.files(&o); err != nil {
		return o, err
	}
	o.Job, err = f.Job()
	return o, err
}

// files takes over what there is to say about files.
func (f *sampleFlags) files(o *sample.Options) (err error) {
	if f.split != "" {
		if o.Split, err = sample.ParseSplit(f.split); err != nil {
			return cli.Usagef("--split: %w", err)
		}
	}
	if f.out == cli.Stdout && (f.split != "" || f.shards != 1) {
		return cli.Usagef("--split and --shards write files: they need --out FILE")
	}
	if f.part.One() && (f.split != "" || f.shards != 1) {
		return cli.Usagef("--part is of one file: it does not go with --split and --shards, whose files are parts already")
	}
	o.Shards, o.Licence, o.Part = f.shards, f.licence, f.part.Part
	return f.part.one()
}

func (a *app) runSample(ctx context.Context, f sampleFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	start := time.Now()
	var s sample.Summary
	if f.out == cli.Stdout {
		s, err = sample.Write(ctx, f.dir, a.Out, o)
	} else {
		s, err = sample.WriteFile(ctx, f.dir, f.out, o)
	}
	shown.Close()
	if err != nil || f.out == cli.Stdout {
		return f.Memory.Explain(err)
	}
	x := sampled{File: f.out, Summary: s, Took: cli.TookSince(start)}
	if f.JSON {
		return a.PrintJSON(x)
	}
	if len(x.Files) > 1 {
		for _, file := range x.Files {
			fmt.Fprintf(a.Out, "%s: %s, %s\n", file.File, cli.Count(file.Positions, "position"), cli.Size(file.Bytes))
		}
	}
	fmt.Fprintf(a.Out, "%s: %s, --seed %d, %s in %.1f s; peak memory %s\n", x.File, cli.Count(x.Positions, "position"), x.Seed,
		cli.Size(x.Bytes), x.Seconds, cli.Size(x.PeakRSS))
	return nil
}
