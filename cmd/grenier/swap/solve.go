package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/memory"
	"grenier/io/vfs"
	"grenier/layers/swap"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
	"grenier/pipeline/swap/search"
)

// solveFlags are the flags of swap solve as given.
type solveFlags struct {
	cli.JobFlags
	rows, cols, width              int
	sized, animate                 bool // sized: rows or cols is given
	solver, heuristic, svg, target string
	pdb                            []string
	time                           time.Duration
}

// solveReport is the JSON of swap solve.
type solveReport struct {
	Rows      int      `json:"rows"`
	Cols      int      `json:"cols"`
	Solver    string   `json:"solver"`
	Heuristic string   `json:"heuristic,omitempty"`
	Optimal   bool     `json:"optimal"`
	Length    int      `json:"length"`
	Lower     int      `json:"lower_bound"`
	Stopped   string   `json:"stopped,omitempty"`
	Swaps     [][2]int `json:"swaps"`
	Target    []int    `json:"target,omitempty"`
	search.Counts
	Seconds float64 `json:"seconds"`
}

func (a *app) solve() *cobra.Command {
	var f solveFlags
	cmd := &cobra.Command{
		Use:   "solve [FILE | - | --rows R --cols C TILE ...]",
		Short: "Find few swaps that solve a grid",
		Long: `Prints the swaps that solve a grid, a line with two cells for each; cells are
numbered row by row from 0. The command reads the grid from FILE, or from stdin
with - or without arguments: a line with the numbers of rows and columns, then
a line for each row, with blanks or commas between numbers. It skips blank
lines and lines that begin with #. With --rows and --cols the arguments are the
tiles, row by row. Tiles are numbered from 1 or from 0.

--target gives another arrangement than that in order: the swaps then lead
there.

Solvers:
  astar, astar-bucket   A* with a binary heap or with buckets; exact
  astar-incremental     A* with half the Manhattan distance, updated move by
                        move; exact
  astar-parallel        A* by --threads workers; a hash deals the states to them
                        (HDA*); exact
  astar-weighted        A* with twice the heuristic: a solution at most twice as
                        long as a shortest one
  astar-bidirectional   A* from both ends; exact
  dibbs                 A* from both ends with dynamically improved bounds
                        (DIBBS); needs a consistent heuristic; exact
  idastar               IDA*, takes hardly any memory; exact
  bfs, graph            breadth first, on demand or on the whole graph; exact
  bidirectional         breadth first from both ends; exact
  pseudo-bidirectional  breadth first from the goal, used for both ends; not
                        exact
  beam                  keeps the best states of each depth, and starts over
                        with twice as many until --width, --memory or --time
                        ends it; not exact
  chains                moves tiles on along cycles: a solution at most four
                        times as long as a shortest one, at once
  greedy                one tile after the other, as the document seems to
                        mean; not exact, far worse than beam

An exact solver finds a shortest solution. Grids of more than 16 cells, up to
64, can be solved by beam (their default), idastar, chains and greedy, with the
heuristics manhattan, inversion and walking.

Heuristics of the other solvers than greedy, chains, bfs, graph, bidirectional,
pseudo-bidirectional and astar-incremental: zero, manhattan, inversion,
walking, pdb (from the files of --pdb; of a gadb the greedy cover)
and pdb-exact (the best cover). Of several, separated by commas, the largest
bound counts. +inverse behind a name adds the bound of the inverse grid,
+parity raises a bound to the parity of the permutation.

A search that reaches --memory or --time ends with the solution of a narrow
beam search and the lower bound that it has proved. The solution is called
shortest only if its length is that bound. The same holds for a search that is
interrupted, which ends with status 130.

Progress shows the lower bound and the shortest known solution, the open and
the closed states, and the used share of --memory (for beam: of the work up to
--width) or --time, whichever is larger. A search may end long before 100%.
`,
		Example: `  grenier swap solve --rows 3 --cols 3 9 8 7 6 5 4 3 2 1
  grenier swap solve --rows 2 --cols 2 --target '4 3 2 1' 2 1 4 3
  grenier swap generate --rows 4 --cols 4 | grenier swap solve --json -
  grenier swap generate --rows 5 --cols 5 | grenier swap solve --time 30s --animate
  grenier swap solve --solver idastar --heuristic pdb+parity --pdb a.gp,b.gp grid.txt`,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			f.sized = cmd.Flags().Changed("rows") || cmd.Flags().Changed("cols")
			return a.runSolve(cmd.Context(), f, args)
		}),
	}
	flags := cmd.Flags()
	cli.IntVar(flags, &f.rows, "rows", 0, 1, swap.MaxListed, "`number` of rows of the grid in the arguments")
	cli.IntVar(flags, &f.cols, "cols", 0, 1, swap.MaxListed, "`number` of columns of the grid in the arguments")
	cli.NameVar(flags, &f.solver, "solver", "", "`name` of the solver (default: astar-bucket, or beam for more than 16 cells)", search.Names()...)
	flags.StringVar(&f.heuristic, "heuristic", "", "`name` of the heuristic (default: walking+parity, or manhattan+parity)")
	flags.StringSliceVar(&f.pdb, "pdb", nil, "`files` of pattern databases of the grid, separated by commas")
	f.Memory.Define(a.App, flags, "4GiB", nil)
	flags.StringVar(&f.target, "target", "", "`tiles` of the arrangement to reach, row by row (default: in order)")
	cli.IntVar(flags, &f.width, "width", 0, 0, math.MaxInt, "most `states` that beam keeps of a depth (default: 16384, no limit with --time)")
	cli.TimeVar(flags, &f.time, "time", 0, 0, 0, "longest `time` to search, like 10s; 0 is no limit")
	cli.ThreadsFlag(flags, &f.Threads, "prepare databases and run astar-parallel with")
	flags.Var((*cli.File)(&f.svg), "svg", "`FILE` for an animated drawing; - prints it instead of the swaps")
	flags.BoolVar(&f.animate, "animate", false, "show the grid swap by swap, on a terminal one each 0.4 s")
	cli.ProgressFlag(flags, &f.Form)
	flags.BoolVar(&f.JSON, "json", false, cli.JSONUsage)
	cli.Completes(cmd, "solver", search.Names()...)
	cli.Completes(cmd, "heuristic", "zero", "manhattan", "inversion", "walking", "pdb", "pdb-exact")
	cli.Completes(cmd, "pdb")
	return cmd
}

