package pijersi

import (
	"fmt"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/fault"
	"grenier/layers/pijersi"
)

// illegalError reports set-ups that were checked and are not legal.
type illegalError struct{ count int }

func (e *illegalError) Error() string {
	if e.count == 1 {
		return "1 set-up is not legal"
	}
	return fmt.Sprintf("%d set-ups are not legal", e.count)
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
		Use:   "check {CODE | CUBES | POSITION | -}",
		Short: "Tell whether a set-up is legal",
		Long: `Prints whether a set-up is legal, and if not everything that is wrong: each player has
4 rocks (R), 4 papers (P), 4 scissors (S) and 2 wises (W), and a wise does not stand on
another kind of cube. The exit status is 3 if a set-up is not legal.
` + streamHelp + cli.ExitHelp,
		Example: "  grenier pijersi check WPKVWP",
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			err := c.run(cmd.Context(), args)
			if err == nil && illegal > 0 {
				err = &illegalError{illegal}
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&c.view.asJSON, "json", false, "print one JSON object for each set-up, with all that is known about it")
	return cmd
}
