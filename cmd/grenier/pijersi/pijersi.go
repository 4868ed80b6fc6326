// Package pijersi has the commands below "grenier pijersi": they encode, decode, number,
// check and draw set-ups, one or a stream of them. A command is a setupCommand, which
// knows how to read a set-up and how to answer it; stream.go answers the lines of stdin.
package pijersi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/vfs"
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
		Long: `Set-ups of the board game Pijersi: how the 14 cubes of each player stand at the
start. They are written as cubes, in the order a1-a6 b1-b3 b4 b4t b5-b7 (b4t is the
cube on top), capital for white and small for black (g6-g1 f7-f5 f4 f4t f3-f1); as a
code of six letters; or as a position in PSN. One line-up stands for both players
when black mirrors white, WHITE-black for two that are independent.

2,737,350 line-ups are legal, so 2,737,350 mirror set-ups and their square,
7,493,085,022,500 others: a shuffle of 4 rocks (R), 4 papers (P), 4 scissors (S) and
2 wises (W) in which no wise stands on another kind of cube.
` + cli.ExitHelp,
		Example: `  grenier pijersi encode RPSRPSPSRWWSRP
  grenier pijersi decode GRXLLS-grxlls`,
	}, a.encode(), a.decode(), a.random(), a.rank(), a.unrank(), a.check())
}

// streamHelp is part of the help of commands that read set-ups.
const streamHelp = `
With - or without a value, values are read from stdin, one a line, and each is
answered by a line. A line that cannot be answered is reported on stderr with its
number, with --json on stdout too; the rest goes on, and the exit status is 1.
`

// setupCommand answers set-ups, one or many.
type setupCommand struct {
	app *app
	// parse reads a set-up, from a line that is only valid during the call.
	parse func(line []byte) (pijersi.Setup, error)
	// text appends the answer to a set-up when nothing else is asked for.
	text func(dst []byte, s pijersi.Setup) ([]byte, error)
	view setupView
	// line is the number of the line that is answered, 0 for an argument.
	line int
}

// setupView is how answers are shown.
type setupView struct {
	asJSON, draw bool
	svg          string
	seed         *uint64 // of a random set-up, for JSON
}

// flags adds the flags for all ways of showing a set-up.
func (v *setupView) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.asJSON, "json", false, "print one JSON object for each set-up, with all that is known about it")
	cmd.Flags().BoolVar(&v.draw, "draw", false, "draw the board as text instead")
	cmd.Flags().Var((*cli.File)(&v.svg), "svg", "draw the board into `FILE` as SVG instead; an existing file is replaced")
	cmd.MarkFlagsMutuallyExclusive("json", "draw")
}

// run answers the value that the arguments are, which may have blanks in it, or the
// lines of stdin.
func (c *setupCommand) run(ctx context.Context, args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "-" {
		if c.view.svg != "" {
			return cli.Usagef("--svg draws one set-up, not those of a stream")
		}
		return c.answerLines(ctx, c.app.In)
	}
	s, err := c.parse([]byte(strings.Join(args, " ")))
	if err != nil {
		return cli.Usagef("%w", err)
	}
	return c.show(s)
}

// show answers a set-up that is the only one.
func (c *setupCommand) show(s pijersi.Setup) error {
	if c.view.svg != "" {
		if err := vfs.WriteFile(c.view.svg, []byte(s.SVG())); err != nil || !c.view.asJSON && !c.view.draw {
			return err
		}
	}
	answer, err := c.append(nil, s)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	_, err = c.app.Out.Write(answer)
	return err
}

// append appends the answer to s, whole lines.
func (c *setupCommand) append(dst []byte, s pijersi.Setup) ([]byte, error) {
	switch {
	case c.view.asJSON:
		object, err := json.Marshal(newSetupReport(s, c.view.seed))
		return append(append(dst, object...), '\n'), err
	case c.view.draw:
		return append(dst, s.Draw()...), nil
	}
	dst, err := c.text(dst, s)
	return append(dst, '\n'), err
}

// warn prints a warning about the set-up that is answered.
func (c *setupCommand) warn(text string) {
	if c.line > 0 {
		text = fmt.Sprintf("line %d: %s", c.line, text)
	}
	fmt.Fprintln(c.app.Err, "grenier: warning: "+text)
}

// setupReport is a set-up as JSON. Problem says why it is not legal; then it has no
// rank.
type setupReport struct {
	Code     string       `json:"code"`
	Cubes    string       `json:"cubes"`
	Form     string       `json:"form"`
	White    lineupReport `json:"white"`
	Black    lineupReport `json:"black"`
	Legal    bool         `json:"legal"`
	Problem  string       `json:"problem,omitempty"`
	Rank     *uint64      `json:"rank,omitempty"`
	Position string       `json:"position"`
	Seed     *uint64      `json:"seed,omitempty"`
}

// lineupReport is the cubes of one player as JSON.
type lineupReport struct {
	Cubes  string  `json:"cubes"`
	Code   string  `json:"code"`
	Number uint32  `json:"number"`
	Legal  bool    `json:"legal"`
	Rank   *uint32 `json:"rank,omitempty"`
}

func newSetupReport(s pijersi.Setup, seed *uint64) setupReport {
	r := setupReport{
		Code: s.Code(), Cubes: s.CubeText(), Form: s.Form.String(),
		White: newLineupReport(s.White, pijersi.White), Black: newLineupReport(s.Black, pijersi.Black),
		Position: s.Position(), Seed: seed,
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
		Cubes: string(l.AppendCubes(nil, colour)), Code: string(l.AppendCode(nil, colour)),
		Number: uint32(l), Legal: l.Legal(),
	}
	if rank, err := l.Rank(); err == nil {
		r.Rank = &rank
	}
	return r
}