func (a *app) runSolve(ctx context.Context, f solveFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	j, err := f.Job()
	if err != nil {
		return err
	}
	if err := cli.CheckFile(f.svg); err != nil {
		return err
	}
	puzzle, start, err := a.readStart(ctx, f, args)
	if err != nil {
		return err
	}
	if f.solver == "" {
		f.solver = search.DefaultSolver(puzzle.Grid)
	}
	o, err := f.options(ctx, puzzle.Grid, j)
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	r, stopped := search.Solve(ctx, f.solver, puzzle.Grid, start, o)
	shown.Close()
	if r.Stopped == "" && stopped != nil {
		return stopped
	}
	if f.svg != "" {
		if err := a.WriteFile(f.svg, search.SVG(puzzle, r.Swaps)); err != nil || f.svg == cli.Stdout {
			return cmp.Or(err, stopped)
		}
	}
	report := f.report(puzzle, r)
	if f.JSON {
		return cmp.Or(a.PrintJSON(report), stopped)
	}
	if f.animate && stopped == nil {
		if err := a.newAnimation().show(ctx, puzzle, r.Swaps); err != nil {
			return err
		}
	}
	a.printSolve(report)
	return stopped
}

// check reports mistakes in flags that need no file and no puzzle to be judged.
func (f solveFlags) check() error {
	switch {
	case f.animate && (f.JSON || f.svg == cli.Stdout):
		return cli.Usagef("--animate does not go with --json or --svg -: only one of them can go to stdout")
	}
	return cli.OneStdout(f.JSON, map[string]string{"--svg": f.svg})
}

// options returns the options of the search, with the heuristic and its pattern databases, and with the memory that
// these leave of the job.
func (f solveFlags) options(ctx context.Context, g *swap.Grid, j job.Job) (o search.Options, err error) {
	o = search.Options{Job: j, Time: f.time, Width: f.width}
	solver, err := search.Find(f.solver)
	if err != nil {
		return o, err
	}
	if !solver.Informed && len(f.pdb) > 0 {
		return o, cli.Usagef("--pdb: %s uses no pattern databases", f.solver)
	}
	if solver.Informed || f.heuristic != "" { // a wrong name is an error even if no solver uses it
		if o.Heuristic, err = search.ParseHeuristic(ctx, g, f.heuristic, f.pdb, patterns.Options{Job: j}); err != nil {
			return o, f.Memory.Explain(heuristicFlag(err))
		}
	}
	if o.Memory = memory.Left(j.Memory); o.Memory < search.LeastMemory {
		return o, f.Memory.Explain(&memory.Error{
			What: fmt.Sprintf("searching %d x %d", g.Rows(), g.Cols()), Need: memory.Need(memory.Room(j.Memory) - o.Memory + search.LeastMemory), Allowed: j.Memory,
		})
	}
	return o, nil
}

// heuristicFlag makes an error about a heuristic one about the flag.
func heuristicFlag(err error) error {
	if errors.Is(err, search.ErrHeuristic) {
		err = cli.Usagef("--heuristic: %w", err)
	}
	return err
}

