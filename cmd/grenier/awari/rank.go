package awari

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/colex"
)

// rankReport is what rank and unrank print as JSON.
type rankReport struct {
	Pits  []int  `json:"pits"`
	Seeds int    `json:"seeds"`
	Code  uint64 `json:"code"`
	Rank  uint64 `json:"rank"`
}

func (a *app) rank() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rank P0 P1 ...",
		Short: "Print the code of a board",
		Long: `Prints the code of a board of any number of pits up to 16: its number among all
boards of as many pits, sorted by seeds and then in colex order. With --json also
its rank among the boards with as many seeds, which is its place in a layer file.
` + cli.ExitHelp,
		Example: "  grenier awari rank 1 1 1 1 1 2 4 2 3 0 0 0",
		Args:    cli.NeedArgs(math.MaxInt, "a board: the number of seeds in each pit"),
		RunE: a.Start(func(_ *cobra.Command, args []string) error {
			board, seeds, err := parsePits(args)
			if err != nil {
				return err
			}
			r, err := colex.New(len(board), seeds)
			if err != nil {
				return err
			}
			report := rankReport{Pits: widen(board), Seeds: seeds, Code: r.Code(board), Rank: r.Rank(board)}
			if asJSON {
				return a.PrintJSON(report)
			}
			_, err = fmt.Fprintln(a.Out, report.Code)
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) unrank() *cobra.Command {
	var asJSON bool
	var pits int
	cmd := &cobra.Command{
		Use:     "unrank CODE",
		Short:   "Print the board with a code",
		Long:    "Prints the pits of the board that has the given code; the inverse of rank.\n" + cli.ExitHelp,
		Example: "  grenier awari unrank --pits 12 29832801",
		Args:    cli.NeedArgs(1, "one code"),
		RunE: a.Start(func(_ *cobra.Command, args []string) error {
			report, err := unrankCode(pits, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(report)
			}
			_, err = fmt.Fprintln(a.Out, strings.Trim(fmt.Sprint(report.Pits), "[]"))
			return err
		}),
	}
	cmd.Flags().IntVar(&pits, "pits", 12, "`number` of pits of the board, 1 to 16")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// unrankCode returns the board with the given code.
func unrankCode(pits int, text string) (rankReport, error) {
	code, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return rankReport{}, cli.Usagef("code %q: want a whole number from 0 to %d", text, uint64(math.MaxUint64))
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
		return nil, 0, cli.Usagef("%d pits: 1 to %d are possible", len(args), colex.MaxPits)
	}
	for i, arg := range args {
		n, err := strconv.ParseUint(arg, 10, 8)
		if err != nil || n > colex.MaxSeeds {
			return nil, 0, cli.Usagef("pit %d: %q is not a number of seeds from 0 to %d", i, arg, colex.MaxSeeds)
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
