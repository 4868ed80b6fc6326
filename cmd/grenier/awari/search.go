package awari

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	bestline "grenier/pipeline/play/line"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// searchFlags are the flags of search as given.
type searchFlags struct {
	cli.JobFlags
	dir   string
	time  time.Duration
	depth int
}

func (a *app) search() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search --dir DIR {P0 P1 ... | -}",
		Short: "Print the best line of a board, solved or not",
		Long: `For a solved board, prints the value and a best line to the end of the game, or
to the first repetition if the value is 0 and the game a draw. While there is
something to win, the line makes progress: it never repeats a board.

For a board with more seeds than are solved, searches deeper and deeper until
the value is known or a limit is reached, and prints the value, or proven
bounds and an estimate, and the line that the search expects. The estimate is a
guess. An interrupted search prints what it has found so far; with --time 0 it
goes on until Ctrl-C or until the value is known. With one thread and --depth
the result is always the same.

South is the player to move. Each move of a line has the player, the pit, the
seeds captured, the score so far (south minus north), the value of the board
for the player to move, the plies to the next capture or the end of the game,
and the board from the side of the player to move. With - the board is read
from stdin.

--json prints {"rules", "pits": board, "seeds", "solved", "exact", "lower",
"upper", "estimate", "best": pit or null, "moves": [{"pit", "legal",
"captured", "lower", "upper", "estimate"}, ...], "line": [{"player", "pit",
"captured", "score", "value", "plies", "pits"}, ...], "end", "last": board
after the line, "search": null if solved, or {"depth", "nodes",
"nodes_per_second", "table_hits", "stored_hits", "seconds", "reason"}}. "end"
is "finished", "repetition", "solved" (the line reaches a solved board) or
"open"; "reason" is "exact", "time", "depth" or "interrupted". "value" and
"plies" are null if not known. "lower" and "upper" of a move bound the value of
the board if the move is played. The search proves the best move only: the
bounds of the others may be wide, and their estimates too high. For a pit that
cannot be played they are null. Lines of --progress json have a "detail" with
"lower", "upper", "estimate", "depth", "nodes", "nodes_per_second" and "line",
the pits expected.
`,
		Example: `  grenier awari search --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier awari search --dir data/awari --time 1m --memory 4GiB 4 4 4 4 4 4 4 4 4 4 4 4`,
		Args: cli.NeedArgs(1, math.MaxInt, "a board: the number of seeds in each pit, or - to read it from stdin"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			args, err := a.Arguments(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.runSearch(cmd.Context(), f, args)
		}),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	cli.TimeVar(flags, &f.time, "time", 10*time.Second, 0, 0, "longest `time` to search; 0 is no limit")
	cli.IntVar(flags, &f.depth, "depth", 0, 0, search.MaxDepth, fmt.Sprintf("most `plies` to look ahead, 1 to %d; 0 is no limit", search.MaxDepth))
	f.JobFlags.Define(a.App, flags, "1GiB", cli.JSONUsage)
	return cmd
}

// openHalf opens the tables with half of the memory for data as cache, and returns the
// bytes of the other half. So many goroutines read.
func openHalf(ctx context.Context, dir string, m *cli.MemoryFlag, goroutines int) (t *tables.Tables, half int64, err error) {
	allowed, err := m.Limit()
	if err != nil {
		return nil, 0, err
	}
	chosen, err := cli.Family()
	if err != nil {
		return nil, 0, err
	}
	if t, err = tables.Open(ctx, dir, tables.Kernel(chosen)); err != nil {
		return nil, 0, err
	}
	fixed := t.Overhead(goroutines) + search.FixedBytes(t)
	if err := memory.Check("searching", fixed+leastHalf+leastHalf, allowed); err != nil {
		return nil, 0, errors.Join(m.Explain(err), t.Close())
	}
	free := max((memory.Room(allowed)-fixed)/2, leastHalf)
	t.Resize(free)
	return t, int64(min(free, math.MaxInt64)), nil
}

