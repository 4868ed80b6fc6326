package solitaire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/lines"
	game "grenier/layers/solitaire"
	"grenier/pipeline/solitaire"
)

// playReport is the JSON of solitaire play.
type playReport struct {
	Board     string   `json:"board"`
	Start     string   `json:"start"`
	End       string   `json:"end"`
	Jumps     []string `json:"jumps"`
	Moves     int      `json:"moves"`
	Pegs      int      `json:"pegs"`
	Picture   []string `json:"picture"`
	Solved    bool     `json:"solved"`
	Solutions *big.Int `json:"solutions"` // from here
	Left      *int     `json:"moves_left,omitempty"`
	Legal     []string `json:"legal"`
	Best      string   `json:"best,omitempty"`
}

// playFlags are the flags of solitaire play as given.
type playFlags struct {
	problemFlags
	svg string
}

func (a *app) play() *cobra.Command {
	var f playFlags
	cmd := &cobra.Command{
		Use:   "play [JUMP ...]",
		Short: "Play a game with advice",
		Long: `Plays peg solitaire on the terminal, or from a pipe: one jump or word a line.
The game is solved first, so that every hint is exact; with --dir that happens
once. JUMPs are made before.

A jump is the hole where the peg is and the hole where it goes, like d2-d4; a
move of several jumps like d2-d4-f4 does too. The words, or their first letters:

  jumps  list the jumps that are possible, and what becomes of each
  hint   name a jump of a solution with the fewest moves from here
  board  draw the board again
  undo   take back the last jump
  quit   leave the game; the end of input does the same
  help   list these words

` + boardHelp + `

` + endHelp + `

--json makes the JUMPs, read from stdin if - is given, and prints {"board",
"start", "end", "jumps", "moves", "pegs", "picture", "solved", "solutions" from
there, "moves_left", "legal": jumps, "best": jump}.
`,
		Example: `  grenier solitaire play --board english --dir data/english
  grenier solitaire play d2-d4 b3-d3 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			return a.runPlay(cmd.Context(), f, cmd.Flags().Changed("start"), args)
		}),
	}
	f.define(a, cmd)
	f.defineEnd(cmd)
	cmd.Flags().Var((*cli.File)(&f.svg), "svg", "`FILE` for a drawing of the game at its end; - prints it instead of JSON")
	return cmd
}

func (a *app) runPlay(ctx context.Context, f playFlags, startGiven bool, args []string) (err error) {
	p, err := a.problem(ctx, &f.problemFlags, startGiven)
	if err != nil {
		return err
	}
	if err := f.check(args); err != nil {
		return err
	}
	if args, err = a.Arguments(ctx, args); err != nil {
		return err
	}
	g := &play{app: a, problem: p, state: solitaire.State{Position: p.Start, Last: -1}}
	for _, jump := range args {
		if err := g.make(jump); err != nil {
			return err
		}
	}
	if !p.Parity() {
		err := a.search(&f.problemFlags, func(o solitaire.Options) (err error) {
			g.table, err = solitaire.Solve(ctx, p.Problem, o)
			return err
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.table.Close()) }()
	}
	if !f.JSON && f.svg != cli.Stdout {
		if err := g.run(ctx); err != nil {
			return err
		}
	}
	if f.svg != "" {
		if err := a.WriteFile(f.svg, []byte(p.Board.SVG(p.Start, game.Moves(g.jumps)))); err != nil {
			return err
		}
	}
	if f.JSON {
		return g.report(ctx)
	}
	return nil
}

// check refuses flags that contradict each other or the arguments.
func (f *playFlags) check(args []string) error {
	if err := cli.OneStdout(f.JSON, map[string]string{"--svg": f.svg}); err != nil {
		return err
	}
	if len(args) == 1 && args[0] == cli.Stdout {
		switch {
		case f.board == cli.Stdout:
			return cli.Usagef("--board - and jumps from -: stdin can be only one of them")
		case !f.JSON && f.svg != cli.Stdout:
			return cli.Usagef("-: jumps are read from stdin without it, unless --json or --svg - is given")
		}
	}
	if f.board == cli.Stdout && !f.JSON && f.svg != cli.Stdout {
		return cli.Usagef("--board -: jumps are read from stdin; --json or --svg - takes them from the command line alone")
	}
	return cli.CheckFile(f.svg)
}

// play is a game in progress.
type play struct {
	*app
	problem
	table *solitaire.Table // nil if parity says that there is no solution
	state solitaire.State
	jumps []game.Jump
}

// errQuit ends a game before its end.
var errQuit = errors.New("quit")

// make makes a jump, or a move of several; none of them if one is not possible.
func (g *play) make(text string) error {
	names := strings.Split(strings.ToLower(text), "-")
	if len(names) < 2 {
		return fmt.Errorf("%w: %.40q: expected two holes like d2-d4", game.ErrJump, text)
	}
	state := g.state
	var jumps []game.Jump
	from, err := g.Board.Hole(names[0])
	if err != nil {
		return err
	}
	for _, name := range names[1:] {
		to, err := g.Board.Hole(name)
		if err != nil {
			return err
		}
		j, err := g.Board.FindJump(state.Position, from, to)
		if err != nil {
			return err
		}
		state = solitaire.State{Position: state.Position ^ j.Pegs(), Last: to}
		jumps = append(jumps, j)
		from = to
	}
	g.state, g.jumps = state, append(g.jumps, jumps...)
	return nil
}

// advise returns the advice for the state of the game.
func (g *play) advise(ctx context.Context) (*solitaire.Advice, error) {
	if g.table != nil {
		return g.table.Advise(ctx, g.state)
	}
	a := &solitaire.Advice{Outlook: solitaire.Outlook{Solutions: new(big.Int)}, Best: -1}
	for _, number := range g.Board.Legal(nil, g.state.Position) {
		a.Jumps = append(a.Jumps, g.Board.Jumps()[number])
		a.Outlooks = append(a.Outlooks, solitaire.Outlook{Solutions: new(big.Int)})
	}
	return a, nil
}

// pegs returns the number of pegs that are left.
func (g *play) pegs() int { return bits.OnesCount64(g.state.Position) }

// run plays until no jump is left.
func (g *play) run(ctx context.Context) error {
	in := lines.NewReader(g.Stdin(ctx, nil))
	if err := g.show(ctx); err != nil {
		return err
	}
	for {
		a, err := g.advise(ctx)
		if err != nil {
			return err
		}
		if len(a.Jumps) == 0 {
			g.conclude(a)
			return nil
		}
		fmt.Fprint(g.Out, "> ")
		text, err := g.listen(in)
		if err == nil {
			err = g.obey(ctx, strings.TrimSpace(text), a)
		}
		switch {
		case errors.Is(err, errQuit):
			return g.leave()
		case err != nil:
			return err
		}
	}
}

// listen returns the next line, which is empty if it was too long. It fails with errQuit at the end.
func (g *play) listen(in *lines.Reader) (string, error) {
	line, err := in.Next()
	switch {
	case errors.Is(err, lines.ErrLong):
		fmt.Fprintln(g.Out, err)
		return "", nil
	case err == io.EOF:
		fmt.Fprintln(g.Out)
		return "", errQuit
	case err != nil:
		fmt.Fprintln(g.Out)
		return "", err
	}
	if !cli.IsTerminal(g.Out) {
		fmt.Fprintln(g.Out, string(line))
	}
	return string(line), nil
}

// leave says how far a game came that is not over.
func (g *play) leave() error {
	fmt.Fprintf(g.Out, "you left the game with %s after %s\n", cli.Count(g.pegs(), "peg"), cli.Count(len(game.Moves(g.jumps)), "move"))
	return nil
}

// conclude says how a game has ended.
func (g *play) conclude(a *solitaire.Advice) {
	switch moves := cli.Count(len(game.Moves(g.jumps)), "move"); {
	case a.Solutions.Sign() > 0:
		fmt.Fprintf(g.Out, "solved in %s\n", moves)
	case g.pegs() == 1:
		fmt.Fprintf(g.Out, "one peg is left after %s, in the wrong hole\n", moves)
	default:
		fmt.Fprintf(g.Out, "no jump is left: %s after %s\n", cli.Count(g.pegs(), "peg"), moves)
	}
}

// show draws the board and says how it can end.
func (g *play) show(ctx context.Context) error {
	a, err := g.advise(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Out, "\n%s%s, %s; ", g.Board.Draw(g.state.Position), cli.Count(g.pegs(), "peg"), cli.Count(len(a.Jumps), "jump"))
	fmt.Fprintln(g.Out, g.outlook(&a.Outlook))
	return nil
}

// outlook says how a position can end.
func (g *play) outlook(o *solitaire.Outlook) string {
	if o.Solutions.Sign() == 0 {
		return "cannot be solved any more"
	}
	return fmt.Sprintf("%s, the shortest with %s", solutions(o.Solutions), cli.Count(o.Moves, "more move"))
}

// words can be typed, besides jumps.
var words = []struct {
	word, does string
	run        func(*play, context.Context, *solitaire.Advice) error
}{
	{"jumps", "list the jumps that are possible", (*play).list},
	{"hint", "name the best jump", (*play).hint},
	{"board", "draw the board again", func(g *play, ctx context.Context, _ *solitaire.Advice) error { return g.show(ctx) }},
	{"undo", "take back the last jump", func(g *play, ctx context.Context, _ *solitaire.Advice) error { return g.undo(ctx) }},
	{"quit", "leave the game", func(*play, context.Context, *solitaire.Advice) error { return errQuit }},
}

// obey runs a line.
func (g *play) obey(ctx context.Context, text string, a *solitaire.Advice) error {
	if text == "" || text[0] == '#' {
		return nil
	}
	for _, w := range words {
		if strings.HasPrefix(w.word, strings.ToLower(text)) {
			return w.run(g, ctx, a)
		}
	}
	if strings.HasPrefix("help", strings.ToLower(text)) {
		fmt.Fprintln(g.Out, "d2-d4: make that jump")
		for _, w := range words {
			fmt.Fprintf(g.Out, "%s: %s\n", w.word, w.does)
		}
		return nil
	}
	moves := cli.Fields(text)
	if !strings.Contains(text, "-") {
		moves = []string{strings.Join(moves, "-")}
	}
	for i, move := range moves {
		if err := g.make(move); err != nil {
			fmt.Fprintln(g.Out, err)
			if i == 0 {
				return nil
			}
			break
		}
	}
	return g.show(ctx)
}

// list prints the jumps that are possible.
func (g *play) list(_ context.Context, a *solitaire.Advice) error {
	for i, j := range a.Jumps {
		best := ""
		if i == a.Best {
			best = " (best)"
		}
		fmt.Fprintf(g.Out, "%s: %s%s\n", g.Board.JumpName(j), g.outlook(&a.Outlooks[i]), best)
	}
	return nil
}

// hint names the best jump.
func (g *play) hint(_ context.Context, a *solitaire.Advice) error {
	if a.Best < 0 {
		fmt.Fprintln(g.Out, g.outlook(&a.Outlook))
		return nil
	}
	fmt.Fprintf(g.Out, "%s: %s\n", g.Board.JumpName(a.Jumps[a.Best]), g.outlook(&a.Outlook))
	return nil
}

// undo takes back the last jump.
func (g *play) undo(ctx context.Context) error {
	n := len(g.jumps) - 1
	if n < 0 {
		fmt.Fprintln(g.Out, "no jump was made yet")
		return nil
	}
	g.state.Position ^= g.jumps[n].Pegs()
	g.jumps = g.jumps[:n]
	if g.state.Last = -1; n > 0 {
		g.state.Last = g.jumps[n-1].To
	}
	return g.show(ctx)
}

// report prints the game as JSON.
func (g *play) report(ctx context.Context) error {
	a, err := g.advise(ctx)
	if err != nil {
		return err
	}
	r := playReport{
		Board: g.Board.Name(), Start: g.start, End: g.end, Jumps: []string{}, Moves: len(game.Moves(g.jumps)), Pegs: g.pegs(),
		Picture: strings.Split(strings.TrimSuffix(g.Board.Picture(g.state.Position), "\n"), "\n"),
		Solved:  g.pegs() == 1 && a.Solutions.Sign() > 0, Solutions: a.Solutions, Legal: []string{},
	}
	for _, j := range g.jumps {
		r.Jumps = append(r.Jumps, g.Board.JumpName(j))
	}
	for _, j := range a.Jumps {
		r.Legal = append(r.Legal, g.Board.JumpName(j))
	}
	if a.Solutions.Sign() > 0 {
		r.Left = &a.Moves
	}
	if a.Best >= 0 {
		r.Best = g.Board.JumpName(a.Jumps[a.Best])
	}
	return g.PrintJSON(r)
}
