package awari

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// probeReport is the JSON of probe for one board.
type probeReport struct {
	Rules string      `json:"rules"`
	Seeds int         `json:"seeds"`
	Pits  []int       `json:"pits"`
	Value int         `json:"value"`
	Plies *int        `json:"plies,omitempty"` // left out if not known
	Moves []probeMove `json:"moves"`
}

// probeMove is a pit of the mover; Value is nil if it cannot be played.
type probeMove struct {
	Pit      int  `json:"pit"`
	Legal    bool `json:"legal"`
	Captured int  `json:"captured"`
	Value    *int `json:"value"`
	Plies    *int `json:"plies,omitempty"`
}

func (a *app) probe() *cobra.Command {
	var where place
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe {--dir DIR | --url URL} {P0 P1 ... | -}",
		Short: "Print the value of a board and of every move",
		Long: `Prints the exact value of a board for the player to move, who owns the first
half of the pits, and the value of each move, a dot for a pit that cannot be
played.

With - the command reads boards from stdin, one a line, with blanks or commas
between the numbers, and prints one line for each, flushed when the input is
drained. It skips blank lines and lines that begin with #. The answer to a bad
line says what is wrong with it; the others are still answered. A board may also
be written as oware interfaces do, 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S.

If the distances of the layer were computed ("grenier awari distances"), the
command also prints how many plies the next capture, or the end of the game, is
away: when both players keep the value, the one whom it favours hurries and the
other one delays; for each move, when it is played first. In JSON these are
"plies", 0 where the value is 0, and left out where they are not known.

With --url the layers are on a web server, from which only the necessary blocks
are read: see "grenier awari remote".

EXIT STATUS
  With - the status of the first bad line: 2, or 4 if a file is damaged.
`,
		Example: `  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier awari probe --dir data/awari --json - < boards.txt
  grenier awari probe --url https://host/awari/ 1 1 1 1 1 2 4 2 3 0 0 0`,
		Args: cli.NeedArgs(1, math.MaxInt, "a board: the number of seeds in each pit, or - to read boards from stdin"),
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			chosen, err := cli.Family()
			if err != nil {
				return err
			}
			t, err := where.tables(cmd.Context(), chosen)
			if err != nil {
				return err
			}
			defer t.Close()
			if len(args) == 1 && args[0] == "-" {
				p := lineProber{Lines: cli.Lines{App: a.App, JSON: asJSON, Inline: true}, ctx: cmd.Context(), tables: t, ahead: where.ahead()}
				p.Answer = p.answer
				return p.Run(cmd.Context())
			}
			return a.probeBoard(cmd.Context(), t, args, asJSON)
		}),
	}
	needPlace(cmd, &where)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each board")
	return cmd
}

// probeBoard prints the answer to one board: as JSON, or with a drawing and a line for each
// move.
func (a *app) probeBoard(ctx context.Context, t *tables.Tables, fields []string, asJSON bool) error {
	p, err := ask(ctx, t, fields)
	if err != nil {
		return err
	}
	plies, err := t.Plies(ctx, p)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(newProbeReport(t.Game(), p, &plies))
	}
	game := t.Game()
	fmt.Fprintf(a.Out, "%s\n%s%s\n", game.Draw(p.Board, 0), appendProbe(nil, game, p), pliesText(plies.Board))
	for i, m := range p.Moves[:game.Half()] {
		if m.Legal {
			fmt.Fprintf(a.Out, "%s: captures %d, value %s%s\n", game.PitName(m.Pit), m.Captured, awari.Signed(m.Value), pliesText(plies.Moves[i]))
		}
	}
	return nil
}

// pliesText says a distance, if it is known and there is one.
func pliesText(plies *int) string {
	if plies == nil || *plies == 0 {
		return ""
	}
	return fmt.Sprintf(", plies %d", *plies)
}

// lineProber answers boards that are read from stdin, one a line.
type lineProber struct {
	cli.Lines
	ctx      context.Context
	tables   *tables.Tables
	ahead    int // lines whose blocks are requested together
	gathered int // the last of them
}

