package awari

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/colex"
	"grenier/pipeline/exchange/listing"
)

// boardsFlags are the flags of boards as given.
type boardsFlags struct {
	pits, seeds int
	random      bool // --count was given
	count, seed uint64
	json        bool
}

func (a *app) boards() *cobra.Command {
	var f boardsFlags
	cmd := &cobra.Command{
		Use:   "boards --seeds N",
		Short: "List the boards of a layer, or random ones",
		Long: `Prints the boards with N seeds, one a line, in the order of their ranks, as
rank, unrank and layer files have them. No solved layer is needed. With --count
it prints that many boards, all different, in an order that looks random; the
same --seed gives the same boards, and a larger --count only adds some.

rank, probe and other commands read what boards prints.
`,
		Example: `  grenier awari boards --seeds 3
  grenier awari boards --pits 16 --seeds 48 --count 5 --seed 7
  grenier awari boards --seeds 16 --count 1000 | grenier awari probe --dir data/awari -`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			f.random = cmd.Flags().Changed("count")
			if cmd.Flags().Changed("seed") && !f.random {
				return cli.Usagef("--seed needs --count")
			}
			return a.listBoards(cmd.Context(), f)
		}),
	}
	flags := cmd.Flags()
	cli.IntVar(flags, &f.pits, "pits", 12, 1, colex.MaxPits, "`number` of pits of the boards, 1 to 16")
	cli.IntVar(flags, &f.seeds, "seeds", 0, 0, colex.MaxSeeds, "`number` of seeds of the boards, 0 to 64; with the pits 64 at most")
	flags.Uint64Var(&f.count, "count", 0, "`number` of random boards (default: all boards in order)")
	flags.Uint64Var(&f.seed, "seed", 1, "`number` from which random boards are made")
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each board, with its code and rank")
	cli.Need(cmd, "seeds")
	return cmd
}

func (a *app) listBoards(ctx context.Context, f boardsFlags) error {
	lister, err := listing.New(f.pits, f.seeds)
	if err != nil {
		return err
	}
	ranking, err := colex.New(f.pits, f.seeds)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(a.Out, 1<<16)
	block := func(ranks []uint64, boards []uint8) error {
		for i, rank := range ranks {
			board := boards[i*f.pits:][:f.pits]
			line := out.AvailableBuffer()
			if f.json {
				object, err := json.Marshal(rankReport{Pits: widen(board), Seeds: f.seeds, Code: ranking.First(f.seeds) + rank, Rank: rank})
				if err != nil {
					return err
				}
				line = append(line, object...)
			} else {
				line = appendPits(line, board)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	}
	if f.random {
		err = lister.Sample(ctx, f.count, f.seed, block)
	} else {
		err = lister.All(ctx, block)
	}
	if err != nil {
		return fmt.Errorf("boards with %d seeds: %w", f.seeds, err)
	}
	return out.Flush()
}

// appendPits appends the pits of a board with blanks between.
func appendPits(dst []byte, board []uint8) []byte {
	for i, x := range board {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendUint(dst, uint64(x), 10)
	}
	return dst
}
