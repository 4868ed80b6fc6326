// Package pijersi has the commands below "grenier pijersi": they encode, decode, number and
// draw set-ups, one or a stream of them. A setupCommand knows how a command reads
// a set-up and how it answers; package cli reads the lines of stdin.
package pijersi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/pijersi"
)

// app is a command line about Pijersi.
type app struct{ *cli.App }

// Command returns the commands about Pijersi.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "pijersi",
		Short: "Encode, decode, number and draw set-ups of Pijersi",
		Long: `Set-ups of the board game Pijersi: where the 14 cubes of each player stand at
the start of a game. There are three ways to write one:

  cubes     in the order a1-a6 b1-b3 b4 b4t b5-b7 (b4t is the cube on top of
            b4), capital letters for white; small ones for black, g6-g1 f7-f5
            f4 f4t f3-f1
  code      six letters
  cells     {'a1': 'R', 'a2': 'P', ..., 'b4t': 'W', ...}, in any order

One line-up stands for both players if black mirrors white; WHITE-black gives
each player a line-up; cells are of one player or of both.

A line-up is legal if it has 4 rocks (R), 4 papers (P), 4 scissors (S) and 2
wises (W), and no wise stands on another kind of cube. 2,737,350 line-ups are
legal: there are as many mirrored set-ups, and the square of it,
7,493,085,022,500, of independent ones.
`,
		Example: `  grenier pijersi encode RPSRPSPSRWWSRP
  grenier pijersi decode GRXLLS-grxlls`,
	}, a.encode(), a.decode(), a.rank(), a.unrank())
}

// streamHelp ends the help of commands that read set-ups.
const streamHelp = `
With -, or without a value, the command reads stdin, one value a line, and
prints one line for each. It skips blank lines and lines that begin with #. A
bad line is reported on stderr with its number, and with --json on stdout too;
the others are still answered.

EXIT STATUS
  1    a line of stdin was bad; a bad argument is bad usage, 2`

// jsonUsage describes --json.
const jsonUsage = "print one JSON object for each set-up, with all forms of it"

// setupCommand answers set-ups, one or many.
type setupCommand struct {
	app *app
	// parse reads a set-up from a line that is valid during the call only.
	parse func(line []byte) (pijersi.Setup, error)
	// text appends the answer to a set-up when nothing else is asked for.
	text func(dst []byte, s pijersi.Setup) ([]byte, error)
	view setupView
}

// setupView is the form of the answers.
type setupView struct {
	asJSON, draw bool
}

// flags adds the flags for all ways of showing a set-up.
func (v *setupView) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.asJSON, "json", false, jsonUsage)
	cmd.Flags().BoolVar(&v.draw, "draw", false, "draw the board as text instead")
	cli.Exclude(cmd, "json", "draw")
}

// run answers the value in the arguments, which may have blanks in it, or the lines of
// stdin.
func (c *setupCommand) run(ctx context.Context, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		return c.answerLines(ctx)
	}
	s, err := c.parse([]byte(strings.Join(args, " ")))
	if err != nil {
		return cli.Usagef("%w", err)
	}
	answer, err := c.append(nil, s)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	_, err = c.app.Out.Write(answer)
	return err
}

// answerLines answers the lines of stdin.
func (c *setupCommand) answerLines(ctx context.Context) error {
	lines := cli.Lines{App: c.app.App, JSON: c.view.asJSON}
	lines.Answer = func(dst, line []byte, _ int) ([]byte, error) {
		s, err := c.parse(line)
		if err != nil {
			return dst, err
		}
		return c.append(dst, s)
	}
	return lines.Run(ctx)
}

// append appends the answer to s, in whole lines.
func (c *setupCommand) append(dst []byte, s pijersi.Setup) ([]byte, error) {
	switch {
	case c.view.asJSON:
		object, err := json.Marshal(newSetupReport(s))
		return append(append(dst, object...), '\n'), err
	case c.view.draw:
		return append(dst, s.Draw()...), nil
	}
	dst, err := c.text(dst, s)
	return append(dst, '\n'), err
}

// setupReport is a set-up as JSON. Problem says why it is not legal; such a set-up has no
// rank.
type setupReport struct {
	Code    string       `json:"code"`
	Cubes   string       `json:"cubes"`
	Form    string       `json:"form"`
	White   lineupReport `json:"white"`
	Black   lineupReport `json:"black"`
	Legal   bool         `json:"legal"`
	Problem string       `json:"problem,omitempty"`
	Rank    *uint64      `json:"rank,omitempty"`
}

// lineupReport is the cubes of one player as JSON.
type lineupReport struct {
	Cubes  string  `json:"cubes"`
	Cells  cells   `json:"cells"`
	Code   string  `json:"code"`
	Number uint32  `json:"number"`
	Legal  bool    `json:"legal"`
	Rank   *uint32 `json:"rank,omitempty"`
}

func newSetupReport(s pijersi.Setup) setupReport {
	r := setupReport{
		Code: s.Code(), Cubes: s.CubeText(), Form: s.Form.String(),
		White: newLineupReport(s.White, pijersi.White), Black: newLineupReport(s.Black, pijersi.Black),
	}
	rank, err := s.Rank()
	if r.Legal = err == nil; r.Legal {
		r.Rank = &rank
	} else {
		r.Problem = err.Error()
	}
	return r
}

func newLineupReport(l pijersi.Lineup, colour pijersi.Colour) lineupReport {
	r := lineupReport{
		Cubes: string(l.AppendCubes(nil, colour)), Cells: cells{l, colour}, Code: string(l.AppendCode(nil, colour)),
		Number: uint32(l), Legal: l.Legal(),
	}
	if rank, err := l.Rank(); err == nil {
		r.Rank = &rank
	}
	return r
}

// cells are the cubes of one player as an object, by cell in the order of the cubes.
type cells struct {
	lineup pijersi.Lineup
	colour pijersi.Colour
}

// MarshalJSON implements json.Marshaler.
func (c cells) MarshalJSON() ([]byte, error) {
	s := pijersi.Setup{White: c.lineup, Black: c.lineup, Form: pijersi.Form(c.colour)}
	return bytes.ReplaceAll(s.AppendCells(nil), []byte("'"), []byte{'"'}), nil
}
