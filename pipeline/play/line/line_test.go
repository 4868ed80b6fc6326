package line_test

import (
	"context"
	"fmt"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
)

func solve(t testing.TB, pits, seeds int, rules awari.Rules) testrun.Table {
	return testrun.NewTable(t, testrun.Game(t, pits, rules), seeds)
}

// TestLongEveryLine plays the best line of every position by the rules and counts.
func TestLongEveryLine(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, tries.More(8, 14)}, {6, tries.More(5, 8)}, {8, tries.More(4, 7)}} {
		for _, r := range awari.RuleSets() {
			t.Run(fmt.Sprintf("%d-%v", c.pits, r), func(t *testing.T) {
				m := solve(t, c.pits, c.seeds, r)
				for _, b := range testrun.Boards(m.Space, 0, c.seeds) {
					checkLine(t, m, b, must.Get(line.Best(t.Context(), m, b, line.Options{}))(t))
				}
			})
		}
	}
}

func checkLine(t testing.TB, m testrun.Table, b awari.Board, l *line.Line) {
	game, want := m.Game(), m.Worth(b)
	type turn struct {
		board awari.Board
		side  int
	}
	seen := map[turn]bool{}
	first, score, plies := b, 0, 0
	for i, move := range l.Moves {
		play, value := game.Plays(b)[move.Pit], m.Worth(b)
		must.Hold(t, move.Board == b && play.Legal && move.Child == play.Child && move.Captured == play.Captured && move.Value == value,
			"board %v: move %d is %+v", first, i, move)
		must.Not(t, plies != 0 && move.Plies != plies, "board %v, move %d: %d plies left, want %d", first, i, move.Plies, plies)
		must.Not(t, (move.Plies == 0) != (value == 0) || move.Captured > 0 && move.Plies > 1 || move.Captured == 0 && move.Plies == 1,
			"board %v, move %d: value %d, captures %d, %d plies left", first, i, value, move.Captured, move.Plies)
		plies = max(0, move.Plies-1)
		must.Not(t, seen[turn{b, i % 2}], "board %v: %v comes again", first, b)
		seen[turn{b, i % 2}] = true
		score += []int{move.Captured, -move.Captured}[i%2]
		must.Equal(t, l.Running()[i], score, "board %v: running score", first)
		b = move.Child
	}
	must.Equal(t, b, l.Last, "the end of board %s", game.Text(first))
	switch {
	case l.End == line.Repetition && (m.Worth(b) != 0 || !seen[turn{b, len(l.Moves) % 2}]):
		t.Fatalf("board %s: not a repetition", game.Text(first))
	case l.End == line.Finished:
		for _, play := range game.Plays(b) {
			must.Not(t, play.Legal, "board %s: not the end", game.Text(first))
		}
		score += []int{game.Terminal(b), -game.Terminal(b)}[len(l.Moves)%2]
	}
	must.Hold(t, score == want && l.Value == want, "board %s: the line has %d, it says %d, want %d", game.Text(first), score, l.Value, want)
}

// TestLimit allows too few positions, or no time: an error, never another line.
func TestLimit(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	var b awari.Board
	var want line.Move // the greatest distance
	for _, board := range testrun.Boards(m.Space, 0, 6) {
		move, _, err := line.Next(t.Context(), m, board, line.Options{})
		must.OK(t, err)
		if move.Plies > want.Plies {
			b, want = board, move
		}
	}
	must.Not(t, want.Plies < 10, "the greatest distance is %d", want.Plies)
	should.Be(t, must.Err(line.Best(must.Ended(t), m, b, line.Options{})), context.Canceled)
	failed := 0
	for positions := 1; ; positions++ {
		got, ok, err := line.Next(t.Context(), m, b, line.Options{Positions: positions})
		if err == nil {
			should.Hold(t, ok && got == want, "%d positions: %+v, want %+v", positions, got, want)
			break
		}
		limit := must.As[*line.LimitError](t, err)
		must.Hold(t, limit.Positions == positions && limit.Plies < want.Plies && limit.Board == b, "%d positions: %v", positions, err)
		failed++
	}
	should.Not(t, failed == 0, "one position was enough")
}

// TestUngrounded falsifies a circle of positions that vouch for each other: every score
// follows from its moves, but nothing is ever captured for it.
func TestUngrounded(t *testing.T) {
	m := solve(t, 8, 2, awari.Awari)
	circle, value := awari.Board{1, 0, 0, 0, 1}, 1
	for b := circle; ; value = -value {
		n, rank := m.Rank(b)
		if m.Scores[n][rank] == int8(value) {
			break
		}
		must.Equal(t, m.Scores[n][rank], 0, "board %s is worth", m.Text(b))
		m.Scores[n][rank] = int8(value)
		moves := m.Successors(nil, b)
		must.Hold(t, len(moves) == 1 && moves[0].Reward == 0, "board %s has moves %v", m.Text(b), moves)
		b = moves[0].To
	}
	should.Says(t, must.Err(line.Best(t.Context(), m, circle, line.Options{})), corrupt.ErrCorrupt, "no capture ever grounds")
}

// TestContradictions changes single scores: a line that meets one says so.
func TestContradictions(t *testing.T) {
	m := solve(t, 4, 8, awari.Strict)
	for rank, b := range testrun.Boards(m.Space, 8, 8) {
		for _, by := range []int8{-3, 3} {
			m.Scores[8][rank] += by
			should.Be(t, must.Err(line.Best(t.Context(), m, b, line.Options{})), corrupt.ErrCorrupt, "board %s changed by %d", m.Text(b), by)
			m.Scores[8][rank] -= by
		}
	}
}
