package pijersi

import (
	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/fault"
	"grenier/layers/pijersi"
)

// illegalError reports set-ups that are not legal.
type illegalError struct{ count int }

func (e *illegalError) Error() string {
	if e.count == 1 {
		return "1 set-up is not legal"
	}
	return cli.Count(e.count, "set-up") + " are not legal"
}

// Is makes it a difference.
func (e *illegalError) Is(target error) bool { return target == fault.Difference }

func (a *app) check() *cobra.Command {
	illegal := 0
	c := setupCommand{app: a}
	c.parse = func(line []byte) (pijersi.Setup, error) {
		s, err := pijersi.Parse(line)
		if err == nil && !s.Legal() {
			illegal++
		}
		return s, err
	}
	c.text = func(dst []byte, s pijersi.Setup) ([]byte, error) {
		if err := s.Check(); err != nil {
			return append(dst, err.Error()...), nil
		}
		return append(dst, "legal"...), nil
	}
	cmd := &cobra.Command{
		Use:   "check {CODE | CUBES | POSITION | CELLS | -}",
		Short: "Check whether a set-up is legal",
		Long: `Prints "legal", or everything that is wrong with a set-up. Each player must
have 4 rocks (R), 4 papers (P), 4 scissors (S) and 2 wises (W), and no wise may
stand on another kind of cube.
` + streamHelp + "\n  3    a set-up is not legal",
		Example: "  grenier pijersi check GRXLLS",
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			err := c.run(cmd.Context(), args)
			if err == nil && illegal > 0 {
				err = &illegalError{illegal}
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&c.view.asJSON, "json", false, jsonUsage)
	return cmd
}
