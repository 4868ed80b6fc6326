// Package solitaire has the commands below "grenier solitaire": count counts the positions of peg
// solitaire, solve finds out whether a game can be solved, how often and how fast, play plays
// it with advice.
package solitaire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/vfs"
	game "grenier/layers/solitaire"
	"grenier/pipeline/solitaire"
)

// app is a command line about peg solitaire.
type app struct{ *cli.App }

// Command returns the commands about peg solitaire.
func Command(c *cli.App) *cobra.Command {
	a := &app{c}
	return cli.Group(&cobra.Command{
		Use:   "solitaire",
		Short: "Count, solve and play peg solitaire",
		Long: `In peg solitaire a peg jumps over a neighbour in its row or column into the
empty hole behind it, and the neighbour is taken away. A game is solved when one
peg is left. Jumps of one peg in a row are one move.
`,
		Example: `  grenier solitaire solve --board english --start center
  grenier solitaire play --board english`,
	}, a.count(), a.solve(), a.play())
}

// boardHelp describes the flags of problemFlags.
const boardHelp = `A board is english (33 holes), french (37 holes), or a picture in a file, - for
stdin: a line for each row, with o for a peg, . for an empty hole and - or a
blank for no hole, up to 64 holes. A hole is named by a letter for its column,
from the left, and a number for its row, from the top. The game starts with all
pegs but the one in the hole --start, or as in the picture if that has empty
holes and --start is not given.`

// problemFlags are the flags that say which game is meant.
type problemFlags struct {
	cli.JobFlags
	board, start, end, dir string
}

// define adds the flags to a command.
func (f *problemFlags) define(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.board, "board", game.English, "`board`: english, french, or a file with a picture, - for stdin")
	flags.StringVar(&f.start, "start", "center", "`hole` that is empty at the start, like d4, or center")
	f.Define(a.App, flags, "1GiB", cli.JSONUsage)
	flags.Var((*cli.Directory)(&f.dir), "dir", "directory for the layers, which are in memory without it")
}

// defineEnd adds --end.
func (f *problemFlags) defineEnd(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.end, "end", "", "`hole` of the last peg, or any (default: see above)")
}

// endHelp describes --end.
const endHelp = `The last peg must be in the hole --end. Unless that is given, it is the hole
that is empty at the start, if sums modulo 2 allow that and there is just one,
and any hole otherwise.`

// Values of --end and the name of a start.
const (
	anyEnd  = "any"
	picture = "picture"
)

// problem is a game with the names of the holes asked for.
type problem struct {
	solitaire.Problem
	start, end string
}

// problem reads the flags; args says whether --start was given.
func (a *app) problem(ctx context.Context, f *problemFlags, startGiven bool) (p problem, err error) {
	b, position, err := a.board(ctx, f.board)
	if err != nil {
		return p, err
	}
	p.Board, p.Start, p.start = b, position, picture
	if startGiven || position == b.Full() {
		hole, err := b.Hole(f.start)
		if err != nil {
			return p, fmt.Errorf("--start: %w", err)
		}
		p.Start, p.start = b.Full()&^(1<<hole), f.start
	}
	if p.Start == 0 {
		return p, cli.Usagef("--board %s: there is no peg", f.board)
	}
	return p, p.setEnd(f.end)
}

// setEnd sets where the last peg must be.
func (p *problem) setEnd(name string) error {
	b, empty := p.Board, p.Board.Full()&^p.Start
	switch {
	case name == anyEnd:
	case name != "":
		hole, err := b.Hole(name)
		if err != nil {
			return fmt.Errorf("--end: %w", err)
		}
		p.Ends, p.end = 1<<hole, b.HoleName(hole)
		return nil
	case bits.OnesCount64(empty) == 1 && b.SameParity(p.Start, empty):
		p.Ends, p.end = empty, b.HoleName(bits.TrailingZeros64(empty))
		return nil
	}
	p.end = anyEnd
	return nil
}

// mostPicture bounds the bytes of a picture.
const mostPicture = 1 << 16

// board returns the board of that name, or of the picture in the file.
func (a *app) board(ctx context.Context, name string) (*game.Board, game.Position, error) {
	if b := game.Named(name); b != nil {
		return b, b.Full(), nil
	}
	var text []byte
	var err error
	if name == cli.Stdout {
		text, err = io.ReadAll(io.LimitReader(a.Stdin(ctx, nil), mostPicture+1))
	} else {
		text, err = vfs.ReadFile(name, mostPicture+1)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("--board: %w; english and french are boards too", err)
	}
	if len(text) > mostPicture {
		return nil, 0, cli.Usagef("--board %s: more than %d bytes", name, mostPicture)
	}
	b, position, err := game.Parse(string(text))
	if err != nil {
		return nil, 0, fmt.Errorf("--board %s: %w", name, err)
	}
	return b, position, nil
}

// search runs a search and shows how far it is.
func (a *app) search(f *problemFlags, run func(o solitaire.Options) error) error {
	j, err := f.Job()
	if err != nil {
		return err
	}
	if f.dir != "" {
		a.Resume = "; the same command resumes after the last complete layer"
	}
	shown, err := a.Begin(&f.JobFlags, &j)
	if err != nil {
		return err
	}
	defer shown.Close()
	err = run(solitaire.Options{Job: j, Dir: f.dir})
	if errors.Is(err, solitaire.ErrMemory) {
		return fmt.Errorf("--memory %s: %w; --dir keeps them on disk", f.Memory.String(), err)
	}
	return f.Memory.Explain(err)
}
