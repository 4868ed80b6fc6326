package awari

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/lines"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
)

// playFlags are the flags of play as given.
type playFlags struct {
	dir, side string
	memory    cli.MemoryFlag
	strength  int
	seed      uint64
	time      time.Duration
}

func (a *app) play() *cobra.Command {
	var f playFlags
	cmd := &cobra.Command{
		Use:   "play --dir DIR [P0 P1 ...]",
		Short: "Play a game against the tables",
		Long: `Plays a game of awari against you on the terminal. South begins, on the given
board or with four seeds in each pit. The pits of South are A, B, ... and those
of North a, b, ..., each from his left to his right; yours are always below.

Type the letter of a pit, or its number from 0 on, or one of these words or its
first letter, if that names no pit of yours:

  hint   print the value of each of your moves, exact where the board is solved
  board  draw the board again
  undo   take back your last move and the answer to it
  draw   end the game when a board has repeated; nobody gets the seeds on the
         board
  quit   leave the game; the end of input does the same
  help   list these words

At strength 10 the program plays perfectly where the board is solved; above the
tables it searches for --time. At strength k it plays a random move in 10-k of
10 cases: one that is worth at most 10-k seeds less than the best, or any move
at strength 0. It accepts a draw unless it has a proven win.
`,
		Example: `  grenier awari play --dir data/awari
  grenier awari play --dir data/awari --side north --strength 6 2 2 2 2 2 2 2 2 2 2 2 2`,
		Args: cobra.ArbitraryArgs,
		RunE: a.Start(func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 11 // fits a JSON number
			}
			return a.runPlay(cmd.Context(), f, args)
		}),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	cli.ChoiceVar(flags, &f.side, "side", "south", "`side` that you play, south begins", "south", "north")
	cli.IntVar(flags, &f.strength, "strength", match.Perfect, 0, match.Perfect, fmt.Sprintf("`strength` of the program, 0 to %d", match.Perfect))
	flags.Uint64Var(&f.seed, "seed", 0, "`number` from which random moves are made (default: random)")
	cli.TimeVar(flags, &f.time, "time", 5*time.Second, 1, maxMoveTime, "`time` to search for each move above the tables")
	f.memory.Define(a.App, flags, "1GiB", nil)
	return cmd
}

// maxMoveTime bounds the search for a move.
const maxMoveTime = 24 * time.Hour

func (a *app) runPlay(ctx context.Context, f playFlags, fields []string) error {
	human := match.South
	if f.side == match.North.String() {
		human = match.North
	}
	t, half, err := openHalf(ctx, f.dir, &f.memory, 1)
	if err != nil {
		return err
	}
	defer t.Close()
	start, err := startOf(t.Game(), cli.Fields(fields...))
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(f.seed, 0))
	t.Resize(uint64(half / 2))
	blocks, bytes := searchIn(t, half)
	g := &tableGame{app: a, Match: match.New(t.Game(), start), human: human, lines: lines.NewReader(a.Stdin(ctx, nil))}
	engine := search.New(blocks, search.Options{Bytes: bytes, Job: job.Job{Progress: g.progress}})
	if g.player, err = match.NewPlayer(t, engine, search.Limits{Time: f.time}, f.strength, random); err != nil {
		return cli.Usagef("--strength: %w", err)
	}
	g.player.Positions = positionsIn(half / 2)
	a.Printf(0, "you play %v, the program plays %v at strength %d (--seed %d), by the rules %v; help lists what you can type",
		human, human.Other(), f.strength, f.seed, t.Game().Rules())
	return g.run(ctx)
}

// startOf returns the given board, or the one with which games begin.
func startOf(game awari.Game, fields []string) (awari.Board, error) {
	if len(fields) == 0 {
		return game.Start(awari.MaxSeeds / awari.MaxPits)
	}
	return parseBoard(game, fields)
}

// tableGame is a game on the terminal.
type tableGame struct {
	*app
	*match.Match
	player *match.Player
	human  match.Side
	lines  *lines.Reader
	shown  *cli.Progress // of the search at hand; nil if stderr is no terminal
}

