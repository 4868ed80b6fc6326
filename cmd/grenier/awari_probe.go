package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// probeReport is what probe prints as JSON for one board.
type probeReport struct {
	Rules string      `json:"rules"`
	Seeds int         `json:"seeds"`
	Pits  []int       `json:"pits"`
	Value int         `json:"value"`
	Moves []probeMove `json:"moves"`
}

// probeMove is a pit of the mover; Value is nil when it cannot be played.
type probeMove struct {
	Pit      int  `json:"pit"`
	Legal    bool `json:"legal"`
	Captured int  `json:"captured"`
	Value    *int `json:"value"`
}

// probeError is a line of stdin that could not be answered, as JSON.
type probeError struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

func (a *app) probe() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe --dir DIR P0 P1 ... | -",
		Short: "Print the value of a board and of every move",
		Long: `Prints the exact value of a board for the player to move, who owns the first half
of the pits, and the value of each of his moves. A dot stands for a pit that cannot
be played.

With - boards are read from stdin, one a line, and each is answered by one line. A
line that cannot be answered gets one that says why, and the rest goes on.
` + exitHelp,
		Example: `  grenier awari probe --dir data/awari 1 1 1 1 1 2 4 2 3 0 0 0
  grenier awari probe --dir data/awari --json - < boards.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.start(func(cmd *cobra.Command, args []string) error {
			chosen, err := family()
			if err != nil {
				return err
			}
			t, err := tables.Open(dir, tables.Options{Family: chosen})
			if err != nil {
				return err
			}
			defer t.Close()
			if len(args) == 1 && args[0] == "-" {
				return a.probeLines(cmd.Context(), t, asJSON)
			}
			return a.probeBoard(t, args, asJSON)
		}),
	}
	needDir(cmd, &dir)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each board")
	return cmd
}

// probeBoard answers one board, at length unless as JSON.
func (a *app) probeBoard(t *tables.Tables, fields []string, asJSON bool) error {
	p, err := ask(t, fields)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(newProbeReport(t.Game(), p))
	}
	game := t.Game()
	fmt.Fprintf(a.out, "%s\n%s\n", game.Draw(p.Board), appendProbe(nil, game, p))
	for _, m := range p.Moves[:game.Half()] {
		if m.Legal {
			fmt.Fprintf(a.out, "pit %d: captures %d, value %+d\n", m.Pit, m.Captured, m.Value)
		}
	}
	return nil
}

// probeLines answers each line of stdin.
func (a *app) probeLines(ctx context.Context, t *tables.Tables, asJSON bool) error {
	out := bufio.NewWriterSize(a.out, 1<<16)
	lines := bufio.NewScanner(a.in)
	var failed error
	var answer []byte
	for n := 1; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		p, err := ask(t, strings.Fields(lines.Text()))
		if err != nil {
			err = fmt.Errorf("line %d: %w", n, err)
			if failed == nil {
				failed = err
			}
		}
		if answer, err = appendAnswer(answer[:0], t.Game(), p, n, err, asJSON); err != nil {
			return err
		}
		if _, err := out.Write(answer); err != nil {
			return err
		}
	}
	return errors.Join(failed, lines.Err(), out.Flush())
}

// appendAnswer appends the answer to line n, which is failed or p.
func appendAnswer(dst []byte, game awari.Game, p tables.Probe, n int, failed error, asJSON bool) ([]byte, error) {
	var err error
	switch {
	case asJSON && failed != nil:
		dst, err = appendJSON(dst, probeError{n, failed.Error()})
	case asJSON:
		dst, err = appendJSON(dst, newProbeReport(game, p))
	case failed != nil:
		dst = append(append(dst, "error: "...), strings.ReplaceAll(failed.Error(), "\n", "; ")...)
	default:
		dst = appendProbe(dst, game, p)
	}
	return append(dst, '\n'), err
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(dst, text...), err
}

// ask probes the board given by the fields.
func ask(t *tables.Tables, fields []string) (tables.Probe, error) {
	board, err := t.Game().Parse(fields)
	if err != nil {
		return tables.Probe{}, err
	}
	return t.Probe(board)
}

// appendProbe appends the value of the board and those of its moves.
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

func newProbeReport(game awari.Game, p tables.Probe) probeReport {
	report := probeReport{
		Rules: game.Rules().String(), Seeds: p.Seeds, Pits: widen(p.Board[:game.Pits()]), Value: p.Value,
	}
	for _, m := range p.Moves[:game.Half()] {
		move := probeMove{Pit: m.Pit, Legal: m.Legal, Captured: m.Captured}
		if m.Legal {
			move.Value = &m.Value
		}
		report.Moves = append(report.Moves, move)
	}
	return report
}
