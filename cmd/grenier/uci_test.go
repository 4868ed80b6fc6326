package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/match"
	"grenier/pipeline/tables"
)

// ucier is a process that speaks the protocol of oware interfaces.
type ucier struct {
	*solver
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startUCI(t *testing.T, dir string) *ucier {
	t.Helper()
	u := &ucier{solver: command(t, "grenier", "awari", "uci", "--memory", "32MiB", "--dir", dir)}
	u.cmd.Stdout = nil
	in, err := u.cmd.StdinPipe()
	must.OK(t, err)
	out, err := u.cmd.StdoutPipe()
	must.OK(t, err)
	u.in, u.lines = in, bufio.NewScanner(out)
	u.start(t)
	u.say(t, "uci", "uciok")
	return u
}

// say sends commands and returns the first line that begins with a word.
func (u *ucier) say(t *testing.T, commands, word string) string {
	t.Helper()
	_, err := fmt.Fprintln(u.in, commands)
	must.OK(t, err)
	for u.lines.Scan() {
		if strings.HasPrefix(u.lines.Text(), "info string error") {
			t.Errorf("%s: %s", commands, u.lines.Text())
		}
		if strings.HasPrefix(u.lines.Text(), word) {
			return u.lines.Text()
		}
	}
	t.Fatalf("%s: the process has ended: %s", commands, u.errs.String())
	return ""
}

func (u *ucier) quit(t *testing.T) {
	t.Helper()
	fmt.Fprintln(u.in, "quit")
	for u.lines.Scan() {
	}
	if err := u.cmd.Wait(); err != nil || u.errs.Len() > 0 {
		t.Errorf("%v, %s", err, u.errs.String())
	}
}

// TestLongUCIMatch plays whole games between two processes, one with tables of ten seeds and one
// with hardly any, which change sides. Each game ends by the rules or in a repetition, and each
// move on a solved board of the side with tables keeps its value.
func TestLongUCIMatch(t *testing.T) {
	t.Parallel()
	games, limits := tries.More(1, 6), tries.More("go depth 2", "go movetime 20")
	rich, poor := filepath.Join(t.TempDir(), "rich"), filepath.Join(t.TempDir(), "poor")
	for dir, seeds := range map[string]int{rich: 10, poor: 1} {
		if got := startSolving(t, "--dir", dir, "--progress", "none", "--seeds", fmt.Sprint(seeds)).wait(t); got.status != 0 {
			t.Fatal(got)
		}
	}
	tab, err := tables.Open(t.Context(), rich)
	must.OK(t, err)
	defer tab.Close()
	sides := []*ucier{startUCI(t, rich), startUCI(t, poor)}
	random := rand.New(rand.NewPCG(20, 26))
	plies, kept, points := 0, 0, 0
	for i := range games {
		g := &uciGame{Match: match.New(tab.Game(), awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}), tables: tab, rich: match.Side(i % 2)}
		for range 3 {
			pit := random.IntN(6)
			for !tab.Game().Plays(g.Board())[pit].Legal {
				pit = random.IntN(6)
			}
			g.play(t, pit)
		}
		for g.goesOn(t) {
			u := sides[(int(g.Turn())+i)%2]
			best := u.say(t, "position startpos moves "+g.moves+"\n"+limits, "bestmove ")
			g.play(t, int(best[len("bestmove ")])-[]int{'A', 'a'}[g.Turn()])
		}
		plies, kept = plies+len(g.moves), kept+g.kept
		if lead := g.Taken()[i%2] - g.Taken()[1-i%2]; lead > 0 {
			points++
		} else if lead < 0 {
			points--
		}
		if t.Failed() {
			t.Fatalf("game %d: %s", i, g.moves)
		}
	}
	for _, u := range sides {
		u.quit(t)
	}
	t.Logf("%d games of %d plies; %d moves of the side with tables on solved boards; it won %d games more than it lost", games, plies, kept, points)
	if kept == 0 {
		t.Error("no game came to a solved board")
	}
}

// uciGame is a game and the letters of its moves.
type uciGame struct {
	*match.Match
	tables *tables.Tables
	rich   match.Side // has the tables
	moves  string
	kept   int // moves of that side on solved boards
}

// goesOn reports whether a move is to be made; a position that came back ends the game.
func (g *uciGame) goesOn(t *testing.T) bool {
	t.Helper()
	if g.State() == match.Playing && g.Repeated() {
		must.OK(t, g.Draw())
	}
	return g.State() == match.Playing
}

// play makes a move, which must be legal, and keep the value if the side with tables makes it on a
// solved board.
func (g *uciGame) play(t *testing.T, pit int) {
	t.Helper()
	side, before := g.Turn(), g.Board()
	captured, err := g.Play(pit)
	if err != nil {
		t.Fatalf("%s: pit %d: %v", g.moves, pit, err)
	}
	g.moves += string(rune([]int{'A', 'a'}[side] + pit))
	if side != g.rich || before.Seeds() > g.tables.MaxSeeds() {
		return
	}
	was, err := g.tables.Score(t.Context(), before)
	must.OK(t, err)
	is, err := g.tables.Score(t.Context(), g.Board())
	must.OK(t, err)
	g.kept++
	if int(was) != captured-int(is) {
		t.Errorf("%s: worth %d on a board worth %d", g.moves, captured-int(is), was)
	}
}
