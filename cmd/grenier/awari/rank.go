package awari

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/colex"
)

// rankReport is the JSON of rank and unrank.
type rankReport struct {
	Pits  []int  `json:"pits"`
	Seeds int    `json:"seeds"`
	Code  uint64 `json:"code"`
	Rank  uint64 `json:"rank"`
}

func (a *app) rank() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rank {P0 P1 ... | -}",
		Short: "Print the code of a board",
		Long: `Prints the code of a board with 1 to 16 pits: its number among all boards with
as many pits, ordered by seeds and then in colex order. --json adds its rank
among the boards with as many seeds, which is its place in a layer. A board may
be one word too, as oware interfaces write it: 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S.
` + lineHelp + `
`,
		Example: `  grenier awari rank 1 1 1 1 1 2 4 2 3 0 0 0
  echo 1,1,1,1,1,2,4,2,3,0,0,0 | grenier awari rank -`,
		Args: cli.NeedArgs(1, math.MaxInt, "a board: the number of seeds in each pit, or - to read boards from stdin"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			return a.answerRanks(cmd.Context(), args, asJSON, rankPits, func(r rankReport) string { return strconv.FormatUint(r.Code, 10) })
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) unrank() *cobra.Command {
	var asJSON bool
	var pits int
	cmd := &cobra.Command{
		Use:   "unrank {CODE | -}",
		Short: "Print the board with a code",
		Long: `Prints the pits of the board with the given code. It is the inverse of rank.
` + lineHelp + `
`,
		Example: `  grenier awari unrank --pits 12 29832801
  seq 0 9 | grenier awari unrank --pits 4 -`,
		Args: cli.NeedArgs(1, 1, "one code, or - to read codes from stdin"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			unrank := func(fields []string) (rankReport, error) { return unrankCode(pits, strings.Join(fields, " ")) }
			return a.answerRanks(cmd.Context(), args, asJSON, unrank, func(r rankReport) string { return cli.Spaced(r.Pits) })
		}),
	}
	cli.IntVar(cmd.Flags(), &pits, "pits", 12, 1, colex.MaxPits, "`number` of pits of the board, 1 to 16")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// lineHelp is part of the help of commands that answer lines of stdin.
const lineHelp = `
With - the command reads stdin, one a line, and prints one line for each. It
skips blank lines and lines that begin with #. The answer to a bad line says
what is wrong with it, and the exit status is 2; the others are still answered.`

// answerRanks answers the arguments, or the lines of stdin if they are "-".
func (a *app) answerRanks(ctx context.Context, args []string, asJSON bool, answer func(fields []string) (rankReport, error), text func(rankReport) string) error {
	line := func(dst []byte, fields []string) ([]byte, error) {
		report, err := answer(fields)
		if err != nil {
			return dst, err
		}
		if !asJSON {
			return append(append(dst, text(report)...), '\n'), nil
		}
		object, err := json.Marshal(report)
		return append(append(dst, object...), '\n'), err
	}
	if len(args) == 1 && args[0] == cli.Stdout {
		lines := cli.Lines{App: a.App, JSON: asJSON, Inline: true}
		lines.Answer = func(dst, text []byte, _ int) ([]byte, error) { return line(dst, cli.Fields(string(text))) }
		return lines.Run(ctx)
	}
	answered, err := line(nil, cli.Fields(args...))
	if err != nil {
		return err
	}
	_, err = a.Out.Write(answered)
	return err
}

// rankPits returns the code of a board.
func rankPits(fields []string) (rankReport, error) {
	if len(fields) == 1 {
		if pits, ok := splitWord(fields[0]); ok {
			fields = pits
		}
	}
	board, seeds, err := parsePits(fields)
	if err != nil {
		return rankReport{}, err
	}
	r, err := colex.New(len(board), seeds)
	if err != nil {
		return rankReport{}, err
	}
	return rankReport{Pits: widen(board), Seeds: seeds, Code: r.Code(board), Rank: r.Rank(board)}, nil
}

// unrankCode returns the board with the given code.
func unrankCode(pits int, text string) (rankReport, error) {
	code, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return rankReport{}, cli.Usagef("code %s: must be 0 to %d", cli.Quoted(text), uint64(math.MaxUint64))
	}
	r, err := colex.New(pits, colex.MaxSeeds)
	if err != nil {
		return rankReport{}, err
	}
	board := make([]uint8, pits)
	seeds, err := r.Decode(code, board)
	if err != nil {
		return rankReport{}, err
	}
	return rankReport{Pits: widen(board), Seeds: seeds, Code: code, Rank: r.Rank(board)}, nil
}

// parsePits reads a board of any number of pits that can be ranked.
func parsePits(args []string) (board []uint8, seeds int, err error) {
	if len(args) > colex.MaxPits {
		return nil, 0, cli.Usagef("expected 1 to %d pits, got %d", colex.MaxPits, len(args))
	}
	for i, arg := range args {
		n, err := strconv.ParseUint(arg, 10, 8)
		if err != nil || n > colex.MaxSeeds {
			return nil, 0, cli.Usagef("pit %d %s: must be 0 to %d", i, cli.Quoted(arg), colex.MaxSeeds)
		}
		board = append(board, uint8(n))
		seeds += int(n)
	}
	return board, seeds, nil
}

func widen(board []uint8) []int {
	pits := make([]int, len(board))
	for i, x := range board {
		pits[i] = int(x)
	}
	return pits
}
