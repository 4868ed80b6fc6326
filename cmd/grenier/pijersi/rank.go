package pijersi

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/pijersi"
)

func (a *app) rank() *cobra.Command {
	c := setupCommand{app: a, parse: parseLegal}
	c.text = func(dst []byte, s pijersi.Setup) ([]byte, error) {
		rank, err := s.Rank()
		return strconv.AppendUint(dst, rank, 10), err
	}
	cmd := &cobra.Command{
		Use:   "rank {CODE | CUBES | POSITION | CELLS | -}",
		Short: "Print the number of a legal set-up",
		Long: `Prints the number of a legal set-up. Legal line-ups are numbered from 0 to
2737349 in the order of their codes. The number of WHITE-black is 2737350 times
that of white plus that of black, 0 to 7493085022499.
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
	c := setupCommand{app: a, text: func(dst []byte, s pijersi.Setup) ([]byte, error) { return s.AppendCode(dst), nil }}
	c.parse = func(line []byte) (pijersi.Setup, error) { return parseRank(line, total) }
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
func parseRank(line []byte, total bool) (pijersi.Setup, error) {
	unrank, most := pijersi.UnrankMirror, uint64(pijersi.Count-1)
	if total {
		unrank, most = pijersi.UnrankTotal, pijersi.SetupCount-1
	}
	rank, err := strconv.ParseUint(string(line), 10, 64)
	if err != nil {
		return pijersi.Setup{}, fmt.Errorf("%w: %.80q is not a whole number from 0 to %d", pijersi.ErrRank, line, most)
	}
	return unrank(rank)
}

// randomFlags are the flags of random.
type randomFlags struct {
	count, seed uint64
	total       bool
}

func (a *app) random() *cobra.Command {
	var f randomFlags
	c := setupCommand{app: a, text: func(dst []byte, s pijersi.Setup) ([]byte, error) { return s.AppendCode(dst), nil }}
	cmd := &cobra.Command{
		Use:   "random",
		Short: "Print random legal set-ups",
		Long: `Prints the codes of random legal set-ups, all equally likely. The same --seed
gives the same set-ups. Without it they differ each time, and --json prints the
seed.
`,
		Example: `  grenier pijersi random --seed 7
  grenier pijersi random --total --count 1000 > codes.txt`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64()
			}
			if c.view.svg != "" && f.count != 1 {
				return cli.Usagef("--svg draws one set-up, but --count is %d", f.count)
			}
			c.view.seed = &f.seed
			return c.random(cmd.Context(), &f)
		}),
	}
	cmd.Flags().Uint64Var(&f.count, "count", 1, "`number` of set-ups")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "`number` from which the set-ups are made (default: random)")
	cmd.Flags().BoolVar(&f.total, "total", false, "make white and black independent (default: black mirrors white)")
	c.view.flags(cmd)
	return cmd
}

// random answers random set-ups.
func (c *setupCommand) random(ctx context.Context, f *randomFlags) error {
	draw := pijersi.RandomMirror
	if f.total {
		draw = pijersi.RandomTotal
	}
	r := rand.New(rand.NewPCG(f.seed, 0))
	if f.count == 1 {
		return c.show(draw(r))
	}
	out := bufio.NewWriterSize(c.app.Out, 1<<16)
	for i := range f.count {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		answer, err := c.append(out.AvailableBuffer(), draw(r))
		if err != nil {
			return err
		}
		if _, err := out.Write(answer); err != nil {
			return err
		}
	}
	return out.Flush()
}
