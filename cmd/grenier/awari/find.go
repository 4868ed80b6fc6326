package awari

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/play/find"
	"grenier/pipeline/tables"
)

// findFlags are the flags of find as given.
type findFlags struct {
	cli.JobFlags
	dir, where, most, state string
	layers                  layersFlag
	count                   int
	seed                    uint64
	random, puzzles         bool
}

// hitsReport is the JSON of find.
type hitsReport struct {
	*find.Result
	Found []hitReport `json:"found"`
	cli.Took
}

// hitReport is a board that was found.
type hitReport struct {
	Rank uint64 `json:"rank"`
	probeReport
}

func (a *app) find() *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "find --dir DIR --layer n|a..b (--where CONDITION | --puzzles)",
		Short: "Search layers for positions and puzzles",
		Long: `Prints boards that meet a condition, with the value of the board and of each
move, like probe: the first ones in the order of layers and ranks; a random
choice of all (--random); or those for which a fact is largest (--most).
--count 0 only counts them.

A condition is a list of terms, which must all hold. A term is a fact, one of =
< <= > >=, and a number; = also takes a range a..b. The facts are

  value                     the value of the board
  mover, opponent, p0 ...   seeds of the mover, of the opponent, in a pit
  moves, winning, drawing,  legal moves, and those that win, draw, lose, and
  losing, best              have the value of the board
  margin                    by how much the second best move is worse
  capture, taken            most seeds that a move captures, that a best move
                            captures
  give, least               most seeds that the opponent can capture in reply
                            to the best move, to the move where it is least
  line                      plies of the best line to the end of the game

These words stand for several terms:

  only-win   moves>=2 winning=1 drawing=0
  sacrifice  winning=1 taken=0 give>=3 least=0

With --puzzles it draws puzzles of these layers at random, of each in turn, that
meet the condition if there is one: one of three moves or more wins and no other
draws, the best answer is the only best one, and so on for two to five moves. It
prints the value, the line, how many of 100 simple players fail, who look 1 to 7
plies ahead, and what the line is about: docs/find.md describes these themes.

With --state an interrupted or killed search keeps its progress in FILE, and
the same command resumes it. FILE is removed at the end.
`,
		Example: `  grenier awari find --dir data/awari --layer 16 --where only-win --random --seed 7
  grenier awari find --dir data/awari --layer 10..16 --where 'value>=10 mover<=3'
  grenier awari find --dir data/awari --layer 16 --where only-win --count 0 --json
  grenier awari find --dir data/awari --layer 8..16 --puzzles --count 20`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runFind(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	needLayers(cmd, &f.layers)
	flags := cmd.Flags()
	flags.StringVar(&f.where, "where", "", "`condition` that positions meet")
	cli.IntVar(flags, &f.count, "count", 10, 0, find.MaxCount, "`number` of positions to print")
	flags.BoolVar(&f.random, "random", false, "choose positions at random")
	flags.Uint64Var(&f.seed, "seed", 1, "`number` from which the choice of --random is made")
	cli.NameVar(flags, &f.most, "most", "", "choose the positions for which this `fact` is largest", find.Facts()...)
	flags.Var((*cli.File)(&f.state), "state", "`FILE` for the progress of the search, to resume it")
	f.JobFlags.Define(a.App, flags, "1GiB", cli.JSONUsage)
	cli.Completes(cmd, "most", find.Facts()...)
	flags.BoolVar(&f.puzzles, "puzzles", false, "draw puzzles with their lines")
	cli.NeedAny(cmd, "where", "puzzles")
	for _, other := range []string{"most", "state", "random"} {
		cmd.MarkFlagsMutuallyExclusive("puzzles", other)
	}
	return cmd
}

func (f *findFlags) options() (o find.Options, err error) {
	o = find.Options{
		From: f.layers.from, To: f.layers.to, Count: f.count, Order: find.First, Seed: f.seed, State: f.state,
	}
	if o.Condition, err = find.Parse(f.where); err != nil {
		return o, cli.Usagef("--where: %w%s", err, meant(f.where))
	}
	switch {
	case f.random && f.most != "":
		return o, cli.Usagef("--most and --random: only one of them may be given")
	case f.random:
		o.Order = find.Random
	case f.most != "":
		if o.Order, err = find.Most(f.most); err != nil {
			return o, err
		}
	}
	o.Job, err = f.Job()
	return o, err
}

// meant returns a question about the first name in a condition that does not exist.
func meant(where string) string {
	names := slices.Concat(find.Facts(), slices.Sorted(maps.Keys(find.Words)))
	for _, term := range cli.Fields(where) {
		name, _, _ := strings.Cut(strings.NewReplacer("<", "=", ">", "=").Replace(term), "=")
		if !slices.Contains(names, name) {
			return cli.Suggestion(name, names)
		}
	}
	return ""
}

func (a *app) runFind(ctx context.Context, f findFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.puzzles {
		return a.drawPuzzles(ctx, &f, &o)
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	if f.state != "" {
		a.Resume = "; the same command resumes"
	}
	start := time.Now()
	r, err := find.Run(ctx, f.dir, o)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	if f.JSON {
		return a.printFoundJSON(r, start)
	}
	for _, hit := range r.Found {
		fmt.Fprintf(a.Out, "%s: %s\n", r.Game.Text(hit.Board), appendProbe(nil, r.Game, hit.Probe))
	}
	seconds := time.Since(start).Seconds()
	a.Printf(2, "%s of %s meet the condition (%.1f s, %s)", cli.Comma(r.Hits), cli.Count(r.Positions, "position"),
		seconds, humanize.SIWithDigits(float64(r.Positions)/seconds, 1, "positions/s"))
	if r.Undecided > 0 {
		a.Printf(2, "not decided: %s, whose best lines are too hard to find", cli.Count(r.Undecided, "position"))
	}
	return nil
}

func (a *app) printFoundJSON(r *find.Result, start time.Time) error {
	report := hitsReport{Result: r, Found: []hitReport{}}
	for _, hit := range r.Found {
		report.Found = append(report.Found, hitReport{hit.Rank, newProbeReport(r.Game, hit.Probe, &tables.Plies{})})
	}
	report.Took = cli.TookSince(start)
	return a.PrintJSON(report)
}