// searchIn returns decoded scores and the bytes that an engine may have, both in the given
// memory: scores get half of it, or what all of them take if that is less.
func searchIn(t *tables.Tables, bytes int64) (*search.Blocks, int64) {
	blocks := search.NewBlocks(t, bytes/2)
	return blocks, bytes - blocks.Bytes()
}

// positionsIn returns how many positions of a best line fit in bytes of memory.
func positionsIn(bytes int64) int {
	return int(min(max(1, bytes/bestline.PositionBytes), math.MaxInt32))
}

// leastHalf is the least memory, in bytes, for the cache, and for the search.
const leastHalf = 1 << 20

func (a *app) runSearch(ctx context.Context, f searchFlags, fields []string) error {
	shown, err := a.NewProgress(f.Form, f.JSON)
	if err != nil {
		return err
	}
	defer shown.Close()
	t, half, err := openHalf(ctx, f.dir, &f.Memory, f.Threads)
	if err != nil {
		return err
	}
	defer t.Close()
	board, err := parseBoard(t.Game(), fields)
	if err != nil {
		return err
	}
	if board.Seeds() <= t.MaxSeeds() {
		return a.followLine(ctx, t, board, positionsIn(half), f.JSON)
	}
	t.Resize(leastHalf)
	blocks, bytes := searchIn(t, 2*half-leastHalf)
	o := search.Options{Bytes: bytes, Job: job.Job{Workers: f.Threads, Progress: shown.Show}}
	r, err := search.New(blocks, o).Search(ctx, board, search.Limits{Time: f.time, Depth: f.depth})
	if r == nil {
		return err
	}
	shown.Pause(func() {
		report := newFoundReport(t, r)
		if f.JSON {
			err = errors.Join(a.PrintJSON(report), err)
		} else {
			a.printFound(t.Game(), &report, r)
		}
	})
	return err
}

// foundReport is the JSON of search.
type foundReport struct {
	search.Report
	Solved bool         `json:"solved"`
	Line   []lineReport `json:"line"`
	End    string       `json:"end"`
	Last   []int        `json:"last"`
	Search *workReport  `json:"search"`
}

// lineReport is a move of a line; Value and Plies are nil if not known.
type lineReport struct {
	Player   string `json:"player"`
	Pit      int    `json:"pit"`
	Captured int    `json:"captured"`
	Score    int    `json:"score"`
	Value    *int   `json:"value"`
	Plies    *int   `json:"plies"`
	Pits     []int  `json:"pits"`
}

// workReport is the work of a search.
type workReport struct {
	Depth      int           `json:"depth"`
	Nodes      uint64        `json:"nodes"`
	Rate       float64       `json:"nodes_per_second"`
	TableHits  uint64        `json:"table_hits"`
	StoredHits uint64        `json:"stored_hits"`
	Seconds    float64       `json:"seconds"`
	Reason     search.Reason `json:"reason"`
}

// followLine prints the best line of a solved board.
func (a *app) followLine(ctx context.Context, t *tables.Tables, b awari.Board, positions int, asJSON bool) error {
	l, err := bestline.Best(ctx, t, b, bestline.Options{Positions: positions})
	if err != nil {
		return err
	}
	p, err := t.Probe(ctx, b)
	if err != nil {
		return err
	}
	game, exact := t.Game(), func(value int) search.Value { return search.Value{Lower: value, Upper: value, Estimate: value} }
	known := &search.Result{Board: b, Seeds: b.Seeds(), Value: exact(l.Value), Best: -1}
	if len(l.Moves) > 0 {
		known.Best = l.Moves[0].Pit
	}
	for i, m := range p.Moves {
		known.Moves[i] = search.Move{Legal: m.Legal, Captured: m.Captured, Value: exact(m.Value)}
	}
	report := foundReport{Report: search.NewReport(game, known), Solved: true, Line: []lineReport{}, End: l.End.String(), Last: game.Numbers(l.Last)}
	running := l.Running()
	for i, m := range l.Moves {
		step := lineReport{
			Player: match.Side(i % 2).String(), Pit: m.Pit, Captured: m.Captured, Score: running[i], Value: &m.Value, Pits: game.Numbers(m.Board),
		}
		if m.Plies > 0 {
			step.Plies = &m.Plies
		}
		report.Line = append(report.Line, step)
	}
	if asJSON {
		return a.PrintJSON(report)
	}
	fmt.Fprintf(a.Out, "%s\n%s\n", game.Draw(b, 0), known.Text())
	a.printLine(&report)
	return nil
}