// progress shows how far the search is.
func (g *tableGame) progress(s job.Step) {
	if g.shown != nil {
		g.shown.Show(s)
	}
}

// think runs a search and shows on a terminal how far it is.
func (g *tableGame) think(search func() error) error {
	if !cli.HasCursor(g.Err) {
		return search()
	}
	shown, err := g.NewProgress("bar", false)
	if err != nil {
		return err
	}
	g.shown = shown
	defer func() { g.shown = nil; shown.Close() }()
	return search()
}

// errQuit ends a game before its end.
var errQuit = errors.New("quit")

// run plays until the game is over.
func (g *tableGame) run(ctx context.Context) error {
	shown := -1 // moves played when the board was shown
	for g.State() == match.Playing {
		var err error
		if g.Turn() != g.human {
			err = g.answer(ctx)
		} else {
			if shown != len(g.Pits()) {
				g.show()
				shown = len(g.Pits())
			}
			err = g.ask(ctx)
		}
		if errors.Is(err, errQuit) {
			fmt.Fprintf(g.Out, "you left the game; %s\n", g.standing())
			return nil
		}
		if err != nil {
			return err
		}
	}
	g.conclude()
	return nil
}

// conclude prints the result.
func (g *tableGame) conclude() {
	switch n := g.Board().Seeds(); {
	case g.State() == match.Drawn:
		fmt.Fprintf(g.Out, "endless play: nobody gets %s on the board\n", theSeeds(n))
	case n > 0:
		fmt.Fprintf(g.Out, "%v cannot move; %v gets %s on the board\n", g.Turn(), g.Turn().Other(), theSeeds(n))
	default:
		fmt.Fprintln(g.Out, "the board is empty")
	}
	score := g.Score()
	if g.human == match.North {
		score = -score
	}
	result := "a draw"
	switch {
	case score > 0:
		result = "you win"
	case score < 0:
		result = "the program wins"
	}
	fmt.Fprintf(g.Out, "%s; %s\n", result, g.standing())
}

// theSeeds names the seeds on the board.
func theSeeds(n int) string {
	if n == 1 {
		return "the seed"
	}
	return fmt.Sprintf("the %d seeds", n)
}

// standing says how many seeds each side has taken.
func (g *tableGame) standing() string {
	taken := g.Taken()
	return fmt.Sprintf("seeds taken: you %d, the program %d", taken[g.human], taken[g.human.Other()])
}

// show draws the board with the pits of the human player below.
func (g *tableGame) show() {
	b := g.Board()
	if g.Turn() != g.human {
		b = g.Game().Turn(b)
	}
	fmt.Fprintf(g.Out, "\n%s%s\n", g.Game().Draw(b, int(g.human)), g.standing())
	if g.Repeated() {
		g.Printf(0, "this board has repeated; endless play is worth 0, and draw ends the game")
	}
}

// answer plays a move of the program.
func (g *tableGame) answer(ctx context.Context) error {
	var pit int
	var advice *match.Advice
	err := g.think(func() (err error) {
		pit, advice, err = g.player.Choose(ctx, g.Board())
		return err
	})
	if err != nil {
		return err
	}
	captured, err := g.Play(pit)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Out, "the program plays %s%s\n", g.human.Other().PitName(pit), capturing(captured))
	if advice.Stuck != nil {
		g.Printf(2, "the move keeps the value, but may not make progress: %v", advice.Stuck)
	}
	return nil
}

// capturing says what a move captured.
func capturing(seeds int) string {
	if seeds == 0 {
		return ""
	}
	return fmt.Sprintf(", capturing %d", seeds)
}

// ask reads the next line of the human player and obeys it.
func (g *tableGame) ask(ctx context.Context) error {
	fmt.Fprintf(g.Out, "%v> ", g.human)
	text, err := g.lines.Next()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		fmt.Fprintln(g.Out)
		return errQuit
	case err != nil && !errors.Is(err, lines.ErrLong):
		fmt.Fprintln(g.Out)
		return err
	}
	if !cli.IsTerminal(g.Out) {
		fmt.Fprintln(g.Out) // no terminal has echoed the end of the line
	}
	if err != nil {
		fmt.Fprintln(g.Out, err)
		return nil
	}
	return g.obey(ctx, strings.TrimSpace(string(text)))
}

