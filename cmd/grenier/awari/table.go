package awari

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/spaces/census"
)

// tableReport is what table prints as JSON.
type tableReport struct {
	Pits     int        `json:"pits"`
	MaxSeeds int        `json:"max_seeds"`
	Rows     []tableRow `json:"rows"`
}

// tableRow is a row; the fields of columns that were not computed are nil.
type tableRow struct {
	Seeds           int      `json:"seeds"`
	Configs         uint64   `json:"configs"`
	Accessible      *uint64  `json:"accessible,omitempty"`
	Space           float64  `json:"space"`
	SpaceCumulative float64  `json:"space_cumulative"`
	SpaceAccessible *float64 `json:"space_accessible_cumulative,omitempty"`
	SpaceReal       float64  `json:"space_real"`
	Cost            uint64   `json:"cost"`
}

func (a *app) table() *cobra.Command {
	var pits, seeds int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "table",
		Short: "Print the number of positions and the cost of solving them",
		Long: `Prints the tables of the document about retrograde analysis. Each number of
seeds has the number of positions; the number that play can reach from 3 seeds
in each pit under the rules strict (a); the least space for their scores and
its sum (c); and the number of memory accesses of the plain algorithm. Column
(a) needs a search of the game, and is left out for more than 8 pits.
`,
		Example: `  grenier awari table --pits 8 --seeds 24
  grenier awari table --pits 12 --seeds 48 --json`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			table, err := census.New(cmd.Context(), pits, seeds)
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(newTableReport(table))
			}
			return a.printTable(table)
		}),
	}
	cmd.Flags().IntVar(&pits, "pits", 8, "`number` of pits of the board: 4, 6, 8, 10 or 12")
	cmd.Flags().IntVar(&seeds, "seeds", 24, "largest `number` of seeds, 0 to 48")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printTable(table *census.Table) error {
	if err := table.WriteRST(a.Out, table.Columns()...); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	return table.WriteRST(a.Out, census.CostColumns()...)
}

func newTableReport(table *census.Table) tableReport {
	report := tableReport{Pits: table.Pits, MaxSeeds: table.MaxSeeds, Rows: make([]tableRow, 0, len(table.Rows))}
	for _, r := range table.Rows {
		row := tableRow{
			Seeds: r.Seeds, Configs: r.Configs, Space: r.Space, SpaceCumulative: r.SpaceCumulative,
			SpaceReal: r.SpaceReal, Cost: r.Cost,
		}
		if table.Accessible {
			row.Accessible, row.SpaceAccessible = &r.Accessible, &r.SpaceAccessible
		}
		report.Rows = append(report.Rows, row)
	}
	return report
}