func newFoundReport(t *tables.Tables, r *search.Result) foundReport {
	game := t.Game()
	report := foundReport{
		Report: search.NewReport(game, r), Line: []lineReport{}, End: "open",
		Search: &workReport{
			Depth: r.Depth, Nodes: r.Nodes, Rate: r.NodesPerSecond, TableHits: r.TableHits, StoredHits: r.StoredHits,
			Seconds: r.Elapsed.Seconds(), Reason: r.Reason,
		},
	}
	m, score := match.New(game, r.Board), 0
	for i, pit := range r.Line {
		step := lineReport{Player: m.Turn().String(), Pit: pit, Pits: game.Numbers(m.Board())}
		var err error
		if step.Captured, err = m.Play(pit); err != nil {
			break // the line of a search has legal moves only
		}
		if score += step.Captured; i%2 == 1 {
			score -= 2 * step.Captured
		}
		step.Score = score
		report.Line = append(report.Line, step)
	}
	report.Last = game.Numbers(m.Board())
	switch {
	case m.State() == match.Finished:
		report.End = "finished"
	case m.Board().Seeds() <= t.MaxSeeds():
		report.End = "solved"
	}
	return report
}

func (a *app) printFound(game awari.Game, report *foundReport, r *search.Result) {
	fmt.Fprintf(a.Out, "%s\n%s\n", game.Draw(r.Board, 0), r.Text())
	if !r.Exact() {
		fmt.Fprintln(a.Out, "the bounds are proven, the estimate is a guess")
	}
	a.Printf(2, "depth %d, %s, %s, %.1f s, %s; ended by: %s",
		r.Depth, cli.Count(r.Nodes, "node"), cli.Count(r.TableHits, "table hit"), r.Elapsed.Seconds(), strings.Replace(cli.Speed(r.NodesPerSecond), "pos/s", "nodes/s", 1), r.Reason)
	a.printLine(report)
}

// endText says why a line ends.
var endText = map[string]string{
	"finished":   "end of the game: the opponent gets the seeds on the board",
	"repetition": "repetition: a draw, nobody gets the seeds on the board",
	"solved":     "the next board is solved",
	"open":       "the search ends here",
}

func (a *app) printLine(r *foundReport) {
	if len(r.Line) > 0 {
		fmt.Fprintln(a.Out, " ply  player  pit  captured  score  value  plies  board")
	}
	for i, m := range r.Line {
		fmt.Fprintf(a.Out, "%4d  %-6s %4s %9d %6s %6s %6s  %s\n",
			i+1, m.Player, match.Side(i%2).PitName(m.Pit), m.Captured, awari.Signed(m.Score), orDot(m.Value, awari.Signed), orDot(m.Plies, strconv.Itoa), cli.Spaced(m.Pits))
	}
	if len(r.Line) > 0 {
		fmt.Fprintf(a.Out, "%48s%s\n", "", cli.Spaced(r.Last))
	}
	fmt.Fprintln(a.Out, endText[r.End])
}

// orDot returns a number as text, a dot if it is not known.
func orDot(n *int, text func(int) string) string {
	if n == nil {
		return "."
	}
	return text(*n)
}
