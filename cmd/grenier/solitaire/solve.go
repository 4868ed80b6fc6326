package solitaire

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/fault"
	game "grenier/layers/solitaire"
	"grenier/pipeline/solitaire"
)

// errUnsolvable is the answer no.
var errUnsolvable = fault.New(fault.Difference, "there is no solution")

// solveReport is the JSON of solitaire solve.
type solveReport struct {
	Board     string   `json:"board"`
	Start     string   `json:"start"`
	End       string   `json:"end"`
	Solvable  bool     `json:"solvable"`
	Proof     string   `json:"proof,omitempty"` // that there is no solution
	Solutions *big.Int `json:"solutions"`
	Moves     int      `json:"moves,omitempty"`
	Jumps     int      `json:"jumps,omitempty"`
	Solution  []string `json:"solution,omitempty"` // moves
	Layers    []uint64 `json:"layers,omitempty"`
	Winning   []uint64 `json:"winning,omitempty"`
	Total     uint64   `json:"total,omitempty"`
	cli.Took

	moves []game.Move
}

// Proofs that there is no solution.
const (
	parity     = "parity"
	exhaustion = "exhaustion"
)

// solveFlags are the flags of solitaire solve as given.
type solveFlags struct {
	problemFlags
	svg     string
	exhaust bool
}

func (a *app) solve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Find the number of solutions, and one with the fewest moves",
		Long: `Finds out whether a game can be solved, how many solutions there are (sequences
of jumps), which of the positions that jumps lead to can still be solved, and a
solution with the fewest moves. All of that is exact.

` + boardHelp + `

` + endHelp + `

That there is no solution is proven by parity, if sums modulo 2 are enough, and
else by exhaustion: no position that jumps lead to is a solution. --exhaust
looks at all positions in any case.

With --dir the layers are on disk, and stay there for play. Each layer ends with
a checkpoint, from which the same command resumes.

--json prints {"board", "start", "end", "solvable", "proof" that there is no
solution, "solutions", "moves", "jumps", "solution": moves like d2-d4-f4,
"layers": positions after 0, 1, ... jumps, "winning": of these, how many can
still be solved, "total", "seconds", "peak_rss_bytes"}.

EXIT STATUS
  3    there is no solution`,
		Example: `  grenier solitaire solve --board english --start center --end center
  grenier solitaire solve --board french --start d3 --dir data/french --svg french.svg`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			return a.runSolve(cmd.Context(), f, cmd.Flags().Changed("start"))
		}),
	}
	f.define(a, cmd)
	f.defineEnd(cmd)
	flags := cmd.Flags()
	flags.Var((*cli.File)(&f.svg), "svg", "`FILE` for a drawing of the solution; - prints it instead of text")
	flags.BoolVar(&f.exhaust, "exhaust", false, "look at all positions even if parity says that there is no solution")
	return cmd
}

func (a *app) runSolve(ctx context.Context, f solveFlags, startGiven bool) error {
	p, err := a.problem(ctx, &f.problemFlags, startGiven)
	if err != nil {
		return err
	}
	if err := cli.OneStdout(f.JSON, map[string]string{"--svg": f.svg}); err != nil {
		return err
	}
	if err := cli.CheckFile(f.svg); err != nil {
		return err
	}
	start := time.Now()
	r := &solveReport{Board: p.Board.Name(), Start: p.start, End: p.end, Solutions: new(big.Int)}
	err = a.search(&f.problemFlags, func(o solitaire.Options) error { return r.fill(ctx, p, o, f.exhaust) })
	if err != nil {
		return err
	}
	r.Took = cli.TookSince(start)
	if err := a.show(p, r, f); err != nil {
		return err
	}
	if !r.Solvable {
		return fmt.Errorf("%s, start %s, end %s: %w (%s)", r.Board, r.Start, r.End, errUnsolvable, r.Proof)
	}
	return nil
}

// fill solves the problem.
func (r *solveReport) fill(ctx context.Context, p problem, o solitaire.Options, exhaust bool) (err error) {
	if p.Parity() {
		if r.Proof = parity; exhaust {
			err = r.exhaust(ctx, p, o)
		}
		return err
	}
	t, err := solitaire.Solve(ctx, p.Problem, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r.Layers, r.Winning = t.Layers()
	r.sum()
	advice, err := t.Advise(ctx, solitaire.State{Position: p.Start, Last: -1})
	if err != nil {
		return err
	}
	jumps, moves, ok, err := t.Shortest(ctx)
	if err != nil {
		return err
	}
	if r.Solvable, r.Solutions, r.Moves, r.Jumps = ok, advice.Solutions, moves, len(jumps); !ok {
		r.Proof = exhaustion
	}
	r.moves = game.Moves(jumps)
	for _, m := range r.moves {
		r.Solution = append(r.Solution, p.Board.MoveName(m))
	}
	return nil
}

// exhaust looks at all positions of a problem that has no solution.
func (r *solveReport) exhaust(ctx context.Context, p problem, o solitaire.Options) error {
	c, err := solitaire.Count(ctx, p.Problem, o)
	if err == nil && c.Solved > 0 {
		err = errors.New("jumps lead to a solution although sums modulo 2 rule it out")
	}
	r.Proof, r.Layers, r.Winning = exhaustion, c.Layers, make([]uint64, len(c.Layers))
	r.sum()
	return err
}

// sum fills in the total.
func (r *solveReport) sum() {
	for _, n := range r.Layers {
		r.Total += n
	}
}

// screen is the width of drawings of moves, in characters.
const screen = 100

// show prints the result, and draws the solution.
func (a *app) show(p problem, r *solveReport, f solveFlags) error {
	if f.svg != "" {
		err := a.WriteFile(f.svg, []byte(p.Board.SVG(p.Start, r.moves)))
		if err != nil || f.svg == cli.Stdout {
			return err
		}
	}
	if f.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprint(a.Out, p.Board.Draw(p.Start))
	if len(r.Layers) > 0 {
		a.printLayers(bits.OnesCount64(p.Start), r)
	}
	fmt.Fprintf(a.Out, "%s, start %s, end %s: ", r.Board, r.Start, r.End)
	if !r.Solvable {
		fmt.Fprintf(a.Out, "no solution, proven by %s\n", r.Proof)
	} else {
		fmt.Fprintf(a.Out, "%s, the shortest with %s\n", solutions(r.Solutions), cli.Count(r.Moves, "move"))
		fmt.Fprint(a.Out, "\n"+p.Board.DrawMoves(p.Start, r.moves, min(screen, cli.WidthOf(a.Out)))+"\n")
	}
	fmt.Fprintf(a.Out, "%.1f s; peak memory %s\n", r.Seconds, cli.Size(r.PeakRSS))
	return nil
}

// printLayers prints the numbers of positions.
func (a *app) printLayers(first int, r *solveReport) {
	fmt.Fprintf(a.Out, "\n%4s %18s %18s\n", "pegs", "positions", "can be solved")
	for i, n := range r.Layers {
		fmt.Fprintf(a.Out, "%4d %18s %18s\n", first-i, cli.Comma(n), cli.Comma(r.Winning[i]))
	}
	fmt.Fprintln(a.Out)
}

// solutions returns a number of solutions as text.
func solutions(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "1 solution"
	}
	return humanize.BigComma(n) + " solutions"
}
