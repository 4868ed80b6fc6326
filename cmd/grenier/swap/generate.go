package swap

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/search"
)

// generateFlags are the flags of swap generate as given.
type generateFlags struct {
	rows, cols int
	difficulty float64
	seed       uint64
	json       bool
}

// generateReport is the JSON of swap generate.
type generateReport struct {
	Rows         int    `json:"rows"`
	Cols         int    `json:"cols"`
	Seed         uint64 `json:"seed"`
	Tiles        []int  `json:"tiles"`
	Manhattan    int    `json:"manhattan"`
	MaxManhattan int    `json:"max_manhattan"`
}

func (a *app) generate() *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate --rows R --cols C",
		Short: "Generate a random grid of a given difficulty",
		Long: `Prints a random grid in the format that "swap solve" reads. --difficulty is the
sum of the Manhattan distances of its tiles, as a share of the largest sum,
which the grid in reverse order has. Random grids have about 0.67. The same
--seed gives the same grid.
`,
		Example: `  grenier swap generate --rows 4 --cols 4 --difficulty 0.8 --seed 7`,
		Args:    cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64()
			}
			return a.runGenerate(f)
		}),
	}
	needGrid(cmd, &f.rows, &f.cols, swap.MaxListed)
	flags := cmd.Flags()
	flags.Float64Var(&f.difficulty, "difficulty", 0.67, "`share` of the largest sum of Manhattan distances, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 0, "`number` from which the grid is made (default: random)")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (a *app) runGenerate(f generateFlags) error {
	g, err := sized(swap.NewListedGrid(f.rows, f.cols))
	if err != nil {
		return err
	}
	tiles, err := search.Generate(g, f.difficulty, rand.New(rand.NewPCG(f.seed, 0)))
	if err != nil {
		return err
	}
	if !f.json {
		_, err = fmt.Fprint(a.Out, swap.Puzzle{Grid: g, Tiles: tiles, First: 1})
		return err
	}
	r := generateReport{
		Rows: f.rows, Cols: f.cols, Seed: f.seed, Manhattan: heuristic.NewManhattan(g).SumList(tiles), MaxManhattan: heuristic.MaxManhattan(g),
	}
	for _, t := range tiles {
		r.Tiles = append(r.Tiles, int(t)+1)
	}
	return a.PrintJSON(r)
}