// words are the commands of the human player, besides pits.
var words = []struct {
	word, does string
	run        func(*tableGame, context.Context) error
}{
	{"hint", "print the value of each of your moves", (*tableGame).hint},
	{"board", "draw the board again", func(g *tableGame, _ context.Context) error { g.show(); return nil }},
	{"undo", "take back your last move and the answer to it", func(g *tableGame, _ context.Context) error { return g.takeBack() }},
	{"draw", "end the game when a board has repeated", (*tableGame).offerDraw},
	{"quit", "leave the game", func(*tableGame, context.Context) error { return errQuit }},
}

// obey runs a command of the human player.
func (g *tableGame) obey(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	if pit, err := strconv.Atoi(text); err == nil {
		return g.move(pit)
	}
	for pit := range g.Game().Half() {
		if text == g.human.PitName(pit) {
			return g.move(pit)
		}
	}
	for _, w := range words {
		if strings.HasPrefix(w.word, strings.ToLower(text)) {
			return w.run(g, ctx)
		}
	}
	if !strings.HasPrefix("help", strings.ToLower(text)) {
		fmt.Fprintf(g.Out, "unknown word %.40q\n", text)
	}
	last := g.Game().Half() - 1
	fmt.Fprintf(g.Out, "%s to %s, or 0 to %d: play that pit\n", g.human.PitName(0), g.human.PitName(last), last)
	for _, w := range words {
		fmt.Fprintf(g.Out, "%s: %s\n", w.word, w.does)
	}
	return nil
}

// move plays a pit of the human player.
func (g *tableGame) move(pit int) error {
	captured, err := g.Play(pit)
	if errors.Is(err, match.ErrIllegal) {
		fmt.Fprintln(g.Out, err)
		return nil
	}
	if err == nil {
		fmt.Fprintf(g.Out, "you play %s%s\n", g.human.PitName(pit), capturing(captured))
	}
	return err
}

// takeBack undoes moves until the human player is to move again.
func (g *tableGame) takeBack() error {
	if len(g.Pits()) < 2 {
		fmt.Fprintln(g.Out, "you have not played yet")
		return nil
	}
	for range 2 {
		if err := g.Undo(); err != nil {
			return err
		}
	}
	return nil
}

// offerDraw ends the game as a draw if the program agrees.
func (g *tableGame) offerDraw(ctx context.Context) error {
	if !g.Repeated() {
		fmt.Fprintln(g.Out, "no draw:", match.ErrNoRepetition)
		return nil
	}
	advice, err := g.advise(ctx)
	if err != nil {
		return err
	}
	if !advice.AcceptsDraw(false) {
		fmt.Fprintln(g.Out, "no draw: the program can get more")
		return nil
	}
	return g.Draw()
}

// advise returns what the program knows about the board.
func (g *tableGame) advise(ctx context.Context) (a *match.Advice, err error) {
	err = g.think(func() (err error) {
		a, err = g.player.Advise(ctx, g.Board())
		return err
	})
	return a, err
}

// hint prints what is known about the board.
func (g *tableGame) hint(ctx context.Context) error {
	a, err := g.advise(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(g.Out, a.Text())
	if a.Plies > 0 {
		fmt.Fprintf(g.Out, "; plies to the next capture or the end: %d", a.Plies)
	}
	fmt.Fprintln(g.Out)
	for _, m := range a.Moves {
		if !m.Legal {
			continue
		}
		best := ""
		if m.Pit == a.Best {
			best = " (best)"
		}
		fmt.Fprintf(g.Out, "%s: captures %d, %s%s\n", g.human.PitName(m.Pit), m.Captured, m.Text(), best)
	}
	if a.Stuck != nil {
		fmt.Fprintln(g.Out, a.Stuck)
	}
	return nil
}
