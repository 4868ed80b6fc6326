package pijersi

import (
	"github.com/spf13/cobra"

	"grenier/layers/pijersi"
)

func (a *app) encode() *cobra.Command {
	var shuffled bool
	c := setupCommand{app: a, text: func(dst []byte, s pijersi.Setup) ([]byte, error) { return s.AppendCode(dst), nil }}
	c.parse = func(line []byte) (pijersi.Setup, error) {
		s, err := parseArrangement(line)
		if shuffled {
			s = s.Ordered()
		}
		return s, err
	}
	cmd := &cobra.Command{
		Use:   "encode {CUBES | CELLS | -}",
		Short: "Print the code of a set-up",
		Long: `Prints the code of a set-up, legal or not, given as the cubes of one line-up,
as WHITE-black, or as cells.
` + streamHelp,
		Example: `  grenier pijersi encode RPSRPSPSRWWSRP
  grenier pijersi decode --cells GRXLLS | grenier pijersi encode -
  grenier pijersi encode < cubes.txt > codes.txt`,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }),
	}
	cmd.Flags().BoolVar(&shuffled, "shuffled", false, "turn over a stack in which a wise stands on another cube")
	c.view.flags(cmd)
	return cmd
}

// parseArrangement reads cubes or cells.
func parseArrangement(line []byte) (pijersi.Setup, error) {
	if len(line) > 0 && line[0] == '{' {
		return pijersi.ParseCells(line)
	}
	return pijersi.ParseCubes(line)
}

func (a *app) decode() *cobra.Command {
	var lenient, psn, ugi, cells bool
	c := setupCommand{app: a, parse: pijersi.ParseCode[[]byte]}
	c.text = func(dst []byte, s pijersi.Setup) ([]byte, error) {
		switch {
		case psn:
			return s.AppendPosition(dst), nil
		case ugi:
			return s.AppendPosition(append(dst, "position fen "...)), nil
		case cells:
			return s.AppendCells(dst), nil
		}
		return s.AppendCubes(dst), nil
	}
	cmd := &cobra.Command{
		Use:   "decode {CODE | -}",
		Short: "Print the cubes of a code",
		Long: `Prints the cubes of a code, legal or not. A code is six letters, capital for
white and small for black, or WHITE-black. The largest code is WPKVWP, all
wises.

--lenient also reads, with a warning, codes with blanks in them, letters of the
wrong case, and fewer than six letters: it adds As on the left.
` + streamHelp,
		Example: `  grenier pijersi decode GRXLLS
  grenier pijersi decode --draw GRXLLS-ayabey
  grenier pijersi decode --psn - < codes.txt`,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			if lenient {
				c.parse = c.parseLenient
			}
			return c.run(cmd.Context(), args)
		}),
	}
	cmd.Flags().BoolVar(&lenient, "lenient", false, "correct mistyped codes, with a warning")
	cmd.Flags().BoolVar(&psn, "psn", false, "print the position in PSN instead")
	cmd.Flags().BoolVar(&ugi, "ugi", false, "print the UGI command for the position instead")
	cmd.Flags().BoolVar(&cells, "cells", false, "print the cubes by cell, {'a1': 'R', ...}, instead")
	c.view.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("psn", "ugi", "cells", "json", "draw")
	return cmd
}

// parseLenient reads a code, mistyped or not.
func (c *setupCommand) parseLenient(line []byte) (pijersi.Setup, error) {
	s, warnings, err := pijersi.ParseCodeLenient(string(line))
	for _, w := range warnings {
		c.warn(w)
	}
	return s, err
}
