package awari

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/memory"
	"grenier/pipeline/play/find"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/puzzle"
	"grenier/pipeline/play/uci"
	"grenier/pipeline/tables"
)

// puzzlesReport is the JSON of find --puzzles.
type puzzlesReport struct {
	Rules   string          `json:"rules"`
	Pits    int             `json:"pits"`
	From    int             `json:"from"`
	To      int             `json:"to"`
	Seed    uint64          `json:"seed"`
	Puzzles []puzzle.Puzzle `json:"puzzles"`
	cli.Took
}

// drawPuzzles draws puzzles and prints them.
func (a *app) drawPuzzles(ctx context.Context, f *findFlags, o *find.Options) (err error) {
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	defer shown.Close()
	start := time.Now()
	t, err := tables.Open(ctx, f.dir, tables.Kernel(o.Family))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	fixed := t.Overhead(o.Workers)
	if err := memory.Check("drawing puzzles", fixed+leastHalf, o.Memory); err != nil {
		return f.Memory.Explain(err)
	}
	t.Resize(max(memory.Room(o.Memory)-fixed, leastHalf))
	puzzles, err := puzzle.Draw(ctx, t, puzzle.Options{
		Job: o.Job, From: o.From, To: o.To, Condition: o.Condition, Most: 100, Count: o.Count, Seed: o.Seed,
	})
	if err != nil {
		return err
	}
	shown.Close()
	game := t.Game()
	if f.JSON {
		return a.PrintJSON(puzzlesReport{game.Rules().String(), game.Pits(), o.From, o.To, o.Seed, puzzles, cli.TookSince(start)})
	}
	for i := range puzzles {
		p := &puzzles[i]
		fmt.Fprintf(a.Out, "%s: value %d; line %s; %d of 100 simple players fail; %s\n",
			game.Text(p.Board), p.Value, uci.Names(match.South, p.Line), p.Rating, strings.Join(p.Themes, " "))
	}
	return nil
}
