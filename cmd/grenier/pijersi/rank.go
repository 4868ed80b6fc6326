package pijersi

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"grenier/layers/pijersi"
)

func (a *app) rank() *cobra.Command {
	c := setupCommand{app: a, parse: parseLegal}
	c.text = func(dst []byte, s pijersi.Setup) ([]byte, error) {
		rank, err := s.Rank()
		return strconv.AppendUint(dst, rank, 10), err
	}
	cmd := &cobra.Command{
		Use:   "rank {CODE | CUBES | CELLS | -}",
		Short: "Print the number of a legal set-up",
		Long: `Prints the number of a legal set-up. Legal line-ups are numbered from 0 to
2737349 in the order of their codes. The number of WHITE-black is 2737350 times
the number of white plus the number of black, 0 to 7493085022499.
` + streamHelp,
		Example: "  grenier pijersi rank GRXLLS",
		RunE:    a.Start(func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }),
	}
	cmd.Flags().BoolVar(&c.view.asJSON, "json", false, jsonUsage)
	return cmd
}

// parseLegal reads a legal set-up, written in any way.
func parseLegal(line []byte) (pijersi.Setup, error) {
	s, err := pijersi.Parse(line)
	if err == nil {
		err = s.Check()
	}
	return s, err
}

func (a *app) unrank() *cobra.Command {
	var total bool
	c := setupCommand{app: a, text: appendCode}
	c.parse = func(line []byte) (pijersi.Setup, error) {
		if total {
			return parseRank(line, pijersi.Total)
		}
		return parseRank(line, pijersi.Mirror)
	}
	cmd := &cobra.Command{
		Use:   "unrank {RANK | -}",
		Short: "Print the code of the legal set-up with a number",
		Long: `Prints the code of the legal set-up with a number. It is the inverse of rank.
` + streamHelp,
		Example: `  grenier pijersi unrank 965857
  grenier pijersi unrank --total 7493085022499`,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }),
	}
	cmd.Flags().BoolVar(&total, "total", false, "the number of an independent set-up, 0 to 7493085022499")
	c.view.flags(cmd)
	return cmd
}

// parseRank reads the number of a legal set-up.
func parseRank(line []byte, form pijersi.Form) (pijersi.Setup, error) {
	rank, err := strconv.ParseUint(string(line), 10, 64)
	if err != nil {
		return pijersi.Setup{}, fmt.Errorf("%w: %.80q is not a whole number", pijersi.ErrRank, line)
	}
	return pijersi.UnrankSetup(rank, form)
}