// answer appends the answer to a line.
func (p *lineProber) answer(dst, line []byte, number int) ([]byte, error) {
	if p.ahead > 1 && number > p.gathered {
		p.gather(line, number)
	}
	probe, err := ask(p.ctx, p.tables, []string{string(line)})
	if err != nil {
		return dst, err
	}
	if !p.JSON {
		return append(appendProbe(dst, p.tables.Game(), probe), '\n'), nil
	}
	plies, err := p.tables.Plies(p.ctx, probe)
	if err != nil {
		return dst, err
	}
	object, err := json.Marshal(newProbeReport(p.tables.Game(), probe, &plies))
	return append(append(dst, object...), '\n'), err
}

// gather reads the blocks for a line, and for those that wait behind it, into the cache.
func (p *lineProber) gather(line []byte, number int) {
	var boards []awari.Board
	add := func(line []byte) {
		board, err := parseBoard(p.tables.Game(), cli.FieldsOfLine(string(line)))
		if err == nil && board.Seeds() <= p.tables.MaxSeeds() {
			boards = append(boards, board)
		}
	}
	add(line)
	for line := range bytes.Lines(p.Waiting()) {
		if number++; len(boards) == p.ahead {
			break
		}
		add(line)
		p.gathered = number
	}
	if len(boards) > 1 {
		_, _ = p.tables.Probes(p.ctx, boards) // what fails is requested again for the line that needs it
	}
}

// ask probes the board given by the fields.
func ask(ctx context.Context, t *tables.Tables, fields []string) (tables.Probe, error) {
	board, err := parseBoard(t.Game(), cli.Fields(fields...))
	if err != nil {
		return tables.Probe{}, err
	}
	return t.Probe(ctx, board)
}

// parseBoard reads a board: a number for each pit, or one word as oware interfaces write it, with S or N at the end for
// the player to move.
func parseBoard(game awari.Game, fields []string) (awari.Board, error) {
	if len(fields) != 1 {
		return game.Parse(fields)
	}
	if pits, ok := splitWord(fields[0]); ok {
		return game.Parse(pits)
	}
	board, err := game.Parse(fields)
	if _, number := strconv.Atoi(fields[0]); number != nil {
		err = fmt.Errorf("%w; boards in a file are read from stdin: - <FILE", err)
	}
	return board, err
}

// splitWord splits a board in one word, as oware interfaces write it: all pits, the seeds that both have taken, and S or N for the
// player to move, whose pits it returns first.
func splitWord(word string) (pits []string, ok bool) {
	parts := strings.Split(word, "-")
	n := len(parts) - 3
	if n < 1 {
		return nil, false
	}
	pits = parts[:n]
	switch parts[n+2] {
	case "S":
		return pits, true
	case "N":
		return slices.Concat(pits[n/2:], pits[:n/2]), true
	}
	return nil, false
}

// appendProbe appends the values of the board and of its moves.
func appendProbe(dst []byte, game awari.Game, p tables.Probe) []byte {
	dst = strconv.AppendInt(append(dst, "value "...), int64(p.Value), 10)
	dst = append(dst, "; moves"...)
	for _, m := range p.Moves[:game.Half()] {
		dst = append(dst, ' ')
		if m.Legal {
			dst = strconv.AppendInt(dst, int64(m.Value), 10)
		} else {
			dst = append(dst, '.')
		}
	}
	return dst
}

func newProbeReport(game awari.Game, p tables.Probe, plies *tables.Plies) probeReport {
	report := probeReport{
		Rules: game.Rules().String(), Seeds: p.Seeds, Pits: game.Numbers(p.Board), Value: p.Value, Plies: plies.Board,
	}
	for i, m := range p.Moves[:game.Half()] {
		move := probeMove{Pit: m.Pit, Legal: m.Legal, Captured: m.Captured}
		if m.Legal {
			move.Plies = plies.Moves[i]
			move.Value = &m.Value
		}
		report.Moves = append(report.Moves, move)
	}
	return report
}
