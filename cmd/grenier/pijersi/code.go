package pijersi

import (
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/pijersi"
)

func (a *app) encode() *cobra.Command {
	c := setupCommand{app: a, parse: parseArrangement, text: appendCode}
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
	c.view.flags(cmd)
	return cmd
}

// appendCode answers with the code.
func appendCode(dst []byte, s pijersi.Setup) ([]byte, error) { return s.AppendCode(dst), nil }

// parseArrangement reads cubes or cells.
func parseArrangement(line []byte) (pijersi.Setup, error) {
	if len(line) > 0 && line[0] == '{' {
		return pijersi.ParseCells(line)
	}
	return pijersi.ParseCubes(line)
}

func (a *app) decode() *cobra.Command {
	var cells bool
	c := setupCommand{app: a, parse: pijersi.ParseCode[[]byte]}
	c.text = func(dst []byte, s pijersi.Setup) ([]byte, error) {
		if cells {
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
` + streamHelp,
		Example: `  grenier pijersi decode GRXLLS
  grenier pijersi decode --draw GRXLLS-ayabey
  grenier pijersi decode --cells - < codes.txt`,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) }),
	}
	cmd.Flags().BoolVar(&cells, "cells", false, "print the cubes by cell, {'a1': 'R', ...}, instead")
	c.view.flags(cmd)
	cli.Exclude(cmd, "cells", "json", "draw")
	return cmd
}