// report returns the report of r, the result for puzzle.
func (f solveFlags) report(puzzle swap.Puzzle, r search.Result) solveReport {
	report := solveReport{
		Rows: puzzle.Grid.Rows(), Cols: puzzle.Grid.Cols(), Solver: f.solver, Optimal: r.Optimal, Length: len(r.Swaps),
		Lower: r.Lower, Stopped: r.Stopped, Swaps: [][2]int{}, Counts: r.Counts, Seconds: r.Elapsed.Seconds(), Heuristic: r.Heuristic,
	}
	if r.Heuristic != "" && f.heuristic != "" { // as it was written
		report.Heuristic = f.heuristic
	}
	if f.target != "" {
		report.Target = targetOf(puzzle, r.Swaps)
	}
	for _, m := range r.Swaps {
		report.Swaps = append(report.Swaps, [2]int{m.A, m.B})
	}
	return report
}

// readStart returns the puzzle that args give, and its tiles named such that order is the target.
func (a *app) readStart(ctx context.Context, f solveFlags, args []string) (puzzle swap.Puzzle, start swap.List, err error) {
	if puzzle, err = a.readPuzzle(ctx, f, args); err != nil || f.target == "" {
		return puzzle, puzzle.Tiles, err
	}
	target, err := parseTarget(puzzle, f.target)
	if err != nil {
		return puzzle, nil, err
	}
	return puzzle, puzzle.Tiles.Toward(target), nil
}

// readPuzzle reads the grid from the arguments, a file or stdin.
func (a *app) readPuzzle(ctx context.Context, f solveFlags, args []string) (swap.Puzzle, error) {
	if f.sized {
		return parsePuzzle(f.rows, f.cols, cli.Fields(args...))
	}
	switch {
	case len(args) > 1:
		return swap.Puzzle{}, cli.Usagef("expected one FILE, or --rows and --cols with the tiles, got %s", cli.Count(len(args), "argument"))
	case len(args) == 0 || args[0] == cli.Stdout:
		return swap.Parse(a.Stdin(ctx, nil))
	}
	file, err := vfs.OpenStream(args[0])
	if err != nil {
		return swap.Puzzle{}, err
	}
	defer file.Close()
	puzzle, err := swap.Parse(io.Reader(file))
	if err != nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return puzzle, err
}

func parsePuzzle(rows, cols int, args []string) (swap.Puzzle, error) {
	g, err := sized(swap.NewListedGrid(rows, cols))
	if err != nil {
		return swap.Puzzle{}, err
	}
	tiles := make([]int, len(args))
	for i, arg := range args {
		if tiles[i], err = strconv.Atoi(arg); err != nil {
			return swap.Puzzle{}, cli.Usagef("cell %d %s: expected the number of a tile", i, cli.Quoted(arg))
		}
	}
	return g.Puzzle(tiles)
}

// parseTarget reads the arrangement to reach, whose tiles are numbered as in the puzzle.
func parseTarget(puzzle swap.Puzzle, text string) (swap.List, error) {
	target, err := parsePuzzle(puzzle.Grid.Rows(), puzzle.Grid.Cols(), cli.Fields(text))
	switch {
	case err != nil:
		return nil, cli.Usagef("--target: %w", err)
	case target.First != puzzle.First:
		return nil, cli.Usagef("--target: its tiles are numbered from %d, the grid from %d", target.First, puzzle.First)
	}
	return target.Tiles, nil
}

// targetOf returns the tiles of a puzzle after moves, with its numbers.
func targetOf(puzzle swap.Puzzle, moves []swap.Swap) []int {
	tiles := slices.Clone(puzzle.Tiles)
	for _, m := range moves {
		tiles.Swap(m)
	}
	list := make([]int, len(tiles))
	for i, t := range tiles {
		list[i] = int(t) + puzzle.First
	}
	return list
}

func (a *app) printSolve(r solveReport) {
	for _, m := range r.Swaps {
		fmt.Fprintf(a.Out, "%d %d\n", m[0], m[1])
	}
	verdict := "maybe not the shortest solution: " + strconv.Itoa(r.Lower) + " is the lower bound"
	if r.Optimal {
		verdict = "no solution is shorter"
	}
	switch r.Stopped {
	case "":
	case search.Interrupted:
		verdict += "; interrupted"
	default:
		verdict += "; stopped by the limit of " + r.Stopped
	}
	a.Printf(2, "%s, %s", cli.Count(r.Length, "swap"), verdict)
	a.Printf(2, "%s: %s expanded, %s generated, at most %s open and %s closed, %.3f s",
		strings.TrimSuffix(r.Solver+" "+r.Heuristic, " "), cli.Count(r.Expanded, "state"), cli.Comma(r.Generated), cli.Comma(r.PeakOpen), cli.Comma(r.PeakClosed), r.Seconds)
}
